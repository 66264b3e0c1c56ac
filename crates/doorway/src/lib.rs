//! Fair locks for threads and processes, in order of arrival.
//!
//! ```
//! use std::thread;
//!
//! static COUNT: doorway::Mutex<u64> = doorway::Mutex::new(0);
//!
//! thread::scope(|scope| {
//!     for _ in 0..4 {
//!         scope.spawn(|| (0..1000).for_each(|_| *COUNT.lock() += 1));
//!     }
//! });
//! assert_eq!(*COUNT.lock(), 4000);
//! ```
//!
//! | | |
//! |---|---|
//! | [`Mutex`] | one at a time, first come, first served |
//! | [`Semaphore`] | at most k at a time, first in, first enabled |
//! | [`Place`], [`Turn`] | your place in line, before you wait |
//! | [`algorithms`] | the same by any other algorithm of the catalogue |
//! | [`choosing`] | which lock to choose, and how fast they are |
//! | `process::Semaphore` | at most k *processes* at a time, which may die at any moment; on Linux only |
//!
//! Both are algorithms of the catalogue, `ticket` and `ticket-k`: the source that runs here is the source that is checked,
//! for every interleaving and any number of tickets. What is added here is the data inside, guards, and giving up.
//!
//! # Giving up
//! Who waits no longer than some time, or drops its place in line, does not leave a hole in the line: a place given up is a
//! passage with nothing in it. When its turn comes, whoever leaves then finishes it. So nothing new has to be proved of the
//! algorithm.
//!
//! # Panics
//! A panic inside releases the lock. There is no poisoning: the next one finds the data as they are.
//!
//! # Waiting
//! Who waits spins for a moment, longer if it is next in line, and then sleeps. Who releases a lock wakes the one whose turn it
//! is, and nobody else; and if anyone sleeps it gives way, so that the line can empty before it comes again. That keeps a lock
//! in order of arrival fast when there are more threads than processors.
pub mod algorithms;
#[doc = include_str!("choosing.md")]
pub mod choosing {}
mod gone;
mod line;
#[cfg(feature = "lock_api")]
mod lock_api;
mod mutex;
#[cfg(target_os = "linux")]
pub mod process;
mod semaphore;
mod tickets;

pub use line::{Line, Patient};
pub use mutex::{Mutex, MutexGuard, Place};
pub use semaphore::{Permit, Semaphore, Turn};
pub use tickets::{Numbered, Tickets, TicketsFor};
