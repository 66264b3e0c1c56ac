//! Fair locks for threads, tasks and processes, in order of arrival.
//!
//! The terms are those of the [glossary](doorway_memory::glossary).
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
//! | [`Mutex`] | one holder, first come, first served |
//! | [`Semaphore`] | at most k holders, first in, first enabled |
//! | [`Place`] | a position in the queue of either, to wait for or to await |
//! | [`algorithms`] | a mutex or semaphore by any other algorithm of the catalogue |
//! | [`choosing`] | which lock to choose, and how fast each is |
//! | `process::Semaphore` | at most k *processes*, which may die at any moment; on Linux only |
//! | `cluster::Semaphore` | the same on several machines, on etcd; with the feature `etcd` |
//!
//! `Mutex` and `Semaphore` are the algorithms `ticket` and `ticket-k` of the catalogue: the source that runs here is
//! the source that is checked, for every interleaving and any number of tickets. This crate adds the guarded value,
//! guards and aborts.
//!
//! # Aborts
//! A caller whose timeout expires, or that drops its [`Place`], does not block the queue. An aborted place is a
//! passage with an empty critical section: when its turn comes, the thread that releases the lock completes the
//! passage. The algorithm therefore needs no new proof.
//!
//! # Tasks
//! [`Mutex::lock_async`], [`Semaphore::acquire_async`] and a [`Place`] are futures, which depend on no runtime. Tasks and
//! threads wait in one queue, in order of arrival. The futures are cancel-safe: dropping one is an abort, at any time, and
//! loses neither a turn nor a wake-up. A guard may be held while its task awaits something else, and may be dropped in
//! another thread.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! static GPUS: doorway::Semaphore = doorway::Semaphore::new(2);
//!
//! let first = GPUS.acquire_async().await;
//! let second = GPUS.acquire(); // a thread is in the same queue
//! let place = GPUS.arrive(); // queue now
//! drop(first);
//! let third = place.await; // await later
//! # }
//! ```
//!
//! # Panics
//! A panic in the critical section releases the lock. There is no poisoning: the next holder finds the value as the
//! panic left it.
//!
//! # Waiting
//! A waiter spins briefly, longer if it is next in the queue, and then parks. On release, a thread wakes only the
//! waiters whose turn has come; while waiters are parked, it also yields, so that the queue can drain before the
//! thread arrives again. This keeps a lock in order of arrival fast when there are more threads than processors.
pub mod algorithms;
#[doc = include_str!("choosing.md")]
pub mod choosing {}
#[cfg(all(feature = "etcd", target_os = "linux"))]
pub mod cluster;
#[cfg(feature = "lock_api")]
mod lock_api;
mod mutex;
mod place;
#[cfg(target_os = "linux")]
pub mod process;
mod queue;
mod semaphore;
mod tickets;
mod waiters;

pub use mutex::{Mutex, MutexGuard};
pub use place::{Entering, Place};
pub use queue::{AsyncQueue, Queue, TimedQueue};
pub use semaphore::{Permit, Semaphore};
pub use tickets::{Numbered, Tickets, TicketsFor};
