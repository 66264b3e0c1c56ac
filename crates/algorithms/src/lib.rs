//! The algorithms of the papers, one short file each, generic over the memory they run on.
//!
//! The terms are those of the [glossary](doorway_memory::glossary).
//!
//! | | |
//! |---|---|
//! | [`mutex`] | mutual exclusion |
//! | [`kexclusion`] | k-exclusion: at most k holders |
//! | [`parts`] | building blocks that several algorithms use |
//! | [`broken`] | algorithms that the texts refute, and deliberate mistakes: the checker must refute them |
//! | [`blocks`] | what they are built of, without an entry of its own |
//! | [`for_each_algorithm`] | the one list of all algorithms |
//! | [`registry`] | all algorithms: [`all`](registry::all), [`find`](registry::find), [`visit`](registry::visit) |
//! | [`About`] | a registry entry: source, sizes, claims |
//!
//! A file opens with the citation, the paper's lines with the paper's numbers, the departures from them and the
//! guarantees. Every access in the code carries the number of its line.
//!
//! ```
//! use doorway_algorithms::mutex::bakery::Bakery;
//! use doorway_memory::{Exclusion, Solo};
//!
//! let mut solo = Solo::new();
//! let bakery = Bakery::new(&mut solo, 3);
//! let Ok(ticket) = bakery.doorway(&mut solo, 1);
//! let Ok(inside) = bakery.wait(&mut solo, 1, &ticket);
//! let Ok(()) = bakery.exit(&mut solo, 1, &inside);
//! assert_eq!(bakery.doorway(&mut solo, 2), Ok(ticket)); // the lock is free again, so numbers start anew
//! ```
#![no_std]
extern crate alloc;

mod about;
#[macro_use]
mod catalogue;
pub mod claim;
pub mod pinned;
pub mod registry;
mod rule;
mod size;

macro_rules! modules {
    ($($(#[$doc:meta])* $folder:ident { $($kind:ident $file:ident $name:ident;)* })*) => {$(
        $(#[$doc])*
        pub mod $folder {
            $(pub mod $file;)*
        }
    )*};
}

for_each_algorithm!(modules);

/// What several algorithms are built of, without an entry of its own.
pub mod blocks {
    pub mod named_queue;
    pub mod priority_queue;
    pub mod test_and_set;
    pub mod two_process;
}

pub use about::{About, Kind, LocalSpin, Processes, Remote, Survey};
pub use claim::{Claim, Claimed, Condition, Status};
pub use pinned::{Extent, Finds, Pinned};
pub use size::{Remedy, Size, SizeError};
