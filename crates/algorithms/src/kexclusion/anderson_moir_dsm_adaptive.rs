//! A series of local-spin blocks whose length adapts to the contention. After J. H. Anderson, M. Moir, *Using
//! local-spin k-exclusion algorithms to improve wait-free object implementations*, Distributed Computing 11(1), 1997:
//! the nested fast paths, for distributed shared memory.
//!
//! ```text
//!     a as `anderson-moir-adaptive`, except for the stages:
//!  1-12 enter a stage of a block, as in `anderson-moir-dsm`
//!       critical section
//! 13-15 leave it
//!     b as `anderson-moir-adaptive`
//! ```
//!
//! The text of the paper was not available; this is the usual presentation, with the line numbers of
//! `anderson-moir-dsm`.
//!
//! Departures: those of `anderson-moir-adaptive`, whose code this is, and of `anderson-moir-dsm`. The doorway is line
//! a.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, bounded exit. A waiter spins only on
//! registers of its own. If c processes contend, a passage has O(c) stages, and a stage makes O(1) remote memory
//! references; with caches O(k).
use doorway_memory::{Memory, Space};

use super::{
    anderson_moir_adaptive::{self, Adaptive},
    anderson_moir_dsm::{self, LocalStage},
    anderson_moir_dsm_tree,
};
use crate::{About, Condition::Tso, Remote, Size, Survey, pinned::at};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "anderson-moir-dsm-adaptive",
    title: "a series of chains of local-spin stages, longer under contention",
    primitives: &["read", "write", "fetch-and-add", "compare-and-swap", "update"],
    survey: Survey::Passages(1),
    remark: anderson_moir_adaptive::ABOUT.remark,
    remote: Some(Remote { cc: "O(kc)", dsm: "Θ(c)" }),
    departures: anderson_moir_dsm_tree::ABOUT.departures,
    pinned: &[
        at(3).k(2).finds(5_318),
        at(3).k(1).finds(162_968),
        at(2).whole().finds(10_104),
        at(3).under(&[Tso]).finds(10_598).fences(0),
        at(2).k(1).whole().remote(Some(17), Some(13)),
    ],
    ..anderson_moir_dsm::ABOUT
};

/// The lock's type.
pub type Lock<M> = AndersonMoirDsmAdaptive<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> AndersonMoirDsmAdaptive<M> {
    AndersonMoirDsmAdaptive::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub type AndersonMoirDsmAdaptive<M> = Adaptive<M, LocalStage<M>>;
