//! Fischer's lock without its delay: one register, which is too few for two processes. After M. Fischer, as told in L.
//! Lamport, ACM TOCS 5(1), 1987; here to go with M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of
//! Multiprocessor Programming*, 2nd ed., section 2.9.
//!
//! ```text
//!  1  start: await x = ⊥
//!  2  x := i
//!     (here Fischer waits until everyone who saw ⊥ on line 1 has written)
//!  3  if x ≠ i: go to start
//!     critical section
//!  4  x := ⊥
//! ```
//!
//! We did not have the text of the paper; the line numbers are ours.
//!
//! Departures: no doorway is defined; ours is empty.
//!
//! Guarantees: deadlock-freedom, bounded exit. Fails: mutual exclusion; one who has seen `x` = ⊥ can write it when another
//! is inside already. `doorway cover one-register` makes of this the covering argument: whatever is written into the only
//! register can be overwritten.
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "one-register",
    title: "Fischer's lock without its delay",
    source: "after Fischer, in Lamport 1987",
    default_n: 2,
    claims: &[Fails(Exclusion), Holds(DeadlockFreedom), Holds(BoundedExit)],
    remark: "with the delay it is right, and relies on time",
    ..About::LOCK
};

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
