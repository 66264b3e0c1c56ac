//! A tree of Peterson locks. M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor Programming*,
//! 2nd ed., Exercise 2.6.
//!
//! ```text
//!     for each node x from i's leaf to the root, s the side that i comes from:
//!  8      flag[x][s] := true
//!  9      victim[x] := s                                     (doorway ends, for the leaf's node)
//! 10      while flag[x][1-s] and victim[x] = s do nothing
//!     critical section
//!     for each node x from the root to i's leaf:
//! 14      flag[x][s] := false
//! ```
//!
//! The lines are those of Peterson's lock, Figure 2.6.
//!
//! Departures: the text assumes that n is a power of two; here it is any n. Node x has the children 2x and 2x+1, the
//! root is 1 and process i is the leaf n+i: so every node has two children for any n, and the leaves are on the
//! lowest two levels. The text defines no doorway; here it is the two writes at the lowest node.
//!
//! Guarantees: mutual exclusion, starvation-freedom, bounded exit. Not first-come-first-served: from three processes
//! on, a process that is slow in the lower nodes can be overtaken any number of times.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use super::peterson::Peterson;
use crate::{
    About,
    Condition::Tso,
    LocalSpin, Size,
    claim::{bypass, holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "peterson-tree",
    title: "a tree of Peterson locks",
    source: "Herlihy & Shavit, Ex. 2.6",
    default_n: 4,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        lacks(Fcfs),
        bypass(None),
        holds(BoundedExit),
    ],
    tolerates: &[Tso],
    remark: "for two processes it is `peterson`, and equally fair",
    pinned: &[
        at(3).finds(480),
        at(4).finds(7_680),
        at(5).finds(103_680),
        at(4).under(&[Tso]).finds(93_528).fences(1),
        at(4).remote(Some(12), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = PetersonTree<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> PetersonTree<M> {
    PetersonTree::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct PetersonTree<M: Memory> {
    n: usize,
    /// Node x is at index x-1.
    nodes: Vec<Peterson<M>>,
}

impl<M: Memory> PetersonTree<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        PetersonTree { n, nodes: (1..n).map(|node| Peterson::one_of_many(space, node)).collect() }
    }

    /// The lock above position `x`, and which side of it `x` is.
    fn above(&self, x: usize) -> (&Peterson<M>, Pid) {
        (&self.nodes[x / 2 - 1], x % 2)
    }
}

impl<M: Memory> Exclusion<M> for PetersonTree<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        let (lock, side) = self.above(self.n + p);
        lock.doorway(m, side)
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns(self.n + p, |m, x| {
            let (lock, side) = self.above(x);
            lock.wait(m, side, &())?;
            let won = x / 2;
            if won == 1 {
                return Ok(Break(()));
            }
            let (lock, side) = self.above(won);
            lock.doorway(m, side)?;
            Ok(Continue(won))
        })
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        let leaf = self.n + p;
        let depth = leaf.ilog2() as usize;
        m.fold(depth, (), |m, (), down| {
            let (lock, side) = self.above(leaf >> (depth - 1 - down));
            lock.exit(m, side, &())
        })
    }
}
