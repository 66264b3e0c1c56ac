//! The Filter lock for k inside. G. L. Peterson, Information Processing Letters 12(3), 1981; here as M. Herlihy, N.
//! Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed., Exercise 2.7, would have Figure
//! 2.8 changed.
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
//! Departures: line 17 looks at one j after the other, then at the victim if there are k of them, and begins again when
//! that is me. The text defines no doorway; ours is what is written for the first level.
//!
//! Guarantees: k-exclusion, bounded exit.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Crashes, Holds},
    Kind, LocalSpin, Remote,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "filter-k",
    aliases: &["filter-l-exclusion"],
    title: "the Filter lock for k inside",
    source: "Herlihy & Shavit, Ex. 2.7",
    kind: Kind::KExclusion,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[Holds(Exclusion), Holds(DeadlockFreedom), Holds(BoundedExit), Crashes],
    remote: Some(Remote { cc: "Θ(N³ - Nk²)", dsm: "∞" }),
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct FilterK<M: Memory> {
    k: usize,
    level: Vec<M::Reg<usize>>,
    /// `victim[i]` of the text is at i-1: it uses 1 to n-k.
    victim: Vec<M::Reg<usize>>,
}

impl<M: Memory> FilterK<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
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
        m.at("15").fence() // or two look on line 17 before either can be seen
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
