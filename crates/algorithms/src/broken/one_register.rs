//! Fischer's lock without its delay: one register, which is too few for two processes. After M. Fischer, as reported
//! in L. Lamport, ACM TOCS 5(1), 1987; here as a companion to M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art
//! of Multiprocessor Programming*, 2nd ed., section 2.9.
//!
//! ```text
//!  1  start: await x = ⊥
//!  2  x := i
//!     (here Fischer waits until every process that read ⊥ on line 1 has written)
//!  3  if x ≠ i: go to start
//!     critical section
//!  4  x := ⊥
//! ```
//!
//! The text of the paper was not available; the line numbers are this project's.
//!
//! Departures: no doorway is defined; here it is empty.
//!
//! Guarantees: deadlock-freedom, bounded exit. Fails: mutual exclusion. A process that has read `x` = ⊥ can write it
//! while there is a holder. `doorway cover one-register` turns this into the covering argument: any value in the only
//! register can be overwritten.
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    Size,
    claim::{fails, holds},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "one-register",
    title: "Fischer's lock without its delay",
    source: "after Fischer, in Lamport 1987",
    default_n: 2,
    claims: &[fails(Exclusion), holds(DeadlockFreedom), holds(BoundedExit)],
    tolerates: &[Tso],
    defect: "without the delay it does not exclude",
    remark: "with the delay it is correct, but depends on timing",
    pinned: &[
        at(2).finds(36),
        at(3).finds(248),
        at(2).under(&[Tso]).finds(7_728).fences(0),
        at(2).refutes(Exclusion, COUNTEREXAMPLE),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = OneRegister<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, _: Size) -> OneRegister<M> {
    OneRegister::new(space)
}

/// The lock; see the [module](self).
pub struct OneRegister<M: Memory> {
    x: M::Reg<Option<usize>>,
}

impl<M: Memory> OneRegister<M> {
    /// A free lock.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        OneRegister { x: space.shared("x", None) }
    }
}

impl<M: Memory> Exclusion<M> for OneRegister<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
        Ok(())
    }

    fn wait(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns((), |m, ()| {
            m.at("1").until(&self.x, |x| x.is_none())?;
            m.at("2").write(&self.x, Some(i))?;
            Ok(if m.at("3").test(&self.x, |x| x == Some(i))? { Break(()) } else { Continue(()) })
        })
    }

    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("4").write(&self.x, None)
    }
}

/// One register can be overwritten.
const COUNTEREXAMPLE: &str = "\
exclusion FAILS in 6 steps
\x20  1  p0  1  x = ⊥
\x20  2  p1  1  x = ⊥
\x20  3  p0  2  x := 0
\x20  4  p0  3  x = 0   -> inside
\x20  5  p1  2  x := 1
\x20  6  p1  3  x = 1   -> inside
";
