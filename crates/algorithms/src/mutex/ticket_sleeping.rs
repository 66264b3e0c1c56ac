//! The ticket lock with parked waiters: the way in which threads wait in `doorway_native`, as an algorithm.
//!
//! ```text
//!  1  t := fetch-and-increment(Entry)                                        (doorway ends)
//!  2  if Exit = t: enter
//!  a  fetch-and-add(parked, 1)
//!  b  barrier: all earlier writes of every process are visible to all
//!  c  lock the bucket
//!  d  if Exit = t: fetch-and-add(parked, -1), unlock the bucket, enter
//!  e  enqueue in the bucket: woken[p] := false; wants[p] := t; asleep[p] := true; unlock the bucket
//!  f  park until woken[p]
//!     critical section
//!  3  Exit := t + 1
//!  4  if parked = 0: done
//!  5  lock the bucket; x := Exit
//!  6  for each i with asleep[i] and wants[i] = x: asleep[i] := false; fetch-and-add(parked, -1); woken[i] := true
//!  7  unlock the bucket
//! ```
//!
//! Departures: none, this is the project's own: `parking.rs` and `wait.rs` of `doorway_native`, without the spinning
//! and yielding before line a. The bucket is a lock in one register, which allows starvation; a parked waiter waits
//! on a register of its own.
//!
//! Guarantees: those of `ticket`, except that a process can starve at the bucket. In particular there is no deadlock,
//! which is what a lost wake-up would cause: the waiter not woken is the one whose ticket is served. There is no
//! fence between lines 3 and 4, so with store buffers a releasing process may read `parked` before its write to
//! Exit is visible; line b compensates for that. Without b a wake-up is lost.
use alloc::vec::Vec;

use doorway_memory::{Count, Exclusion, Memory, Pid, Property::*, Space, Tally};

use super::ticket::Ticket;
use crate::{
    About,
    Condition::Tso,
    Size,
    blocks::test_and_set::TestAndSet,
    claim::{bypass, holds},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "ticket-sleeping",
    title: "the ticket lock with parked waiters",
    source: "this project",
    default_n: 2,
    primitives: &["read", "write", "fetch-and-add", "swap", "barrier"],
    claims: &[holds(Exclusion), holds(DeadlockFreedom), holds(Fcfs), bypass(Some(0)), holds(WaitFreeDoorway)],
    tolerates: &[Tso],
    remark: "no wake-up is lost",
    pinned: &[
        at(2).finds(6_963),
        at(3).finds(3_695_580).takes("5 s"),
        at(2).under(&[Tso]).finds(17_187).fences(1),
        at(2).needs_fences(),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = TicketSleeping<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> TicketSleeping<M> {
    TicketSleeping::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct TicketSleeping<M: Memory> {
    tickets: Ticket<M>,
    parked: M::Reg<Tally>,
    bucket: TestAndSet<M>,
    asleep: Vec<M::Reg<bool>>,
    wants: Vec<M::Reg<Count>>,
    woken: Vec<M::Reg<bool>>,
}

impl<M: Memory> TicketSleeping<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        TicketSleeping {
            tickets: Ticket::new(space),
            parked: space.shared("parked", Tally::new(0)),
            bucket: TestAndSet::new(space),
            asleep: space.per_process("asleep", n, false),
            wants: space.per_process("wants", n, Ticket::<M>::FREE),
            woken: space.per_process("woken", n, false),
        }
    }

    /// Lines 5 to 7.
    fn wake(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        self.bucket.wait(m, p, &())?;
        let x = m.at("5").read(self.tickets.serving())?;
        m.each_but(p, self.asleep.len(), |m, i| {
            if !m.at("6").test(&self.asleep[i], |asleep| asleep)? {
                return Ok(());
            }
            if m.at("6").test(&self.wants[i], |wanted| wanted == x)? {
                m.at("6").write(&self.asleep[i], false)?;
                m.at("6").fetch_add(&self.parked, Tally::new(-1))?;
                m.at("6").write(&self.woken[i], true)?;
            }
            Ok(())
        })?;
        self.bucket.exit(m, p, &())
    }
}

impl<M: Memory> Exclusion<M> for TicketSleeping<M> {
    type Place = Count;
    type Inside = Count;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Count, M::Halt> {
        self.tickets.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, &t: &Count) -> Result<Count, M::Halt> {
        if m.at("2").test(self.tickets.serving(), |serving| serving == t)? {
            return Ok(t);
        }
        m.at("a").fetch_add(&self.parked, Tally::new(1))?;
        m.at("b").barrier()?;
        self.bucket.wait(m, p, &())?;
        if m.at("d").test(self.tickets.serving(), |serving| serving == t)? {
            m.at("d").fetch_add(&self.parked, Tally::new(-1))?;
            self.bucket.exit(m, p, &())?;
            return Ok(t);
        }
        m.at("e").write(&self.woken[p], false)?;
        m.at("e").write(&self.wants[p], t)?;
        m.at("e").write(&self.asleep[p], true)?;
        self.bucket.exit(m, p, &())?;
        m.at("f").until(&self.woken[p], |woken| woken)?;
        Ok(t)
    }

    fn exit(&self, m: &mut M, p: Pid, t: &Count) -> Result<(), M::Halt> {
        self.tickets.exit(m, p, t)?;
        if m.at("4").test(&self.parked, |parked| parked == 0)? { Ok(()) } else { self.wake(m, p) }
    }
}
