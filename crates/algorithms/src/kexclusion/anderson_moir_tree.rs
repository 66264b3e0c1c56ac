//! A tree of blocks. After J. H. Anderson, M. Moir, *Using local-spin k-exclusion algorithms to improve wait-free
//! object implementations*, Distributed Computing 11(1), 1997: the tree for caches.
//!
//! ```text
//!     a binary tree of blocks, each of which lets k of 2k through; ⌈N/2k⌉ leaves, process p's is p div 2k
//!     for each block from p's leaf to the root:
//! 1-4     enter its chain of stages 2k-1 … k, as in `anderson-moir`
//!     critical section
//!     for each block from the root to p's leaf:
//! 5-6     leave its chain
//! ```
//!
//! The text of the paper was not available; this is the usual presentation, with the line numbers of `anderson-moir`.
//!
//! Departures: any N: block x has the children 2x and 2x+1, the root is 1 and leaf i is block L+i, where L is the
//! number of leaves; so every block that is not a leaf has two children. There is no doorway.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, bounded exit. A passage has O(k log(N/k))
//! stages.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Name, Pid, Space};

use super::anderson_moir::{self, CachedStage, Chain, Stage};
use crate::{About, Condition::Tso, Remote, Size, pinned::at};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "anderson-moir-tree",
    aliases: &[],
    title: "a tree of chains of stages",
    remark: "a passage has k stages on each level",
    remote: Some(Remote { cc: "Θ(k log(N/k))", dsm: "∞" }),
    departures: "a reconstruction of the form for caches: the text was not available",
    pinned: &[
        at(3).k(1).finds(6_504),
        at(3).k(2).finds(8_811),
        at(4).k(1).finds(98_406),
        at(4).k(2).finds(388_468),
        at(5).k(1).finds(8_674_962).takes("10 s"),
        at(3).k(2).crashes(1).finds(8_811),
        at(4).k(2).crashes(1).finds(388_468),
        at(3).under(&[Tso]).finds(13_245).fences(1),
        at(3).k(2).remote(Some(9), None),
    ],
    ..anderson_moir::ABOUT
};

/// The lock's type.
pub type Lock<M> = AndersonMoirTree<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> AndersonMoirTree<M> {
    AndersonMoirTree::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub type AndersonMoirTree<M> = Tree<CachedStage<M>>;

/// A tree of chains of stages of any kind.
pub struct Tree<S> {
    k: usize,
    /// Block x is at index x-1.
    blocks: Vec<Chain<S>>,
}

impl<S> Tree<S> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self
    where
        S: Stage<M>,
    {
        let leaves = n.div_ceil(2 * k);
        let block = |x| Chain::block(space, |register| Name::new(register).index(x), n, 2 * k, k);
        Tree { k, blocks: (1..2 * leaves).map(block).collect() }
    }

    fn leaf(&self, p: Pid) -> usize {
        self.blocks.len().div_ceil(2) + p / (2 * self.k)
    }
}

impl<M: Memory, S: Stage<M>> Exclusion<M> for Tree<S> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
        Ok(())
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns(self.leaf(p), |m, x| {
            self.blocks[x - 1].wait(m, p, &())?;
            Ok(if x == 1 { Break(()) } else { Continue(x / 2) })
        })
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        let leaf = self.leaf(p);
        let depth = leaf.ilog2() as usize;
        m.fold(depth + 1, (), |m, (), down| self.blocks[(leaf >> (depth - down)) - 1].exit(m, p, &()))
    }
}
