//! Lamport's fast mutual exclusion. After L. Lamport, ACM TOCS 5(1), 1987.
//!
//! ```text
//!  1  start: b[i] := true
//!  2  x := i                                                 (doorway ends, the first time)
//!  3  if y ≠ 0:
//!  4      b[i] := false
//!  5      await y = 0
//!         go to start
//!  6  y := i
//!  7  if x ≠ i:
//!  8      b[i] := false
//!  9      for each j: await not b[j]
//! 10      if y ≠ i:
//! 11          await y = 0
//!             go to start
//!     critical section
//! 12  y := 0
//! 13  b[i] := false
//! ```
//!
//! The text of the paper was not available; this is the usual presentation, with line numbers of this project.
//!
//! Departures: processes are counted from 0 here, so the 0 of `y` is ⊥; `x`, initially arbitrary, is 0. Line 9 skips
//! `b[i]`, which line 8 has just lowered. The text defines no doorway; here it is the first two writes.
//!
//! Guarantees: mutual exclusion, deadlock-freedom, bounded exit; five writes and two reads in an uncontended passage.
//! Not starvation-freedom: a process that finds `y` taken every time starts again for ever.
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
    name: "lamport-fast",
    aliases: &["lamport1987"],
    title: "Lamport's fast mutual exclusion",
    source: "after Lamport 1987",
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[holds(Exclusion), holds(DeadlockFreedom), lacks(StarvationFreedom), lacks(Fcfs), holds(BoundedExit)],
    tolerates: &[Tso],
    remark: "seven accesses in an uncontended passage, for any number of processes",
    pinned: &[
        at(4).finds(465_876),
        at(3).finds(13_257),
        at(3).under(&[Tso]).finds(152_056).fences(2),
        at(3).needs_fences(),
        at(3).remote(None, None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = LamportFast<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> LamportFast<M> {
    LamportFast::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct LamportFast<M: Memory> {
    b: Vec<M::Reg<bool>>,
    x: M::Reg<usize>,
    y: M::Reg<Option<usize>>,
}

impl<M: Memory> LamportFast<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        LamportFast { b: space.per_process("b", n, false), x: space.shared("x", 0), y: space.shared("y", None) }
    }

    fn start(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        m.at("1").write(&self.b[i], true)?;
        m.at("2").write(&self.x, i)?;
        m.at("2").fence() // without it, a process that has seen `y` free on line 3 may miss `x` on line 7
    }

    /// Lines 3 to 11, once: whether the process has entered.
    fn attempt(&self, m: &mut M, i: Pid) -> Result<bool, M::Halt> {
        if m.at("3").test(&self.y, |y| y.is_some())? {
            m.at("4").write(&self.b[i], false)?;
            m.at("5").until(&self.y, |y| y.is_none())?;
            return Ok(false);
        }
        m.at("6").write(&self.y, Some(i))?;
        m.at("6").fence()?; // without it, a later arrival may miss `y` on line 3
        if m.at("7").test(&self.x, |x| x == i)? {
            return Ok(true);
        }
        m.at("8").write(&self.b[i], false)?;
        m.each_but(i, self.b.len(), |m, j| m.at("9").until(&self.b[j], |b| !b))?;
        if m.at("10").test(&self.y, |y| y == Some(i))? {
            return Ok(true);
        }
        m.at("11").until(&self.y, |y| y.is_none())?;
        Ok(false)
    }
}

impl<M: Memory> Exclusion<M> for LamportFast<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        self.start(m, i)
    }

    fn wait(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns((), |m, ()| {
            if self.attempt(m, i)? {
                return Ok(Break(()));
            }
            self.start(m, i)?;
            Ok(Continue(()))
        })
    }

    fn exit(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("12").write(&self.y, None)?;
        m.at("13").write(&self.b[i], false)
    }
}
