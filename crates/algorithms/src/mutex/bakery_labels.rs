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
//! Departures: line 14 is n reads, one after the other. Line 15 looks at one k after the other, at its flag first and
//! at its label only if that is up, and begins again with the first k when it must wait.
//!
//! Guarantees: mutual exclusion, starvation-freedom, first-come-first-served, bounded exit. Unlike the bakery's
//! numbers, labels are never reset: each process' labels only grow, and the proof needs that.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Claim::{Bypass, Holds},
    LocalSpin,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "bakery-labels",
    title: "the bakery with labels",
    source: "Herlihy & Shavit, Fig. 2.10",
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(Fcfs),
        Bypass(Some(0)),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
    ],
    remark: "labels grow for ever",
    ..About::LOCK
};

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

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        m.at("13").write(&self.flag[p], true)?;
        m.at("13").fence()?; // or one with a smaller label does not see that we come
        let max = m.fold(self.label.len(), Ticket::ZERO, |m, max, k| Ok(max.max(m.at("14").read(&self.label[k])?)))?;
        m.at("14").write(&self.label[p], max.next())?;
        m.at("14").fence()?; // or two look on line 15 before either's label can be seen
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

    fn exit(&self, m: &mut M, p: Pid, _: &Ticket) -> Result<(), M::Halt> {
        m.at("18").write(&self.flag[p], false)
    }
}
