//! The fast path, here over Peterson's lock. M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor
//! Programming*, 2nd ed., Figure 2.18 and Exercise 2.8.
//!
//! ```text
//!  6  x := i                                                 (doorway)
//!  7  while y ≠ -1 do nothing
//!  8  y := i
//!  9  if x ≠ i:
//! 10      lock                                               lines 8-10 of Figure 2.6 on flag and victim
//!     critical section
//! 13  y := -1
//! 14  unlock                                                 line 14 of Figure 2.6
//! ```
//!
//! Departures: the text defines no doorway; ours is the first write. The -1 of `y` is ⊥.
//!
//! Guarantees: none. Fails: mutual exclusion; who takes the fast path does not hold the slow lock, so one that read `y`
//! = -1 before it can still come through the slow one.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    LocalSpin, Processes,
    mutex::peterson::Peterson,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "fast-path",
    title: "the fast path over Peterson's lock",
    source: "Herlihy & Shavit, Fig. 2.18",
    processes: Processes::Exactly(2),
    default_n: 2,
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[Fails(Exclusion), Holds(BoundedExit)],
    remark: "`lamport-fast` is how it is done",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct FastPath<M: Memory> {
    x: M::Reg<usize>,
    y: M::Reg<Option<usize>>,
    slow: Peterson<M>,
}

impl<M: Memory> FastPath<M> {
    /// A free lock for two processes.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        FastPath { x: space.shared("x", 0), y: space.shared("y", None), slow: Peterson::new(space) }
    }
}

impl<M: Memory> Exclusion<M> for FastPath<M> {
    type Place = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("6").write(&self.x, p)
    }

    fn wait(&self, m: &mut M, p: Pid, place: &()) -> Result<(), M::Halt> {
        m.at("7").until(&self.y, |y| y.is_none())?;
        m.at("8").write(&self.y, Some(p))?;
        if m.at("9").test(&self.x, |x| x == p)? {
            return Ok(());
        }
        self.slow.doorway(m, p)?; // 10
        self.slow.wait(m, p, place)
    }

    fn exit(&self, m: &mut M, p: Pid, place: &()) -> Result<(), M::Halt> {
        m.at("13").write(&self.y, None)?;
        self.slow.exit(m, p, place) // 14
    }
}
