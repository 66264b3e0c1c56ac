//! Peterson's lock. G. L. Peterson, Information Processing Letters 12(3), 1981; here as in M. Herlihy, N. Shavit, V.
//! Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed., Figure 2.6.
//!
//! ```text
//!  8  flag[i] := true
//!  9  victim := i                                            (doorway ends)
//! 10  while flag[j] and victim = i do nothing                j = 1 - i
//!     critical section
//! 14  flag[i] := false
//! ```
//!
//! Departures: line 10 is two reads, the flag first, and the second only if the flag is up.
//!
//! Guarantees: mutual exclusion, starvation-freedom, first-come-first-served, bounded exit.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Processes, Size,
    claim::{entries, holds},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "peterson",
    aliases: &["peterson1981"],
    title: "Peterson's lock",
    source: "Herlihy & Shavit, Fig. 2.6",
    processes: Processes::Exactly(2),
    default_n: 2,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(Fcfs),
        entries(Some(1)),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso],
    pinned: &[
        at(2).finds(32),
        at(2).under(&[Tso]).finds(126).fences(1),
        at(2).needs_fences(),
        at(2).remote(Some(6), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Peterson<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, _: Size) -> Peterson<M> {
    Peterson::new(space)
}

/// The lock; see the [module](self).
pub struct Peterson<M: Memory> {
    pub(crate) flag: Vec<M::Reg<bool>>,
    victim: M::Reg<usize>,
}

impl<M: Memory> Peterson<M> {
    /// A free lock for two processes.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        Peterson { flag: space.per_process("flag", 2, false), victim: space.shared("victim", 0) }
    }

    /// A lock that is one of several: `flag[node][0]`, `flag[node][1]`, `victim[node]`, at home at no process.
    pub(crate) fn one_of_many(space: &mut impl Space<Mem = M>, node: usize) -> Self {
        let flag = |side| space.register(Name::new("flag").index(node).index(side), Home::Nobody, false);
        Peterson {
            flag: (0..2).map(flag).collect(),
            victim: space.register(Name::new("victim").index(node), Home::Nobody, 0),
        }
    }
}

impl<M: Memory> Exclusion<M> for Peterson<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("8").write(&self.flag[p], true)?;
        m.at("9").write(&self.victim, p)?;
        m.at("9").fence() // without it, both processes may pass line 10 before either is visible
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.spin(|m| {
            Ok(m.at("10").test(&self.flag[1 - p], |up| !up)? || m.at("10").test(&self.victim, |victim| victim != p)?)
        })
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("14").write(&self.flag[p], false)
    }
}
