//! Danek and Golab's fair lock over the simplest lock. R. Danek and W. Golab, *Closing the complexity gap between FCFS
//! mutual exclusion and mutual exclusion*, Figure 1.
//!
//! ```text
//! 3-23  of `danek-golab`; LOCK is `await test-and-set(lock) was false`, line L, and UNLOCK `lock := false`, line U
//! ```
//!
//! Departures: those of `danek-golab`, whose code this is; LOCK is a single register. The purpose is checking: hardly
//! any states are left but those of Figure 1 itself.
//!
//! Guarantees: those of `danek-golab`, except that a waiter for LOCK makes unboundedly many remote memory references.
//! LOCK alone would allow starvation; here it does not, because a process that has completed the doorway keeps the
//! others from competing again.
use doorway_memory::{Memory, Space};

use super::danek_golab::{self, DanekGolab};
use crate::{
    About, Condition::Tso, Size, Survey, blocks::test_and_set::TestAndSet, parts::special_set::StaticSet, pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "danek-golab-simple",
    title: "Danek and Golab's fair lock over the simplest lock",
    primitives: &["read", "write", "swap"],
    survey: Survey::Whole,
    local_spin: None,
    remark: "its auxiliary lock is so small that it can be checked completely",
    remote: None,
    pinned: &[
        at(2).finds(39_575),
        at(3).passages(2).finds(1_203_621),
        at(3).finds(7_372_617).takes("30 s"),
        at(2).under(&[Tso]).finds(272_721).fences(2),
        at(2).passages_in_all(9).needs_fences_of("danek_golab"),
    ],
    ..danek_golab::ABOUT
};

/// The lock's type.
pub type Lock<M> = DanekGolab<M, TestAndSet<M>, StaticSet<M>>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, .. }: Size) -> Lock<M> {
    let set = StaticSet::new(space, n);
    let lock = TestAndSet::new(space);
    DanekGolab::new(space, n, lock, set)
}
