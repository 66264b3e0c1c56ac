//! The special set, on a static tree. R. Danek and W. Golab, *Closing the complexity gap between FCFS mutual exclusion
//! and mutual exclusion*, section 4.1, Figures 2-5.
//!
//! A process inserts itself into the set; later it removes itself and learns of one other member, if there is one.
//!
//! ```text
//!     a binary tree with a leaf for each process; initially NodeVal[x] = ⊥ for each node x, and MyNode[p] = ⊥
//!
//!     InsertSelf:                                     RemoveSelf:
//! 25  MyNode[p] := leaf(p)                            31  l := leaf(p)
//! 26  InsertHelper(p)                                 32  for each node x from l to the root:
//!                                                     33      if x has a sibling x':
//!     InsertHelper(z):                                35          q := NodeVal[x']
//! 28  for each node x from leaf(z) to the root:       36          if q ≠ ⊥ and MyNode[q] ≠ ⊥:
//! 29      NodeVal[x] := z                             37              InsertHelper(q)
//!                                                     38              MyNode[p] := ⊥; return q
//!                                                     43  MyNode[p] := ⊥; return ⊥
//! ```
//!
//! Departures: the root is never read, so it has no register. Lines 27 and 31 do not read MyNode, since leaves are
//! static. Any N: node x has the children 2x+1 and 2x+2, the root is 0 and process i is the leaf N-1+i.
//!
//! Guarantees, if a process removes itself before it inserts itself again, and no two processes remove themselves at
//! the same time (Condition 1): a linearizable set, both operations in O(log N) steps.
//!
//! # How it is checked
//!
//! [`Harness`] is a set used according to Condition 1. A call is one operation: InsertSelf if the process is not a
//! member; if it is, RemoveSelf, or nothing while another process removes itself, so that no call ever waits for
//! another. Steps on line `-` are the harness': `standing[p]` is set to *coming* before InsertSelf, to *in* after it
//! or by a process that was told of p, and to *out* after RemoveSelf. These steps can only make an operation seem
//! longer than it is, and the executions in which they do not are among those that are searched.
//!
//! Removals do not overlap, so there is a linearization if and only if a process that is told of q finds q coming or
//! in, and no process is told ⊥ that found another one in before its RemoveSelf.
use alloc::{format, string::String, vec, vec::Vec};
use core::{
    fmt,
    ops::ControlFlow::{Break, Continue},
};

use doorway_memory::{Home, Memory, Name, Part, Pid, Property::*, Space, Value};

use crate::blocks::test_and_set::TestAndSet;
use crate::{About, Condition::Tso, Size, claim::holds, pinned::at, rule};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "special-set",
    title: "the special set, on a static tree",
    source: "Danek & Golab, Fig. 2-5",
    claims: &[holds(Rule), holds(WaitFree)],
    tolerates: &[Tso],
    remark: "removals exclude one another, as Condition 1 requires; the part's harness uses a lock for that",
    pinned: &[
        at(2).finds(444),
        at(3).finds(21_263),
        at(4).finds(862_719),
        at(3).under(&[Tso]).finds(513_212).fences(0),
    ],
    ..About::PART
};

/// A set of processes, in which each process inserts and removes only itself.
pub trait SpecialSet<M: Memory>: Send + Sync {
    /// InsertSelf: inserts the caller, which must not be a member.
    fn insert_self(&self, m: &mut M, p: Pid) -> Result<(), M::Halt>;

    /// RemoveSelf: removes the caller, which must be a member, and returns another member. One process at a time.
    fn remove_self(&self, m: &mut M, p: Pid) -> Result<Option<Pid>, M::Halt>;
}

/// The set on a static tree; see the [module](self).
pub struct StaticSet<M: Memory> {
    n: usize,
    tree: Tree<M>,
    my_node: Vec<M::Reg<Option<usize>>>,
}

impl<M: Memory> StaticSet<M> {
    /// An empty set for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        let tree = Tree::new(space, (1..2 * n - 1).map(|x| (x - 1) / 2));
        StaticSet { n, tree, my_node: space.array("MyNode", n, None) }
    }

    fn leaf(&self, p: Pid) -> usize {
        self.n - 1 + p
    }
}

impl<M: Memory> SpecialSet<M> for StaticSet<M> {
    fn insert_self(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("25").write(&self.my_node[p], Some(self.leaf(p)))?;
        self.tree.announce(m, p, self.leaf(p))
    }

