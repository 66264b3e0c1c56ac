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
//! Departures: the text defines no doorway; here it is the first write.
//!
//! Guarantees: mutual exclusion. Fails: deadlock-freedom. Two processes in lockstep raise their flags, see each
//! other's, lower them, see them lowered, and start again. Neither is ever stuck, and neither ever enters.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

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
    name: "livelock",
    title: "Livelock",
    source: "Herlihy & Shavit, Fig. 2.7",
    processes: Processes::Exactly(2),
    default_n: 2,
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[holds(Exclusion), fails(DeadlockFreedom), fails(StarvationFreedom), holds(BoundedExit)],
    tolerates: &[Tso],
    defect: "two processes in lockstep give way to each other for ever",
    pinned: &[
        at(2).finds(33),
        at(2).under(&[Tso]).finds(160).fences(2),
        at(2).needs_fences(),
        at(2).refutes(DeadlockFreedom, COUNTEREXAMPLE),
        at(2).remote(None, None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Livelock<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, _: Size) -> Livelock<M> {
    Livelock::new(space)
}

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
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("7").write(&self.flag[p], true)?;
        m.at("7").fence() // without it, both processes may pass line 8 before either flag is visible
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

/// Livelock lets both step back for ever.
const COUNTEREXAMPLE: &str = "\
deadlock-freedom FAILS in 2 steps, and stays so
\x20  1  p0  7   flag[0] := true
\x20  2  p1  7   flag[1] := true
\x20 then for ever
\x20  3  p0  8   flag[1] = true
\x20  4  p1  8   flag[0] = true
\x20  5  p0  9   flag[0] := false
\x20  6  p1  9   flag[1] := false
\x20  7  p0  10  flag[1] = false
\x20  8  p1  10  flag[0] = false
\x20  9  p0  11  flag[0] := true
\x20 10  p1  11  flag[1] := true
";
