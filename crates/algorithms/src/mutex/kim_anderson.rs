//! Kim and Anderson's adaptive lock. After Y.-J. Kim and J. H. Anderson, *Adaptive mutual exclusion with local
//! spinning*, DISC 2000; the auxiliary lock of R. Danek and W. Golab, *Closing the complexity gap between FCFS mutual
//! exclusion and mutual exclusion*.
//!
//! ```text
//!     a tree of splitters, levels 0 … ⌊log2 N⌋, the root is node 1. In each node, at first, Y = Reset = (free, 0), and
//!     Acquired, Round[0 … N-1], Obst[0 … N-1] are false. Rounds are counted modulo N:
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
//!  e1  Acquire_Node from the root on; L leads from node n to 2n and R to 2n+1; until S, or past the last level
//!                                                            (doorway ends)
//!  e2  stopped: for each node n from there to the root, having gone dir:
//!          S: lock A[n] on side 0, then B[n] on side 0
//!          L: lock A[n] on side 1, then B[n] on side 0
//!          R: lock B[n] on side 1
//!          then lock TOP on side 0
//!      past the last level: lock the overflow tree O, then TOP on side 1
//!     critical section
//!     Release_Node for each node of the path, the deepest first
//!     unlock all that was locked, the last first
//!     Clear_Node, if stopped
//! ```
//!
//! `A[n]`, `B[n]` and TOP are locks for two sides, lines 1-12 of [`two_process`](crate::parts::two_process); O is the
//! [`yang_anderson`](super::yang_anderson) tournament for N processes.
//!
//! We did not have the text of the paper: this is a reconstruction, and the line numbers are ours.
//!
//! Departures: the path is kept as one number, the place where it ends: its binary digits are the turns taken. A round
//! and whether it is free are one word. `X`, initially arbitrary, is 0. Our doorway is the descent, which waits for
//! nobody.
//!
//! Guarantees: mutual exclusion, starvation-freedom, bounded exit. Whoever waits reads a cell of its own, and who meets
//! few others does not go far down: a passage makes O(min(c, log N)) remote references if c processes contend.
use alloc::vec::Vec;
use core::{
    fmt,
    ops::ControlFlow::{Break, Continue},
};

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space, Value};

use super::yang_anderson::YangAnderson;
use crate::{About, Claim::Holds, Kind, LocalSpin, Processes, parts::two_process::Lock2};

/// What is known of it.
pub const ABOUT: About = About {
    name: "kim-anderson",
    aliases: &["kim-anderson2000"],
    title: "Kim and Anderson's adaptive lock",
    source: "after Kim & Anderson 2000",
    kind: Kind::Mutex,
    processes: Processes::AtLeast(2),
    default_n: 2,
    primitives: &["read", "write"],
    sequential: false,
    survey_passages: Some(1),
    local_spin: Some(LocalSpin::BOTH),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
    ],
    remark: "the fewer contend, the less it costs",
};

/// Where a splitter sends a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Left,
    Right,
    Stop,
}

impl Way {
    /// How one came to node `x` from the one above.
    fn to(x: usize) -> Way {
        if x.is_multiple_of(2) { Way::Left } else { Way::Right }
    }
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

/// The lock; see the [module](self).
pub struct KimAnderson<M: Memory> {
    /// Node n is at n-1.
    nodes: Vec<Node<M>>,
    overflow: YangAnderson<M>,
    top: Lock2<M>,
}

impl<M: Memory> KimAnderson<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        let levels = n.ilog2() + 1;
        KimAnderson {
            nodes: (1..1 << levels).map(|node| Node::new(space, n, node)).collect(),
            overflow: YangAnderson::named(space, n, ["O.C", "O.T", "O.P"]),
            top: Lock2::new(space, n, ["TOP.C", "TOP.T", "TOP.P"].map(Name::new)),
        }
    }

    /// The splitter at position `x`, unless `x` is below all of them.
    fn stopped(&self, x: usize) -> Option<&Node<M>> {
        self.nodes.get(x - 1)
    }

    /// The splitter above position `x`, and how it was left.
    fn above(&self, x: usize) -> (&Node<M>, Way) {
        (&self.nodes[x / 2 - 1], Way::to(x))
    }
}

impl<M: Memory> Exclusion<M> for KimAnderson<M> {
    /// Where the path ends: the node we stopped at, or what would be a node below the last level.
    type Place = usize;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt> {
        m.turns(1, |m, x| {
            let Some(node) = self.stopped(x) else { return Ok(Break(x)) };
            Ok(match node.acquire(m, p)? {
                Way::Stop => Break(x),
                Way::Left => Continue(2 * x),
                Way::Right => Continue(2 * x + 1),
            })
        })
    }

