//! The ticket lock with suspended tasks: the way in which asynchronous callers wait in `doorway`, as an algorithm.
//!
//! ```text
//!  0  await entry[p] is not "aborted"                          (a process is one future at a time)
//!  1  t := fetch-and-increment(Entry)
//!  2  if Exit = t: enter                                       (doorway ends)
//!  a  lock the list
//!  b  if not fenced: fenced := true; barrier: all earlier writes of every process are visible to all
//!  c  if not listed: swap(listed, true)
//!  d  if Exit = t: unlock the list, enter                      (doorway ends)
//!  e  woken[p] := false; wants[p] := t; entry[p] := "suspended"; unlock the list               (doorway ends)
//!  f  if Exit = t: enter                                       (a poll without a wake-up, not by process 0)
//!     suspended until woken[p]
//!     critical section
//!  3  Exit := t + 1
//!  4  if not fenced: done. if not listed: fence; if still not listed: done
//!  5  lock the list; x := Exit
//!  6  for each i with an entry and wants[i] <= x: entry[i] := "none"
//!         if it was "suspended": woken[i] := true
//!         if it was "aborted": Exit := x + 1; x := x + 1; begin line 6 again
//!  7  if line 6 found no entry: listed := false. unlock the list
//!     abort of a suspended task
//!  g  if Exit = t: lines 3 to 7
//!  h  lock the list; if Exit = t: unlock the list, lines 3 to 7
//!  i  entry[p] := "aborted"; unlock the list
//!     after line 4 found that the list is not listed, not by process 0
//!  j  lock the list; if not listed: fenced := false; unlock the list
//! ```
//!
//! Departures: none, this is the project's own: `waiters.rs` of `doorway`, without the spinning before line a. The first
//! poll of a future is the doorway here, and a task is aborted only at line f, as a future is dropped only between
//! polls; line 1 alone decides the order. There the entries are in order of tickets; here each process has an entry. There any task may be polled without a wake-up, and a release may
//! forget `fenced` once hundreds have found the list empty; here every process but 0 does both whenever it can, and
//! process 0 neither, so that it would miss a wake-up that is lost. The list's lock is one register, which allows
//! starvation.
//!
//! Guarantees: those of `ticket`, except that a process can starve at the list. No wake-up and no turn is lost, also if
//! tasks are aborted while they wait or after their turn has come: that would be a deadlock. A release that does not find
//! `fenced` executes no fence; line b compensates for that with store buffers. From three processes on, two that abort for
//! ever, each after its turn has come, can starve a third one at the list's lock while nobody enters.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Abort, Count, Exclusion, Memory, Pid, Property::*, Space};

