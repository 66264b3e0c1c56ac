//! The Flaky lock. M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed.,
//! Figure 2.16 and Exercise 2.3.
//!
//! ```text
//!  6  do
//!  7      do
//!  8          turn := me                                     (doorway, the first time)
//!  9      while busy
//! 10      busy := true
//! 11  while turn ≠ me
//!     critical section
//! 14  busy := false
//! ```
//!
//! Departures: the text defines no doorway; here it is the first write. Both loops return to line 8, so the code has
//! one loop.
//!
//! Guarantees: mutual exclusion. Fails: deadlock-freedom. A process that sets `busy` and then finds another in `turn`
//! waits for `busy` to fall, and so does the other. There is no holder to lower it.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Size,
    claim::{fails, holds},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "flaky",
    title: "the Flaky lock",
    source: "Herlihy & Shavit, Fig. 2.16",
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[holds(Exclusion), fails(DeadlockFreedom), fails(StarvationFreedom), holds(BoundedExit)],
    tolerates: &[Tso],
    defect: "`busy` can stay set without a holder, and then all processes wait",
    remark: "two registers for any number of processes: too few, by the theorem of the same chapter",
    pinned: &[
        at(2).finds(98),
        at(3).finds(981),
        at(3).under(&[Tso]).finds(10_104).fences(3),
        at(3).needs_fences(),
        at(2).refutes(DeadlockFreedom, COUNTEREXAMPLE),
        at(3).remote(None, None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Flaky<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, _: Size) -> Flaky<M> {
    Flaky::new(space)
}

/// The lock; see the [module](self).
pub struct Flaky<M: Memory> {
    turn: M::Reg<usize>,
    busy: M::Reg<bool>,
}

impl<M: Memory> Flaky<M> {
    /// A free lock for any number of processes.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        Flaky { turn: space.shared("turn", 0), busy: space.shared("busy", false) }
    }
}

impl<M: Memory> Exclusion<M> for Flaky<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("8").write(&self.turn, p)?;
        m.at("8").fence() // without it, a process may read its own stale `turn` on line 11
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.spin(|m| {
            if m.at("9").test(&self.busy, |busy| !busy)? {
                m.at("10").write(&self.busy, true)?;
                // Without it, a process may read its own `turn` before `busy` is visible, and another one misses
                // `busy`.
                m.at("10").fence()?;
                if m.at("11").test(&self.turn, |turn| turn == p)? {
                    return Ok(true);
                }
            }
            m.at("8").write(&self.turn, p)?;
            m.at("8").fence()?; // as in the doorway
            Ok(false)
        })
    }

    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("14").write(&self.busy, false)
    }
}

/// Flaky can leave busy set without a holder.
const COUNTEREXAMPLE: &str = "\
deadlock-freedom FAILS in 6 steps, and stays so
\x20  1  p0  8   turn := 0
\x20  2  p0  9   busy = false
\x20  3  p0  10  busy := true
\x20  4  p1  8   turn := 1
\x20  5  p0  11  turn = 1
\x20  6  p0  8   turn := 0
\x20 then for ever
\x20  7  p0  9   busy = true
\x20  8  p1  9   busy = true
\x20  9  p1  8   turn := 1
\x20 10  p0  8   turn := 0
";
