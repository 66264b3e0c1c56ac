//! A series of blocks whose length adapts to the contention. After J. H. Anderson, M. Moir, *Using local-spin
//! k-exclusion algorithms to improve wait-free object implementations*, Distributed Computing 11(1), 1997: the nested
//! fast paths, for caches.
//!
//! ```text
//!     L = ⌈N/k⌉ levels; initially tok[1 .. L-1] = k; block i, for i = 1 … L-1, lets k of 2k through
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
//! A bounded decrement subtracts one from a register in one step, unless it is 0, and returns the previous value.
//! Block i is used by processes with a token of level i, at most k, and by those that block i+1 has let through, also
//! at most k. A process that proceeds from level l has found k others there that do not, so at most N-lk processes
//! ever proceed from it; at level L these are at most k, and need no token.
//!
//! The text of the paper was not available; this is the usual presentation, with line numbers of this project.
//!
//! Departures: the bounded decrement is an `update`, which may be a loop of compare-and-swaps. There is no `tok[L]`.
//! Block i is for N-(i-1)k processes, if these are fewer than 2k. The doorway is line a.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, bounded exit. If c processes contend, a
//! passage has O(c) stages.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Space};

use super::{
    anderson_moir::{self, CachedStage, Chain, Stage},
    anderson_moir_fast, anderson_moir_tree,
};
use crate::{About, Condition::Tso, Remote, Size, pinned::at};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "anderson-moir-adaptive",
    aliases: &[],
    title: "a series of chains of stages, longer under contention",
    primitives: anderson_moir_fast::ABOUT.primitives,
    remark: "a passage has k stages for every k processes that contend",
    remote: Some(Remote { cc: "Θ(c)", dsm: "∞" }),
    departures: anderson_moir_tree::ABOUT.departures,
    pinned: &[
        at(2).k(1).finds(200),
        at(3).k(1).finds(46_398),
        at(3).k(2).finds(4_734),
        at(4).k(2).finds(3_654_452).takes("30 s"),
        at(4).k(3).finds(100_720),
        at(3).k(2).crashes(1).finds(4_734),
        at(4).k(3).crashes(2).finds(100_720),
        at(3).under(&[Tso]).finds(6_330).fences(1),
        at(2).k(1).remote(Some(8), None),
        at(3).k(1).remote(Some(15), None),
    ],
    ..anderson_moir::ABOUT
};

/// The lock's type.
pub type Lock<M> = AndersonMoirAdaptive<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> AndersonMoirAdaptive<M> {
    AndersonMoirAdaptive::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub type AndersonMoirAdaptive<M> = Adaptive<M, CachedStage<M>>;

/// A series of chains of stages of any kind.
pub struct Adaptive<M: Memory, S> {
    /// `tok[i+1]` is at index i.
    tok: Vec<M::Reg<usize>>,
    /// Block i+1 is at index i.
    blocks: Vec<Chain<S>>,
}

impl<M: Memory, S: Stage<M>> Adaptive<M, S> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        let levels = 1..n.div_ceil(k);
        let tok = levels.clone().map(|l| space.register(Name::new("tok").index(l), Home::Nobody, k)).collect();
        let most = |i: usize| (n - (i - 1) * k).min(2 * k);
        let block = |i| Chain::block(space, |register| Name::new(register).index(i), n, most(i), k);
        Adaptive { tok, blocks: levels.map(block).collect() }
    }
}

impl<M: Memory, S: Stage<M>> Exclusion<M> for Adaptive<M, S> {
    /// The number of levels that had no token left.
    type Place = usize;
    type Inside = usize;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<usize, M::Halt> {
        m.turns(0, |m, l| {
            let stays = l == self.tok.len() || m.at("a").update(&self.tok[l], |tok| tok.saturating_sub(1))? > 0;
            Ok(if stays { Break(l) } else { Continue(l + 1) })
        })
    }

    fn wait(&self, m: &mut M, p: Pid, &l: &usize) -> Result<usize, M::Halt> {
        let blocks = self.blocks.len().min(l + 1);
        m.fold(blocks, (), |m, (), i| self.blocks[blocks - 1 - i].wait(m, p, &()))?;
        Ok(l)
    }

    fn exit(&self, m: &mut M, p: Pid, &l: &usize) -> Result<(), M::Halt> {
        m.fold(self.blocks.len().min(l + 1), (), |m, (), i| self.blocks[i].exit(m, p, &()))?;
        match self.tok.get(l) {
            Some(tok) => m.at("b").fetch_add(tok, 1).map(drop),
            None => Ok(()),
        }
    }
}
