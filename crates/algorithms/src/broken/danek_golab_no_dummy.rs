//! Danek and Golab's fair lock without dummies. R. Danek and W. Golab, *Closing the complexity gap between FCFS mutual
//! exclusion and mutual exclusion*, section 3: the race that lines 8-9 prevent.
//!
//! ```text
//! 3-7, 10-23  of `danek-golab`
//! ```
//!
//! Departures: those of `danek-golab-simple`, whose code this is, with a set whose RemoveSelf always returns ⊥.
//!
//! Guarantees: mutual exclusion, bounded exit. Fails: first-come-first-served. A process that has a ticket but no
//! entry in the queue is not noticed by a later arrival. The conditions of the ticket dispenser follow from
//! first-come-first-served, so they fail too, and after some time the order of tickets is meaningless.
use doorway_memory::{Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    Size, Survey,
    blocks::test_and_set::TestAndSet,
    claim::{fails, holds},
    mutex::{danek_golab::DanekGolab, danek_golab_simple},
    parts::special_set::{SpecialSet, StaticSet},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "danek-golab-no-dummy",
    title: "Danek and Golab's fair lock without dummies",
    source: "Danek & Golab, section 3",
    survey: Survey::Passages(1),
    claims: &[holds(Exclusion), fails(Fcfs), holds(BoundedExit), holds(WaitFreeDoorway)],
    tolerates: &[Tso],
    defect: "a process that has a ticket but no entry in the queue is overtaken",
    remark: "without FCFS the ticket dispenser's conditions fail too, and in time its tickets lose their order",
    departures: "",
    pinned: &[at(2).finds(1_214), at(2).under(&[Tso]).finds(6_236).fences(2), at(2).refutes(Fcfs, COUNTEREXAMPLE)],
    ..danek_golab_simple::ABOUT
};

/// The lock's type.
pub type Lock<M> = DanekGolab<M, TestAndSet<M>, Forgetful<StaticSet<M>>>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, .. }: Size) -> Lock<M> {
    let set = Forgetful(StaticSet::new(space, n));
    let lock = TestAndSet::new(space);
    DanekGolab::new(space, n, lock, set)
}

/// A set that discards its answers.
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

/// Danek golab without dummies allows overtaking in 30 steps.
const COUNTEREXAMPLE: &str = "\
fcfs FAILS in 30 steps: process 1 starts the doorway after process 0 has completed it, and enters first
\x20  1  p0  25   MyNode[0] := 1
\x20  2  p0  29   NodeVal[1] := 0
\x20  3  p0  45   lastTicket = 13
\x20  4  p0  47   Tickets[0] = FREE
\x20  5  p0  52   Tickets[13] = INUSE
\x20  6  p0  57   Tickets[0] := INUSE
\x20  7  p1  25   MyNode[1] := 2
\x20  8  p1  29   NodeVal[2] := 1
\x20  9  p1  45   lastTicket = 13
\x20 10  p1  47   Tickets[0] = INUSE
\x20 11  p1  47   Tickets[1] = FREE
\x20 12  p1  52   Tickets[0] = INUSE
\x20 13  p1  57   Tickets[1] := INUSE
\x20 14  p1  L    swap(lock, true) = false
\x20 15  p1  6    Head[1] := false
\x20 16  p1  35   NodeVal[1] = 0
\x20 17  p1  36   MyNode[0] = 1
\x20 18  p1  29   NodeVal[1] := 0
\x20 19  p1  38   MyNode[1] := ⊥
\x20 20  p1  q5   Pos[1] = ⊥
\x20 21  p1  q1   Pos[1] = ⊥
\x20 22  p1  q2   Size = 0
\x20 23  p1  q2   Size := 1
\x20 24  p1  q4   Heap[0] := (1, 1)
\x20 25  p1  q4   Pos[1] := 0
\x20 26  p1  q10  Heap[0] = (1, 1)
\x20 27  p1  13   Head[1] := true
\x20 28  p1  U    lock := false
\x20 29  p1  15   Head[1] = true
\x20 30  p1  L    swap(lock, true) = false  -> inside
";
