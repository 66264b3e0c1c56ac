//! Peterson's lock with a polite unlock. M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor
//! Programming*, 2nd ed., Figure 2.17 and Exercise 2.5.
//!
//! ```text
//!     lock: lines 8-10 of Figure 2.6, as in `peterson`
//!     critical section
//!  3  flag[i] := false
//!  5  while flag[j] do nothing                               j = 1 - i
//! ```
//!
//! Departures: none; the doorway is Peterson's.
//!
//! Guarantees: mutual exclusion, deadlock-freedom. Fails: starvation-freedom; in line 5 a process can look whenever the
//! other one has its flag up, one passage after another, and so never leave. For the same reason its exit is not
//! bounded.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    LocalSpin, Processes,
    mutex::peterson::Peterson,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "peterson-polite",
    title: "Peterson's lock with a polite unlock",
    source: "Herlihy & Shavit, Fig. 2.17",
    processes: Processes::Exactly(2),
    default_n: 2,
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[Holds(Exclusion), Holds(DeadlockFreedom), Fails(StarvationFreedom), Fails(BoundedExit)],
    remark: "unlock starves",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct PetersonPolite<M: Memory>(Peterson<M>);

impl<M: Memory> PetersonPolite<M> {
    /// A free lock for two processes.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        PetersonPolite(Peterson::new(space))
    }
}

impl<M: Memory> Exclusion<M> for PetersonPolite<M> {
    type Place = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        self.0.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, place: &()) -> Result<(), M::Halt> {
        self.0.wait(m, p, place)
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("3").write(&self.0.flag[p], false)?;
        m.at("5").until(&self.0.flag[1 - p], |up| !up)
    }
}
