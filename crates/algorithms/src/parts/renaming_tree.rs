//! Renaming by a tree of reusable splitters. After Y.-J. Kim and J. H. Anderson, *Adaptive mutual exclusion with local
//! spinning*, DISC 2000: the wait-free part of [`kim_anderson`](crate::mutex::kim_anderson).
//!
//! ```text
//!     levels 0 … ⌊log2 N⌋, the root is node 1. Initially, in each node, Y = Reset = (free, 0), and Acquired,
//!     Round[0 … N-1], Obst[0 … N-1] are false. Rounds are counted modulo N:
//!
//!     Acquire_Node:                                   Release_Node, left in direction dir; nothing if dir is R:
//!  a1  X := p                                          r1  Y := (taken, 0)
//!  a2  y := Y                                          r2  X := p
//!      if y is taken: go R                             r3  Obst[p] := false
//!  a3  Y := (taken, 0)                                 r4  y := Reset
//!  a4  Obst[p] := true                                 r5  Reset := (taken, y.round)
//!  a5  if X ≠ p: go L                                  r6  if not Obst[y.round] and
//!  a6  if Acquired: go L                               r7      (dir is S or not Round[y.round]):
//!  a7  Round[y.round] := true                          r8      Reset := (free, y.round + 1)
//!  a8  if Reset ≠ y:                                   r9      Y := (free, y.round + 1)
//!  a9      Round[y.round] := false                    r10  if dir is S: Round[y.round] := false
//!          go L
//! a10  Acquired := true                               Clear_Node:
//!      stop: S                                        c1   Acquired := false
//!
//!     descend:  Acquire_Node from the root on; L leads from node n to 2n, R to 2n+1; until S, or past the last level
//!     ascend:   Release_Node for each node of the path, the deepest first; by one process at a time
//! ```
//!
//! The text of the paper was not available: this is a reconstruction, with line numbers of this project.
//!
//! Departures: the path is stored as one number, the position at which it ends: its binary digits are the directions
//! taken. A round and whether it is free are one word. `X`, initially arbitrary, is 0.
//!
//! Guarantees: at most one process is stopped at a node, from its descent until it has cleared the node; a process that
//! meets few others stops near the root. A descent takes a bounded number of steps.
//!
//! # How it is checked
//!
//! [`Harness`] is a tree used as above: a call is one descent, or one ascent followed by the clearing of the node;
//! while another process ascends, the call does nothing. Steps on line `-` are the harness': a process that has
//! descended records its position, and looks for another process at the same node.
use alloc::{format, string::String, vec::Vec};
use core::{
    fmt,
    ops::ControlFlow::{Break, Continue},
};

use doorway_memory::{Home, Memory, Name, Part, Pid, Property::*, Space, Value};

use crate::blocks::test_and_set::TestAndSet;
use crate::{About, Size, claim::holds, pinned::at, rule};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "renaming-tree",
    title: "renaming by a tree of reusable splitters",
    source: "after Kim & Anderson 2000",
    default_n: 2,
    claims: &[holds(Rule), holds(WaitFree)],
    tolerates: &[],
    remark: "ascents exclude one another, as in `kim-anderson`; the part's harness uses a lock for that",
    pinned: &[at(2).finds(193_032)],
    ..About::PART
};

/// A renaming whose names are nodes of a tree, numbered as in a heap.
///
/// A process that obtains no node ends at a number below the last level.
pub trait TreeRenaming<M: Memory>: Send + Sync {
    /// The number of nodes.
    fn nodes(&self) -> usize;

