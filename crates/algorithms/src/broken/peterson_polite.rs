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
//! Guarantees: mutual exclusion, deadlock-freedom. Fails: starvation-freedom. On line 5 a process may read only while
//! the other one has its flag up, passage after passage, and so never leave. For the same reason its exit is not
//! bounded.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Processes, Size,
    claim::{fails, holds},
    mutex::peterson::Peterson,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "peterson-polite",
    title: "Peterson's lock with a polite unlock",
    source: "Herlihy & Shavit, Fig. 2.17",
    processes: Processes::Exactly(2),
    default_n: 2,
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[holds(Exclusion), holds(DeadlockFreedom), fails(StarvationFreedom), fails(BoundedExit)],
    tolerates: &[Tso],
    defect: "a process can starve in its exit section",
    pinned: &[
        at(2).finds(46),
        at(2).under(&[Tso]).finds(174).fences(1),
        at(2).refutes(StarvationFreedom, STARVATION_FREEDOM_FAILS),
        at(2).refutes(BoundedExit, BOUNDED_EXIT_FAILS),
        at(2).remote(None, None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = PetersonPolite<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, _: Size) -> PetersonPolite<M> {
    PetersonPolite::new(space)
}

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
    type Inside = ();

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

/// Peterson polite starves a process in its exit.
const STARVATION_FREEDOM_FAILS: &str = "\
starvation-freedom FAILS in 6 steps, and stays so (for process 0, 1): process 0 never completes its exit section
\x20  1  p0  8   flag[0] := true
\x20  2  p0  9   victim := 0
\x20  3  p0  10  flag[1] = false   -> inside
\x20  4  p0  3   flag[0] := false
\x20  5  p1  8   flag[1] := true
\x20  6  p1  9   victim := 1
\x20 then for ever
\x20  7  p0  5   flag[1] = true
\x20  8  p1  10  flag[0] = false   -> inside
\x20  9  p1  3   flag[1] := false
\x20 10  p1  5   flag[0] = false   -> out
\x20 11  p1  8   flag[1] := true
\x20 12  p1  9   victim := 1
";

/// Peterson polite waits in its exit.
const BOUNDED_EXIT_FAILS: &str = "\
bounded-exit FAILS in 5 steps, and stays so: process 0 can take steps in `exit` for ever
\x20  1  p0  8   flag[0] := true
\x20  2  p0  9   victim := 0
\x20  3  p0  10  flag[1] = false   -> inside
\x20  4  p0  3   flag[0] := false
\x20  5  p1  8   flag[1] := true
\x20 then for ever
\x20  6  p0  5   flag[1] = true
";
