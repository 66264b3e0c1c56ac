//! A memory for lock algorithms on etcd.
//!
//! [`Etcd`] is a [`Memory`](doorway_memory::Memory) whose registers are keys of an etcd cluster, so that any algorithm
//! written for that interface runs on several machines: a remote memory reference is a round trip. Its queues are keys in
//! the order of their creation, under a lease, which makes an efficient semaphore: `doorway::cluster::Semaphore` of the
//! crate `doorway`, with the feature `etcd`, is the algorithm `fischer-queue-names` on this memory.
//!
//! ```
//! use std::time::Duration;
//!
//! use doorway_etcd::{Address, Etcd, Keys, Session, Settings};
//! use doorway_memory::{Memory, Space};
//!
//! let address: Address = "etcd://10.0.0.1:2379,10.0.0.2:2379".parse()?;
//! let settings = Settings { prefix: "counters/".to_string(), k: 1, names: false, time: Duration::from_secs(10), guard: None };
//! let session = Session::new(&address, settings)?; // connects when it is first asked
//! let visits = Keys::new("counters/").shared("visits", 0_u64);
//! let count = move || Etcd::blocking(session.clone()).fetch_add(&visits, 1); // a read and a conditional write
//! # let _ = count;
//! # Ok::<(), doorway_etcd::Error>(())
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`Address`] | the servers: `etcd://host:2379,host:2379` |
//! | [`Session`], [`Lease`] | a connection, and the lease under which its processes are in queues |
//! | [`Etcd`], [`Keys`], [`replay`] | the memory, its registers, and running an algorithm on it |
//! | [`api`] | what is asked of etcd; tests put faults there |
//!
//! See the [glossary](doorway_memory::glossary) for the terms.
mod address;
pub mod api;
mod client;
mod clock;
mod error;
mod lease;
mod memory;
mod queue;
mod runtime;
mod session;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;

pub use address::Address;
pub use error::Error;
pub use lease::Lease;
pub use memory::{Access, Answer, Etcd, Halt, Key, Keys, replay};
pub use runtime::{Task, block, block_on, settle, spawn};
pub use session::{MIN_TIME, Session, Settings};