    /// Descends until stopped, or past the last level.
    ///
    /// Returns the position: the node at which the process stopped, or the number of a node that would be below the
    /// last level.
    fn descend(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt>;

    /// Releases the path to `place` and the node there. One process at a time.
    fn leave(&self, m: &mut M, p: Pid, place: usize) -> Result<(), M::Halt>;

    /// Whether a process whose descent ended at `place` stopped at that node; if not, `place` is below the last level.
    fn stops(&self, place: usize) -> bool {
        place <= self.nodes()
    }
}

/// The tree; see the [module](self).
pub struct RenamingTree<M: Memory> {
    /// Node n is at index n-1.
    nodes: Vec<Splitter<M>>,
}

impl<M: Memory> RenamingTree<M> {
    /// A free tree for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        RenamingTree { nodes: (1..=size(n)).map(|node| Splitter::new(space, n, node)).collect() }
    }

    /// Releases every node on the path to `place`, from there up. One process at a time.
    pub fn ascend(&self, m: &mut M, p: Pid, place: usize) -> Result<(), M::Halt> {
        if let Some(node) = self.nodes.get(place - 1) {
            m.call(|m| node.release(m, Direction::Stop, p))?;
        }
        m.fold(depth(place), (), |m, (), up| {
            let (above, direction) = parent(place >> up);
            self.nodes[above - 1].release(m, direction, p)
        })
    }

    /// Makes the node `place` available again; does nothing if `place` is below the last level.
    pub fn clear(&self, m: &mut M, place: usize) -> Result<(), M::Halt> {
        match self.nodes.get(place - 1) {
            Some(node) => m.at("c1").write(&node.acquired, false),
            None => Ok(()),
        }
    }
}

impl<M: Memory> TreeRenaming<M> for RenamingTree<M> {
    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn descend(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt> {
        m.turns(1, |m, x| {
            let Some(node) = self.nodes.get(x - 1) else { return Ok(Break(x)) };
            Ok(match node.acquire(m, p)? {
                Direction::Stop => Break(x),
                Direction::Left => Continue(2 * x),
                Direction::Right => Continue(2 * x + 1),
            })
        })
    }

    fn leave(&self, m: &mut M, p: Pid, place: usize) -> Result<(), M::Halt> {
        self.ascend(m, p, place)?;
        self.clear(m, place)
    }
}

/// A tree of the same shape with as few states as possible.
///
/// A node is taken by compare-and-swap. A process that finds a node taken goes right if the owner has a larger number
/// than its own, else left. It stands for "any renaming".
pub struct PlainTree<M: Memory> {
    /// Node n is at index n-1.
    taken: Vec<M::Reg<Option<usize>>>,
}

impl<M: Memory> PlainTree<M> {
    /// A free tree for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        let node = |node| space.register(Name::new("Taken").index(node), Home::Nobody, None);
        PlainTree { taken: (1..=size(n)).map(node).collect() }
    }
}

impl<M: Memory> TreeRenaming<M> for PlainTree<M> {
    fn nodes(&self) -> usize {
        self.taken.len()
    }

    fn descend(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt> {
        m.turns(1, |m, x| {
            let Some(taken) = self.taken.get(x - 1) else { return Ok(Break(x)) };
            if m.at("a").compare_swap(taken, None, Some(p))? {
                return Ok(Break(x));
            }
            let right = m.at("a").test(taken, |by| by > Some(p))?;
            Ok(Continue(2 * x + usize::from(right)))
        })
    }

    fn leave(&self, m: &mut M, _: Pid, place: usize) -> Result<(), M::Halt> {
        match self.taken.get(place - 1) {
            Some(taken) => m.at("r").write(taken, None),
            None => Ok(()),
        }
    }
}

/// The number of nodes of a tree for `n` processes: levels 0 … ⌊log2 n⌋.
fn size(n: usize) -> usize {
    (1 << (n.ilog2() + 1)) - 1
}

/// The number of nodes above position `x`.
pub fn depth(x: usize) -> usize {
    x.ilog2() as usize
}

/// The node above position `x`, and the direction in which it was left.
pub fn parent(x: usize) -> (usize, Direction) {
    (x / 2, if x.is_multiple_of(2) { Direction::Left } else { Direction::Right })
}

/// The direction a splitter sends a process in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From node n to 2n.
    Left,
    /// From node n to 2n+1.
    Right,
    /// Nowhere: the process stays at the node.
    Stop,
}

