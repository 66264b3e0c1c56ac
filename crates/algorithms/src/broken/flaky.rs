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
//! Departures: the text defines no doorway; ours is the first write. Both loops go back to line 8, so here they are
//! one.
//!
//! Guarantees: mutual exclusion. Fails: deadlock-freedom; who sets `busy` and then finds that the turn is another's
//! goes back to wait for `busy` to fall, and so does that other one. Nobody inside is left to lower it.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    LocalSpin,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "flaky",
    title: "the Flaky lock",
    source: "Herlihy & Shavit, Fig. 2.16",
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[Holds(Exclusion), Fails(DeadlockFreedom), Fails(StarvationFreedom), Holds(BoundedExit)],
    remark: "two registers for any number of processes: too few, by the theorem of the same chapter",
    ..About::LOCK
};

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

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("8").write(&self.turn, p)?;
        m.at("8").fence() // or one sees its own turn on line 11, and nobody else does
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.spin(|m| {
            if m.at("9").test(&self.busy, |busy| !busy)? {
                m.at("10").write(&self.busy, true)?;
                m.at("10").fence()?; // or one whose turn has just been taken enters, and the other does not see `busy`
                if m.at("11").test(&self.turn, |turn| turn == p)? {
                    return Ok(true);
                }
            }
            m.at("8").write(&self.turn, p)?;
            m.at("8").fence()?; // as the first time
            Ok(false)
        })
    }

    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("14").write(&self.busy, false)
    }
}
