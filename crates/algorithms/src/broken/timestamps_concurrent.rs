//! Bounded timestamps, taken concurrently. M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor
//! Programming*, 2nd ed., Exercise 2.11.
//!
//! ```text
//!     lines 1-3 of `timestamps`, with calls that overlap
//! ```
//!
//! Departures: those of `timestamps`, whose code this is.
//!
//! Guarantees: a call ends in a bounded number of steps. Fails: the rule, from three processes on. A process that has
//! chosen a label and writes it late can close a cycle of three labels, each later than the next.
use doorway_memory::{Memory, Property::*, Space};

use crate::{
    About, Processes, Size, Survey,
    claim::{fails, holds},
    parts::timestamps,
    pinned::at,
};

pub use crate::parts::timestamps::Timestamps;

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "timestamps-concurrent",
    aliases: &[],
    title: "bounded timestamps, taken concurrently",
    source: "Herlihy & Shavit, Ex. 2.11",
    processes: Processes::AtLeast(3),
    sequential: false,
    survey: Survey::Whole,
    local_spin: None,
    claims: &[fails(Rule), holds(WaitFree)],
    tolerates: &[],
    defect: "the labels of three concurrent calls can form a cycle",
    remark: "two labels cannot form a cycle, so it takes three processes",
    pinned: &[at(3).finds(4_044_558), at(3).refutes(Rule, COUNTEREXAMPLE)],
    ..timestamps::ABOUT
};

/// Creates the part for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> Timestamps<M> {
    Timestamps::new(space, size.n)
}

/// Concurrent timestamps form a cycle.
const COUNTEREXAMPLE: &str = "\
rule FAILS in 9 steps: labels form a cycle: p0's 10 after p1's 12 after p2's 11 after p0's
\x20  1  p0  1  label[1] = 00
\x20  2  p0  1  label[2] = 00
\x20  3  p1  1  label[0] = 00
\x20  4  p0  3  label[0] := 10  -> returned
\x20  5  p2  1  label[0] = 10
\x20  6  p2  1  label[1] = 00
\x20  7  p2  3  label[2] := 11  -> returned
\x20  8  p1  1  label[2] = 11
\x20  9  p1  3  label[1] := 12  -> returned
";
