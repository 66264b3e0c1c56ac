//! LockOne. M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed., Figure
//! 2.4.
//!
//! ```text
//!  7  flag[i] := true                                        (doorway)
//!  8  while flag[j] do nothing                               j = 1 - i
//!     critical section
//! 12  flag[i] := false
//! ```
//!
//! Departures: the text defines no doorway; ours is the first write.
//!
//! Guarantees: mutual exclusion. Fails: deadlock-freedom; when both flags go up before either is looked at, each waits
//! for the other for ever.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    LocalSpin, Processes,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "lock-one",
    title: "LockOne",
    source: "Herlihy & Shavit, Fig. 2.4",
    processes: Processes::Exactly(2),
    default_n: 2,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[Holds(Exclusion), Fails(DeadlockFreedom), Fails(StarvationFreedom), Holds(BoundedExit)],
    remark: "fine as long as the two never come together",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct LockOne<M: Memory> {
    flag: Vec<M::Reg<bool>>,
}

impl<M: Memory> LockOne<M> {
    /// A free lock for two processes.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        LockOne { flag: space.per_process("flag", 2, false) }
    }
}

impl<M: Memory> Exclusion<M> for LockOne<M> {
    type Place = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("7").write(&self.flag[p], true)?;
        m.at("7").fence() // or both look on line 8 before either can be seen
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("8").until(&self.flag[1 - p], |up| !up)
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("12").write(&self.flag[p], false)
    }
}
