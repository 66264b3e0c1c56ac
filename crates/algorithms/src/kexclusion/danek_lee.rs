//! k tournaments at once. After R. Danek, H. Lee, *Brief announcement: local-spin algorithms for abortable mutual exclusion
//! and related problems*, DISC 2008.
//!
//! ```text
//!     k trees, each a `yang-anderson` of its own; lines 1 to 14 are those of `yang-anderson`, in tree i
//!
//!     for each i: lines 1 to 3, at the leaf's node                              (doorway ends)
//!     repeat for i := 0 to k-1, until the root of a tree is won:
//! 4-9     as much of lines 4 to 9 as waits for nobody;
//! 1-3     if that wins the node, and it is not the root, the next one above
//!     for each tree but the one that was won, each node from where we are there to p's leaf:
//! 10,13,14    give up
//!     critical section
//! 10-12   leave the tree that was won, from its root to p's leaf
//! ```
//!
//! We did not have the text of the paper: that it takes k abortable locks at once, and keeps the first it gets, is what is
//! told of it. Which lock that is, and the lines, are ours.
//!
//! Departures: our doorway is what is written at the lowest nodes.
//!
//! Guarantees: k-assignment, the name being the number of the tree; starvation-freedom, bounded exit. Who waits reads one
//! cell of its own for each tree, so a passage makes O(k log N) remote references, even without caches. Who stops for ever is
//! in the way in all trees: not even one crash is survived. Giving up while one waits would have to know how far one is in each
//! tree, and is not here.
use alloc::{vec, vec::Vec};
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Claim::Holds,
    Kind, LocalSpin, Remote,
    mutex::yang_anderson::{ROOT, Reached, YangAnderson},
    parts::two_process::Stage,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "danek-lee",
    aliases: &["danek-lee2008"],
    title: "k tournaments at once",
    source: "after Danek & Lee 2008",
    kind: Kind::KExclusion,
    default_n: 2,
    local_spin: Some(LocalSpin::BOTH),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Holds(Assignment),
    ],
    remark: "who stops for ever is in the way in all of them",
    remote: Some(Remote::both("Θ(k log N)")),
    ..About::LOCK
};

/// In a tree that one has given up.
const NOWHERE: Reached = (0, Stage::Announced);

/// The lock; see the [module](self).
pub struct DanekLee<M: Memory> {
    n: usize,
    trees: Vec<YangAnderson<M>>,
}

impl<M: Memory> DanekLee<M> {
    /// A free lock for `n` processes, of which `k` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        let tree = |i| YangAnderson::named(space, n, ["C", "T", "P"].map(|name| Name::new(name).index(i)));
        DanekLee { n, trees: (0..k).map(tree).collect() }
    }

    /// One look at each tree, until one is won.
    fn look(&self, m: &mut M, p: Pid, reached: Vec<Reached>) -> Result<Vec<Reached>, M::Halt> {
        m.fold(self.trees.len(), reached, |m, mut reached, i| {
            if won(&reached).is_none() {
                reached[i] = self.trees[i].look(m, p, reached[i])?;
            }
            Ok(reached)
        })
    }
}

impl<M: Memory> Exclusion<M> for DanekLee<M> {
    /// Which tree was won; `None` in line.
    type Place = Option<usize>;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Option<usize>, M::Halt> {
        m.fold(self.trees.len(), None, |m, none, i| self.trees[i].doorway(m, p).map(|()| none))
    }

    fn wait(&self, m: &mut M, p: Pid, place: &Option<usize>) -> Result<(), M::Halt> {
        self.enter(m, p, place).map(|_| ())
    }

    fn enter(&self, m: &mut M, p: Pid, _: &Option<usize>) -> Result<Option<usize>, M::Halt> {
        let at_the_leaf = (self.n + p, Stage::Announced);
        m.turns(vec![at_the_leaf; self.trees.len()], |m, mut reached| {
            let Some(won) = won(&reached) else {
                let looked = self.look(m, p, reached)?;
                m.relax();
                return Ok(Continue(looked));
            };
            let other = |&i: &usize| i != won && reached[i] != NOWHERE;
            let Some(i) = (0..self.trees.len()).find(other) else { return Ok(Break(Some(won))) };
            self.trees[i].withdraw(m, p, reached[i])?;
            reached[i] = NOWHERE;
            Ok(Continue(reached))
        })
    }

    fn exit(&self, m: &mut M, p: Pid, won: &Option<usize>) -> Result<(), M::Halt> {
        self.trees[self.name(won)].exit(m, p, &())
    }

    const ASSIGNS: bool = true;

    fn name(&self, won: &Option<usize>) -> usize {
        won.expect("who is inside has won a tree")
    }
}

/// The tree whose root is won, if one is.
fn won(reached: &[Reached]) -> Option<usize> {
    reached.iter().position(|&(x, _)| x == ROOT)
}
