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
//! Departures: line 17 does not read `flag[i]`, which only process i writes: it is up unless line 12 was just executed.
//! The text defines no doorway; here it is the first write.
//!
//! Guarantees: mutual exclusion and deadlock-freedom with the fewest possible bits, and bounded exit. Not
//! starvation-freedom: a process gives precedence to every process with a lower number. Only process 0 never does.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Size,
    claim::{holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "one-bit",
    aliases: &["lamport1986"],
    title: "the one-bit algorithm",
    source: "Herlihy & Shavit, Fig. 2.21",
    default_n: 4,
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[holds(Exclusion), holds(DeadlockFreedom), lacks(StarvationFreedom), holds(BoundedExit)],
    tolerates: &[Tso],
    remark: "every process except 0 can starve",
    pinned: &[
        at(2).finds(17),
        at(4).finds(2_828),
        at(6).finds(971_615).takes("5 s"),
        at(4).under(&[Tso]).finds(26_421).fences(2),
        at(3).needs_fences(),
        at(2).refutes(StarvationFreedom, COUNTEREXAMPLE),
        at(4).remote(None, None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = OneBit<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> OneBit<M> {
    OneBit::new(space, size.n)
}

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
    type Inside = ();

    fn doorway(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        m.at("9").write(&self.flag[i], true)?;
        m.at("9").fence() // without it, two processes may both pass lines 11 and 19 before either flag is visible
    }

    fn wait(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns((), |m, ()| {
            let no_lower_flag_up = m.all(i, |m, j| {
                if m.at("11").test(&self.flag[j], |up| !up)? {
                    return Ok(true);
                }
                m.at("12").write(&self.flag[i], false)?;
                m.at("13").until(&self.flag[j], |up| !up)?;
                Ok(false)
            })?;
            if no_lower_flag_up {
                return Ok(Break(()));
            }
            m.at("9").write(&self.flag[i], true)?;
            m.at("9").fence()?; // as in the doorway
            Ok(Continue(()))
        })?;
        let higher = i + 1;
        m.fold(self.flag.len() - higher, (), |m, (), j| m.at("19").until(&self.flag[higher + j], |up| !up))
    }

    fn exit(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("23").write(&self.flag[i], false)
    }
}

/// One bit starves process 1.
const COUNTEREXAMPLE: &str = "\
starvation-freedom FAILS in 1 step, and stays so (for process 1): process 1 never enters
\x20  1  p1  9   flag[1] := true
\x20 then for ever
\x20  2  p0  9   flag[0] := true
\x20  3  p1  11  flag[0] = true
\x20  4  p1  12  flag[1] := false
\x20  5  p0  19  flag[1] = false   -> inside
\x20  6  p0  23  flag[0] := false  -> out
\x20  7  p1  13  flag[0] = false
\x20  8  p1  9   flag[1] := true
";
