//! A semaphore for processes on several machines, on etcd: at most k holders, in order of arrival. Feature `etcd`.
//!
//! ```no_run
//! use doorway::cluster::Semaphore;
//!
//! let gpus = Semaphore::open("etcd://10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379", "gpu", 2)?;
//! let permit = gpus.acquire()?; // waits in the queue until there is at most one other holder
//! println!("GPU {}, token {}", permit.index(), permit.token());
//! permit.release()?;
//! # Ok::<(), doorway::cluster::Error>(())
//! ```
//!
//! The semaphore is the algorithm `fischer-queue-names` of the catalogue, on the memory of the crate `doorway-etcd`. It is
//! checked with processes that die, abort, or are taken for dead while they live.
//!
//! # Leases
//! A process is in the queue under a lease, which it renews three times within its time to live (10 s, unless
//! [`Options::time`] says otherwise). A process that dies, or cannot reach etcd for that long, loses its permit or its
//! position. A waiter that lost its position joins the queue again, at its end.
//!
//! A holder may be slow, and believe that it is a holder when it is none any more. [`Permit::remaining`] is for how long the
//! lease is valid for certain, [`Permit::lost`] returns shortly before it may have ended, and a holder should stop by
//! then. That is enough if a process is never paused between looking and acting. Where that is not certain, let the
//! resource compare [tokens](Permit::token): for each [index](Permit::index) they grow with every holder.
//!
//! # Blocking and awaiting
//! Every method that waits has a form for asynchronous callers, with any runtime: requests run on a thread of this crate.
//! Dropping such a future is an abort.
//!
//! # Forking
//! In a forked child every method returns an error; a child opens the semaphore again.
mod error;
mod options;
mod participant;
mod passage;
mod permit;
mod place;
mod semaphore;

#[cfg(feature = "etcd-testing")]
#[doc(hidden)]
pub use doorway_etcd::testing;
pub use doorway_etcd::{Address, Error as EtcdError, block, block_on};
pub use error::Error;
pub use options::Options;
pub use participant::{Participant, host_name};
pub use permit::Permit;
pub use place::Place;
pub use semaphore::Semaphore;
