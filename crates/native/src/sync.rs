//! Atomics, mutexes and threads: of the standard library or, with `--cfg shuttle`, of shuttle.
//!
//! Shuttle is a scheduler that tests many schedules (`scripts/sanitize`).
#[cfg(not(shuttle))]
pub use std::{
    sync::{Mutex, MutexGuard, PoisonError, atomic},
    thread,
};

#[cfg(shuttle)]
pub use shuttle::{
    sync::{Mutex, MutexGuard, PoisonError, atomic},
    thread,
};