/// A splitter's round, and whether the splitter is free for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Status {
    free: bool,
    round: usize,
}

impl Status {
    const START: Status = Status { free: true, round: 0 };
    const TAKEN: Status = Status { free: false, round: 0 };
}

impl Value for Status {
    #[inline(always)]
    fn to_word(self) -> u64 {
        (self.round as u64) << 1 | u64::from(self.free)
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        Status { free: word & 1 == 1, round: (word >> 1) as usize }
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", if self.free { "free" } else { "taken" }, self.round)
    }
}

struct Splitter<M: Memory> {
    x: M::Reg<usize>,
    y: M::Reg<Status>,
    reset: M::Reg<Status>,
    round: Vec<M::Reg<bool>>,
    acquired: M::Reg<bool>,
    obst: Vec<M::Reg<bool>>,
}

impl<M: Memory> Splitter<M> {
    fn new(space: &mut impl Space<Mem = M>, n: usize, node: usize) -> Self {
        let name = |name| Name::new(name).index(node);
        Splitter {
            x: space.register(name("X"), Home::Nobody, 0),
            y: space.register(name("Y"), Home::Nobody, Status::START),
            reset: space.register(name("Reset"), Home::Nobody, Status::START),
            round: (0..n).map(|r| space.register(name("Round").index(r), Home::Nobody, false)).collect(),
            acquired: space.register(name("Acquired"), Home::Nobody, false),
            obst: (0..n).map(|q| space.register(name("Obst").index(q), Home::Nobody, false)).collect(),
        }
    }

    /// Acquire_Node.
    fn acquire(&self, m: &mut M, p: Pid) -> Result<Direction, M::Halt> {
        m.at("a1").write(&self.x, p)?;
        m.at("a1").fence()?; // without it, two processes may find Y free and both miss the other in X
        let y = m.at("a2").read(&self.y)?;
        if !y.free {
            return Ok(Direction::Right);
        }
        m.at("a3").write(&self.y, Status::TAKEN)?;
        m.at("a4").write(&self.obst[p], true)?;
        m.at("a4").fence()?; // without it, a later process may find Y free while this one misses it in X
        if m.at("a5").test(&self.x, |x| x != p)? || m.at("a6").test(&self.acquired, |acquired| acquired)? {
            return Ok(Direction::Left);
        }
        m.at("a7").write(&self.round[y.round], true)?;
        m.at("a7").fence()?; // without it, a releasing process may free the node for the next round and miss this one
        if m.at("a8").test(&self.reset, |reset| reset != y)? {
            m.at("a9").write(&self.round[y.round], false)?;
            return Ok(Direction::Left);
        }
        m.at("a10").write(&self.acquired, true)?;
        Ok(Direction::Stop)
    }

    /// Release_Node.
    fn release(&self, m: &mut M, direction: Direction, p: Pid) -> Result<(), M::Halt> {
        if direction == Direction::Right {
            return Ok(());
        }
        m.at("r1").write(&self.y, Status::TAKEN)?;
        m.at("r2").write(&self.x, p)?;
        m.at("r3").write(&self.obst[p], false)?;
        let round = m.at("r4").read(&self.reset)?.round;
        m.at("r5").write(&self.reset, Status { free: false, round })?;
        m.at("r5").fence()?; // without it, a process of this round and this one may miss each other
        let clear = m.at("r6").test(&self.obst[round], |obst| !obst)?
            && (direction == Direction::Stop || m.at("r7").test(&self.round[round], |round| !round)?);
        if clear {
            let next = Status { free: true, round: (round + 1) % self.round.len() };
            m.at("r8").write(&self.reset, next)?;
            m.at("r9").write(&self.y, next)?;
        }
        if direction == Direction::Stop {
            m.at("r10").write(&self.round[round], false)?;
        }
        Ok(())
    }
}

