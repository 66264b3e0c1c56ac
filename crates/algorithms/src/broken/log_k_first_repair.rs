//! k-exclusion with O(log k) remote references, half repaired. M. J. Choi, *A solution to k-exclusion with O(log k) RMR
//! complexity*, Dartmouth 2011, section 2, with everyone watching its own cell too.
//!
//! ```text
//! 8      if a < e and Exit <= u + 2k:
//!    else as `log-k`
//! ```
//!
//! Departures: the first of the two repairs of `log-k`.
//!
//! Guarantees: k-exclusion, bounded exit. Fails, for k < n <= 2k: starvation-freedom when k-1 processes stop for ever. Two
//! that began an update of the cell a round ago and are not yet stale can make both compare-and-swaps of who is leaving
//! fail, and its partner is never let in. It takes four processes, k = 3 and 17 passages.
use crate::{About, broken::log_k_printed};

pub use super::log_k_printed::LogKPrinted;

/// What is known of it.
pub const ABOUT: About = About {
    name: "log-k-first-repair",
    aliases: &[],
    title: "k-exclusion with O(log k) remote references, half repaired",
    source: "Choi 2011, half repaired",
    remark: "with n = 4 and k = 3 it starves after two crashes, and not before 17 passages",
    departures: "",
    ..log_k_printed::ABOUT
};
