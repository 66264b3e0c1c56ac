//! k-exclusion with O(log k) RMRs, with more cells. M. J. Choi, *A solution to k-exclusion with O(log k) RMR
//! complexity*, Dartmouth 2011, for caches in which a failed compare-and-swap counts.
//!
//! ```text
//!    N = the first multiple of k that is at least 3k and kn / log k
//! 1-9  of `log-k`
//! ```
//!
//! Departures: those of `log-k`, whose code this is; with this number of cells the second repair would not be
//! necessary. The logarithm is to base 2, rounded up.
//!
//! Guarantees: those of `log-k`, and O(log k) RMRs also where a failed compare-and-swap invalidates other copies of the
//! cell: few processes can be updating the same cell.
use doorway_memory::{Memory, Space};

use crate::{About, Condition::Tso, Size, kexclusion::log_k, pinned::at};

pub use super::log_k::LogK;

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "log-k-wide",
    aliases: &[],
    title: "k-exclusion with O(log k) RMRs, with more cells",
    source: "Choi 2011, repaired",
    remark: "",
    pinned: &[
        at(3).k(2).finds(114_069),
        at(3).under(&[Tso]).finds(114_069).fences(0),
        at(3).k(2).remote(Some(13), None).takes("5 s"),
    ],
    ..log_k::ABOUT
};

/// The lock's type.
pub type Lock<M> = LogK<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> LogK<M> {
    LogK::wide(space, size.n, size.k)
}
