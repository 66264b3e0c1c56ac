//! A tree of blocks, and a way past it. After J. H. Anderson, M. Moir, *Using local-spin k-exclusion algorithms to improve
//! wait-free object implementations*, Distributed Computing 11(1), 1997: the fast path for caches.
//!
//! ```text
//!     tok = k at first; block 0 lets k of 2k through
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
//! A bounded decrement takes one from a register in one step, unless that is 0, and returns what it held before. At
//! most k have a token, and the tree lets k through, so no more than 2k come to block 0. A token is given back when
//! block 0 is left: earlier, and one more could come.
//!
//! We did not have the text of the paper; this is how the algorithm is told, and the line numbers are ours.
//!
//! Departures: the bounded decrement is an `update`, which may be a loop of compare-and-swaps. Who has no token has
//! found k others with one, so there are at most N-k of them; if that is no more than k, there is no tree. If it is
//! more, the tree is for N all the same, for each process has a leaf of its own. The doorway is line a.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, bounded exit. As long as no more than k
//! take part, a process passes k stages and waits at none of them; else O(k log(N/k)).
use doorway_memory::{Exclusion, Memory, Name, Pid, Space};

use super::{
    anderson_moir::{self, CachedStage, Chain, Stage},
    anderson_moir_tree::{self, Tree},
};
use crate::About;

/// What is known of it.
pub const ABOUT: About = About {
    name: "anderson-moir-fast",
    aliases: &[],
    title: "a tree of chains of stages, and a way past it",
    primitives: &["read", "write", "fetch-and-add", "update"],
    remark: "a process passes k stages if no more than k take part",
    remote: anderson_moir_tree::ABOUT.remote,
    departures: anderson_moir_tree::ABOUT.departures,
    ..anderson_moir::ABOUT
};

/// The lock; see the [module](self).
pub type AndersonMoirFast<M> = Fast<M, CachedStage<M>>;

/// A way past a tree of stages of any kind.
pub struct Fast<M: Memory, S> {
    /// How many more may take the way past.
    tok: M::Reg<usize>,
    /// For those who come too late for a token.
    slow: Option<Tree<S>>,
    /// For all.
    block: Chain<S>,
}

impl<M: Memory, S: Stage<M>> Fast<M, S> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        Fast {
            tok: space.shared("tok", k),
            slow: (n - k > k).then(|| Tree::new(space, n, k)),
            block: Chain::block(space, |register| Name::new(register).index(0), n, n.min(2 * k), k),
        }
    }
}

impl<M: Memory, S: Stage<M>> Exclusion<M> for Fast<M, S> {
    /// Whether we have a token.
    type Place = bool;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<bool, M::Halt> {
        Ok(m.at("a").update(&self.tok, |tok| tok.saturating_sub(1))? > 0)
    }

    fn wait(&self, m: &mut M, p: Pid, fast: &bool) -> Result<(), M::Halt> {
        if let (false, Some(slow)) = (fast, &self.slow) {
            slow.wait(m, p, &())?;
        }
        self.block.wait(m, p, &())
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
