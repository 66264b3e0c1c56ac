//! Danek and Golab's fair lock without dummies. R. Danek and W. Golab, *Closing the complexity gap between FCFS mutual
//! exclusion and mutual exclusion*, section 3: the race that lines 8-9 prevent.
//!
//! ```text
//! 3-7, 10-23  of `danek-golab`
//! ```
//!
//! Departures: those of `danek-golab-simple`, whose code this is but for a set that never knows of another.
//!
//! Guarantees: mutual exclusion, bounded exit. Fails: first-come-first-served. One that has its ticket and is not yet in
//! the queue is not seen there by one that comes later. The conditions of the ticket dispenser follow from
//! first-come-first-served, so they fail too, and its tickets mean little after some time.
use doorway_memory::{Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    Survey,
    mutex::{danek_golab::DanekGolab, danek_golab_simple},
    parts::{
        special_set::{SpecialSet, StaticSet},
        test_and_set::TestAndSet,
    },
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "danek-golab-no-dummy",
    title: "Danek and Golab's fair lock without dummies",
    source: "Danek & Golab, section 3",
    survey: Survey::Passages(1),
    claims: &[Holds(Exclusion), Fails(Fcfs), Holds(BoundedExit), Holds(WaitFreeDoorway)],
    remark: "without FCFS, what the ticket dispenser asks for is not kept either: its tickets mean little after some time",
    departures: "",
    ..danek_golab_simple::ABOUT
};

/// The lock for `n` processes.
pub fn danek_golab<M: Memory>(
    space: &mut impl Space<Mem = M>,
    n: usize,
) -> DanekGolab<M, TestAndSet<M>, Forgetful<StaticSet<M>>> {
    let set = Forgetful(StaticSet::new(space, n));
    let lock = TestAndSet::new(space);
    DanekGolab::new(space, n, lock, set)
}

/// A set whose answers are thrown away.
pub struct Forgetful<S>(S);

impl<M: Memory, S: SpecialSet<M>> SpecialSet<M> for Forgetful<S> {
    fn insert_self(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        self.0.insert_self(m, p)
    }

    fn remove_self(&self, m: &mut M, p: Pid) -> Result<Option<Pid>, M::Halt> {
        self.0.remove_self(m, p)?;
        Ok(None)
    }
}
