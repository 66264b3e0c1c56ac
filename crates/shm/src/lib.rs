//! Memory shared by processes: registers in a mapped file, and slots whose owners may die.
//!
//! The terms are those of the [glossary](doorway_memory::glossary).
//!
//! | | |
//! |---|---|
//! | [`Location`] | the path of a file; [`locate`] finds that of a name |
//! | [`Mapping`] | the mapped file, opened or created: header, doorbells, owner records, registers |
//! | [`Plan`] | the registers that an algorithm allocates, in order |
//! | [`File`] | a mapping with the registers of an algorithm; which process owns which slot |
//! | [`Shared`] | the memory and the record of one slot, for its owner |
//! | [`Peek`], [`PeekPlan`] | a read-only view of the memory |
//! | [`Record`], [`Phase`] | the owner of a slot, its phase, and its description of itself |
//! | [`Watch`] | lets a waiter detect dead processes, and a writer decide which parked waiters to wake |
//! | [`Watchman`] | a thread that the kernel notifies when a process ends |
//! | [`ForkDetector`] | whether the current process is a forked child |
//!
//! A process opens a file in three steps: [`Mapping::open`] reads the header and maps the file; the algorithm is built
//! on a [`Plan`], for the capacity and the number of slots in the header; [`File::new`] checks that the file has the
//! registers of that plan.
//!
//! The crate knows [`Memory`](doorway_memory::Memory) and no algorithm by name. It is empty except on Linux, the only
//! system with both locks that belong to an open file description and futexes in shared memory.
//!
//! # The file
//! ```text
//! header     a page: magic, version, k, slots, registers, creation id, and their checksum
//! doorbells  a cache line each: a count on which the slot's owner parks
//! parked     a bit for each slot: its owner is parked, or about to park
//! records    256 bytes each: phase, ticket, time of arrival or entry, pid, start time of the process, description
//! registers  a word each
//! ```
//! `docs/shared-file.md` has every field, and says which process may write it when.
//!
//! # Slots
//! A process owns slot s while byte s + 1 of the file is locked by its *open file description* (an OFD lock). The
//! kernel drops the lock when the last descriptor is closed: when the process has died, in whatever way, and every
//! child that inherited the descriptor has ended too. The registers of slot s are written only under the lock on its
//! byte. A slot that is in use but not locked therefore belonged to a dead process, and any process that locks its
//! byte may reap it.
//!
//! Byte 0 is the *gate*: a process locks it while it takes a slot, so no other process takes one meanwhile. If no
//! slot's byte is locked then, the file is unused, and its contents can be replaced by the registers' initial values.
#![cfg(target_os = "linux")]
mod error;
mod file;
mod header;
mod location;
mod locks;
mod map;
mod mapping;
mod memory;
mod peek;
mod plan;
mod record;
mod region;
mod watch;
mod watchman;

pub use error::Error;
pub use file::{File, Taken};
pub use location::{Location, locate, names};
pub use map::ForkDetector;
pub use mapping::Mapping;
pub use memory::{Halt, Shared};
pub use peek::{Peek, PeekPlan};
pub use plan::{Plan, Reg};
pub use record::{Phase, Record};
pub use region::MAX_SLOTS;
pub use watch::{NextCheck, Watch};
pub use watchman::Watchman;
