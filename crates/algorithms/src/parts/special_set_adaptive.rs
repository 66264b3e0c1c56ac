//! The special set, on an adaptive tree. R. Danek and W. Golab, *Closing the complexity gap between FCFS mutual
//! exclusion and mutual exclusion*, section 4.2, which describes it in words.
//!
//! ```text
//!     a tree: its root has two subtrees, the renaming tree and an overflow tree with a leaf for each process. A node n
//!     of the renaming tree has three children: the leaf of the process that stops there, 2n and 2n+1
//!
//!     InsertSelf:
//!  a  x := the position at which the descent into the renaming tree ends
//! 25  MyNode[p] := x;  leaf(p, x) is the leaf of x if p stopped there, else p's leaf in the overflow tree
//! 29  for each node y from leaf(p, x) up: NodeVal[y] := p
//!
//!     RemoveSelf:
//! 31  x := MyNode[p]
//! 32  for each node y from leaf(p, x) up, for each sibling y' of y:
//! 35      q := NodeVal[y']
//! 36      if q ≠ ⊥, and MyNode[q] ≠ ⊥, and q's leaf is below y':
//! 29          for each node z from q's leaf up: NodeVal[z] := q
//!             leave the loops, with q
//! 38  MyNode[p] := ⊥
//!  r  release the path to x in the renaming tree; clear x, if p stopped there
//!     return q, or ⊥
//! ```
//!
//! Lines a and r are those of the [`renaming_tree`](super::renaming_tree), whose lines have letters; lines with numbers
//! are those of Figures 3-5, as in [the static set](super::special_set).
//!
//! Departures: the text runs the whole of Kim and Anderson's lock and says that its inner locks could be omitted;
//! here they are. **The test that q's leaf is below y' is this project's, and necessary**: a leaf is used by
//! different processes in turn, so NodeVal can name a process that is now a member with another leaf. Line 36 as
//! printed can return the caller itself (`special-set-verbatim`), and if only that is excluded, a member is lost
//! (`special-set-not-self`). Line 29 starts at the leaf that line 36 has read. A node of the last level has no other
//! child, and is its own leaf. The nodes of the renaming tree, R of them, have their own numbers; the leaf of an
//! inner node n is R+n, and node x of the overflow tree is R+⌊R/2⌋+x, with process i as its leaf R+⌊R/2⌋+N+i.
//!
//! Guarantees: those of [the static set](super::special_set), in O(min(c, log N)) steps if the set has c members.
use alloc::vec::Vec;

use doorway_memory::{Memory, Pid, Space};

use super::{
    renaming_tree::{RenamingTree, TreeRenaming},
    special_set::{self, ROOT, SpecialSet, Tree},
};
use crate::{About, Size, pinned::at};

pub use super::special_set::Harness;

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "special-set-adaptive",
    title: "the special set, on an adaptive tree",
    source: "Danek & Golab, section 4.2",
    default_n: 2,
    tolerates: &[],
    departures: "described in words only; the test that a node is below the sibling that names it is added",
    pinned: &[at(2).finds(5_986_106)],
    ..special_set::ABOUT
};

/// The set on an adaptive tree; see the [module](self).
pub struct AdaptiveSet<M: Memory, P = RenamingTree<M>> {
    n: usize,
    renaming: P,
    tree: Tree<M>,
    my_node: Vec<M::Reg<Option<usize>>>,
    member_test: MemberTest,
}

/// The condition under which a process named by NodeVal is accepted as a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberTest {
    /// It has a leaf: Figure 5 as printed.
    Leaf,
    /// It has a leaf and is not the caller.
    LeafOfAnother,
    /// It has a leaf below the node that names it.
    LeafBelow,
}

impl<M: Memory> AdaptiveSet<M> {
    /// An empty set for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        let renaming = RenamingTree::new(space, n);
        Self::over(space, n, renaming)
    }
}

impl<M: Memory, P: TreeRenaming<M>> AdaptiveSet<M, P> {
    /// An empty set for `n` processes, over the given renaming.
    pub fn over(space: &mut impl Space<Mem = M>, n: usize, renaming: P) -> Self {
        let nodes = renaming.nodes();
        let inner = nodes / 2;
        let overflow = |x: usize| if x == 1 { ROOT } else { nodes + inner + x / 2 };
        let parents = (1..=nodes).map(|x| x / 2).chain(1..=inner).chain((1..2 * n).map(overflow));
        let tree = Tree::new(space, parents);
        AdaptiveSet { n, renaming, tree, my_node: space.array("MyNode", n, None), member_test: MemberTest::LeafBelow }
    }

    /// The same set with another member test, which may be wrong.
    pub fn with_member_test(self, member_test: MemberTest) -> Self {
        AdaptiveSet { member_test, ..self }
    }

    /// The leaf of `q`, whose descent ended at `x`.
    fn leaf(&self, q: Pid, x: usize) -> usize {
        let nodes = self.renaming.nodes();
        let inner = nodes / 2;
        match () {
            () if x <= inner => nodes + x,
            () if self.renaming.stops(x) => x,
            () => nodes + inner + self.n + q,
        }
    }

    fn accepts(&self, p: Pid, q: Pid, leaf: usize, named_at: usize) -> bool {
        match self.member_test {
            MemberTest::Leaf => true,
            MemberTest::LeafOfAnother => q != p,
            MemberTest::LeafBelow => self.tree.is_above(named_at, leaf),
        }
    }
}

impl<M: Memory, P: TreeRenaming<M>> SpecialSet<M> for AdaptiveSet<M, P> {
    fn insert_self(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        let x = self.renaming.descend(m, p)?;
        m.at("25").write(&self.my_node[p], Some(x))?;
        self.tree.announce(m, p, self.leaf(p, x))
    }

    /// # Panics
    /// If the caller is not a member.
    fn remove_self(&self, m: &mut M, p: Pid) -> Result<Option<Pid>, M::Halt> {
        let x = m.at("31").read(&self.my_node[p])?.expect("the caller is a member");
        let other = self.tree.find(m, self.leaf(p, x), |m, q, named_at| {
            let leaf = m.at("36").read(&self.my_node[q])?.map(|x| self.leaf(q, x));
            Ok(leaf.filter(|&leaf| self.accepts(p, q, leaf, named_at)))
        })?;
        m.at("38").write(&self.my_node[p], None)?;
        self.renaming.leave(m, p, x)?;
        Ok(other)
    }
}

/// Creates the part for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, .. }: Size) -> Harness<M, AdaptiveSet<M>> {
    let set = AdaptiveSet::new(space, n);
    Harness::new(space, n, set)
}

#[cfg(test)]
mod tests {
    use doorway_memory::Solo;

    use super::*;

    #[test]
    fn removal_names_another_member_until_the_set_is_empty() {
        for n in [2, 3, 5, 8, 100] {
            let mut solo = Solo::new();
            let set = AdaptiveSet::new(&mut solo, n);
            for round in 0..3 {
                for p in 0..n {
                    let Ok(()) = set.insert_self(&mut solo, p);
                }
                for p in (0..n).map(|i| (i + round) % n) {
                    let last = (n - 1 + round) % n;
                    let Ok(other) = set.remove_self(&mut solo, p);
                    assert_eq!(other.is_some(), p != last, "n={n}, p={p}");
                    assert!(other != Some(p), "n={n}, p={p}");
                }
            }
        }
    }
}
