//! Kim and Anderson's adaptive lock. After Y.-J. Kim and J. H. Anderson, *Adaptive mutual exclusion with local
//! spinning*, DISC 2000; the auxiliary lock of R. Danek and W. Golab, *Closing the complexity gap between FCFS mutual
//! exclusion and mutual exclusion*.
//!
//! ```text
//!  e1  go down the tree of splitters, lines a1-a10                                   (doorway ends)
//!  e2  stopped: for each node n from there to the root, having gone dir:
//!          S: lock A[n] on side 0, then B[n] on side 0
//!          L: lock A[n] on side 1, then B[n] on side 0
//!          R: lock B[n] on side 1
//!          then lock TOP on side 0
//!      past the last level: lock the overflow tree O, then TOP on side 1
//!     critical section
//!  r   release each node of the path, the deepest first, lines r1-r10
//!     unlock all that was locked, the last first
//!  c   clear the node, if stopped, line c1
//! ```
//!
//! Lines a, r and c are those of the [`renaming_tree`](crate::parts::renaming_tree).
//! `A[n]`, `B[n]` and TOP are locks for two sides, lines 1-12 of [`two_process`](crate::parts::two_process); O is the
//! [`yang_anderson`](super::yang_anderson) tournament for N processes.
//!
//! We did not have the text of the paper: this is a reconstruction, and the line numbers are ours.
//!
//! Departures: those of the renaming tree. Our doorway is the descent, which waits for nobody.
//!
//! Guarantees: mutual exclusion, starvation-freedom, bounded exit. Whoever waits reads a cell of its own, and who meets
//! few others does not go far down: a passage makes O(min(c, log N)) remote references if c processes contend.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Memory, Name, Pid, Property::*, Space};

use super::yang_anderson::YangAnderson;
use crate::{
    About,
    Claim::Holds,
    LocalSpin, Remote, Survey,
    parts::{
        renaming_tree::{Places, RenamingTree, Way, came_from, depth},
        two_process::Lock2,
    },
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "kim-anderson",
    aliases: &["kim-anderson2000"],
    title: "Kim and Anderson's adaptive lock",
    source: "after Kim & Anderson 2000",
    default_n: 2,
    survey: Survey::Passages(1),
    local_spin: Some(LocalSpin::BOTH),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
    ],
    remark: "the fewer contend, the less it costs",
    remote: Some(Remote::both("O(min(c, log N))")),
    departures: "the text was not to be had: a reconstruction",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct KimAnderson<M: Memory> {
    tree: RenamingTree<M>,
    /// Those of node n are at n-1.
    locks: Vec<Locks<M>>,
    overflow: YangAnderson<M>,
    top: Lock2<M>,
}

impl<M: Memory> KimAnderson<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        let tree = RenamingTree::new(space, n);
        KimAnderson {
            locks: (1..=tree.nodes()).map(|node| Locks::new(space, n, node)).collect(),
            tree,
            overflow: YangAnderson::named(space, n, ["O.C", "O.T", "O.P"].map(Name::new)),
            top: Lock2::new(space, n, ["TOP.C", "TOP.T", "TOP.P"].map(Name::new)),
        }
    }

    /// The locks of the node above position `x`, and how it was left.
    fn above(&self, x: usize) -> (&Locks<M>, Way) {
        let (node, way) = came_from(x);
        (&self.locks[node - 1], way)
    }
}

impl<M: Memory> Exclusion<M> for KimAnderson<M> {
    /// Where the descent ended.
    type Place = usize;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt> {
        self.tree.descend(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, &place: &usize) -> Result<(), M::Halt> {
        if !self.tree.stops(place) {
            m.call(|m| {
                self.overflow.doorway(m, p)?;
                self.overflow.wait(m, p, &())
            })?;
            return self.top.lock(m, 1, p);
        }
        self.locks[place - 1].lock(m, Way::Stop, p)?;
        m.fold(depth(place), (), |m, (), up| {
            let (locks, way) = self.above(place >> up);
            locks.lock(m, way, p)
        })?;
        self.top.lock(m, 0, p)
    }

    fn exit(&self, m: &mut M, p: Pid, &place: &usize) -> Result<(), M::Halt> {
        self.tree.ascend(m, p, place)?;
        if !self.tree.stops(place) {
            self.top.unlock(m, 1, p)?;
            return self.overflow.exit(m, p, &());
        }
        self.top.unlock(m, 0, p)?;
        let depth = depth(place);
        m.fold(depth, (), |m, (), down| {
            let (locks, way) = self.above(place >> (depth - 1 - down));
            locks.unlock(m, way, p)
        })?;
        self.locks[place - 1].unlock(m, Way::Stop, p)?;
        self.tree.clear(m, place)
    }
}

/// The locks of who stopped at a node or below.
struct Locks<M: Memory> {
    /// Between who stopped here and who comes from the left.
    a: Lock2<M>,
    /// Between whoever has `a` and who comes from the right.
    b: Lock2<M>,
}

impl<M: Memory> Locks<M> {
    fn new(space: &mut impl Space<Mem = M>, n: usize, node: usize) -> Self {
        let name = |name| Name::new(name).index(node);
        Locks {
            a: Lock2::new(space, n, ["A.C", "A.T", "A.P"].map(name)),
            b: Lock2::new(space, n, ["B.C", "B.T", "B.P"].map(name)),
        }
    }

    /// Line e2, for one node.
    fn lock(&self, m: &mut M, way: Way, p: Pid) -> Result<(), M::Halt> {
        match way {
            Way::Stop => self.a.lock(m, 0, p)?,
            Way::Left => self.a.lock(m, 1, p)?,
            Way::Right => return self.b.lock(m, 1, p),
        }
        self.b.lock(m, 0, p)
    }

    /// The same backwards.
    fn unlock(&self, m: &mut M, way: Way, p: Pid) -> Result<(), M::Halt> {
        if way == Way::Right {
            return self.b.unlock(m, 1, p);
        }
        self.b.unlock(m, 0, p)?;
        self.a.unlock(m, if way == Way::Stop { 0 } else { 1 }, p)
    }
}
