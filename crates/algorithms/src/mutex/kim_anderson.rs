//! Kim and Anderson's adaptive lock. After Y.-J. Kim and J. H. Anderson, *Adaptive mutual exclusion with local
//! spinning*, DISC 2000; the auxiliary lock of R. Danek and W. Golab, *Closing the complexity gap between FCFS mutual
//! exclusion and mutual exclusion*.
//!
//! ```text
//!  e1  descend in the tree of splitters, lines a1-a10                                (doorway ends)
//!  e2  stopped: for each node n from there to the root, left in direction dir:
//!          S: lock A[n] on side 0, then B[n] on side 0
//!          L: lock A[n] on side 1, then B[n] on side 0
//!          R: lock B[n] on side 1
//!          then lock TOP on side 0
//!      past the last level: lock the overflow tree O, then TOP on side 1
//!     critical section
//!  r   release each node of the path, the deepest first, lines r1-r10
//!     unlock everything that was locked, the last lock first
//!  c   clear the node, if stopped, line c1
//! ```
//!
//! Lines a, r and c are those of the [`renaming_tree`](crate::parts::renaming_tree).
//! `A[n]`, `B[n]` and TOP are two-process locks, lines 1-12 of [`two_process`](crate::blocks::two_process); O is the
//! [`yang_anderson`](super::yang_anderson) tournament for N processes.
//!
//! The text of the paper was not available: this is a reconstruction, with line numbers of this project.
//!
//! Departures: those of the renaming tree. The doorway is the descent, which waits for no other process.
//!
//! Guarantees: mutual exclusion, starvation-freedom, bounded exit. A waiter spins on a cell of its own, and a process
//! that meets few others does not descend far: a passage makes O(min(c, log N)) RMRs if c processes contend.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Memory, Name, Pid, Property::*, Space};

use super::yang_anderson::YangAnderson;
use crate::{
    About,
    Condition::Tso,
    LocalSpin, Remote, Size, Survey,
    blocks::two_process::Lock2,
    claim::holds,
    parts::renaming_tree::{Direction, RenamingTree, TreeRenaming, depth, parent},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "kim-anderson",
    aliases: &["kim-anderson2000"],
    title: "Kim and Anderson's adaptive lock",
    source: "after Kim & Anderson 2000",
    default_n: 2,
    survey: Survey::Passages(1),
    local_spin: Some(LocalSpin::BOTH),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso],
    remark: "the cost falls with contention",
    remote: Some(Remote::both("O(min(c, log N))")),
    departures: "a reconstruction: the text was not available",
    pinned: &[
        at(2).finds(29_841),
        at(2).whole().finds(78_475_440).takes("2 minutes, 3 GB"),
        at(2).under(&[Tso]).finds(95_134).fences(6),
        at(2).passages_in_all(3).needs_fences_of("renaming_tree"),
        at(2).remote(Some(61), Some(63)),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = KimAnderson<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> KimAnderson<M> {
    KimAnderson::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct KimAnderson<M: Memory> {
    tree: RenamingTree<M>,
    /// Those of node n are at index n-1.
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

    /// The locks of the node above position `x`, and the direction in which it was left.
    fn above(&self, x: usize) -> (&Locks<M>, Direction) {
        let (node, direction) = parent(x);
        (&self.locks[node - 1], direction)
    }
}

impl<M: Memory> Exclusion<M> for KimAnderson<M> {
    /// The position at which the descent ended.
    type Place = usize;
    type Inside = usize;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt> {
        self.tree.descend(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, &place: &usize) -> Result<usize, M::Halt> {
        if !self.tree.stops(place) {
            m.call(|m| {
                self.overflow.doorway(m, p)?;
                self.overflow.wait(m, p, &())
            })?;
            self.top.lock(m, 1, p)?;
            return Ok(place);
        }
        self.locks[place - 1].lock(m, Direction::Stop, p)?;
        m.fold(depth(place), (), |m, (), up| {
            let (locks, direction) = self.above(place >> up);
            locks.lock(m, direction, p)
        })?;
        self.top.lock(m, 0, p)?;
        Ok(place)
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
            let (locks, direction) = self.above(place >> (depth - 1 - down));
            locks.unlock(m, direction, p)
        })?;
        self.locks[place - 1].unlock(m, Direction::Stop, p)?;
        self.tree.clear(m, place)
    }
}

/// The locks of the processes that stopped at a node or below it.
struct Locks<M: Memory> {
    /// Between the process that stopped here and the one from the left.
    a: Lock2<M>,
    /// Between the holder of `a` and the process from the right.
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
    fn lock(&self, m: &mut M, direction: Direction, p: Pid) -> Result<(), M::Halt> {
        match direction {
            Direction::Stop => self.a.lock(m, 0, p)?,
            Direction::Left => self.a.lock(m, 1, p)?,
            Direction::Right => return self.b.lock(m, 1, p),
        }
        self.b.lock(m, 0, p)
    }

    /// Undoes [`lock`](Self::lock), in reverse order.
    fn unlock(&self, m: &mut M, direction: Direction, p: Pid) -> Result<(), M::Halt> {
        if direction == Direction::Right {
            return self.b.unlock(m, 1, p);
        }
        self.b.unlock(m, 0, p)?;
        self.a.unlock(m, if direction == Direction::Stop { 0 } else { 1 }, p)
    }
}
