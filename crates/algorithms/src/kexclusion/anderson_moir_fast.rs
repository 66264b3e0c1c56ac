//! A tree of blocks with a fast path. After J. H. Anderson, M. Moir, *Using local-spin k-exclusion algorithms to
//! improve wait-free object implementations*, Distributed Computing 11(1), 1997: the fast path for caches.
//!
//! ```text
//!     initially tok = k; block 0 lets k of 2k through
//!
//!  a  fast := bounded-decrement(tok) > 0                                         (doorway ends)
//!     if not fast:
//! 1-4     enter the tree of blocks, as in `anderson-moir-tree`
//! 1-4 enter block 0, as in `anderson-moir`
//!     critical section
//! 5-6 leave block 0
//!     if not fast:
//! 5-6     leave the tree
//!     else:
//!  b      fetch-and-add(tok, 1)
//! ```
//!
//! A bounded decrement subtracts one from a register in one step, unless it is 0, and returns the previous value. At
//! most k processes have a token, and the tree lets k through, so at most 2k use block 0. A token is returned only
//! after block 0 is left: otherwise one process more could use the block.
//!
//! The text of the paper was not available; this is the usual presentation, with line numbers of this project.
//!
//! Departures: the bounded decrement is an `update`, which may be a loop of compare-and-swaps. A process without a
//! token has found k others with one, so at most N-k processes have none; if that is at most k, there is no tree.
//! Otherwise the tree is for N processes nevertheless, for each process has a leaf of its own. The doorway is line a.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, bounded exit. While at most k processes
//! contend, a passage has k stages and waits at none of them; otherwise O(k log(N/k)).
use doorway_memory::{Exclusion, Memory, Name, Pid, Space};

use super::{
    anderson_moir::{self, CachedStage, Chain, Stage},
    anderson_moir_tree::{self, Tree},
};
use crate::{About, Condition::Tso, Size, pinned::at};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "anderson-moir-fast",
    aliases: &[],
    title: "a tree of chains of stages with a fast path",
    primitives: &["read", "write", "fetch-and-add", "update"],
    remark: "a passage has k stages if at most k processes contend",
    remote: anderson_moir_tree::ABOUT.remote,
    departures: anderson_moir_tree::ABOUT.departures,
    pinned: &[
        at(2).k(1).finds(200),
        at(3).k(1).finds(90_090),
        at(3).k(2).finds(4_734),
        at(4).k(1).finds(3_296_584).takes("30 s"),
        at(4).k(3).finds(100_720),
        at(3).k(2).crashes(1).finds(4_734),
        at(4).k(3).crashes(2).finds(100_720),
        at(3).under(&[Tso]).finds(6_330).fences(1),
        at(2).k(1).remote(Some(8), None),
        at(3).k(1).remote(Some(19), None),
    ],
    ..anderson_moir::ABOUT
};

/// The lock's type.
pub type Lock<M> = AndersonMoirFast<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> AndersonMoirFast<M> {
    AndersonMoirFast::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub type AndersonMoirFast<M> = Fast<M, CachedStage<M>>;

/// A fast path around a tree of stages of any kind.
pub struct Fast<M: Memory, S> {
    /// The number of tokens left for the fast path.
    tok: M::Reg<usize>,
    /// For processes without a token.
    slow: Option<Tree<S>>,
    /// For all processes.
    block: Chain<S>,
}

impl<M: Memory, S: Stage<M>> Fast<M, S> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        Fast {
            tok: space.shared("tok", k),
            slow: (n - k > k).then(|| Tree::new(space, n, k)),
            block: Chain::block(space, |register| Name::new(register).index(0), n, n.min(2 * k), k),
        }
    }
}

impl<M: Memory, S: Stage<M>> Exclusion<M> for Fast<M, S> {
    /// Whether the process has a token.
    type Place = bool;
    type Inside = bool;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<bool, M::Halt> {
        Ok(m.at("a").update(&self.tok, |tok| tok.saturating_sub(1))? > 0)
    }

    fn wait(&self, m: &mut M, p: Pid, &fast: &bool) -> Result<bool, M::Halt> {
        if let (false, Some(slow)) = (fast, &self.slow) {
            slow.wait(m, p, &())?;
        }
        self.block.wait(m, p, &())?;
        Ok(fast)
    }

    fn exit(&self, m: &mut M, p: Pid, fast: &bool) -> Result<(), M::Halt> {
        self.block.exit(m, p, &())?;
        match (fast, &self.slow) {
            (true, _) => m.at("b").fetch_add(&self.tok, 1).map(drop),
            (false, Some(slow)) => slow.exit(m, p, &()),
            (false, None) => Ok(()),
        }
    }
}
