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
    Claim::{Entries, Holds},
    LocalSpin, Processes,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "peterson",
    aliases: &["peterson1981"],
    title: "Peterson's lock",
    source: "Herlihy & Shavit, Fig. 2.6",
    processes: Processes::Exactly(2),
    default_n: 2,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(Fcfs),
        Entries(Some(1)),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
    ],
    ..About::LOCK
};

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

    /// One of many: `flag[node][0]`, `flag[node][1]`, `victim[node]`, at home with nobody.
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

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("8").write(&self.flag[p], true)?;
        m.at("9").write(&self.victim, p)?;
        m.at("9").fence() // or both look on line 10 before either can be seen
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
