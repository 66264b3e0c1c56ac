//! Bounded timestamps, taken concurrently. M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor
//! Programming*, 2nd ed., Exercise 2.11.
//!
//! ```text
//!     lines 1-3 of `timestamps`, several calls at a time
//! ```
//!
//! Departures: the same as of `timestamps`, whose code this is.
//!
//! Guarantees: a call ends in a bounded number of steps. Fails: the rule, from three processes on; a process that has
//! chosen its label from what it saw and writes it late can close a cycle of three labels, each later than the next.
use doorway_memory::Property::*;

use crate::{
    About,
    Claim::{Fails, Holds},
    Processes, Survey,
    parts::timestamps,
};

pub use crate::parts::timestamps::Timestamps;

/// What is known of it.
pub const ABOUT: About = About {
    name: "timestamps-concurrent",
    aliases: &[],
    title: "bounded timestamps, taken concurrently",
    source: "Herlihy & Shavit, Ex. 2.11",
    processes: Processes::AtLeast(3),
    sequential: false,
    survey: Survey::Whole,
    local_spin: None,
    claims: &[Fails(Rule), Holds(WaitFree)],
    remark: "two labels cannot form a cycle, so it takes three processes",
    ..timestamps::ABOUT
};
