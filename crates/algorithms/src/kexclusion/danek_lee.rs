//! k tournaments at once. After R. Danek, H. Lee, *Brief announcement: local-spin algorithms for abortable mutual
//! exclusion and related problems*, DISC 2008.
//!
//! ```text
//!     k trees, each a `yang-anderson` of its own; lines 1 to 14 are those of `yang-anderson`, in tree i
//!
//!     for each i: lines 1 to 3, at the leaf's node                              (doorway ends)
//!     repeat for i := 0 to k-1, until the root of a tree is won:
//! 4-9     lines 4 to 9, as far as they do not wait;
//! 1-3     if that wins the node, and it is not the root, the next node above
//!     for each tree except the one won, each node from p's current one to p's leaf:
//! 10,13,14    abort
//!     critical section
//! 10-12   leave the tree that was won, from its root to p's leaf
//! ```
//!
//! The text of the paper was not available: secondary sources say that it acquires k abortable locks at once and
//! keeps the first it obtains. The choice of the lock and the lines are this project's.
//!
//! Departures: the doorway is the writes at the lowest nodes.
//!
//! Guarantees: k-assignment, the name being the number of the tree; starvation-freedom, bounded exit. A waiter reads
//! one cell of its own for each tree, so a passage makes O(k log N) remote memory references, even without caches. A
//! crashed process blocks all trees: not even one crash is tolerated. There is no abort of the whole lock: it would
//! have to know the process' progress in each tree.
use alloc::{vec, vec::Vec};
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Assign, Exclusion, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    Kind, LocalSpin, Remote, Size,
    blocks::two_process::Stage,
    claim::holds,
    mutex::yang_anderson::{ROOT, Reached, YangAnderson},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "danek-lee",
    aliases: &["danek-lee2008"],
    title: "k tournaments at once",
    source: "after Danek & Lee 2008",
    kind: Kind::KExclusion,
    default_n: 2,
    local_spin: Some(LocalSpin::BOTH),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
        holds(Assignment),
    ],
    tolerates: &[Tso],
    remark: "a crashed process blocks all of them",
    remote: Some(Remote::both("Θ(k log N)")),
    pinned: &[
        at(2).k(1).finds(672),
        at(3).k(1).finds(386_544),
        at(3).k(2).passages(1).finds(4_113_802).takes("20 s"),
        at(2).under(&[Tso]).finds(2_094).fences(2),
        at(2).k(1).remote(Some(11), Some(10)),
        at(3).k(1).remote(Some(22), Some(20)).takes("10 s"),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = DanekLee<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> DanekLee<M> {
    DanekLee::new(space, size.n, size.k)
}

/// The progress in a tree from which the process has withdrawn.
const WITHDRAWN: Reached = (0, Stage::Announced);

/// The lock; see the [module](self).
pub struct DanekLee<M: Memory> {
    n: usize,
    trees: Vec<YangAnderson<M>>,
}

impl<M: Memory> DanekLee<M> {
    /// A free lock for `n` processes with capacity `k`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        let tree = |i| YangAnderson::named(space, n, ["C", "T", "P"].map(|name| Name::new(name).index(i)));
        DanekLee { n, trees: (0..k).map(tree).collect() }
    }

    /// Polls each tree once, until one is won.
    fn poll(&self, m: &mut M, p: Pid, reached: Vec<Reached>) -> Result<Vec<Reached>, M::Halt> {
        m.fold(self.trees.len(), reached, |m, mut reached, i| {
            if won(&reached).is_none() {
                reached[i] = self.trees[i].poll(m, p, reached[i])?;
            }
            Ok(reached)
        })
    }
}

impl<M: Memory> Exclusion<M> for DanekLee<M> {
    type Place = ();
    /// The number of the tree that was won.
    type Inside = usize;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.fold(self.trees.len(), (), |m, (), i| self.trees[i].doorway(m, p))
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<usize, M::Halt> {
        let at_the_leaf = (self.n + p, Stage::Announced);
        m.turns(vec![at_the_leaf; self.trees.len()], |m, mut reached| {
            let Some(won) = won(&reached) else {
                let reached = self.poll(m, p, reached)?;
                m.relax();
                return Ok(Continue(reached));
            };
            let other = |&i: &usize| i != won && reached[i] != WITHDRAWN;
            let Some(i) = (0..self.trees.len()).find(other) else { return Ok(Break(won)) };
            self.trees[i].withdraw(m, p, reached[i])?;
            reached[i] = WITHDRAWN;
            Ok(Continue(reached))
        })
    }

    fn exit(&self, m: &mut M, p: Pid, &won: &usize) -> Result<(), M::Halt> {
        self.trees[won].exit(m, p, &())
    }

    fn names(&self) -> Option<&dyn Assign<usize>> {
        Some(self)
    }
}

impl<M: Memory> Assign<usize> for DanekLee<M> {
    fn name(&self, &won: &usize) -> usize {
        won
    }
}

/// The tree whose root is won, if there is one.
fn won(reached: &[Reached]) -> Option<usize> {
    reached.iter().position(|&(x, _)| x == ROOT)
}
