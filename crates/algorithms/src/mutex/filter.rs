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
//! Departures: line 17 examines one k after the other: first its level, then, if the level is high enough, the
//! victim. At a conflict it starts again with the first k. The text defines no doorway; here it is the two writes for
//! the first level.
//!
//! Guarantees: mutual exclusion, starvation-freedom, bounded exit. Not first-come-first-served: from three processes
//! on, a slow process can be overtaken any number of times.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Size,
    claim::{bypass, holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "filter",
    aliases: &["filter-lock"],
    title: "the Filter lock",
    source: "Herlihy & Shavit, Fig. 2.8",
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        lacks(Fcfs),
        bypass(None),
        holds(BoundedExit),
    ],
    tolerates: &[Tso],
    remark: "for two processes it is `peterson`, and equally fair",
    pinned: &[
        at(3).finds(2_090),
        at(4).finds(190_197),
        at(5).finds(23_021_487).takes("30 s, 1.5 GB"),
        at(3).under(&[Tso]).finds(8_127).fences(1),
        at(2).needs_fences(),
        at(3).refutes(Fcfs, COUNTEREXAMPLE),
        at(3).remote(Some(21), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Filter<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> Filter<M> {
    Filter::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct Filter<M: Memory> {
    level: Vec<M::Reg<usize>>,
    /// `victim[i]` of the text is at index i-1: the text uses 1 to n-1.
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
        m.at("15").fence() // without it, two processes may both pass line 17 before either is visible
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
    type Inside = ();

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

/// Filter allows overtaking.
const COUNTEREXAMPLE: &str = "\
fcfs FAILS in 13 steps: process 2 starts the doorway after process 1 has completed it, and enters first
\x20  1  p1  14  level[1] := 1
\x20  2  p1  15  victim[1] := 1
\x20  3  p2  14  level[2] := 1
\x20  4  p2  15  victim[1] := 2
\x20  5  p2  17  level[0] = 0
\x20  6  p0  14  level[0] := 1
\x20  7  p0  15  victim[1] := 0
\x20  8  p2  17  level[1] = 1
\x20  9  p2  17  victim[1] = 0
\x20 10  p2  14  level[2] := 2
\x20 11  p2  15  victim[2] := 2
\x20 12  p2  17  level[0] = 1
\x20 13  p2  17  level[1] = 1    -> inside
";
