//! What threads share, and what they wait by: the standard library's; or, compiled with `--cfg shuttle`, a scheduler's that tries
//! orders in which threads can run (`scripts/sanitize`).
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
