//! The MCS queue lock. After J. M. Mellor-Crummey and M. L. Scott, *Algorithms for scalable synchronization on
//! shared-memory multiprocessors*, ACM TOCS 9(1), 1991.
//!
//! ```text
//!  1  next[p] := ⊥
//!  2  pred := swap(tail, p)                                  (doorway ends)
//!     if pred ≠ ⊥:
//!  3      locked[p] := true
//!  4      next[pred] := p
//!  5      await not locked[p]
//!     critical section
//!  6  if next[p] = ⊥:
//!  7      if compare-and-swap(tail, p, ⊥): done
//!  8      await next[p] ≠ ⊥
//!  9  locked[next[p]] := false
//! ```
//!
//! The text of the paper was not available; this is the usual presentation, with line numbers of this project.
//!
//! Departures: a queue node is a process' number, and each process has one node. Line 9 does not read `next[p]` again:
//! line 6 or 8 has read it.
//!
//! Guarantees: mutual exclusion, starvation-freedom, first-come-first-served; a waiter spins on a cell of its own.
//! The exit is not bounded: on line 8 it waits for a successor that is in the queue but has not yet linked itself.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Remote, Size,
    claim::{bypass, holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "mcs",
    aliases: &["mellor-crummey-scott", "mcs1991"],
    title: "the MCS queue lock",
    source: "after Mellor-Crummey & Scott 1991",
    primitives: &["read", "write", "swap", "compare-and-swap"],
    local_spin: Some(LocalSpin::BOTH),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(Fcfs),
        bypass(Some(0)),
        lacks(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso],
    remark: "a releasing process may have to wait for its successor to link itself",
    remote: Some(Remote::both("O(1)")),
    pinned: &[
        at(3).finds(824),
        at(4).finds(16_632),
        at(3).under(&[Tso]).finds(2_151).fences(0),
        at(2).remote(Some(8), Some(4)),
        at(3).remote(Some(8), Some(4)),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Mcs<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> Mcs<M> {
    Mcs::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct Mcs<M: Memory> {
    tail: M::Reg<Option<usize>>,
    next: Vec<M::Reg<Option<usize>>>,
    locked: Vec<M::Reg<bool>>,
}

impl<M: Memory> Mcs<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        Mcs {
            tail: space.shared("tail", None),
            next: space.per_process("next", n, None),
            locked: space.per_process("locked", n, false),
        }
    }

    /// The successor in the queue, if there is one: lines 6 to 8.
    fn successor(&self, m: &mut M, p: Pid) -> Result<Option<Pid>, M::Halt> {
        if let Some(next) = m.at("6").read(&self.next[p])? {
            return Ok(Some(next));
        }
        if m.at("7").compare_swap(&self.tail, Some(p), None)? {
            return Ok(None);
        }
        m.turns((), |m, ()| {
            let next = m.at("8").read(&self.next[p])?;
            if next.is_none() {
                m.relax();
                return Ok(Continue(()));
            }
            Ok(Break(next))
        })
    }
}

impl<M: Memory> Exclusion<M> for Mcs<M> {
    /// The predecessor in the queue.
    type Place = Option<Pid>;
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Option<Pid>, M::Halt> {
        m.at("1").write(&self.next[p], None)?;
        m.at("2").swap(&self.tail, Some(p))
    }

    fn wait(&self, m: &mut M, p: Pid, &pred: &Option<Pid>) -> Result<(), M::Halt> {
        let Some(pred) = pred else { return Ok(()) };
        m.at("3").write(&self.locked[p], true)?;
        m.at("4").write(&self.next[pred], Some(p))?;
        m.at("5").until(&self.locked[p], |locked| !locked)
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        match m.call(|m| self.successor(m, p))? {
            Some(next) => m.at("9").write(&self.locked[next], false),
            None => Ok(()),
        }
    }
}
