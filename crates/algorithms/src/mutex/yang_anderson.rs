//! Yang and Anderson's tournament. After J.-H. Yang and J. H. Anderson, *A fast, scalable mutual exclusion algorithm*,
//! Distributed Computing 9(1), 1995.
//!
//! ```text
//!     for each node x from p's leaf to the root, s the side we come from:
//!  1      C[x][s] := p
//!  2      T[x] := p
//!  3      P[x][p] := 0                                       (doorway ends, for the leaf's node)
//!  4      r := C[x][1-s]
//!         if r = ⊥: x is won
//!  5      if T[x] ≠ p: x is won
//!  6      if P[x][r] = 0:
//!  7          P[x][r] := 1
//!  8      await P[x][p] >= 1
//!  9      if T[x] = p: await P[x][p] = 2
//!     critical section
//!     for each node x from the root to p's leaf:
//! 10      C[x][s] := ⊥
//! 11      r := T[x]
//! 12      if r ≠ p: P[x][r] := 2
//!     to give up, for each node x from the root to p's leaf for which C[x][s] = p:
//! 10      C[x][s] := ⊥
//! 13      r := C[x][1-s]
//! 14      if r ≠ ⊥: P[x][r] := 2
//! ```
//!
//! We did not have the text of the paper; the line numbers are ours. The lines are those of
//! [`two_process`](crate::parts::two_process).
//!
//! Departures: any n, not only powers of two. Node x has the children 2x and 2x+1, the root is 1 and process i is the
//! leaf n+i: so every node has two children whatever n is, and the leaves are on the lowest two levels. Our doorway is
//! what is written at the lowest node. Giving up is after R. Danek and H. Lee, DISC 2008, whose text we did not have either.
//!
//! Guarantees: mutual exclusion, starvation-freedom, bounded exit, also if processes give up. Whoever waits reads a cell of
//! its own, so a passage makes O(log n) remote references, even without caches.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Abandons, Holds},
    LocalSpin, Remote,
    parts::two_process::{Lock2, Stage},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "yang-anderson",
    aliases: &["yang-anderson1995"],
    title: "Yang and Anderson's tournament",
    source: "after Yang & Anderson 1995",
    local_spin: Some(LocalSpin::BOTH),
    claims: &[Holds(Exclusion), Holds(DeadlockFreedom), Holds(StarvationFreedom), Holds(BoundedExit), Abandons],
    remark: "everyone waits on a cell of its own",
    remote: Some(Remote::both("Θ(log N)")),
    ..About::LOCK
};

/// The node at the root.
pub(crate) const ROOT: usize = 1;

/// Where one is on the way up: the leaf or the last node that was won, and how far one is with the waiting above it.
pub(crate) type Reached = (usize, Stage);

/// The lock; see the [module](self).
pub struct YangAnderson<M: Memory> {
    n: usize,
    /// Node x is at x-1.
    nodes: Vec<Lock2<M>>,
}

impl<M: Memory> YangAnderson<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        Self::named(space, n, ["C", "T", "P"].map(Name::new))
    }

    /// A free lock with other names for C, T and P, each with room for two more indices.
    pub(crate) fn named(space: &mut impl Space<Mem = M>, n: usize, names: [Name; 3]) -> Self {
        let node = |x| Lock2::new(space, n, names.map(|name| name.index(x)));
        YangAnderson { n, nodes: (1..n).map(node).collect() }
    }

    /// One look at the lock above, and how far one is then: for who waits elsewhere too.
    pub(crate) fn look(&self, m: &mut M, p: Pid, (x, stage): Reached) -> Result<Reached, M::Halt> {
        let (lock, side) = self.above(x);
        let stage = lock.look(m, side, p, stage)?;
        if stage != Stage::Won {
            return Ok((x, stage));
        }
        let won = x / 2;
        if won != ROOT {
            let (lock, side) = self.above(won);
            lock.announce(m, side, p)?;
        }
        Ok((won, Stage::Announced))
    }

    /// Gives up, and gives back what was won on the way: the locks from the one above down.
    pub(crate) fn withdraw(&self, m: &mut M, p: Pid, (x, _): Reached) -> Result<(), M::Halt> {
        self.descend(m, p, x / 2, |m, lock, side| lock.withdraw(m, side))
    }

    /// Goes from node `x` down to p's leaf, with what is to be done at each lock, and p's side of it.
    fn descend(
        &self,
        m: &mut M,
        p: Pid,
        x: usize,
        each: impl Fn(&mut M, &Lock2<M>, usize) -> Result<(), M::Halt>,
    ) -> Result<(), M::Halt> {
        let leaf = self.n + p;
        let depth = (leaf.ilog2() - x.ilog2()) as usize;
        m.fold(depth, (), |m, (), down| {
            let (lock, side) = self.above(leaf >> (depth - 1 - down));
            each(m, lock, side)
        })
    }

    /// The lock above position `x`, and which side of it `x` is.
    fn above(&self, x: usize) -> (&Lock2<M>, usize) {
        (&self.nodes[x / 2 - 1], x % 2)
    }
}

impl<M: Memory> Exclusion<M> for YangAnderson<M> {
    type Place = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        let (lock, side) = self.above(self.n + p);
        lock.announce(m, side, p)
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns(self.n + p, |m, x| {
            let (lock, side) = self.above(x);
            lock.wait(m, side, p)?;
            let won = x / 2;
            if won == ROOT {
                return Ok(Break(()));
            }
            let (lock, side) = self.above(won);
            lock.announce(m, side, p)?;
            Ok(Continue(won))
        })
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.descend(m, p, ROOT, |m, lock, side| lock.unlock(m, side, p))
    }

    const ABANDONABLE: bool = true;

    /// How far up one was is not known any more; but where one has been, C says so.
    fn abandon(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.descend(m, p, ROOT, |m, lock, side| if lock.has(m, side, p)? { lock.withdraw(m, side) } else { Ok(()) })
    }
}
