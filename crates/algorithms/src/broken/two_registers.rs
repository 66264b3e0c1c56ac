//! Two registers for any number of processes: correct for two, and too few for three. This project's own, as a
//! companion to M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed.,
//! section 2.9.
//!
//! ```text
//!  1  start: if x = ⊥: x := i
//!  2  if y = ⊥: y := i                                       (doorway ends, the first time)
//!  3  if x = i:
//!  4      if y = i: go to the critical section
//!  5      if y < i: x := ⊥, await y = ⊥
//!  6  else if y = i:
//!  7      if x < i: y := ⊥, await x = ⊥
//!     go to start
//!     critical section
//!  8  x := ⊥
//!  9  y := ⊥
//! ```
//!
//! A process enters when both registers have its number; if two processes have one register each, the one with the
//! larger number gives its register up. ⊥ < i is false.
//!
//! Guarantees: bounded exit; for two processes also mutual exclusion and deadlock-freedom. The other process may be
//! about to overwrite one register, having read it free, but the holder's number is in the second too. Fails from
//! three processes on: mutual exclusion. Two others may be about to overwrite both, which is why Theorem 2.9.4
//! requires three registers for three processes; `doorway cover two-registers` shows it. Deadlock-freedom fails as
//! well: a process that has one register can give it up, again and again, to a process that then gives up its own.
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    Size, Survey,
    claim::{fails, holds},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "two-registers",
    title: "two registers",
    source: "this project; see Herlihy & Shavit, section 2.9",
    survey: Survey::Passages(1), // with store buffers there are too many states for all passages
    claims: &[fails(Exclusion), fails(DeadlockFreedom), holds(BoundedExit)],
    tolerates: &[Tso],
    defect: "for three processes two registers are too few: it does not exclude",
    remark: "correct for two processes",
    pinned: &[
        at(3).finds(42_419),
        at(3).under(&[Tso]).finds(364_921).fences(0),
        at(3).refutes(Exclusion, COUNTEREXAMPLE),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = TwoRegisters<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, _: Size) -> TwoRegisters<M> {
    TwoRegisters::new(space)
}

/// The lock; see the [module](self).
pub struct TwoRegisters<M: Memory> {
    x: M::Reg<Option<usize>>,
    y: M::Reg<Option<usize>>,
}

impl<M: Memory> TwoRegisters<M> {
    /// A free lock.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        TwoRegisters { x: space.shared("x", None), y: space.shared("y", None) }
    }

    /// Lines 1 and 2: takes the free registers.
    fn claim(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        if m.at("1").test(&self.x, |x| x.is_none())? {
            m.at("1").write(&self.x, Some(i))?;
        }
        if m.at("2").test(&self.y, |y| y.is_none())? {
            m.at("2").write(&self.y, Some(i))?;
        }
        Ok(())
    }

    /// Lines 3 to 7: whether the process has entered.
    fn attempt(&self, m: &mut M, i: Pid) -> Result<bool, M::Halt> {
        if m.at("3").test(&self.x, |x| x == Some(i))? {
            if m.at("4").test(&self.y, |y| y == Some(i))? {
                return Ok(true);
            }
            if m.at("5").test(&self.y, |y| y.is_some_and(|j| j < i))? {
                m.at("5").write(&self.x, None)?;
                m.at("5").until(&self.y, |y| y.is_none())?;
            }
        } else if m.at("6").test(&self.y, |y| y == Some(i))? && m.at("7").test(&self.x, |x| x.is_some_and(|j| j < i))? {
            m.at("7").write(&self.y, None)?;
            m.at("7").until(&self.x, |x| x.is_none())?;
        }
        Ok(false)
    }
}

impl<M: Memory> Exclusion<M> for TwoRegisters<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        self.claim(m, i)
    }

    fn wait(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns((), |m, ()| {
            if self.attempt(m, i)? {
                return Ok(Break(()));
            }
            self.claim(m, i)?;
            Ok(Continue(()))
        })
    }

    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("8").write(&self.x, None)?;
        m.at("9").write(&self.y, None)
    }
}

/// Two registers can be overwritten by two.
const COUNTEREXAMPLE: &str = "\
exclusion FAILS in 19 steps
\x20  1  p0  1  x = ⊥
\x20  2  p1  1  x = ⊥
\x20  3  p0  1  x := 0
\x20  4  p0  2  y = ⊥
\x20  5  p2  1  x = 0
\x20  6  p2  2  y = ⊥
\x20  7  p0  2  y := 0
\x20  8  p0  3  x = 0
\x20  9  p0  4  y = 0   -> inside
\x20 10  p1  1  x := 1
\x20 11  p2  2  y := 2
\x20 12  p2  3  x = 1
\x20 13  p2  6  y = 2
\x20 14  p2  7  x = 1
\x20 15  p2  7  y := ⊥
\x20 16  p1  2  y = ⊥
\x20 17  p1  2  y := 1
\x20 18  p1  3  x = 1
\x20 19  p1  4  y = 1   -> inside
";
