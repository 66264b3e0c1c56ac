//! Danek and Golab's fair lock over the simplest lock. R. Danek and W. Golab, *Closing the complexity gap between FCFS
//! mutual exclusion and mutual exclusion*, Figure 1.
//!
//! ```text
//! 3-23  of `danek-golab`; LOCK is `await test-and-set(lock) was false`, line L, and UNLOCK `lock := false`, line U
//! ```
//!
//! Departures: those of `danek-golab`, whose code this is; and the lock inside is one register.
//! It is there to be checked: what is left to see is what Figure 1 itself does.
//!
//! Guarantees: those of `danek-golab`, but for the remote references: one who waits for the inner lock makes them without
//! bound. That the inner lock starves does no harm: who is through the doorway keeps the others from coming again.
use doorway_memory::{Memory, Space};

use super::danek_golab::{self, DanekGolab};
use crate::{
    About, Survey,
    parts::{special_set::StaticSet, test_and_set::TestAndSet},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "danek-golab-simple",
    title: "Danek and Golab's fair lock over the simplest lock",
    primitives: &["read", "write", "swap"],
    survey: Survey::Whole,
    local_spin: None,
    remark: "with the smallest lock inside it can be checked completely",
    remote: None,
    ..danek_golab::ABOUT
};

/// The lock for `n` processes.
pub fn danek_golab<M: Memory>(space: &mut impl Space<Mem = M>, n: usize) -> DanekGolab<M, TestAndSet<M>, StaticSet<M>> {
    let set = StaticSet::new(space, n);
    let lock = TestAndSet::new(space);
    DanekGolab::new(space, n, lock, set)
}
