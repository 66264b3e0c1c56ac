//! First-come-first-served by a tree of minima that is shallow for few. After P. Jayanti, *f-arrays: implementation and
//! applications*, PODC 2002.
//!
//! ```text
//!     lines 1 to 19 are those of `jayanti-f-array`. Slot[i] = false for i < S = ⌈log N⌉, each with a leaf that is anybody's
//!     Tree: a spine of S nodes, the root first. Below the i-th are the leaf of slot i and the next one, and below the last is
//!     the tree of `jayanti-f-array`, where everyone has a leaf
//!
//! 1-3  take a ticket
//!      for i := 0, 1, …, S-1:
//!  a       if LL(Slot[i]) = false
//!  b       and SC(Slot[i], true): the leaf is that of slot i; leave the loop
//!      if there was none, the leaf is p's own
//! 4-6  as there, with that leaf                              (doorway ends)
//!      critical section
//!  7   update(∞)
//!  c   if it was the leaf of slot i: Slot[i] := false
//! 8-9  as there
//! ```
//!
//! To go on from slot i is to have seen that another has it. Of those between lines a and c at most c-i have a slot from i on, or
//! look there, if c processes contend; so one gets a slot below c, if there are that many, and its leaf is no deeper.
//!
//! We did not have the text of the paper: that it is adaptive is told of it. The spine and the lines are ours.
//!
//! Departures: those of `jayanti-f-array`, whose code this is, but for the leaves.
//!
//! Guarantees: those of `jayanti-f-array`, with O(min(c, log N)) remote references if c processes contend.
use doorway_memory::{Memory, Space};

use super::jayanti_f_array::{self, JayantiFArray};
use crate::{About, Remote};

/// What is known of it.
pub const ABOUT: About = About {
    name: "jayanti-f-array-adaptive",
    aliases: &[],
    title: "first come, first served by a tree of minima that is shallow for few",
    remote: Some(Remote::both("O(min(c, log N))")),
    departures: "",
    ..jayanti_f_array::ABOUT
};

/// The lock for `n` processes.
///
/// # Panics
/// For more than 255 processes.
pub fn jayanti_f_array<M: Memory>(space: &mut impl Space<Mem = M>, n: usize) -> JayantiFArray<M> {
    JayantiFArray::of(space, n, n.next_power_of_two().ilog2() as usize, 2)
}
