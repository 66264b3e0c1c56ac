//! The memory of processes: registers in a mapped file, and slots whose owners may die.
//!
//! | | |
//! |---|---|
//! | [`Plan`] | the registers an algorithm asks for, in order |
//! | [`File`] | the mapped file: header, doorbells, owner records, registers; who owns which slot |
//! | [`Shared`] | the memory, as the owner of one slot sees it |
//! | [`Peek`], [`PeekPlan`] | the memory, as one sees it who only looks |
//! | [`Record`], [`Phase`] | who owns a slot, and what it is about |
//! | [`Watch`] | whoever waits long looks after those before it |
//! | [`Watchman`] | a thread that is told when a process ends |
//! | [`Ours`] | whether we have been forked |
//!
//! It knows [`Memory`](doorway_memory::Memory) and no algorithm by name. Only Linux has what is needed (locks that belong to
//! an open file, futexes in shared memory); elsewhere this crate is empty.
//!
//! # The file
//! ```text
//! header     a page: magic, version, k, slots, registers, creation id, and their checksum
//! doorbells  a cache line each: a count on which the slot's owner sleeps
//! asleep     a bit for each slot: its owner sleeps, or is about to
//! records    256 bytes each: phase, ticket, pid, start of the process, since when, what for
//! registers  a word each
//! ```
//!
//! # Slots
//! A process owns slot s as long as byte s + 1 of the file is locked by its *open file description* (an OFD lock). The kernel
//! drops the lock when the last descriptor of it is closed, so when the process has died, however it did; and not before a
//! child that has inherited the descriptor is gone too. Registers of slot s are written only by who has that byte locked. So
//! a slot that is in use and not locked belonged to a dead one, and whoever locks its byte may finish its passage.
//!
//! Byte 0 is the *gate*: who takes a slot holds it meanwhile. Behind it nobody else takes one, so if no byte is locked then
//! nobody uses the file, and whatever it holds can be replaced by the registers' initial values.
#![cfg(target_os = "linux")]
mod error;
mod file;
mod locks;
mod map;
mod memory;
mod peek;
mod place;
mod record;
mod region;
mod watchman;

pub use error::Error;
pub use file::{File, Taken};
pub use map::Ours;
pub use memory::{Halt, Look, Plan, Reg, Shared, Watch};
pub use peek::{Peek, PeekPlan};
pub use place::{Location, locate, names};
pub use record::{Phase, Record};
pub use region::MOST_SLOTS;
pub use watchman::Watchman;