    fn wait(&self, m: &mut M, p: Pid, &place: &usize) -> Result<(), M::Halt> {
        let Some(node) = self.stopped(place) else {
            m.call(|m| {
                self.overflow.doorway(m, p)?;
                self.overflow.wait(m, p, &())
            })?;
            return self.top.lock(m, 1, p);
        };
        node.lock(m, Way::Stop, p)?;
        m.fold(depth(place), (), |m, (), up| {
            let (node, way) = self.above(place >> up);
            node.lock(m, way, p)
        })?;
        self.top.lock(m, 0, p)
    }

    fn exit(&self, m: &mut M, p: Pid, &place: &usize) -> Result<(), M::Halt> {
        let stopped = self.stopped(place);
        let depth = depth(place);
        if let Some(node) = stopped {
            m.call(|m| node.release(m, Way::Stop, p))?;
        }
        m.fold(depth, (), |m, (), up| {
            let (node, way) = self.above(place >> up);
            node.release(m, way, p)
        })?;
        let Some(stopped) = stopped else {
            self.top.unlock(m, 1, p)?;
            return self.overflow.exit(m, p, &());
        };
        self.top.unlock(m, 0, p)?;
        m.fold(depth, (), |m, (), down| {
            let (node, way) = self.above(place >> (depth - 1 - down));
            node.unlock(m, way, p)
        })?;
        stopped.unlock(m, Way::Stop, p)?;
        stopped.clear(m)
    }
}

/// How many splitters are above position `x`.
fn depth(x: usize) -> usize {
    x.ilog2() as usize
}

/// A splitter, and the locks of who stopped at it or below.
struct Node<M: Memory> {
    x: M::Reg<usize>,
    y: M::Reg<Status>,
    reset: M::Reg<Status>,
    round: Vec<M::Reg<bool>>,
    acquired: M::Reg<bool>,
    obst: Vec<M::Reg<bool>>,
    /// Between who stopped here and who comes from the left.
    a: Lock2<M>,
    /// Between whoever has `a` and who comes from the right.
    b: Lock2<M>,
}

impl<M: Memory> Node<M> {
    fn new(space: &mut impl Space<Mem = M>, n: usize, node: usize) -> Self {
        let name = |name| Name::new(name).index(node);
        Node {
            x: space.register(name("X"), Home::Nobody, 0),
            y: space.register(name("Y"), Home::Nobody, Status::START),
            reset: space.register(name("Reset"), Home::Nobody, Status::START),
            round: (0..n).map(|r| space.register(name("Round").index(r), Home::Nobody, false)).collect(),
            acquired: space.register(name("Acquired"), Home::Nobody, false),
            obst: (0..n).map(|q| space.register(name("Obst").index(q), Home::Nobody, false)).collect(),
            a: Lock2::new(space, n, ["A.C", "A.T", "A.P"].map(name)),
            b: Lock2::new(space, n, ["B.C", "B.T", "B.P"].map(name)),
        }
    }

    /// Acquire_Node.
    fn acquire(&self, m: &mut M, p: Pid) -> Result<Way, M::Halt> {
        m.at("a1").write(&self.x, p)?;
        let y = m.at("a2").read(&self.y)?;
        if !y.free {
            return Ok(Way::Right);
        }
        m.at("a3").write(&self.y, Status::TAKEN)?;
        m.at("a4").write(&self.obst[p], true)?;
        if m.at("a5").test(&self.x, |x| x != p)? || m.at("a6").test(&self.acquired, |acquired| acquired)? {
            return Ok(Way::Left);
        }
        m.at("a7").write(&self.round[y.round], true)?;
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

    /// Clear_Node.
    fn clear(&self, m: &mut M) -> Result<(), M::Halt> {
        m.at("c1").write(&self.acquired, false)
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

#[cfg(test)]
mod tests {
    use doorway_memory::Solo;

    use super::*;

    #[test]
    fn one_alone_stops_at_the_root_every_time() {
        for n in 2..=10 {
            let mut solo = Solo::new();
            let lock = KimAnderson::new(&mut solo, n);
            for passage in 0..3 * n {
                let Ok(place) = lock.doorway(&mut solo, passage % n);
                assert_eq!(place, 1, "n={n}, passage {passage}");
                let Ok(()) = lock.wait(&mut solo, passage % n, &place);
                let Ok(()) = lock.exit(&mut solo, passage % n, &place);
            }
        }
    }

    #[test]
    fn those_who_come_one_by_one_stop_further_and_further_right_and_the_others_overflow() {
        let mut solo = Solo::new();
        let lock = KimAnderson::new(&mut solo, 4);
        let places = [0, 1, 2, 3].map(|p| lock.doorway(&mut solo, p));
        assert_eq!(places, [Ok(1), Ok(3), Ok(7), Ok(15)]);
        assert!(lock.stopped(7).is_some() && lock.stopped(15).is_none());
    }
}
