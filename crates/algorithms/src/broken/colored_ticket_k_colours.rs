//! Colored tickets with one color too few. After M. J. Fischer, N. A. Lynch, J. E. Burns, A. Borodin, ACM TOPLAS 11(1),
//! 1989; the mistake is deliberate.
//!
//! ```text
//!  1-8  of `colored-ticket`, with colors 0 to k-1; if no color is free, the next is taken
//! ```
//!
//! Departures: those of `colored-ticket`, whose code this is.
//!
//! Guarantees: bounded exit. Fails: k-exclusion. While a holder keeps an old ticket, the others use up the other
//! colors; then the holder's color is issued again, and all tickets of that color are taken for valid.
use doorway_memory::{Memory, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    Size,
    claim::{fails, holds},
    kexclusion::colored_ticket::{self, ColoredTicket},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "colored-ticket-k-colours",
    aliases: &[],
    title: "colored tickets with one color too few",
    source: "after Fischer et al. 1989",
    claims: &[fails(Exclusion), holds(BoundedExit), holds(WaitFreeDoorway)],
    tolerates: &[Tso],
    defect: "with one color too few, a new ticket can look like an old one",
    local_spin: None,
    remote: None,
    remark: "",
    departures: "",
    pinned: &[
        at(2).k(1).finds(25),
        at(3).k(2).finds(1_267),
        at(3).under(&[Tso]).finds(1_267).fences(0),
        at(3).refutes(Exclusion, COUNTEREXAMPLE),
    ],
    ..colored_ticket::ABOUT
};

/// The lock's type.
pub type Lock<M> = ColoredTicket<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, k }: Size) -> Lock<M> {
    ColoredTicket::with_colors(space, n, k, k)
}

/// Colored ticket with k colors confuses a new ticket with an old one.
const COUNTEREXAMPLE: &str = "\
exclusion FAILS in 18 steps
\x20  1  p0  1-3  V := Issue (1, 0) Valid (2, 0) Quant [2] (was Issue (0, 0) Valid (2, 0) Quant [2])
\x20  2  p0  4    V = Issue (1, 0) Valid (2, 0) Quant [2]                                                   -> inside
\x20  3  p0  5-8  V := Issue (1, 0) Valid (3, 0) Quant [2] (was Issue (1, 0) Valid (2, 0) Quant [2])        -> out
\x20  4  p0  1-3  V := Issue (2, 0) Valid (3, 0) Quant [2] (was Issue (1, 0) Valid (3, 0) Quant [2])
\x20  5  p0  4    V = Issue (2, 0) Valid (3, 0) Quant [2]                                                   -> inside
\x20  6  p0  5-8  V := Issue (2, 0) Valid (1, 1) Quant [1, 1] (was Issue (2, 0) Valid (3, 0) Quant [2])     -> out
\x20  7  p0  1-3  V := Issue (3, 0) Valid (1, 1) Quant [1, 1] (was Issue (2, 0) Valid (1, 1) Quant [1, 1])
\x20  8  p0  4    V = Issue (3, 0) Valid (1, 1) Quant [1, 1]                                                -> inside
\x20  9  p1  1-3  V := Issue (1, 1) Valid (1, 1) Quant [1, 1] (was Issue (3, 0) Valid (1, 1) Quant [1, 1])
\x20 10  p1  4    V = Issue (1, 1) Valid (1, 1) Quant [1, 1]                                                -> inside
\x20 11  p1  5-8  V := Issue (1, 1) Valid (2, 1) Quant [1, 1] (was Issue (1, 1) Valid (1, 1) Quant [1, 1])  -> out
\x20 12  p1  1-3  V := Issue (2, 1) Valid (2, 1) Quant [1, 1] (was Issue (1, 1) Valid (2, 1) Quant [1, 1])
\x20 13  p1  4    V = Issue (2, 1) Valid (2, 1) Quant [1, 1]                                                -> inside
\x20 14  p1  5-8  V := Issue (2, 1) Valid (3, 1) Quant [1, 1] (was Issue (2, 1) Valid (2, 1) Quant [1, 1])  -> out
\x20 15  p1  1-3  V := Issue (3, 1) Valid (3, 1) Quant [1, 1] (was Issue (2, 1) Valid (3, 1) Quant [1, 1])
\x20 16  p1  4    V = Issue (3, 1) Valid (3, 1) Quant [1, 1]                                                -> inside
\x20 17  p2  1-3  V := Issue (1, 0) Valid (3, 1) Quant [1, 1] (was Issue (3, 1) Valid (3, 1) Quant [1, 1])
\x20 18  p2  4    V = Issue (1, 0) Valid (3, 1) Quant [1, 1]                                                -> inside
";
