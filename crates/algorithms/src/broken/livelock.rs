//! Livelock. M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed., Figure
//! 2.7.
//!
//! ```text
//!  7  flag[i] := true                                        (doorway)
//!  8  while flag[j]:                                         j = 1 - i
//!  9      flag[i] := false
//! 10      while flag[j] do nothing
//! 11      flag[i] := true
//!     critical section
//! 16  flag[i] := false
//! ```
//!
//! Departures: the text defines no doorway; ours is the first write.
//!
//! Guarantees: mutual exclusion. Fails: deadlock-freedom; two processes in step raise their flags, see each other,
//! lower them, see each other gone, and begin again. Nobody is ever stuck, and nobody ever enters.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    LocalSpin, Processes,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "livelock",
    title: "Livelock",
    source: "Herlihy & Shavit, Fig. 2.7",
    processes: Processes::Exactly(2),
    default_n: 2,
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[Holds(Exclusion), Fails(DeadlockFreedom), Fails(StarvationFreedom), Holds(BoundedExit)],
    remark: "two that are too polite to enter",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct Livelock<M: Memory> {
    flag: Vec<M::Reg<bool>>,
}

impl<M: Memory> Livelock<M> {
    /// A free lock for two processes.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        Livelock { flag: space.per_process("flag", 2, false) }
    }
}

impl<M: Memory> Exclusion<M> for Livelock<M> {
    type Place = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("7").write(&self.flag[p], true)?;
        m.at("7").fence() // or both look on line 8 before either can be seen
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns((), |m, ()| {
            if m.at("8").test(&self.flag[1 - p], |up| !up)? {
                return Ok(Break(()));
            }
            m.at("9").write(&self.flag[p], false)?;
            m.at("10").until(&self.flag[1 - p], |up| !up)?;
            m.at("11").write(&self.flag[p], true)?;
            m.at("11").fence()?; // as on line 7
            Ok(Continue(()))
        })
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("16").write(&self.flag[p], false)
    }
}
