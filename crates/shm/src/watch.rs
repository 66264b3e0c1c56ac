//! What a waiter does while it waits: check for deaths. And what a writer asks before it wakes a waiter.
use std::time::Duration;

use doorway_memory::Pid;

/// Lets a waiter detect dead processes, and a writer decide which parked waiters to wake.
///
/// See [`Shared::with_watch`](crate::Shared::with_watch).
pub trait Watch: Send + Sync {
    /// Called at intervals while the owner of this slot waits, for example to reap dead processes.
    fn check(&self, slot: Pid) -> NextCheck;

    /// Whether the parked owner of this slot could make progress if woken.
    ///
    /// Called by a process that has written a register at home at this slot. If the answer is not known, it must be
    /// true.
    fn could_progress(&self, slot: Pid) -> bool;
}

/// How a waiter continues after a [check](Watch::check).
///
/// See [`Watch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextCheck {
    /// Wait, and check again after this time.
    After(Duration),
    /// Abort the wait.
    Abort,
}
