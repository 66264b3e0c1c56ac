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
//! Departures: the text defines no doorway; here it is the first write.
//!
//! Guarantees: mutual exclusion. Fails: deadlock-freedom. If both flags are raised before either is read, each process
//! waits for the other for ever.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Processes, Size,
    claim::{fails, holds},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "lock-one",
    title: "LockOne",
    source: "Herlihy & Shavit, Fig. 2.4",
    processes: Processes::Exactly(2),
    default_n: 2,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[holds(Exclusion), fails(DeadlockFreedom), fails(StarvationFreedom), holds(BoundedExit)],
    tolerates: &[Tso],
    defect: "it deadlocks if both processes compete",
    remark: "correct only if the two processes never compete at the same time",
    pinned: &[
        at(2).finds(8),
        at(2).under(&[Tso]).finds(40).fences(1),
        at(2).needs_fences(),
        at(2).refutes(DeadlockFreedom, COUNTEREXAMPLE),
        at(2).remote(Some(4), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = LockOne<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, _: Size) -> LockOne<M> {
    LockOne::new(space)
}

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
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("7").write(&self.flag[p], true)?;
        m.at("7").fence() // without it, both processes may pass line 8 before either flag is visible
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("8").until(&self.flag[1 - p], |up| !up)
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("12").write(&self.flag[p], false)
    }
}

/// Lock one deadlocks when both raise their flag first.
const COUNTEREXAMPLE: &str = "\
deadlock-freedom FAILS in 2 steps, and stays so
\x20  1  p0  7  flag[0] := true
\x20  2  p1  7  flag[1] := true
\x20 then for ever
\x20  3  p0  8  flag[1] = true
\x20  4  p1  8  flag[0] = true
";
