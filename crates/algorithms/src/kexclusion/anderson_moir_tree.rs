//! A tree of blocks. After J. H. Anderson, M. Moir, *Using local-spin k-exclusion algorithms to improve wait-free object
//! implementations*, Distributed Computing 11(1), 1997: the tree for caches.
//!
//! ```text
//!     a binary tree of blocks, each of them lets k of 2k through; ⌈N/2k⌉ leaves, process p's is p div 2k
//!     for each block from p's leaf to the root:
//! 1-4     enter its chain of stages 2k-1 … k, as in `anderson-moir`
//!     critical section
//!     for each block from the root to p's leaf:
//! 5-6     leave its chain
//! ```
//!
//! We did not have the text of the paper; this is how the algorithm is told, and the line numbers are those of
//! `anderson-moir`.
//!
//! Departures: any N: block x has the blocks 2x and 2x+1 below it, the root is 1 and leaf i is block L+i, L being the
//! number of leaves; so every block that is not a leaf has two below it. There is no doorway.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, bounded exit. A process passes
//! O(k log(N/k)) stages.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Name, Pid, Space};

use super::anderson_moir::{self, CachedStage, Chain, Stage};
use crate::{About, Remote};

/// What is known of it.
pub const ABOUT: About = About {
    name: "anderson-moir-tree",
    aliases: &[],
    title: "a tree of chains of stages",
    remark: "a process passes k stages on each level",
    remote: Some(Remote { cc: "Θ(k log(N/k))", dsm: "∞" }),
    departures: "the text was not to be had: a reconstruction, of the form for caches",
    ..anderson_moir::ABOUT
};

/// The lock; see the [module](self).
pub type AndersonMoirTree<M> = Tree<CachedStage<M>>;

/// A tree of chains of stages of any kind.
pub struct Tree<S> {
    k: usize,
    /// Block x is at x-1.
    blocks: Vec<Chain<S>>,
}

impl<S> Tree<S> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
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
