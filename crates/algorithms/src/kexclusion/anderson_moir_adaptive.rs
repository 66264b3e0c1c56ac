//! A line of blocks that is as long as there are processes that take part. After J. H. Anderson, M. Moir, *Using local-spin
//! k-exclusion algorithms to improve wait-free object implementations*, Distributed Computing 11(1), 1997: the fast paths
//! one inside the other, for caches.
//!
//! ```text
//!     L = ⌈N/k⌉ levels; tok[1 .. L-1] = k at first; block i, for i = 1 … L-1, lets k of 2k through
//!
//!     l := 1
//!  a  while l < L and bounded-decrement(tok[l]) = 0: l := l+1                    (doorway ends)
//!     for i := min(l, L-1) down to 1:
//! 1-4     enter block i, as in `anderson-moir`
//!     critical section
//!     for i := 1 to min(l, L-1):
//! 5-6     leave block i
//!  b  if l < L: fetch-and-add(tok[l], 1)
//! ```
//!
//! A bounded decrement takes one from a register in one step, unless that is 0, and returns what it held before. To block i
//! come those with a token of level i, and those whom block i+1 has let through: k and k. Whoever goes on from level l has
//! found k others there who do not, so at most N-lk are ever further on; at level L they are k at most, and need no token.
//!
//! We did not have the text of the paper; this is how the algorithm is told, and the line numbers are ours.
//!
//! Departures: the bounded decrement is an `update`, which may be a loop of compare-and-swaps. There is no `tok[L]`. Block i
//! is for N-(i-1)k, if these are fewer than 2k. The doorway is line a.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, bounded exit. If c take part, a process
//! passes O(c) stages.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Space};

use super::{
    anderson_moir::{self, CachedStage, Chain, Stage},
    anderson_moir_fast, anderson_moir_tree,
};
use crate::{About, Remote};

/// What is known of it.
pub const ABOUT: About = About {
    name: "anderson-moir-adaptive",
    aliases: &[],
    title: "a line of chains of stages, longer if more take part",
    primitives: anderson_moir_fast::ABOUT.primitives,
    remark: "a process passes k stages for every k that take part",
    remote: Some(Remote { cc: "Θ(c)", dsm: "∞" }),
    departures: anderson_moir_tree::ABOUT.departures,
    ..anderson_moir::ABOUT
};

/// The lock; see the [module](self).
pub type AndersonMoirAdaptive<M> = Adaptive<M, CachedStage<M>>;

/// A line of chains of stages of any kind.
pub struct Adaptive<M: Memory, S> {
    /// Level i+1's.
    tok: Vec<M::Reg<usize>>,
    /// Block i+1.
    blocks: Vec<Chain<S>>,
}

impl<M: Memory, S: Stage<M>> Adaptive<M, S> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        let levels = 1..n.div_ceil(k);
        let tok = levels.clone().map(|l| space.register(Name::new("tok").index(l), Home::Nobody, k)).collect();
        let most = |i: usize| (n - (i - 1) * k).min(2 * k);
        let block = |i| Chain::block(space, |register| Name::new(register).index(i), n, most(i), k);
        Adaptive { tok, blocks: levels.map(block).collect() }
    }
}

impl<M: Memory, S: Stage<M>> Exclusion<M> for Adaptive<M, S> {
    /// How many levels have no token for us.
    type Place = usize;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<usize, M::Halt> {
        m.turns(0, |m, l| {
            let stays = l == self.tok.len() || m.at("a").update(&self.tok[l], |tok| tok.saturating_sub(1))? > 0;
            Ok(if stays { Break(l) } else { Continue(l + 1) })
        })
    }

    fn wait(&self, m: &mut M, p: Pid, &l: &usize) -> Result<(), M::Halt> {
        let blocks = self.blocks.len().min(l + 1);
        m.fold(blocks, (), |m, (), i| self.blocks[blocks - 1 - i].wait(m, p, &()))
    }

    fn exit(&self, m: &mut M, p: Pid, &l: &usize) -> Result<(), M::Halt> {
        m.fold(self.blocks.len().min(l + 1), (), |m, (), i| self.blocks[i].exit(m, p, &()))?;
        match self.tok.get(l) {
            Some(tok) => m.at("b").fetch_add(tok, 1).map(drop),
            None => Ok(()),
        }
    }
}
