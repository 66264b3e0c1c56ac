//! What a waiter does while it waits: check for deaths. And which parked waiters a writer wakes.
use std::time::Duration;

use doorway_memory::Pid;

/// Lets a waiter detect dead processes, and a writer know which parked waiters to wake.
///
/// See [`Shared::with_watch`](crate::Shared::with_watch).
pub trait Watch: Send + Sync {
    /// Called while the owner of this slot waits, for example to reap dead processes. Returns for how long it may park
    /// before the next call.
    fn check(&self, slot: Pid, why: Why) -> Duration;

    /// The slots whose owners are to be woken if they are parked, now that registers have been written.
    fn to_wake(&self) -> Vec<Pid>;
}

/// Why a waiter [checks](Watch::check).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// It has parked for as long as it was allowed to.
    Timeout,
    /// It was woken.
    Woken,
}
