//! Knuth's algorithm. After D. E. Knuth, *Additional comments on a problem in concurrent programming control*, CACM 9(5),
//! 1966.
//!
//! ```text
//! L0  control[i] := 1                                        (doorway, the first time)
//! L1  k; for j := k, k-1, …, 0, n-1, …, k+1:
//!         if j = i: go to L2
//!         if control[j] ≠ 0: go to L1
//! L2  control[i] := 2
//!     for j := n-1, n-2, …, 0: if j ≠ i and control[j] = 2: go to L0
//! L3  k := i
//!     critical section
//!     k := i-1, or n-1 if i = 0
//! L4  control[i] := 0
//! ```
//!
//! The text of the paper was not available; this is the usual presentation with the paper's labels.
//!
//! Departures: processes are numbered from 0. L2 examines the others in ascending order.
//!
//! Guarantees: mutual exclusion, starvation-freedom, bounded exit. The process below the last holder comes next, so no
//! process waits for ever. With three processes a process can be overtaken twice, with four 4 times; with store buffers
//! there is no bound, since the write of L3 may arrive late.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Size,
    claim::{holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "knuth",
    aliases: &["knuth1966"],
    title: "Knuth's algorithm",
    source: "after Knuth 1966",
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[holds(Exclusion), holds(DeadlockFreedom), holds(StarvationFreedom), lacks(Fcfs), holds(BoundedExit)],
    tolerates: &[Tso],
    remark: "the first starvation-free solution",
    pinned: &[
        at(2).finds(108),
        at(3).finds(2_205),
        at(4).finds(63_820),
        at(3).under(&[Tso]).finds(58_889).fences(1),
        at(2).needs_fences(),
        at(3).remote(None, None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Knuth<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> Knuth<M> {
    Knuth::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct Knuth<M: Memory> {
    k: M::Reg<usize>,
    /// 0: in the remainder, 1: waiting for its turn, 2: checking the others or in the critical section.
    control: Vec<M::Reg<u8>>,
}

impl<M: Memory> Knuth<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        Knuth { k: space.shared("k", 0), control: space.per_process("control", n, 0) }
    }

    /// L1, once: whether no process from `k` down to `i` competes.
    fn is_next(&self, m: &mut M, i: Pid) -> Result<bool, M::Halt> {
        let n = self.control.len();
        let k = m.at("L1").read(&self.k)?;
        m.turns(k, move |m, j| {
            if j == i {
                return Ok(Break(true));
            }
            let idle = m.at("L1").test(&self.control[j], |control| control == 0)?;
            Ok(if idle { Continue((j + n - 1) % n) } else { Break(false) })
        })
    }
}

impl<M: Memory> Exclusion<M> for Knuth<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        m.at("L0").write(&self.control[i], 1)
    }

    fn wait(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns((), |m, ()| {
            m.spin(|m| self.is_next(m, i))?;
            m.at("L2").write(&self.control[i], 2)?;
            m.at("L2").fence()?; // without it, two processes may both pass L2 before either write is visible
            if m.all_but(i, self.control.len(), |m, j| m.at("L2").test(&self.control[j], |control| control != 2))? {
                return Ok(Break(()));
            }
            m.at("L0").write(&self.control[i], 1)?;
            Ok(Continue(()))
        })?;
        m.at("L3").write(&self.k, i)
    }

    fn exit(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        let n = self.control.len();
        m.at("L3").write(&self.k, (i + n - 1) % n)?;
        m.at("L4").write(&self.control[i], 0)
    }
}
