//! Danek and Golab's fair lock, adaptive. R. Danek and W. Golab, *Closing the complexity gap between FCFS mutual
//! exclusion and mutual exclusion*, Figure 1 with section 4.2.
//!
//! ```text
//! 3-23  of `danek-golab`; Set is `special-set-adaptive`
//! ```
//!
//! Departures: those of `danek-golab`, whose code this is, and of
//! [`special_set_adaptive`](crate::parts::special_set_adaptive).
//!
//! Guarantees: those of `danek-golab`; a passage makes O(min(c, log N)) RMRs if c processes contend.
use doorway_memory::{Memory, Space};

use super::{
    danek_golab::{self, DanekGolab},
    kim_anderson::KimAnderson,
};
use crate::{About, Remote, Size, parts::special_set_adaptive::AdaptiveSet, pinned::at};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "danek-golab-adaptive",
    title: "Danek and Golab's fair lock, adaptive",
    source: "Danek & Golab, Fig. 1, section 4.2",
    remark: "the cost falls with contention; too large for a complete search",
    remote: Some(Remote::both("O(min(c, log N))")),
    departures: "a node must be below the sibling that names it; else the set returns the caller, or loses a member",
    pinned: &[at(2).passages(1).finds(18_101_711).takes("1 minute, 1 GB")],
    ..danek_golab::ABOUT
};

/// The lock's type.
pub type Lock<M> = DanekGolab<M, KimAnderson<M>, AdaptiveSet<M>>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, .. }: Size) -> Lock<M> {
    let set = AdaptiveSet::new(space, n);
    let lock = KimAnderson::new(space, n);
    DanekGolab::new(space, n, lock, set)
}
