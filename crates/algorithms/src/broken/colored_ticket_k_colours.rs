//! Colored tickets with a color too few. After M. J. Fischer, N. A. Lynch, J. E. Burns, A. Borodin, ACM TOPLAS 11(1), 1989;
//! the mistake is ours.
//!
//! ```text
//!  1-8  of `colored-ticket`, with colors 0 to k-1; if no color is free, the next is taken
//! ```
//!
//! Departures: those of `colored-ticket`, whose code this is.
//!
//! Guarantees: bounded exit. Fails: k-exclusion; while one stays inside with an old ticket the others use up the other colors,
//! and then its color is issued again: all tickets of it are taken for valid, as its own is.
use doorway_memory::{Memory, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    kexclusion::colored_ticket::{self, ColoredTicket},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "colored-ticket-k-colours",
    aliases: &[],
    title: "colored tickets with a color too few",
    source: "after Fischer et al. 1989",
    claims: &[Fails(Exclusion), Holds(BoundedExit), Holds(WaitFreeDoorway)],
    local_spin: None,
    remote: None,
    remark: "",
    departures: "",
    ..colored_ticket::ABOUT
};

/// The lock for `n` processes, of which `k` < `n` may be inside.
pub fn colored_ticket<M: Memory>(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> ColoredTicket<M> {
    ColoredTicket::with_colors(space, n, k, k)
}