use super::ticket::Ticket;
use crate::{
    About,
    Condition::{Aborts, Tso},
    Size,
    blocks::test_and_set::TestAndSet,
    claim::{bypass, holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "ticket-async",
    title: "the ticket lock with suspended tasks",
    source: "this project",
    default_n: 2,
    primitives: &["read", "write", "fetch-and-add", "swap", "barrier"],
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(Fcfs),
        bypass(Some(0)),
        lacks(WaitFreeDoorway),
        lacks(DeadlockFreedom).under(&[Aborts]).from(3, 1),
    ],
    tolerates: &[Tso, Aborts],
    remark: "no wake-up is lost, also if tasks are cancelled",
    pinned: &[
        at(2).finds(32_087),
        at(3).passages(1).finds(45_214),
        at(2).under(&[Aborts]).finds(76_958),
        at(3).passages(1).under(&[Aborts]).finds(133_088),
        at(2).under(&[Tso]).finds(76_924).fences(2),
        at(2).under(&[Aborts, Tso]).finds(194_312),
        at(2).needs_fences(),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = TicketAsync<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> TicketAsync<M> {
    TicketAsync::new(space, size.n)
}

/// The entry of a process that is not in the list.
const NONE: u64 = 0;
/// The entry of a suspended task.
const SUSPENDED: u64 = 1;
/// The entry of a place that was aborted before its turn.
const ABORTED: u64 = 2;

/// When a task looks at the counter for the last time before it is suspended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLook {
    /// With the list locked, after it has announced its entry.
    Locked,
    /// Before it locks the list: a mistake.
    Early,
}

/// The lock; see the [module](self).
pub struct TicketAsync<M: Memory> {
    tickets: Ticket<M>,
    fenced: M::Reg<bool>,
    listed: M::Reg<bool>,
    list: TestAndSet<M>,
    entry: Vec<M::Reg<u64>>,
    wants: Vec<M::Reg<Count>>,
    woken: Vec<M::Reg<bool>>,
    last_look: LastLook,
}

impl<M: Memory> TicketAsync<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        TicketAsync::of(space, n, LastLook::Locked)
    }

    pub(crate) fn of(space: &mut impl Space<Mem = M>, n: usize, last_look: LastLook) -> Self {
        TicketAsync {
            tickets: Ticket::new(space),
            fenced: space.shared("fenced", false),
            listed: space.shared("listed", false),
            list: TestAndSet::new(space),
            entry: space.per_process("entry", n, NONE),
            wants: space.per_process("wants", n, Ticket::<M>::FREE),
            woken: space.per_process("woken", n, false),
            last_look,
        }
    }

    fn is_served(&self, m: &mut M, line: &'static str, t: Count) -> Result<bool, M::Halt> {
        m.at(line).test(self.tickets.serving(), |serving| serving == t)
    }

    fn is_listed(&self, m: &mut M, line: &'static str) -> Result<bool, M::Halt> {
        m.at(line).test(&self.listed, |listed| listed)
    }

    /// Lines a to e: returns whether the task is suspended.
    fn suspend(&self, m: &mut M, p: Pid, t: Count) -> Result<bool, M::Halt> {
        self.list.wait(m, p, &())?;
        if !m.at("b").test(&self.fenced, |fenced| fenced)? {
            m.at("b").write(&self.fenced, true)?;
            m.at("b").barrier()?;
        }
        if !self.is_listed(m, "c")? {
            m.at("c").swap(&self.listed, true)?;
        }
        if self.last_look == LastLook::Locked && self.is_served(m, "d", t)? {
            self.list.exit(m, p, &())?;
            return Ok(false);
        }
        m.at("e").write(&self.woken[p], false)?;
        m.at("e").write(&self.wants[p], t)?;
        m.at("e").write(&self.entry[p], SUSPENDED)?;
        self.list.exit(m, p, &())?;
        Ok(true)
    }

    /// Lines 3 to 7, and j.
    fn leave(&self, m: &mut M, p: Pid, t: Count) -> Result<(), M::Halt> {
        self.tickets.exit(m, p, &t)?;
        if !m.at("4").test(&self.fenced, |fenced| fenced)? {
            return Ok(());
        }
        let is_listed = self.is_listed(m, "4")? || {
            m.at("4").fence()?;
            self.is_listed(m, "4")?
        };
        if is_listed {
            return self.serve(m, p);
        }
        if p == 0 {
            return Ok(());
        }
        self.list.wait(m, p, &())?;
        if !self.is_listed(m, "j")? {
            m.at("j").write(&self.fenced, false)?;
        }
        self.list.exit(m, p, &())
    }

    /// Lines 5 to 7.
    fn serve(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        self.list.wait(m, p, &())?;
        let x = m.at("5").read(self.tickets.serving())?;
        let is_empty = m.turns((x, true), |m, (x, is_empty)| {
            let (is_advanced, is_empty) =
                m.fold(self.entry.len(), (false, is_empty), |m, (is_advanced, is_empty), i| {
                    if is_advanced {
                        return Ok((true, is_empty));
                    }
                    let entry = m.at("6").read(&self.entry[i])?;
                    if entry == NONE {
                        return Ok((false, is_empty));
                    }
                    if !m.at("6").test(&self.wants[i], |wanted| wanted < x.plus(1))? {
                        return Ok((false, false));
                    }
                    m.at("6").write(&self.entry[i], NONE)?;
                    if entry == SUSPENDED {
                        m.at("6").write(&self.woken[i], true)?;
                        return Ok((false, false));
                    }
                    m.at("6").write(self.tickets.serving(), x.plus(1))?;
                    Ok((true, false))
                })?;
            Ok(if is_advanced { Continue((x.plus(1), is_empty)) } else { Break(is_empty) })
        })?;
        if is_empty {
            m.at("7").write(&self.listed, false)?;
        }
        self.list.exit(m, p, &())
    }
}

impl<M: Memory> Exclusion<M> for TicketAsync<M> {
    /// The ticket, and whether the task is suspended.
    type Place = (Count, bool);
    type Inside = Count;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(Count, bool), M::Halt> {
        m.at("0").until(&self.entry[p], |entry| entry != ABORTED)?;
        let t = self.tickets.doorway(m, p)?;
        let is_suspended = !self.is_served(m, "2", t)? && self.suspend(m, p, t)?;
        Ok((t, is_suspended))
    }

    fn wait(&self, m: &mut M, p: Pid, &(t, is_suspended): &(Count, bool)) -> Result<Count, M::Halt> {
        if is_suspended {
            // A task that looks once more, or again and again, does not notice that a wake-up was lost.
            if p != 0 && self.is_served(m, "f", t)? {
                return Ok(t);
            }
            m.at("f").until(&self.woken[p], |woken| woken)?;
        }
        Ok(t)
    }

    fn exit(&self, m: &mut M, p: Pid, &t: &Count) -> Result<(), M::Halt> {
        self.leave(m, p, t)
    }

    fn aborting(&self) -> Option<&dyn Abort<M, (Count, bool)>> {
        Some(self)
    }
}

impl<M: Memory> Abort<M, (Count, bool)> for TicketAsync<M> {
    fn abort(&self, m: &mut M, p: Pid, &(t, _): &(Count, bool)) -> Result<(), M::Halt> {
        if self.is_served(m, "g", t)? {
            return self.leave(m, p, t);
        }
        self.list.wait(m, p, &())?;
        if self.is_served(m, "h", t)? {
            self.list.exit(m, p, &())?;
            return self.leave(m, p, t);
        }
        m.at("i").write(&self.entry[p], ABORTED)?;
        self.list.exit(m, p, &())
    }
}