    fn remove_self(&self, m: &mut M, p: Pid) -> Result<Option<Pid>, M::Halt> {
        let member_leaf = |m: &mut M, q: Pid, _| {
            let is_in = m.at("36").test(&self.my_node[q], |leaf| leaf.is_some())?;
            Ok(is_in.then_some(self.leaf(q)))
        };
        let other = self.tree.find(m, self.leaf(p), member_leaf)?;
        m.at("38").write(&self.my_node[p], None)?;
        Ok(other)
    }
}

/// Creates the part for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, .. }: Size) -> Harness<M, StaticSet<M>> {
    let set = StaticSet::new(space, n);
    Harness::new(space, n, set)
}

/// The root of a [`Tree`].
pub(crate) const ROOT: usize = 0;

/// A tree whose nodes name a process below them.
pub(crate) struct Tree<M: Memory> {
    /// The register of node x is at index x-1: the root has none.
    node_val: Vec<M::Reg<Option<usize>>>,
    parent: Vec<usize>,
    siblings: Vec<Vec<usize>>,
}

impl<M: Memory> Tree<M> {
    /// A tree in which `parents` are the parents of the nodes 1, 2 …
    pub(crate) fn new(space: &mut impl Space<Mem = M>, parents: impl Iterator<Item = usize>) -> Self {
        let parent: Vec<usize> = core::iter::once(ROOT).chain(parents).collect();
        let mut children = vec![Vec::new(); parent.len()];
        (1..parent.len()).for_each(|x| children[parent[x]].push(x));
        let siblings = |x: usize| children[parent[x]].iter().copied().filter(|&sibling| sibling != x).collect();
        let siblings = (0..parent.len()).map(siblings).collect();
        let node_val = |x| space.register(Name::new("NodeVal").index(x), Home::Nobody, None);
        Tree { node_val: (1..parent.len()).map(node_val).collect(), parent, siblings }
    }

    /// InsertHelper(z): writes z to the nodes from its leaf up.
    pub(crate) fn announce(&self, m: &mut M, z: Pid, leaf: usize) -> Result<(), M::Halt> {
        m.turns(leaf, |m, x| {
            if x == ROOT {
                return Ok(Break(()));
            }
            m.at("29").write(&self.node_val[x - 1], Some(z))?;
            Ok(Continue(self.parent[x]))
        })
    }

    /// Lines 32-37: searches for another member from the leaf up, and announces it again.
    ///
    /// `leaf_of` returns the leaf of a process found at a node, or `None` if the process is not accepted as a member.
    pub(crate) fn find(
        &self,
        m: &mut M,
        leaf: usize,
        leaf_of: impl Fn(&mut M, Pid, usize) -> Result<Option<usize>, M::Halt>,
    ) -> Result<Option<Pid>, M::Halt> {
        m.turns((leaf, 0_usize), |m, (x, i)| {
            if x == ROOT {
                return Ok(Break(None));
            }
            let Some(&sibling) = self.siblings[x].get(i) else { return Ok(Continue((self.parent[x], 0))) };
            if let Some(q) = m.at("35").read(&self.node_val[sibling - 1])?
                && let Some(leaf) = leaf_of(m, q, sibling)?
            {
                self.announce(m, q, leaf)?;
                return Ok(Break(Some(q)));
            }
            Ok(Continue((x, i + 1)))
        })
    }

    /// Whether `x` is on the path from `leaf` to the root.
    pub(crate) fn is_above(&self, x: usize, leaf: usize) -> bool {
        let up = |&y: &usize| (y != ROOT).then(|| self.parent[y]);
        core::iter::successors(Some(leaf), up).any(|y| y == x)
    }
}

/// A set used according to Condition 1, with its answers judged; see the [module](self#how-it-is-checked).
pub struct Harness<M: Memory, S> {
    set: S,
    standing: Vec<M::Reg<Standing>>,
    lock: TestAndSet<M>,
}

impl<M: Memory, S: SpecialSet<M>> Harness<M, S> {
    /// A harness for an empty set and `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, set: S) -> Self {
        Harness { set, standing: space.array("standing", n, Standing::Out), lock: TestAndSet::new(space) }
    }

    fn insert(&self, m: &mut M, p: Pid) -> Result<Answer, M::Halt> {
        m.at("-").write(&self.standing[p], Standing::Coming)?;
        m.call(|m| self.set.insert_self(m, p))?;
        m.at("-").write(&self.standing[p], Standing::In)?;
        Ok(Answer::Right)
    }

    fn remove(&self, m: &mut M, p: Pid) -> Result<Answer, M::Halt> {
        let member = self.member(m, p)?;
        let other = m.call(|m| self.set.remove_self(m, p))?;
        m.at("-").write(&self.standing[p], Standing::Out)?;
        let Some(q) = other else { return Ok(member.map_or(Answer::Right, Answer::Missed)) };
        match m.at("-").read(&self.standing[q])? {
            Standing::Out if p == q => return Ok(Answer::Itself),
            Standing::Out => return Ok(Answer::Stranger(q)),
            Standing::Coming => m.at("-").write(&self.standing[q], Standing::In)?,
            Standing::In => {}
        }
        Ok(Answer::Right)
    }

    /// Another process that is known to be a member.
    fn member(&self, m: &mut M, p: Pid) -> Result<Option<Pid>, M::Halt> {
        m.turns(0_usize, |m, q| {
            if q == self.standing.len() {
                return Ok(Break(None));
            }
            let is_in = q != p && m.at("-").test(&self.standing[q], |standing| standing == Standing::In)?;
            Ok(if is_in { Break(Some(q)) } else { Continue(q + 1) })
        })
    }
}

