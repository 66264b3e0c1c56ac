//! Renaming by a tree of splitters that can be used again. After Y.-J. Kim and J. H. Anderson, *Adaptive mutual exclusion
//! with local spinning*, DISC 2000: the part of [`kim_anderson`](crate::mutex::kim_anderson) that waits for nobody.
//!
//! ```text
//!     levels 0 … ⌊log2 N⌋, the root is node 1. In each node, at first, Y = Reset = (free, 0), and Acquired,
//!     Round[0 … N-1], Obst[0 … N-1] are false. Rounds are counted modulo N:
//!
//!     Acquire_Node:                                   Release_Node, having gone dir; nothing if dir is R:
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
//!     descend:  Acquire_Node from the root on; L leads from node n to 2n and R to 2n+1; until S, or past the last level
//!     ascend:   Release_Node for each node of the path, the deepest first; one process at a time
//! ```
//!
//! We did not have the text of the paper: this is a reconstruction, and the line numbers are ours.
//!
//! Departures: the path is kept as one number, the place where it ends: its binary digits are the turns taken. A round
//! and whether it is free are one word. `X`, initially arbitrary, is 0.
//!
//! Guarantees: at most one process is stopped at a node, from its descent until it has cleared the node; whoever meets
//! few others stops high up. A descent takes a bounded number of steps.
//!
//! # How that is checked
//!
//! [`Etiquette`] is a tree used as above: a call is one descent, or one ascent and the clearing of the node; if another
//! process is ascending, the call does nothing. Steps on line `-` are not the tree's: a process that has descended records
//! its place, and looks for another process at the same node.
use alloc::{format, string::String, vec::Vec};
use core::{
    fmt,
    ops::ControlFlow::{Break, Continue},
};

use doorway_memory::{Home, Memory, Name, Part, Pid, Property::*, Space, Value};

use super::test_and_set::TestAndSet;
use crate::{About, Claim::Holds, Kind, rule};

/// What is known of it.
pub const ABOUT: About = About {
    name: "renaming-tree",
    title: "renaming by splitters that are used again",
    source: "after Kim & Anderson 2000",
    kind: Kind::Part,
    default_n: 2,
    claims: &[Holds(Rule), Holds(WaitFree)],
    remark: "ascents exclude one another, as in `kim-anderson`; the checker's own lock sees to that",
    ..About::LOCK
};

/// Places in a tree for processes to stop at: nodes are numbered as in a heap, and whoever gets none has come to a number
/// below the last level.
pub trait Places<M: Memory> {
    /// How many nodes there are.
    fn nodes(&self) -> usize;

    /// Goes down until stopped, or past the last level. Returns the place: the node we stopped at, or what would be a
    /// node below the last level.
    fn descend(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt>;

    /// Gives `place` back, and the way to it. One process at a time.
    fn leave(&self, m: &mut M, p: Pid, place: usize) -> Result<(), M::Halt>;

    /// Whether who ended at `place` stopped at the node of that number; if not, it is below all of them.
    fn stops(&self, place: usize) -> bool {
        place <= self.nodes()
    }
}

/// The tree; see the [module](self).
pub struct RenamingTree<M: Memory> {
    /// Node n is at n-1.
    nodes: Vec<Splitter<M>>,
}

impl<M: Memory> RenamingTree<M> {
    /// A free tree for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        RenamingTree { nodes: (1..=size(n)).map(|node| Splitter::new(space, n, node)).collect() }
    }

    /// Releases every node on the way to `place`, from there up. One process at a time.
    pub fn ascend(&self, m: &mut M, p: Pid, place: usize) -> Result<(), M::Halt> {
        if let Some(node) = self.nodes.get(place - 1) {
            m.call(|m| node.release(m, Way::Stop, p))?;
        }
        m.fold(depth(place), (), |m, (), up| {
            let (above, way) = came_from(place >> up);
            self.nodes[above - 1].release(m, way, p)
        })
    }

    /// Lets others stop at `place` again; nothing if nobody can.
    pub fn clear(&self, m: &mut M, place: usize) -> Result<(), M::Halt> {
        match self.nodes.get(place - 1) {
            Some(node) => m.at("c1").write(&node.acquired, false),
            None => Ok(()),
        }
    }
}

impl<M: Memory> Places<M> for RenamingTree<M> {
    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn descend(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt> {
        m.turns(1, |m, x| {
            let Some(node) = self.nodes.get(x - 1) else { return Ok(Break(x)) };
            Ok(match node.acquire(m, p)? {
                Way::Stop => Break(x),
                Way::Left => Continue(2 * x),
                Way::Right => Continue(2 * x + 1),
            })
        })
    }

    fn leave(&self, m: &mut M, p: Pid, place: usize) -> Result<(), M::Halt> {
        self.ascend(m, p, place)?;
        self.clear(m, place)
    }
}

/// A tree of the same shape with the fewest states: a node is taken by compare-and-swap, and whoever finds it taken goes
/// right if by one of a larger number, else left. It stands for "any renaming".
pub struct PlainTree<M: Memory> {
    /// Node n is at n-1.
    taken: Vec<M::Reg<Option<usize>>>,
}

impl<M: Memory> PlainTree<M> {
    /// A free tree for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        let node = |node| space.register(Name::new("Taken").index(node), Home::Nobody, None);
        PlainTree { taken: (1..=size(n)).map(node).collect() }
    }
}

