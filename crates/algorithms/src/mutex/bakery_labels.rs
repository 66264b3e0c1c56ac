//! The bakery with labels. L. Lamport, CACM 17(8), 1974, simplified; here as in M. Herlihy, N. Shavit, V. Luchangco, M.
//! Spear, *The Art of Multiprocessor Programming*, 2nd ed., Figure 2.10.
//!
//! ```text
//! 13  flag[i] := true
//! 14  label[i] := max(label[0], …, label[n-1]) + 1           (doorway ends)
//! 15  while (exists k ≠ i) (flag[k] and (label[k], k) << (label[i], i)) do nothing
//!     critical section
//! 18  flag[i] := false
//! ```
//!
//! Departures: line 14 is n reads, one after the other. Line 15 examines one k after the other: first its flag, then,
//! if the flag is up, its label. When it must wait, it starts again with the first k.
//!
//! Guarantees: mutual exclusion, starvation-freedom, first-come-first-served, bounded exit. Unlike the bakery's
//! numbers, labels are never reset: the labels of a process only grow, and the proof depends on it.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Size,
    claim::{bypass, holds},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "bakery-labels",
    title: "the bakery with labels",
    source: "Herlihy & Shavit, Fig. 2.10",
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(Fcfs),
        bypass(Some(0)),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso],
    remark: "labels grow for ever",
    pinned: &[
        at(2).finds(502),
        at(3).finds(48_941),
        at(4).finds(8_666_185).takes("10 s"),
        at(3).under(&[Tso]).finds(162_662).fences(2),
        at(2).needs_fences(),
        at(3).remote(Some(15), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = BakeryLabels<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> BakeryLabels<M> {
    BakeryLabels::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct BakeryLabels<M: Memory> {
    flag: Vec<M::Reg<bool>>,
    label: Vec<M::Reg<Ticket>>,
}

impl<M: Memory> BakeryLabels<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        BakeryLabels { flag: space.per_process("flag", n, false), label: space.per_process("label", n, Ticket::ZERO) }
    }
}

impl<M: Memory> Exclusion<M> for BakeryLabels<M> {
    type Place = Ticket;
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        m.at("13").write(&self.flag[p], true)?;
        m.at("13").fence()?; // without it, a process with a smaller label may miss the flag
        let max = m.fold(self.label.len(), Ticket::ZERO, |m, max, k| Ok(max.max(m.at("14").read(&self.label[k])?)))?;
        m.at("14").write(&self.label[p], max.next())?;
        m.at("14").fence()?; // without it, two processes may both pass line 15 before either label is visible
        Ok(max.next())
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        m.spin(|m| {
            m.all(self.label.len(), |m, k| {
                Ok(k == p
                    || m.at("15").test(&self.flag[k], |up| !up)?
                    || m.at("15").test(&self.label[k], |label| (label, k) > (mine, p))?)
            })
        })
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("18").write(&self.flag[p], false)
    }
}
