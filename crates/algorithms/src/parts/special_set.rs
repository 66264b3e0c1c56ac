//! The special set, on a static tree. R. Danek and W. Golab, *Closing the complexity gap between FCFS mutual exclusion
//! and mutual exclusion*, section 4.1, Figures 2-5.
//!
//! A process puts itself into the set; later it takes itself out and learns of one other that is in, if there is one.
//!
//! ```text
//!     a binary tree with a leaf for each process; NodeVal[x] = ⊥ at first, for each node x, and MyNode[p] = ⊥
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
//! Departures: the root is never read, so it has no register. Lines 27 and 31 are not read from MyNode, since leaves are
//! static. Any N: node x has the children 2x+1 and 2x+2, the root is 0 and process i is the leaf N-1+i.
//!
//! Guarantees, if a process takes itself out before it comes again, and nobody takes itself out while another does
//! (Condition 1): a linearizable set, both operations in O(log N) steps.
//!
//! # How that is checked
//!
//! [`Etiquette`] is a set used according to Condition 1. A call is one operation: InsertSelf for who is out; for who is
//! in, RemoveSelf, unless another is at it: then the call does nothing, so that no call ever waits for another. Steps on
//! line `-` are not the set's: `standing[p]` is set to *coming* before InsertSelf, to *in* after it, or by who was
//! told of p, and to *out* after RemoveSelf. They only make an operation look longer, and that it may look just as long as
//! it was is among what is searched.
//!
//! Removals follow one another, so there is a linearization exactly if whoever was told of q finds q coming or in, and
//! nobody is told ⊥ who found another in before it began.
use alloc::{format, string::String, vec, vec::Vec};
use core::{
    fmt,
    ops::ControlFlow::{Break, Continue},
};

use doorway_memory::{Home, Memory, Name, Part, Pid, Property::*, Space, Value};

use super::test_and_set::TestAndSet;
use crate::{About, Claim::Holds, Kind, rule};

/// What is known of it.
pub const ABOUT: About = About {
    name: "special-set",
    title: "the special set, on a static tree",
    source: "Danek & Golab, Fig. 2-5",
    kind: Kind::Part,
    claims: &[Holds(Rule), Holds(WaitFree)],
    remark: "removals exclude one another, as Condition 1 asks; the checker's own lock sees to that",
    ..About::LOCK
};

/// A set of processes to which each adds and from which each takes nobody but itself.
pub trait SpecialSet<M: Memory> {
    /// InsertSelf: adds the caller, which must not be in.
    fn insert_self(&self, m: &mut M, p: Pid) -> Result<(), M::Halt>;

    /// RemoveSelf: takes out the caller, which must be in, and returns one of the others. One process at a time.
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
        let is_in = |m: &mut M, q: Pid, _| {
            let is_in = m.at("36").test(&self.my_node[q], |leaf| leaf.is_some())?;
            Ok(is_in.then_some(self.leaf(q)))
        };
        let other = self.tree.find(m, self.leaf(p), is_in)?;
        m.at("38").write(&self.my_node[p], None)?;
        Ok(other)
    }
}

/// The set for `n` processes, used as its etiquette asks.
pub fn special_set<M: Memory>(space: &mut impl Space<Mem = M>, n: usize) -> Etiquette<M, StaticSet<M>> {
    let set = StaticSet::new(space, n);
    Etiquette::new(space, n, set)
}

/// The top of a [`Tree`].
pub(crate) const ROOT: usize = 0;

/// A tree whose nodes say who is below them.
pub(crate) struct Tree<M: Memory> {
    /// That of node x is at x-1: the root has none.
    node_val: Vec<M::Reg<Option<usize>>>,
    parent: Vec<usize>,
    siblings: Vec<Vec<usize>>,
}

impl<M: Memory> Tree<M> {
    /// A tree in which these are the parents of the nodes 1, 2 …
    pub(crate) fn new(space: &mut impl Space<Mem = M>, parents: impl Iterator<Item = usize>) -> Self {
        let parent: Vec<usize> = core::iter::once(ROOT).chain(parents).collect();
        let mut children = vec![Vec::new(); parent.len()];
        (1..parent.len()).for_each(|x| children[parent[x]].push(x));
        let siblings = |x: usize| children[parent[x]].iter().copied().filter(|&sibling| sibling != x).collect();
        let siblings = (0..parent.len()).map(siblings).collect();
        let node_val = |x| space.register(Name::new("NodeVal").index(x), Home::Nobody, None);
        Tree { node_val: (1..parent.len()).map(node_val).collect(), parent, siblings }
    }

    /// InsertHelper(z): the nodes from its leaf up say z.
    pub(crate) fn announce(&self, m: &mut M, z: Pid, leaf: usize) -> Result<(), M::Halt> {
        m.turns(leaf, |m, x| {
            if x == ROOT {
                return Ok(Break(()));
            }
            m.at("29").write(&self.node_val[x - 1], Some(z))?;
            Ok(Continue(self.parent[x]))
        })
    }

    /// Lines 32-37: looks for another process from the leaf up, and announces it anew. `leaf_of` says for a process
    /// found at a node what its leaf is, if that is to be believed.
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

    /// Whether `x` is on the way from `leaf` to the root.
    pub(crate) fn is_above(&self, x: usize, leaf: usize) -> bool {
        let up = |&y: &usize| (y != ROOT).then(|| self.parent[y]);
        core::iter::successors(Some(leaf), up).any(|y| y == x)
    }
}

/// A set used as its etiquette asks, and judged; see the [module](self#how-that-is-checked).
pub struct Etiquette<M: Memory, S> {
    set: S,
    standing: Vec<M::Reg<Standing>>,
    lock: TestAndSet<M>,
}

impl<M: Memory, S: SpecialSet<M>> Etiquette<M, S> {
    /// An empty set for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, set: S) -> Self {
        Etiquette { set, standing: space.array("standing", n, Standing::Out), lock: TestAndSet::new(space) }
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

    /// Someone else who is in.
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

impl<M: Memory, S: SpecialSet<M>> Part<M> for Etiquette<M, S> {
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
            Answer::Missed(q) => Some(format!("p{p} was told that nobody else is in the set, and p{q} is")),
        })
    }
}

/// What a process has to do with the set, as others can be sure of it.
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
    /// It was told of one that was not in.
    Stranger(Pid),
    /// It was told ⊥, and this one was in.
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
    fn who_leaves_learns_of_another_and_the_last_one_of_nobody() {
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
    fn the_rule_tells_wrong_answers_apart() {
        let mut solo = Solo::new();
        let set = StaticSet::new(&mut solo, 2);
        let part = Etiquette::new(&mut solo, 2, set);
        let rule = |answer| part.rule(&[Some(Answer::Right), Some(answer)]);
        assert_eq!(rule(Answer::Right), Ok(()));
        assert_eq!(rule(Answer::Itself), Err("p1 was told of itself".to_string()));
        assert_eq!(rule(Answer::Stranger(0)), Err("p1 was told of p0, which is not in the set".to_string()));
        let missed = "p1 was told that nobody else is in the set, and p0 is";
        assert_eq!(rule(Answer::Missed(0)), Err(missed.to_string()));
    }

    #[test]
    fn answers_survive_a_register() {
        for answer in [Answer::Right, Answer::Itself, Answer::Stranger(7), Answer::Missed(0)] {
            assert_eq!(Answer::of_word(answer.to_word()), answer);
        }
    }
}