/// A tree used according to its conditions, with its outcomes judged; see the [module](self#how-it-is-checked).
pub struct Harness<M: Memory, P> {
    tree: P,
    /// The position of each process, as [`TreeRenaming::descend`] returns it; `None` outside the tree.
    place: Vec<M::Reg<Option<usize>>>,
    lock: TestAndSet<M>,
}

impl<M: Memory, P: TreeRenaming<M>> Harness<M, P> {
    /// A harness for a free tree and `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, tree: P) -> Self {
        Harness { tree, place: space.array("place", n, None), lock: TestAndSet::new(space) }
    }

    /// Another process that has stopped at `place`, if there is one.
    fn also_at(&self, m: &mut M, p: Pid, place: usize) -> Result<Option<Pid>, M::Halt> {
        m.fold(self.place.len(), None, |m, other, q| {
            let is_there = q != p && m.at("-").test(&self.place[q], |of_q| of_q == Some(place))?;
            Ok(if is_there { Some(q) } else { other })
        })
    }
}

/// Creates the part for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, .. }: Size) -> Harness<M, RenamingTree<M>> {
    let tree = RenamingTree::new(space, n);
    Harness::new(space, n, tree)
}

impl<M: Memory, P: TreeRenaming<M>> Part<M> for Harness<M, P> {
    /// Another process that had stopped at the same node; `None` if the call was correct.
    type Outcome = Option<Pid>;
    const AGAIN: bool = true;

    fn call(&self, m: &mut M, p: Pid) -> Result<Option<Pid>, M::Halt> {
        let Some(place) = m.at("-").read(&self.place[p])? else {
            let place = m.call(|m| self.tree.descend(m, p))?;
            m.at("-").write(&self.place[p], Some(place))?;
            return if self.tree.stops(place) { self.also_at(m, p, place) } else { Ok(None) };
        };
        if self.lock.try_lock(m)? {
            m.at("-").write(&self.place[p], None)?;
            m.call(|m| self.tree.leave(m, p, place))?;
            self.lock.unlock(m)?;
        }
        Ok(None)
    }

    fn rule(&self, latest: &[Option<Option<Pid>>]) -> Result<(), String> {
        rule::of_each_call(latest, |p, other| Some(format!("p{p} and p{} have stopped at the same node", other?)))
    }
}

#[cfg(test)]
mod tests {
    use doorway_memory::Solo;

    use super::*;

    #[test]
    fn lone_process_always_stops_at_the_root() {
        for n in 2..=10 {
            let mut solo = Solo::new();
            let tree = RenamingTree::new(&mut solo, n);
            for passage in 0..3 * n {
                let Ok(place) = tree.descend(&mut solo, passage % n);
                assert_eq!(place, 1, "n={n}, passage {passage}");
                let Ok(()) = tree.ascend(&mut solo, passage % n, place);
                let Ok(()) = tree.clear(&mut solo, place);
            }
        }
    }

    #[test]
    fn rule_forbids_two_processes_at_one_node() {
        let part = new(&mut Solo::new(), Size { n: 3, k: 1 });
        assert!(part.rule(&[Some(None), None, Some(None)]).is_ok());
        let complaint = part.rule(&[Some(None), None, Some(Some(1))]).unwrap_err();
        assert_eq!(complaint, "p2 and p1 have stopped at the same node");
    }

    #[test]
    fn sequential_processes_stop_further_right_and_then_overflow() {
        let mut solo = Solo::new();
        let tree = RenamingTree::new(&mut solo, 4);
        let places = [0, 1, 2, 3].map(|p| tree.descend(&mut solo, p));
        assert_eq!(places, [Ok(1), Ok(3), Ok(7), Ok(15)]);
        assert!(tree.stops(7) && !tree.stops(15));
    }
}
