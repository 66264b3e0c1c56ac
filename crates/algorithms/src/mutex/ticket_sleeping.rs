//! The ticket lock of threads that sleep: how `doorway_native` lets a thread wait, as an algorithm.
//!
//! ```text
//!  1  t := fetch-and-increment(Entry)                                        (doorway ends)
//!  2  if Exit = t: enter
//!  a  fetch-and-add(sleepers, 1)
//!  b  barrier: everyone's writes until now are visible, and mine to everyone
//!  c  lock the row
//!  d  if Exit = t: fetch-and-add(sleepers, -1), unlock the row, enter
//!  e  enter oneself in the row: woken[p] := false; wants[p] := t; asleep[p] := true; unlock the row
//!  f  sleep until woken[p]
//!     critical section
//!  3  Exit := t + 1
//!  4  if sleepers = 0: done
//!  5  lock the row; x := Exit
//!  6  for each i with asleep[i] and wants[i] = x: asleep[i] := false; fetch-and-add(sleepers, -1); woken[i] := true
//!  7  unlock the row
//! ```
//!
//! Departures: none, it is ours: `lot.rs` and `wait.rs` of `doorway_native`, without the spinning and giving way before a. The
//! row is a lock in one register, which may starve; who sleeps waits on a register of its own.
//!
//! Guarantees: those of `ticket`, as far as nobody starves at the row. In particular there is no deadlock, which a lost
//! wake-up would be: the one not woken is the one whose turn it is. Between lines 3 and 4 there is no fence, so
//! on a memory with store buffers who leaves may look at `sleepers` before others see that it has left; b is what makes up
//! for that. Without b a sleeper is not woken.
use alloc::vec::Vec;

use doorway_memory::{Count, Exclusion, Memory, Pid, Property::*, Space};

use super::ticket::Ticket;
use crate::{
    About,
    Claim::{Bypass, Holds},
    parts::test_and_set::TestAndSet,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "ticket-sleeping",
    title: "the ticket lock of threads that sleep",
    source: "ours",
    default_n: 2,
    primitives: &["read", "write", "fetch-and-add", "swap", "barrier"],
    claims: &[Holds(Exclusion), Holds(DeadlockFreedom), Holds(Fcfs), Bypass(Some(0)), Holds(WaitFreeDoorway)],
    remark: "no wake-up is lost",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct TicketSleeping<M: Memory> {
    tickets: Ticket<M>,
    sleepers: M::Reg<u64>,
    row: TestAndSet<M>,
    asleep: Vec<M::Reg<bool>>,
    wants: Vec<M::Reg<Count>>,
    woken: Vec<M::Reg<bool>>,
}

impl<M: Memory> TicketSleeping<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        TicketSleeping {
            tickets: Ticket::new(space),
            sleepers: space.shared("sleepers", 0),
            row: TestAndSet::new(space),
            asleep: space.per_process("asleep", n, false),
            wants: space.per_process("wants", n, Ticket::<M>::FREE),
            woken: space.per_process("woken", n, false),
        }
    }

    /// Lines 5 to 7.
    fn wake(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        self.row.wait(m, p, &())?;
        let x = m.at("5").read(self.tickets.serving())?;
        m.each_but(p, self.asleep.len(), |m, i| {
            if !m.at("6").test(&self.asleep[i], |asleep| asleep)? {
                return Ok(());
            }
            if m.at("6").test(&self.wants[i], |wanted| wanted == x)? {
                m.at("6").write(&self.asleep[i], false)?;
                m.at("6").fetch_add(&self.sleepers, 1_u64.wrapping_neg())?;
                m.at("6").write(&self.woken[i], true)?;
            }
            Ok(())
        })?;
        self.row.exit(m, p, &())
    }
}

impl<M: Memory> Exclusion<M> for TicketSleeping<M> {
    type Place = Count;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Count, M::Halt> {
        self.tickets.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, &t: &Count) -> Result<(), M::Halt> {
        if m.at("2").test(self.tickets.serving(), |serving| serving == t)? {
            return Ok(());
        }
        m.at("a").fetch_add(&self.sleepers, 1)?;
        m.at("b").barrier()?;
        self.row.wait(m, p, &())?;
        if m.at("d").test(self.tickets.serving(), |serving| serving == t)? {
            m.at("d").fetch_add(&self.sleepers, 1_u64.wrapping_neg())?;
            return self.row.exit(m, p, &());
        }
        m.at("e").write(&self.woken[p], false)?;
        m.at("e").write(&self.wants[p], t)?;
        m.at("e").write(&self.asleep[p], true)?;
        self.row.exit(m, p, &())?;
        m.at("f").until(&self.woken[p], |woken| woken)
    }

    fn exit(&self, m: &mut M, p: Pid, t: &Count) -> Result<(), M::Halt> {
        self.tickets.exit(m, p, t)?;
        if m.at("4").test(&self.sleepers, |sleepers| sleepers == 0)? { Ok(()) } else { self.wake(m, p) }
    }
}
