//! Danek and Golab's fair lock over Yang and Anderson's. R. Danek and W. Golab, *Closing the complexity gap between FCFS
//! mutual exclusion and mutual exclusion*, Figure 1 and section 1: fair mutual exclusion costs no more than the other.
//!
//! ```text
//! 3-23  of `danek-golab`; LOCK is that of `yang-anderson`, lines 1-12
//! ```
//!
//! Departures: those of `danek-golab`, whose code this is. The text has Kim and Anderson's lock
//! inside, which adapts; this one does not, and is small enough to be checked completely with reads and writes only.
//!
//! Guarantees: those of `danek-golab`.
use doorway_memory::{Memory, Space};

use super::{
    danek_golab::{self, DanekGolab},
    yang_anderson::YangAnderson,
};
use crate::{About, Survey, parts::special_set::StaticSet};

/// What is known of it.
pub const ABOUT: About = About {
    name: "danek-golab-yang-anderson",
    title: "Danek and Golab's fair lock over Yang and Anderson's",
    survey: Survey::Passages(1),
    remark: "two tournaments, a tree and a heap: everything is O(log N)",
    ..danek_golab::ABOUT
};

/// The lock for `n` processes.
pub fn danek_golab<M: Memory>(
    space: &mut impl Space<Mem = M>,
    n: usize,
) -> DanekGolab<M, YangAnderson<M>, StaticSet<M>> {
    let set = StaticSet::new(space, n);
    let lock = YangAnderson::new(space, n);
    DanekGolab::new(space, n, lock, set)
}
