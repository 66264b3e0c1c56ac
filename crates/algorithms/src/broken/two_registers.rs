//! Two registers for any number of processes: correct for two, and too few for three. Ours, to go with M. Herlihy, N.
//! Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed., section 2.9.
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
//! Who has its name in both registers is inside; if two have one each, the larger gives way. ⊥ < i is false.
//!
//! Guarantees: bounded exit; for two processes also mutual exclusion and deadlock-freedom. The other process may be about
//! to overwrite one register, having seen it free, but one's name is in the second too. From three processes on fails:
//! mutual exclusion. Two others may be about to overwrite both, which is why Theorem 2.9.4 wants three registers for
//! three; `doorway cover two-registers` shows it. Deadlock-freedom is lost as well: who has one register can give way for
//! ever to one who then gives way to another.
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    Survey,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "two-registers",
    title: "two registers",
    source: "ours; see Herlihy & Shavit, section 2.9",
    survey: Survey::Passages(1), // with store buffers all would be too many
    claims: &[Fails(Exclusion), Fails(DeadlockFreedom), Holds(BoundedExit)],
    remark: "two processes it keeps apart",
    ..About::LOCK
};

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

    /// Lines 1 and 2: takes what is free.
    fn claim(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        if m.at("1").test(&self.x, |x| x.is_none())? {
            m.at("1").write(&self.x, Some(i))?;
        }
        if m.at("2").test(&self.y, |y| y.is_none())? {
            m.at("2").write(&self.y, Some(i))?;
        }
        Ok(())
    }

    /// Lines 3 to 7: whether we are in.
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
