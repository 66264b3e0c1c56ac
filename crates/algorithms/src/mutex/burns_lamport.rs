//! The one-bit algorithm as Burns has it. J. E. Burns, N. A. Lynch, *Bounds on shared memory for mutual exclusion*,
//! Information and Computation 107(2), 1993; L. Lamport found the variant `one-bit` independently (*The mutual exclusion
//! problem, part II*, JACM 33(2), 1986).
//!
//! ```text
//!  1  flag[i] := 0
//!  2  for each j < i: if flag[j] = 1: go to 1
//!  3  flag[i] := 1
//!  4  for each j < i: if flag[j] = 1: go to 1
//!  5  for each j > i: await flag[j] = 0
//!     critical section
//!  6  flag[i] := 0
//! ```
//!
//! The text of the paper was not available; this is the presentation of textbooks, with line numbers of this project.
//!
//! Departures: line 1 is executed only after line 4, since the flag is down otherwise; on line 2 a process waits
//! where it is, for the flag that is up. The text defines no doorway; here it is empty, since the first access may be
//! the start of a wait.
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
    name: "burns-lamport",
    aliases: &["burns1981"],
    title: "the one-bit algorithm, with a test before the flag goes up",
    source: "after Burns & Lynch 1993",
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[holds(Exclusion), holds(DeadlockFreedom), lacks(StarvationFreedom), holds(BoundedExit)],
    tolerates: &[Tso],
    remark: "every process except 0 can starve",
    pinned: &[
        at(2).finds(17),
        at(3).finds(179),
        at(4).finds(2_239),
        at(3).under(&[Tso]).finds(757).fences(1),
        at(2).needs_fences(),
        at(3).remote(None, None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = BurnsLamport<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> BurnsLamport<M> {
    BurnsLamport::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct BurnsLamport<M: Memory> {
    flag: Vec<M::Reg<bool>>,
}

impl<M: Memory> BurnsLamport<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        BurnsLamport { flag: space.per_process("flag", n, false) }
    }
}

impl<M: Memory> Exclusion<M> for BurnsLamport<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
        Ok(())
    }

    fn wait(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns((), |m, ()| {
            m.fold(i, (), |m, (), j| m.at("2").until(&self.flag[j], |up| !up))?;
            m.at("3").write(&self.flag[i], true)?;
            m.at("3").fence()?; // without it, two processes may both pass lines 4 and 5 before either flag is visible
            if m.all(i, |m, j| m.at("4").test(&self.flag[j], |up| !up))? {
                return Ok(Break(()));
            }
            m.at("1").write(&self.flag[i], false)?;
            Ok(Continue(()))
        })?;
        let higher = i + 1;
        m.fold(self.flag.len() - higher, (), |m, (), j| m.at("5").until(&self.flag[higher + j], |up| !up))
    }

    fn exit(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("6").write(&self.flag[i], false)
    }
}
