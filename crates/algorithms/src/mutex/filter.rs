//! The Filter lock. G. L. Peterson, Information Processing Letters 12(3), 1981; here as in M. Herlihy, N. Shavit, V.
//! Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed., Figure 2.8.
//!
//! ```text
//! 13  for i := 1 to n-1:
//! 14      level[me] := i
//! 15      victim[i] := me                                    (doorway ends, for i = 1)
//! 17      while (exists k ≠ me) (level[k] >= i and victim[i] = me) do nothing
//!     critical section
//! 22  level[me] := 0
//! ```
//!
//! Departures: line 17 looks at one k after the other, at its level first and at the victim only if that is high
//! enough, and begins again with the first k when there is a conflict. The text defines no doorway; ours is what is
//! written for the first level.
//!
//! Guarantees: mutual exclusion, starvation-freedom, bounded exit. Not first-come-first-served: from three processes
//! on, others can pass a slow one any number of times.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Bypass, Fails, Holds},
    LocalSpin,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "filter",
    aliases: &["filter-lock"],
    title: "the Filter lock",
    source: "Herlihy & Shavit, Fig. 2.8",
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Fails(Fcfs),
        Bypass(None),
        Holds(BoundedExit),
    ],
    remark: "for two processes it is `peterson`, and as fair",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct Filter<M: Memory> {
    level: Vec<M::Reg<usize>>,
    /// `victim[i]` of the text is at i-1: it uses 1 to n-1.
    victim: Vec<M::Reg<usize>>,
}

impl<M: Memory> Filter<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        Filter {
            level: space.per_process("level", n, 0),
            victim: (1..n).map(|i| space.register(Name::new("victim").index(i), Home::Nobody, 0)).collect(),
        }
    }

    fn announce(&self, m: &mut M, me: Pid, i: usize) -> Result<(), M::Halt> {
        m.at("14").write(&self.level[me], i)?;
        m.at("15").write(&self.victim[i - 1], me)?;
        m.at("15").fence() // or two look on line 17 before either can be seen
    }

    fn no_conflict(&self, m: &mut M, me: Pid, i: usize) -> Result<bool, M::Halt> {
        m.all_but(me, self.level.len(), |m, k| {
            Ok(m.at("17").test(&self.level[k], |level| level < i)?
                || m.at("17").test(&self.victim[i - 1], |victim| victim != me)?)
        })
    }
}

impl<M: Memory> Exclusion<M> for Filter<M> {
    type Place = ();

    fn doorway(&self, m: &mut M, me: Pid) -> Result<(), M::Halt> {
        self.announce(m, me, 1)
    }

    fn wait(&self, m: &mut M, me: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns(1, |m, i| {
            m.spin(|m| self.no_conflict(m, me, i))?;
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
