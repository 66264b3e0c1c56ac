//! A line of blocks that is as long as there are processes that take part, each process waiting at home. After J. H.
//! Anderson, M. Moir, *Using local-spin k-exclusion algorithms to improve wait-free object implementations*, Distributed
//! Computing 11(1), 1997: the fast paths one inside the other, for distributed shared memory.
//!
//! ```text
//!     a as `anderson-moir-adaptive`, but for the stages:
//!  1-12 enter a stage of a block, as in `anderson-moir-dsm`
//!       critical section
//! 13-15 leave it
//!     b as `anderson-moir-adaptive`
//! ```
//!
//! We did not have the text of the paper; this is how the algorithm is told, and the line numbers are those of
//! `anderson-moir-dsm`.
//!
//! Departures: those of `anderson-moir-adaptive`, whose code this is, and of `anderson-moir-dsm`. The doorway is line a.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, bounded exit. Nobody waits on a
//! register that is not its own. If c take part, a process passes O(c) stages, and a stage is O(1) remote references; with
//! caches O(k).
use super::{
    anderson_moir_adaptive::{self, Adaptive},
    anderson_moir_dsm::{self, LocalStage},
    anderson_moir_dsm_tree,
};
use crate::{About, Remote, Survey};

/// What is known of it.
pub const ABOUT: About = About {
    name: "anderson-moir-dsm-adaptive",
    title: "a line of chains of stages, longer if more take part, each process waiting at home",
    primitives: &["read", "write", "fetch-and-add", "compare-and-swap", "update"],
    survey: Survey::Passages(1),
    remark: anderson_moir_adaptive::ABOUT.remark,
    remote: Some(Remote { cc: "O(kc)", dsm: "Θ(c)" }),
    departures: anderson_moir_dsm_tree::ABOUT.departures,
    ..anderson_moir_dsm::ABOUT
};

/// The lock; see the [module](self).
pub type AndersonMoirDsmAdaptive<M> = Adaptive<M, LocalStage<M>>;
