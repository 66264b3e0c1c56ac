//! Yang and Anderson's tournament. After J.-H. Yang and J. H. Anderson, *A fast, scalable mutual exclusion algorithm*,
//! Distributed Computing 9(1), 1995.
//!
//! ```text
//!     for each node x from p's leaf to the root, s the side that p comes from:
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
//!     to abort, for each node x from the root to p's leaf for which C[x][s] = p:
//! 10      C[x][s] := ⊥
//! 13      r := C[x][1-s]
//! 14      if r ≠ ⊥: P[x][r] := 2
//! ```
//!
//! The text of the paper was not available; the line numbers are this project's. The lines are those of
//! [`two_process`](crate::blocks::two_process).
//!
//! Departures: any n, not only powers of two. Node x has the children 2x and 2x+1, the root is 1 and process i is the
//! leaf n+i: so every node has two children for any n, and the leaves are on the lowest two levels. The doorway is
//! the three writes at the lowest node. Aborting is after R. Danek and H. Lee, DISC 2008, whose text was not
//! available either.
//!
//! Guarantees: mutual exclusion, starvation-freedom, bounded exit, also if processes abort. A waiter spins on a cell
//! of its own, so a passage makes O(log n) remote memory references, even without caches.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Abort, Exclusion, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Condition::{Aborts, Tso},
    LocalSpin, Remote, Size,
    blocks::two_process::{Lock2, Stage},
    claim::holds,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "yang-anderson",
    aliases: &["yang-anderson1995"],
    title: "Yang and Anderson's tournament",
    source: "after Yang & Anderson 1995",
    local_spin: Some(LocalSpin::BOTH),
    claims: &[holds(Exclusion), holds(DeadlockFreedom), holds(StarvationFreedom), holds(BoundedExit)],
    tolerates: &[Tso, Aborts],
    remark: "every waiter spins on a cell of its own",
    remote: Some(Remote::both("Θ(log N)")),
    pinned: &[
        at(2).finds(672),
        at(3).finds(386_544),
        at(2).under(&[Aborts]).finds(1_810),
        at(2).under(&[Aborts, Tso]).finds(9_892),
        at(3).under(&[Aborts]).finds(3_776_518).takes("20 s"),
        at(2).under(&[Tso]).finds(2_094).fences(2),
        at(3).under(&[Tso]).finds(2_013_456).fences(2),
        at(2).needs_fences_of("two_process"),
        at(2).remote(Some(11), Some(10)),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = YangAnderson<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> YangAnderson<M> {
    YangAnderson::new(space, size.n)
}

/// The number of the root.
pub(crate) const ROOT: usize = 1;

/// A process' progress towards the root: its leaf or the last node it won, and the stage of its wait at the lock above.
pub(crate) type Reached = (usize, Stage);

/// The lock; see the [module](self).
pub struct YangAnderson<M: Memory> {
    n: usize,
    /// Node x is at index x-1.
    nodes: Vec<Lock2<M>>,
}

impl<M: Memory> YangAnderson<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        Self::named(space, n, ["C", "T", "P"].map(Name::new))
    }

    /// A free lock with other names for C, T and P, each with space for two more indices.
    pub(crate) fn named(space: &mut impl Space<Mem = M>, n: usize, names: [Name; 3]) -> Self {
        let node = |x| Lock2::new(space, n, names.map(|name| name.index(x)));
        YangAnderson { n, nodes: (1..n).map(node).collect() }
    }

    /// Polls the lock above once and returns the progress, for a caller that also waits for something else.
    pub(crate) fn poll(&self, m: &mut M, p: Pid, (x, stage): Reached) -> Result<Reached, M::Halt> {
        let (lock, side) = self.above(x);
        let stage = lock.poll(m, side, p, stage)?;
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

    /// Aborts: releases the locks won so far and withdraws from the one above, from that one down.
    pub(crate) fn withdraw(&self, m: &mut M, p: Pid, (x, _): Reached) -> Result<(), M::Halt> {
        self.descend(m, p, x / 2, |m, lock, side| lock.withdraw(m, side))
    }

    /// Descends from node `x` to p's leaf, and calls `each` with every lock on the path and p's side of it.
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
    type Inside = ();

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

    fn aborting(&self) -> Option<&dyn Abort<M, ()>> {
        Some(self)
    }
}

impl<M: Memory> Abort<M, ()> for YangAnderson<M> {
    /// The process' progress is not known any more, but C tells at which nodes it has announced itself.
    fn abort(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.descend(
            m,
            p,
            ROOT,
            |m, lock, side| if lock.is_announced(m, side, p)? { lock.withdraw(m, side) } else { Ok(()) },
        )
    }
}
