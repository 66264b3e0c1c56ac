//! The CLH queue lock. After T. S. Craig, *Building FIFO and priority-queuing spin locks from atomic swap*, University of
//! Washington TR 93-02-02, 1993; P. Magnusson, A. Landin, E. Hagersten, *Queue locks on cache coherent multiprocessors*,
//! IPPS 1994.
//!
//! ```text
//!     initially node[p] = p, tail = N, and locked[N] is false:
//!  1  mine := node[p]
//!  2  locked[mine] := true
//!  3  pred := swap(tail, mine)                               (doorway ends)
//!  4  await not locked[pred]
//!     critical section
//!  5  locked[mine] := false
//!  6  node[p] := pred
//! ```
//!
//! The texts of the papers were not available; this is the usual presentation, with line numbers of this project.
//!
//! Departures: a queue node is a number, and `node[p]` is a register at home at process p, so that the node which a
//! process takes over from its predecessor is kept between passages.
//!
//! Guarantees: mutual exclusion, starvation-freedom, first-come-first-served, bounded exit. With caches, every waiter
//! spins on a cached copy of its predecessor's node, which no other process waits on.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Remote, Size,
    claim::{bypass, holds},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "clh",
    aliases: &["craig", "landin-hagersten"],
    title: "the CLH queue lock",
    source: "after Craig 1993; Landin & Hagersten 1994",
    primitives: &["read", "write", "swap"],
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(Fcfs),
        bypass(Some(0)),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso],
    remark: "a waiter spins on the node of its predecessor, so no process waits in its exit",
    remote: Some(Remote { cc: "O(1)", dsm: "∞" }),
    pinned: &[
        at(2).finds(288),
        at(3).finds(11_760),
        at(4).finds(737_280),
        at(3).under(&[Tso]).finds(169_632).fences(0),
        at(3).remote(Some(7), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Clh<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> Clh<M> {
    Clh::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct Clh<M: Memory> {
    tail: M::Reg<usize>,
    /// The node that each process enqueues next.
    node: Vec<M::Reg<usize>>,
    /// One node for each process, and the one that a free lock starts with.
    locked: Vec<M::Reg<bool>>,
}

impl<M: Memory> Clh<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        Clh {
            tail: space.shared("tail", n),
            node: (0..n).map(|p| space.register(Name::new("node").index(p), Home::Of(p), p)).collect(),
            locked: space.array("locked", n + 1, false),
        }
    }
}

impl<M: Memory> Exclusion<M> for Clh<M> {
    /// The caller's node and its predecessor's.
    type Place = (usize, usize);
    type Inside = (usize, usize);

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(usize, usize), M::Halt> {
        let mine = m.at("1").read(&self.node[p])?;
        m.at("2").write(&self.locked[mine], true)?;
        let pred = m.at("3").swap(&self.tail, mine)?;
        Ok((mine, pred))
    }

    fn wait(&self, m: &mut M, _: Pid, &(mine, pred): &(usize, usize)) -> Result<(usize, usize), M::Halt> {
        m.at("4").until(&self.locked[pred], |locked| !locked)?;
        Ok((mine, pred))
    }

    fn exit(&self, m: &mut M, p: Pid, &(mine, pred): &(usize, usize)) -> Result<(), M::Halt> {
        m.at("5").write(&self.locked[mine], false)?;
        m.at("6").write(&self.node[p], pred)
    }
}
