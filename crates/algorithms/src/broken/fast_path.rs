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
//! Departures: the text defines no doorway; here it is the first write. The -1 of `y` is ⊥.
//!
//! Guarantees: none. Fails: mutual exclusion. A process on the fast path does not hold the slow lock, so a process that
//! read `y` = -1 earlier can still enter through the slow lock.
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
    name: "fast-path",
    title: "the fast path over Peterson's lock",
    source: "Herlihy & Shavit, Fig. 2.18",
    processes: Processes::Exactly(2),
    default_n: 2,
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[fails(Exclusion), holds(BoundedExit)],
    tolerates: &[Tso],
    defect: "one process enters on the fast path and another on the slow path",
    remark: "`lamport-fast` is a correct fast path",
    pinned: &[
        at(2).finds(348),
        at(2).under(&[Tso]).finds(76_328).fences(1),
        at(2).refutes(Exclusion, COUNTEREXAMPLE),
        at(2).remote(None, None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = FastPath<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, _: Size) -> FastPath<M> {
    FastPath::new(space)
}

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
    type Inside = ();

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

/// Fast path admits one on the fast and one on the slow path.
const COUNTEREXAMPLE: &str = "\
exclusion FAILS in 11 steps
\x20  1  p0  6   x := 0
\x20  2  p0  7   y = ⊥
\x20  3  p1  6   x := 1
\x20  4  p1  7   y = ⊥
\x20  5  p0  8   y := 0
\x20  6  p0  9   x = 1
\x20  7  p0  8   flag[0] := true
\x20  8  p0  9   victim := 0
\x20  9  p0  10  flag[1] = false  -> inside
\x20 10  p1  8   y := 1
\x20 11  p1  9   x = 1            -> inside
";
