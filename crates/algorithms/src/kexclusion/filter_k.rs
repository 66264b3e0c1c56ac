//! The Filter lock with capacity k. G. L. Peterson, Information Processing Letters 12(3), 1981; here as M. Herlihy,
//! N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed., Exercise 2.7, asks to change
//! Figure 2.8.
//!
//! ```text
//! 13  for i := 1 to n-k:
//! 14      level[me] := i
//! 15      victim[i] := me                                    (doorway ends, for i = 1)
//! 17      while level[j] >= i for at least k others j, and victim[i] = me do nothing
//!     critical section
//! 22  level[me] := 0
//! ```
//!
//! The exercise asks for the change and does not print it; the line numbers are those of the figure.
//!
//! Departures: line 17 examines one j after the other, and then the victim if there are k of them; it starts again if
//! that is me. The text defines no doorway; here it is the two writes for the first level.
//!
//! Guarantees: k-exclusion, bounded exit.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Condition::{Crashes, Tso},
    Kind, LocalSpin, Remote, Size,
    claim::holds,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "filter-k",
    aliases: &["filter-l-exclusion"],
    title: "the Filter lock with capacity k",
    source: "Herlihy & Shavit, Ex. 2.7",
    kind: Kind::KExclusion,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[holds(Exclusion), holds(DeadlockFreedom), holds(BoundedExit)],
    tolerates: &[Tso, Crashes],
    remote: Some(Remote { cc: "Θ(N³ - Nk²)", dsm: "∞" }),
    pinned: &[
        at(3).k(2).finds(696),
        at(4).k(2).finds(464_916),
        at(3).under(&[Tso]).finds(3_998).fences(1),
        at(3).needs_fences(),
        at(3).k(2).remote(Some(10), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = FilterK<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> FilterK<M> {
    FilterK::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct FilterK<M: Memory> {
    k: usize,
    level: Vec<M::Reg<usize>>,
    /// `victim[i]` of the text is at index i-1: the text uses 1 to n-k.
    victim: Vec<M::Reg<usize>>,
}

impl<M: Memory> FilterK<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        FilterK {
            k,
            level: space.per_process("level", n, 0),
            victim: (1..=n - k).map(|i| space.register(Name::new("victim").index(i), Home::Nobody, 0)).collect(),
        }
    }

    fn announce(&self, m: &mut M, me: Pid, i: usize) -> Result<(), M::Halt> {
        m.at("14").write(&self.level[me], i)?;
        m.at("15").write(&self.victim[i - 1], me)?;
        m.at("15").fence() // without it, two processes may both pass line 17 before either is visible
    }

    fn may_rise(&self, m: &mut M, me: Pid, i: usize) -> Result<bool, M::Halt> {
        let others = m.fold(self.level.len(), 0, |m, others, j| {
            let counts = j != me && m.at("17").test(&self.level[j], |level| level >= i)?;
            Ok(others + usize::from(counts))
        })?;
        Ok(others < self.k || m.at("17").test(&self.victim[i - 1], |victim| victim != me)?)
    }
}

impl<M: Memory> Exclusion<M> for FilterK<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, me: Pid) -> Result<(), M::Halt> {
        self.announce(m, me, 1)
    }

    fn wait(&self, m: &mut M, me: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns(1, |m, i| {
            m.spin(|m| self.may_rise(m, me, i))?;
            if i == self.victim.len() {
                return Ok(Break(()));
            }
            self.announce(m, me, i + 1)?;
            Ok(Continue(i + 1))
        })
    }

    fn exit(&self, m: &mut M, me: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("22").write(&self.level[me], 0)
    }
}