impl<M: Memory> Places<M> for PlainTree<M> {
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

/// How many nodes a tree for `n` processes has: levels 0 … ⌊log2 n⌋.
fn size(n: usize) -> usize {
    (1 << (n.ilog2() + 1)) - 1
}

/// How many nodes are above position `x`.
pub fn depth(x: usize) -> usize {
    x.ilog2() as usize
}

/// The node above position `x`, and how it was left.
pub fn came_from(x: usize) -> (usize, Way) {
    (x / 2, if x.is_multiple_of(2) { Way::Left } else { Way::Right })
}

/// Where a splitter sends a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From node n to 2n.
    Left,
    /// From node n to 2n+1.
    Right,
    /// Nowhere: the node is ours.
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
    fn acquire(&self, m: &mut M, p: Pid) -> Result<Way, M::Halt> {
        m.at("a1").write(&self.x, p)?;
        m.at("a1").fence()?; // or two find Y free, and neither sees the other in X
        let y = m.at("a2").read(&self.y)?;
        if !y.free {
            return Ok(Way::Right);
        }
        m.at("a3").write(&self.y, Status::TAKEN)?;
        m.at("a4").write(&self.obst[p], true)?;
        m.at("a4").fence()?; // or one who comes later finds Y free, and we do not see it in X
        if m.at("a5").test(&self.x, |x| x != p)? || m.at("a6").test(&self.acquired, |acquired| acquired)? {
            return Ok(Way::Left);
        }
        m.at("a7").write(&self.round[y.round], true)?;
        m.at("a7").fence()?; // or who frees the node for another round does not see that we are still in this one
        if m.at("a8").test(&self.reset, |reset| reset != y)? {
            m.at("a9").write(&self.round[y.round], false)?;
            return Ok(Way::Left);
        }
        m.at("a10").write(&self.acquired, true)?;
        Ok(Way::Stop)
    }

    /// Release_Node.
    fn release(&self, m: &mut M, way: Way, p: Pid) -> Result<(), M::Halt> {
        if way == Way::Right {
            return Ok(());
        }
        m.at("r1").write(&self.y, Status::TAKEN)?;
        m.at("r2").write(&self.x, p)?;
        m.at("r3").write(&self.obst[p], false)?;
        let round = m.at("r4").read(&self.reset)?.round;
        m.at("r5").write(&self.reset, Status { free: false, round })?;
        m.at("r5").fence()?; // or one in this round does not see that the round is over, nor we that it is there
        let clear = m.at("r6").test(&self.obst[round], |obst| !obst)?
            && (way == Way::Stop || m.at("r7").test(&self.round[round], |round| !round)?);
        if clear {
            let next = Status { free: true, round: (round + 1) % self.round.len() };
            m.at("r8").write(&self.reset, next)?;
            m.at("r9").write(&self.y, next)?;
        }
        if way == Way::Stop {
            m.at("r10").write(&self.round[round], false)?;
        }
        Ok(())
    }
}

/// A tree used as its etiquette asks, and judged; see the [module](self#how-that-is-checked).
pub struct Etiquette<M: Memory, P> {
    tree: P,
    /// The place of each process, as [`Places::descend`] returns it; none outside the tree.
    place: Vec<M::Reg<Option<usize>>>,
    lock: TestAndSet<M>,
}

impl<M: Memory, P: Places<M>> Etiquette<M, P> {
    /// A tree that `n` processes will use.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, tree: P) -> Self {
        Etiquette { tree, place: space.array("place", n, None), lock: TestAndSet::new(space) }
    }

    /// Another process that has stopped at `place`.
    fn also_at(&self, m: &mut M, p: Pid, place: usize) -> Result<Option<Pid>, M::Halt> {
        m.fold(self.place.len(), None, |m, other, q| {
            let is_there = q != p && m.at("-").test(&self.place[q], |of_q| of_q == Some(place))?;
            Ok(if is_there { Some(q) } else { other })
        })
    }
}

/// The tree for `n` processes, used as its etiquette asks.
pub fn renaming_tree<M: Memory>(space: &mut impl Space<Mem = M>, n: usize) -> Etiquette<M, RenamingTree<M>> {
    let tree = RenamingTree::new(space, n);
    Etiquette::new(space, n, tree)
}

impl<M: Memory, P: Places<M>> Part<M> for Etiquette<M, P> {
    /// Another process that had stopped at the same node.
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
    fn one_alone_stops_at_the_root_every_time() {
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
    fn the_rule_is_that_no_two_stop_at_the_same_node() {
        let part = renaming_tree(&mut Solo::new(), 3);
        assert!(part.rule(&[Some(None), None, Some(None)]).is_ok());
        let complaint = part.rule(&[Some(None), None, Some(Some(1))]).unwrap_err();
        assert_eq!(complaint, "p2 and p1 have stopped at the same node");
    }

    #[test]
    fn those_who_come_one_by_one_stop_further_and_further_right_and_the_others_overflow() {
        let mut solo = Solo::new();
        let tree = RenamingTree::new(&mut solo, 4);
        let places = [0, 1, 2, 3].map(|p| tree.descend(&mut solo, p));
        assert_eq!(places, [Ok(1), Ok(3), Ok(7), Ok(15)]);
        assert!(tree.stops(7) && !tree.stops(15));
    }
}
