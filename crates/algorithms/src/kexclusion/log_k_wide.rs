//! k-exclusion with O(log k) remote references, with more cells. M. J. Choi, *A solution to k-exclusion with O(log k) RMR
//! complexity*, Dartmouth 2011, for caches in which a failed compare-and-swap counts.
//!
//! ```text
//!    N = the first multiple of k that is at least 3k and kn / log k
//! 1-9  of `log-k`
//! ```
//!
//! Departures: those of `log-k`, whose code this is; the second repair would not be needed with so many cells. The
//! logarithm is that to base 2, rounded up.
//!
//! Guarantees: those of `log-k`, and O(log k) remote references also where a compare-and-swap that fails makes others
//! fetch the cell again: few processes can be updating the same cell.
use crate::{About, kexclusion::log_k};

pub use super::log_k::LogK;

/// What is known of it.
pub const ABOUT: About = About {
    name: "log-k-wide",
    aliases: &[],
    title: "k-exclusion with O(log k) remote references, with more cells",
    source: "Choi 2011, repaired",
    remark: "",
    ..log_k::ABOUT
};
