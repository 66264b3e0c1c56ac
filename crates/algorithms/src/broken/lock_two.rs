//! LockTwo. M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed., Figure
//! 2.5.
//!
//! ```text
//!  5  victim := i                                            (doorway)
//!  6  while victim = i do nothing
//!     critical section
//!  8  (nothing)
//! ```
//!
//! Departures: the text defines no doorway; here it is the first write.
//!
//! Guarantees: mutual exclusion. Fails: deadlock-freedom. Only a later arrival lets a process enter, so a lone
//! process waits for ever.
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
    name: "lock-two",
    title: "LockTwo",
    source: "Herlihy & Shavit, Fig. 2.5",
    processes: Processes::Exactly(2),
    default_n: 2,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[holds(Exclusion), fails(DeadlockFreedom), fails(StarvationFreedom), holds(BoundedExit)],
    tolerates: &[Tso],
    defect: "a process that competes alone waits for ever",
    remark: "correct only if the two processes always compete at the same time",
    pinned: &[
        at(2).finds(7),
        at(2).under(&[Tso]).finds(12).fences(0),
        at(2).refutes(DeadlockFreedom, COUNTEREXAMPLE),
        at(2).remote(Some(2), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = LockTwo<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, _: Size) -> LockTwo<M> {
    LockTwo::new(space)
}

/// The lock; see the [module](self).
pub struct LockTwo<M: Memory> {
    victim: M::Reg<usize>,
}

impl<M: Memory> LockTwo<M> {
    /// A free lock for two processes.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        LockTwo { victim: space.shared("victim", 0) }
    }
}

impl<M: Memory> Exclusion<M> for LockTwo<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("5").write(&self.victim, p)
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("6").until(&self.victim, move |victim| victim != p)
    }

    fn exit(&self, _: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        Ok(())
    }
}

/// Lock two blocks an uncontended process.
const COUNTEREXAMPLE: &str = "\
deadlock-freedom FAILS in 1 step, and stays so
\x20  1  p0  5  victim := 0
\x20 then for ever
\x20  2  p0  6  victim = 0
";
