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
//! We did not have the text of the paper; this is how the algorithm is told, and the line numbers are ours.
//!
//! Departures: a queue node is a process' number, and each process has one node. Line 9 does not read `next[p]` again:
//! it has been seen on line 6 or 8.
//!
//! Guarantees: mutual exclusion, starvation-freedom, first-come-first-served; whoever waits reads a cell of its own. The
//! exit is not bounded: on line 8 it waits for a successor that has taken its place in line and not yet said so.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Bypass, Fails, Holds},
    LocalSpin, Remote,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "mcs",
    aliases: &["mellor-crummey-scott", "mcs1991"],
    title: "the MCS queue lock",
    source: "after Mellor-Crummey & Scott 1991",
    primitives: &["read", "write", "swap", "compare-and-swap"],
    local_spin: Some(LocalSpin::BOTH),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(Fcfs),
        Bypass(Some(0)),
        Fails(BoundedExit),
        Holds(WaitFreeDoorway),
    ],
    remark: "whoever leaves may have to wait for the next one to link itself",
    remote: Some(Remote::both("O(1)")),
    ..About::LOCK
};

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

    /// Who comes after us, if anyone does: lines 6 to 8.
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
    /// Who is before us in line.
    type Place = Option<Pid>;

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

    fn exit(&self, m: &mut M, p: Pid, _: &Option<Pid>) -> Result<(), M::Halt> {
        match m.call(|m| self.successor(m, p))? {
            Some(next) => m.at("9").write(&self.locked[next], false),
            None => Ok(()),
        }
    }
}