impl<M: Memory, S: SpecialSet<M>> Part<M> for Harness<M, S> {
    type Outcome = Answer;
    const AGAIN: bool = true;

    fn call(&self, m: &mut M, p: Pid) -> Result<Answer, M::Halt> {
        if m.at("-").test(&self.standing[p], |standing| standing == Standing::Out)? {
            return self.insert(m, p);
        }
        if !self.lock.try_lock(m)? {
            return Ok(Answer::Right);
        }
        let answer = m.call(|m| self.remove(m, p))?;
        self.lock.unlock(m)?;
        Ok(answer)
    }

    fn rule(&self, latest: &[Option<Answer>]) -> Result<(), String> {
        rule::of_each_call(latest, |p, answer| match answer {
            Answer::Right => None,
            Answer::Itself => Some(format!("p{p} was told of itself")),
            Answer::Stranger(q) => Some(format!("p{p} was told of p{q}, which is not in the set")),
            Answer::Missed(q) => Some(format!("p{p} was told that the set has no other member, but p{q} is in it")),
        })
    }
}

/// The membership of a process, as far as others can rely on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    Out,
    Coming,
    In,
}

impl Value for Standing {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        [Standing::Out, Standing::Coming, Standing::In][word as usize]
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Standing::Out => "out",
            Standing::Coming => "coming",
            Standing::In => "in",
        })
    }
}

/// Whether the latest operation of a process can be part of a linearization.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It can.
    Right,
    /// The process was told of itself.
    Itself,
    /// It was told of this process, which was not a member.
    Stranger(Pid),
    /// It was told ⊥, but this process was a member.
    Missed(Pid),
}

impl Value for Answer {
    #[inline(always)]
    fn to_word(self) -> u64 {
        match self {
            Answer::Right => 0,
            Answer::Itself => 1,
            Answer::Stranger(q) => 2 + 2 * q as u64,
            Answer::Missed(q) => 3 + 2 * q as u64,
        }
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        match word {
            0 => Answer::Right,
            1 => Answer::Itself,
            _ if word.is_multiple_of(2) => Answer::Stranger((word / 2 - 1) as usize),
            _ => Answer::Missed((word / 2 - 1) as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use doorway_memory::Solo;

    use super::*;

    #[test]
    fn removal_names_another_member_until_the_set_is_empty() {
        for n in [2, 3, 5, 8, 1024] {
            let mut solo = Solo::new();
            let set = StaticSet::new(&mut solo, n);
            for p in 0..n {
                let Ok(()) = set.insert_self(&mut solo, p);
            }
            for p in 0..n {
                let Ok(other) = set.remove_self(&mut solo, p);
                assert_eq!(other.is_some(), p + 1 < n, "n={n}, p={p}");
                assert!(other.is_none_or(|q| q > p && q < n), "n={n}, p={p}: {other:?}");
            }
        }
    }

    #[test]
    fn rule_names_each_kind_of_wrong_answer() {
        let mut solo = Solo::new();
        let set = StaticSet::new(&mut solo, 2);
        let part = Harness::new(&mut solo, 2, set);
        let rule = |answer| part.rule(&[Some(Answer::Right), Some(answer)]);
        assert_eq!(rule(Answer::Right), Ok(()));
        assert_eq!(rule(Answer::Itself), Err("p1 was told of itself".to_string()));
        assert_eq!(rule(Answer::Stranger(0)), Err("p1 was told of p0, which is not in the set".to_string()));
        let missed = "p1 was told that the set has no other member, but p0 is in it";
        assert_eq!(rule(Answer::Missed(0)), Err(missed.to_string()));
    }

    #[test]
    fn answers_round_trip_through_words() {
        for answer in [Answer::Right, Answer::Itself, Answer::Stranger(7), Answer::Missed(0)] {
            assert_eq!(Answer::of_word(answer.to_word()), answer);
        }
    }
}
