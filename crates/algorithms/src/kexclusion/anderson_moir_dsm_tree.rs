//! A tree of local-spin blocks. After J. H. Anderson, M. Moir, *Using local-spin k-exclusion algorithms to improve
//! wait-free object implementations*, Distributed Computing 11(1), 1997: the tree for distributed shared memory.
//!
//! ```text
//!       as `anderson-moir-tree`, except for the stages:
//!  1-12 enter a stage of a block, as in `anderson-moir-dsm`
//!       critical section
//! 13-15 leave it
//! ```
//!
//! The text of the paper was not available; this is the usual presentation, with the line numbers of
//! `anderson-moir-dsm`.
//!
//! Departures: those of `anderson-moir-tree`, whose code this is, and of `anderson-moir-dsm`.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, bounded exit. A waiter spins only on
//! registers of its own. A passage has O(k log(N/k)) stages, and a stage makes O(1) remote memory references; with
//! caches O(k).
use doorway_memory::{Memory, Space};

use super::{
    anderson_moir_dsm::{self, LocalStage},
    anderson_moir_tree::{self, Tree},
};
use crate::{About, Condition::Tso, Remote, Size, Survey, pinned::at};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "anderson-moir-dsm-tree",
    title: "a tree of chains of local-spin stages",
    survey: Survey::Passages(1),
    remark: anderson_moir_tree::ABOUT.remark,
    remote: Some(Remote { cc: "O(k² log(N/k))", dsm: "Θ(k log(N/k))" }),
    departures: "a reconstruction of the form for distributed shared memory: the text was not available",
    pinned: &[
        at(3).k(2).finds(4_814),
        at(3).k(1).finds(28_487),
        at(2).whole().finds(4_200),
        at(3).k(1).whole().finds(24_293_312).takes("1 minute, 1 GB"),
        at(3).under(&[Tso]).finds(10_308).fences(0),
        at(2).k(1).whole().remote(Some(15), Some(11)),
    ],
    ..anderson_moir_dsm::ABOUT
};

/// The lock's type.
pub type Lock<M> = AndersonMoirDsmTree<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> AndersonMoirDsmTree<M> {
    AndersonMoirDsmTree::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub type AndersonMoirDsmTree<M> = Tree<LocalStage<M>>;
