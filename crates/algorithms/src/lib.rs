//! The papers' algorithms, one short file each, generic over the memory they run on.
//!
//! | | |
//! |---|---|
//! | [`mutex`] | mutual exclusion |
//! | [`parts`] | pieces that papers share |
//! | [`broken`] | what the texts show to be inadequate, and deliberate mistakes: the checker must refute them |
//! | [`registry`] | the one list: [`all`](registry::all), [`find`](registry::find), [`visit`](registry::visit) |
//! | [`About`] | what is known of an algorithm: source, sizes, claims |
//!
//! A file opens with the citation, the paper's lines with the paper's numbers, our departures from them and what is
//! guaranteed. Every access in the code below carries the number of its line.
//!
//! ```
//! use doorway_algorithms::mutex::bakery::Bakery;
//! use doorway_memory::{Exclusion, Solo};
//!
//! let mut solo = Solo::new();
//! let bakery = Bakery::new(&mut solo, 3);
//! let Ok(ticket) = bakery.doorway(&mut solo, 1);
//! let Ok(()) = bakery.wait(&mut solo, 1, &ticket);
//! let Ok(()) = bakery.exit(&mut solo, 1, &ticket);
//! ```
#![no_std]
extern crate alloc;

mod about;
pub mod registry;

/// What the texts show to be inadequate, and deliberate mistakes.
pub mod broken {
    pub mod fast_path;
    pub mod flaky;
    pub mod livelock;
    pub mod lock_one;
    pub mod lock_two;
    pub mod peterson_polite;
    pub mod timestamps_concurrent;
}

/// Mutual exclusion.
pub mod mutex {
    pub mod bakery;
    pub mod bakery_labels;
    pub mod black_white_bakery;
    pub mod dijkstra;
    pub mod filter;
    pub mod lamport_fast;
    pub mod one_bit;
    pub mod peterson;
    pub mod peterson_tree;
    pub mod tournament;
}

/// Pieces that papers share.
pub mod parts {
    pub mod bouncer;
    pub mod renaming;
    pub mod timestamps;
}

pub use about::{About, Claim, Kind, MAX_PROCESSES, Processes, Size, SizeError};
