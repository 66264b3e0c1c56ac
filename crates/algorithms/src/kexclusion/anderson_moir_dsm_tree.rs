//! A tree of blocks, each process waiting at home. After J. H. Anderson, M. Moir, *Using local-spin k-exclusion algorithms
//! to improve wait-free object implementations*, Distributed Computing 11(1), 1997: the tree for distributed shared memory.
//!
//! ```text
//!       as `anderson-moir-tree`, but for the stages:
//!  1-12 enter a stage of a block, as in `anderson-moir-dsm`
//!       critical section
//! 13-15 leave it
//! ```
//!
//! We did not have the text of the paper; this is how the algorithm is told, and the line numbers are those of
//! `anderson-moir-dsm`.
//!
//! Departures: those of `anderson-moir-tree`, whose code this is, and of `anderson-moir-dsm`.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, bounded exit. Nobody waits on a
//! register that is not its own. A process passes O(k log(N/k)) stages, and a stage is O(1) remote references; with caches
//! O(k).
use super::{
    anderson_moir_dsm::{self, LocalStage},
    anderson_moir_tree::{self, Tree},
};
use crate::{About, Remote, Survey};

/// What is known of it.
pub const ABOUT: About = About {
    name: "anderson-moir-dsm-tree",
    title: "a tree of chains of stages, each process waiting at home",
    survey: Survey::Passages(1),
    remark: anderson_moir_tree::ABOUT.remark,
    remote: Some(Remote { cc: "O(k² log(N/k))", dsm: "Θ(k log(N/k))" }),
    departures: "the text was not to be had: a reconstruction, of the form for distributed shared memory",
    ..anderson_moir_dsm::ABOUT
};

/// The lock; see the [module](self).
pub type AndersonMoirDsmTree<M> = Tree<LocalStage<M>>;
