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
//! Departures: the text defines no doorway; ours is the first write.
//!
//! Guarantees: mutual exclusion. Fails: deadlock-freedom; a process is let in only by another one that comes later, so
//! one alone waits for ever.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    LocalSpin, Processes,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "lock-two",
    title: "LockTwo",
    source: "Herlihy & Shavit, Fig. 2.5",
    processes: Processes::Exactly(2),
    default_n: 2,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[Holds(Exclusion), Fails(DeadlockFreedom), Fails(StarvationFreedom), Holds(BoundedExit)],
    remark: "fine as long as the two always come together",
    ..About::LOCK
};

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
