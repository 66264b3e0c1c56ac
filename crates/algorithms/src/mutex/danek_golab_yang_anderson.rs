//! Danek and Golab's fair lock over Yang and Anderson's. R. Danek and W. Golab, *Closing the complexity gap between
//! FCFS mutual exclusion and mutual exclusion*, Figure 1 and section 1: fairness costs no more than mutual exclusion
//! alone.
//!
//! ```text
//! 3-23  of `danek-golab`; LOCK is that of `yang-anderson`, lines 1-12
//! ```
//!
//! Departures: those of `danek-golab`, whose code this is. The text uses Kim and Anderson's lock as LOCK, which is
//! adaptive; this one is not, and is small enough to be checked completely with reads and writes only.
//!
//! Guarantees: those of `danek-golab`.
use doorway_memory::{Memory, Space};

use super::{
    danek_golab::{self, DanekGolab},
    yang_anderson::YangAnderson,
};
use crate::{About, Condition::Tso, Size, Survey, parts::special_set::StaticSet, pinned::at};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "danek-golab-yang-anderson",
    title: "Danek and Golab's fair lock over Yang and Anderson's",
    survey: Survey::Passages(1),
    remark: "two tournaments, a tree and a heap: everything is O(log N)",
    pinned: &[
        at(2).finds(7_348),
        at(2).whole().finds(429_568),
        at(2).under(&[Tso]).finds(37_052).fences(4),
        at(2).remote(Some(50), Some(55)),
    ],
    ..danek_golab::ABOUT
};

/// The lock's type.
pub type Lock<M> = DanekGolab<M, YangAnderson<M>, StaticSet<M>>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, .. }: Size) -> Lock<M> {
    let set = StaticSet::new(space, n);
    let lock = YangAnderson::new(space, n);
    DanekGolab::new(space, n, lock, set)
}
