//! The special set, on a tree that adapts. R. Danek and W. Golab, *Closing the complexity gap between FCFS mutual
//! exclusion and mutual exclusion*, section 4.2, which tells it in words.
//!
//! ```text
//!     a tree: above all a root; below it the renaming tree and an overflow tree with a leaf for each process. A node n of
//!     the renaming tree has three children: the leaf of who stops there, 2n and 2n+1
//!
//!     InsertSelf:
//!  a  x := where the descent into the renaming tree ends
//! 25  MyNode[p] := x;  leaf(p, x) is the leaf of x if p stopped there, else p's leaf in the overflow tree
//! 29  for each node y from leaf(p, x) up: NodeVal[y] := p
//!
//!     RemoveSelf:
//! 31  x := MyNode[p]
//! 32  for each node y from leaf(p, x) up, for each sibling y' of y:
//! 35      q := NodeVal[y']
//! 36      if q ≠ ⊥, and MyNode[q] ≠ ⊥, and q's leaf is below y':
//! 29          for each node z from q's leaf up: NodeVal[z] := q
//!             it is q; leave the loops
//! 38  MyNode[p] := ⊥
//!  r  release the path to x in the renaming tree; clear x, if stopped there
//!     return q, or ⊥
//! ```
//!
//! Lines a and r are those of the [`renaming_tree`](super::renaming_tree), whose lines have letters; lines with numbers
//! are those of Figures 3-5, and after them of [the static set](super::special_set).
//!
//! Departures: the text runs the whole of Kim and Anderson's lock and says that its inner locks could be left out; they
//! are. **That q's leaf is below y' is ours, and needed**: leaves change hands, so NodeVal can name a process that is in
//! again elsewhere. Line 36 as printed can return the caller itself (`special-set-verbatim`), and if only that is
//! forbidden, a member is lost (`special-set-not-self`). What is rewritten starts at the leaf line 36 has seen.
//! A node of the last level has no other child, and is its own leaf. The nodes of the renaming tree, R of them, have
//! their own numbers; the leaf of an inner node n is R+n, and node x of the overflow tree is R+⌊R/2⌋+x, process i being its
//! leaf R+⌊R/2⌋+N+i.
//!
//! Guarantees: those of [the static set](super::special_set), in O(min(c, log N)) steps if c processes are in.
use alloc::vec::Vec;

use doorway_memory::{Memory, Pid, Space};

use super::{
    renaming_tree::{Places, RenamingTree},
    special_set::{self, ROOT, SpecialSet, Tree},
};
use crate::About;

pub use super::special_set::Etiquette;

/// What is known of it.
pub const ABOUT: About = About {
    name: "special-set-adaptive",
    title: "the special set, on a tree that adapts",
    source: "Danek & Golab, section 4.2",
    default_n: 2,
    departures: "told in words only; that a node found is below the sibling it was found at is ours",
    ..special_set::ABOUT
};

/// The set on a tree that adapts; see the [module](self).
pub struct AdaptiveSet<M: Memory, P = RenamingTree<M>> {
    n: usize,
    places: P,
    tree: Tree<M>,
    my_node: Vec<M::Reg<Option<usize>>>,
    trust: Trust,
}

/// When a process that NodeVal names is believed to be in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trust {
    /// When it has a leaf: Figure 5 as printed.
    Leaf,
    /// When it has a leaf and is not the caller.
    LeafOfAnother,
    /// When it has a leaf below the node that names it.
    LeafBelow,
}

impl<M: Memory> AdaptiveSet<M> {
    /// An empty set for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        let places = RenamingTree::new(space, n);
        Self::over(space, n, places)
    }
}

impl<M: Memory, P: Places<M>> AdaptiveSet<M, P> {
    /// An empty set for `n` processes, over another renaming.
    pub fn over(space: &mut impl Space<Mem = M>, n: usize, places: P) -> Self {
        let nodes = places.nodes();
        let inner = nodes / 2;
        let overflow = |x: usize| if x == 1 { ROOT } else { nodes + inner + x / 2 };
        let parents = (1..=nodes).map(|x| x / 2).chain(1..=inner).chain((1..2 * n).map(overflow));
        let tree = Tree::new(space, parents);
        AdaptiveSet { n, places, tree, my_node: space.array("MyNode", n, None), trust: Trust::LeafBelow }
    }

    /// The same set, believing what it should not.
    pub fn trusting(self, trust: Trust) -> Self {
        AdaptiveSet { trust, ..self }
    }

    /// The leaf of `q`, whose descent ended at `x`.
    fn leaf(&self, q: Pid, x: usize) -> usize {
        let nodes = self.places.nodes();
        let inner = nodes / 2;
        match () {
            () if x <= inner => nodes + x,
            () if self.places.stops(x) => x,
            () => nodes + inner + self.n + q,
        }
    }

    fn believes(&self, p: Pid, q: Pid, leaf: usize, named_at: usize) -> bool {
        match self.trust {
            Trust::Leaf => true,
            Trust::LeafOfAnother => q != p,
            Trust::LeafBelow => self.tree.is_above(named_at, leaf),
        }
    }
}

impl<M: Memory, P: Places<M>> SpecialSet<M> for AdaptiveSet<M, P> {
    fn insert_self(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        let x = self.places.descend(m, p)?;
        m.at("25").write(&self.my_node[p], Some(x))?;
        self.tree.announce(m, p, self.leaf(p, x))
    }

    /// # Panics
    /// When the caller is not in.
    fn remove_self(&self, m: &mut M, p: Pid) -> Result<Option<Pid>, M::Halt> {
        let x = m.at("31").read(&self.my_node[p])?.expect("who takes itself out is in");
        let other = self.tree.find(m, self.leaf(p, x), |m, q, named_at| {
            let leaf = m.at("36").read(&self.my_node[q])?.map(|x| self.leaf(q, x));
            Ok(leaf.filter(|&leaf| self.believes(p, q, leaf, named_at)))
        })?;
        m.at("38").write(&self.my_node[p], None)?;
        self.places.leave(m, p, x)?;
        Ok(other)
    }
}

/// The set for `n` processes, used as its etiquette asks.
pub fn special_set<M: Memory>(space: &mut impl Space<Mem = M>, n: usize) -> Etiquette<M, AdaptiveSet<M>> {
    let set = AdaptiveSet::new(space, n);
    Etiquette::new(space, n, set)
}

#[cfg(test)]
mod tests {
    use doorway_memory::Solo;

    use super::*;

    #[test]
    fn who_leaves_learns_of_another_and_the_last_one_of_nobody() {
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
