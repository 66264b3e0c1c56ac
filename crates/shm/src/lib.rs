//! Memory shared by processes: registers in a mapped file, and slots whose owners may die.
//!
//! The terms are those of the [glossary](doorway_memory::glossary).
//!
//! ```
//! use doorway_memory::{Memory, Space};
//! use doorway_shm::{File, Location, Mapping, Plan};
//!
//! let mut plan = Plan::new();
//! let x = plan.shared("x", 3_u64);
//! let path = std::env::temp_dir().join(format!("doorway-shm-{}", std::process::id()));
//! let file = File::new(Mapping::open_or_create(&Location::path(&path)?, 1, 2, || plan.clone())?, plan)?;
//! assert_eq!(file.memory(0).fetch_add(&x, 4), Ok(3)); // every process that opens the path sees 7 now
//! file.forget()?;
//! # Ok::<(), doorway_shm::Error>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`Location`] | the path of a file; [`locate`] finds that of a name |
//! | [`Mapping`] | the mapped file, opened or created: header, doorbells, owner records, registers |
//! | [`Plan`] | the registers that an algorithm allocates, in order |
//! | [`File`] | a mapping with the registers of an algorithm; which process owns which slot |
//! | [`Shared`] | the memory and the record of one slot, for its owner |
//! | [`Record`] | the owner of a slot, and its description of itself |
//! | [`Watch`] | lets a waiter detect dead processes, and a writer know which parked waiters to wake |
//! | [`Watchman`] | a thread that the kernel notifies when a process ends |
//! | [`Process`] | a process, as the kernel shows it |
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
//! header     magic, version, k, slots, registers, creation id, and their checksum
//! room       the number of slots that the file has room for: it grows when a slot is taken for the first time
//! parked     a bit for each slot: its owner is parked, or about to park
//! registers  those that are at home at no slot, a word each
//! owners     a word for each slot: the life that owns it, or 0
//! areas      for each slot a doorbell, a record of its owner, and the registers at home there
//! ```
//! `docs/shared-file.md` has every field, and says which process may write it when.
//!
//! # Lives and slots
//! A process that uses a file chooses a random number, its *life*, and locks the byte of that number with an OFD lock,
//! which belongs to the *open file description*. The kernel drops the lock when the last descriptor is closed: when the
//! process has died, in whatever way, and every child that inherited the descriptor has ended too. A slot is taken by
//! writing the life to its owner's word, and released by writing 0, both of which take no system call. A slot whose
//! owner's byte is not locked belonged to a dead process, and any process may reap it.
#![cfg(target_os = "linux")]
mod error;
mod file;
mod header;
mod location;
mod locks;
mod map;
mod mapping;
mod memory;
mod plan;
mod process;
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
pub use plan::{Plan, Reg, Run};
pub use process::Process;
pub use record::Record;
pub use region::MAX_SLOTS;
pub use watch::{Watch, Why};
pub use watchman::Watchman;
