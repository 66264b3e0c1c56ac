//! Danek and Golab's fair lock, adaptive. R. Danek and W. Golab, *Closing the complexity gap between FCFS mutual exclusion
//! and mutual exclusion*, Figure 1 with section 4.2.
//!
//! ```text
//! 3-23  of `danek-golab`; Set is `special-set-adaptive`
//! ```
//!
//! Departures: those of `danek-golab`, whose code this is, and of
//! [`special_set_adaptive`](crate::parts::special_set_adaptive).
//!
//! Guarantees: those of `danek-golab`; a passage makes O(min(c, log N)) remote references if c processes contend.
use doorway_memory::{Memory, Space};

use super::{
    danek_golab::{self, DanekGolab},
    kim_anderson::KimAnderson,
};
use crate::{About, Remote, parts::special_set_adaptive::AdaptiveSet};

/// What is known of it.
pub const ABOUT: About = About {
    name: "danek-golab-adaptive",
    title: "Danek and Golab's fair lock, adaptive",
    source: "Danek & Golab, Fig. 1, section 4.2",
    remark: "the fewer contend, the less it costs; for a complete search it is too large, try --passages 1",
    remote: Some(Remote::both("O(min(c, log N))")),
    departures: "the set also tests that a node found is below the sibling it was found at; without that it returns the caller, or loses a member",
    ..danek_golab::ABOUT
};

/// The lock for `n` processes.
pub fn danek_golab<M: Memory>(
    space: &mut impl Space<Mem = M>,
    n: usize,
) -> DanekGolab<M, KimAnderson<M>, AdaptiveSet<M>> {
    let set = AdaptiveSet::new(space, n);
    let lock = KimAnderson::new(space, n);
    DanekGolab::new(space, n, lock, set)
}
