//! The papers' algorithms, one short file each, generic over the memory they run on.
//!
//! | | |
//! |---|---|
//! | [`mutex`] | mutual exclusion |
//! | [`kexclusion`] | k-exclusion: at most k inside |
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
mod rule;

/// What the texts show to be inadequate, and deliberate mistakes.
pub mod broken {
    pub mod afek_no_e;
    pub mod anderson_moir_dsm_late;
    pub mod bakery_reaped;
    pub mod colored_ticket_k_colours;
    pub mod danek_golab_no_dummy;
    pub mod decker_jayanti_descending;
    pub mod decker_jayanti_names_read;
    pub mod dolev_gafni_shavit_single;
    pub mod fast_path;
    pub mod flaky;
    pub mod jayanti_f_array_single_refresh;
    pub mod k_bakery_fife_reset;
    pub mod k_bakery_half_reaped;
    pub mod k_bakery_no_announce;
    pub mod livelock;
    pub mod lock_one;
    pub mod lock_two;
    pub mod log_k_first_repair;
    pub mod log_k_printed;
    pub mod one_register;
    pub mod peterson_polite;
    pub mod special_set_not_self;
    pub mod special_set_verbatim;
    pub mod timestamps_concurrent;
    pub mod two_registers;
}

/// k-exclusion: at most k inside.
pub mod kexclusion {
    pub mod afek;
    pub mod anderson_moir;
    pub mod anderson_moir_adaptive;
    pub mod anderson_moir_dsm;
    pub mod anderson_moir_dsm_adaptive;
    pub mod anderson_moir_dsm_tree;
    pub mod anderson_moir_fast;
    pub mod anderson_moir_tree;
    pub mod burns_peterson;
    pub mod colored_ticket;
    pub mod danek_lee;
    pub mod decker_jayanti;
    pub mod decker_jayanti_names;
    pub mod dolev_gafni_shavit;
    pub mod filter_k;
    pub mod fischer_queue;
    pub mod gottlieb;
    pub mod k_bakery;
    pub mod k_bakery_fife;
    pub mod k_bakery_safe;
    pub mod log_k;
    pub mod log_k_wide;
    pub mod ticket_k;
}

/// Mutual exclusion.
pub mod mutex {
    pub mod anderson_array;
    pub mod bakery;
    pub mod bakery_labels;
    pub mod black_white_bakery;
    pub mod danek_golab;
    pub mod danek_golab_adaptive;
    pub mod danek_golab_simple;
    pub mod danek_golab_yang_anderson;
    pub mod dijkstra;
    pub mod filter;
    pub mod jayanti_f_array;
    pub mod jayanti_f_array_adaptive;
    pub mod kim_anderson;
    pub mod lamport_fast;
    pub mod mcs;
    pub mod one_bit;
    pub mod peterson;
    pub mod peterson_tree;
    pub mod ticket;
    pub mod ticket_sleeping;
    pub mod tournament;
    pub mod yang_anderson;
}

/// Pieces that papers share.
pub mod parts {
    pub mod bouncer;
    pub mod priority_queue;
    pub mod renaming;
    pub mod renaming_tree;
    pub mod special_set;
    pub mod special_set_adaptive;
    pub mod test_and_set;
    pub mod ticket_dispenser;
    pub mod timestamps;
    pub mod two_process;
}

pub use about::{
    About, Claim, Kind, LocalSpin, MAX_PROCESSES, MAX_SIMULATED, Processes, Remote, Size, SizeError, Survey,
};
