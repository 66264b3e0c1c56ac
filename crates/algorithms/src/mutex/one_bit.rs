//! The one-bit algorithm. J. E. Burns and L. Lamport, independently; here as in M. Herlihy, N. Shavit, V. Luchangco, M.
//! Spear, *The Art of Multiprocessor Programming*, 2nd ed., Figure 2.21.
//!
//! ```text
//!  8  do
//!  9      flag[i] := true                                    (doorway, the first time)
//! 10      for j := 0 to i-1:
//! 11          if flag[j]:
//! 12              flag[i] := false
//! 13              while flag[j] do nothing
//! 14              leave the for
//! 17  while not flag[i]
//! 18  for j := i+1 to n-1:
//! 19      while flag[j] do nothing
//!     critical section
//! 23  flag[i] := false
//! ```
//!
//! Departures: line 17 does not read `flag[i]`, which nobody else writes: it is up unless line 12 was just executed.
//! The text defines no doorway; ours is the first write.
//!
//! Guarantees: mutual exclusion and deadlock-freedom, with the fewest bits there can be, and bounded exit. Not
//! starvation-freedom: a process stands back for every lower one. Process 0 alone never does.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    LocalSpin,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "one-bit",
    aliases: &["burns-lamport"],
    title: "the one-bit algorithm",
    source: "Herlihy & Shavit, Fig. 2.21",
    default_n: 4,
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[Holds(Exclusion), Holds(DeadlockFreedom), Fails(StarvationFreedom), Holds(BoundedExit)],
    remark: "everyone can starve except process 0",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct OneBit<M: Memory> {
    flag: Vec<M::Reg<bool>>,
}

impl<M: Memory> OneBit<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        OneBit { flag: space.per_process("flag", n, false) }
    }
}

impl<M: Memory> Exclusion<M> for OneBit<M> {
    type Place = ();

    fn doorway(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        m.at("9").write(&self.flag[i], true)?;
        m.at("9").fence() // or two look on lines 11 and 19 before either can be seen
    }

    fn wait(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns((), |m, ()| {
            let nobody_lower = m.all(i, |m, j| {
                if m.at("11").test(&self.flag[j], |up| !up)? {
                    return Ok(true);
                }
                m.at("12").write(&self.flag[i], false)?;
                m.at("13").until(&self.flag[j], |up| !up)?;
                Ok(false)
            })?;
            if nobody_lower {
                return Ok(Break(()));
            }
            m.at("9").write(&self.flag[i], true)?;
            m.at("9").fence()?; // as the first time
            Ok(Continue(()))
        })?;
        let higher = i + 1;
        m.fold(self.flag.len() - higher, (), |m, (), j| m.at("19").until(&self.flag[higher + j], |up| !up))
    }

    fn exit(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("23").write(&self.flag[i], false)
    }
}
