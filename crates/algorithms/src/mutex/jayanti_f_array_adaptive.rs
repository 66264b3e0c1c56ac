//! First-come-first-served by a tree of minima, shallow under low contention. After P. Jayanti, *f-arrays:
//! implementation and applications*, PODC 2002.
//!
//! ```text
//!     lines 1 to 19 are those of `jayanti-f-array`. Slot[i] = false for i < S = ⌈log N⌉, each with a shared leaf
//!     Tree: a spine of S nodes, the root first. The children of the i-th are the leaf of slot i and the next node; the
//!     second child of the last is the tree of `jayanti-f-array`, where every process has a leaf
//!
//! 1-3  take a ticket
//!      for i := 0, 1, …, S-1:
//!  a       if LL(Slot[i]) = false
//!  b       and SC(Slot[i], true): the leaf is that of slot i; leave the loop
//!      if no slot was free, the leaf is p's own
//! 4-6  as in `jayanti-f-array`, with that leaf               (doorway ends)
//!      critical section
//!  7   update(∞)
//!  c   if the leaf is that of slot i: Slot[i] := false
//! 8-9  as in `jayanti-f-array`
//! ```
//!
//! A process proceeds from slot i only after it has seen another process hold it. So, if c processes contend, at most
//! c-i of those between lines a and c hold or try a slot from i on. A process thus obtains a slot below c, if there
//! are that many, and its leaf is no deeper than c.
//!
//! The text of the paper was not available: secondary sources say that it is adaptive. The spine and the lines are this
//! project's.
//!
//! Departures: those of `jayanti-f-array`, whose code this is, except for the leaves.
//!
//! Guarantees: those of `jayanti-f-array`, with O(min(c, log N)) RMRs if c processes contend.
use doorway_memory::{Memory, Space};

use super::jayanti_f_array::{self, JayantiFArray};
use crate::{About, Condition::Tso, Remote, Size, pinned::at};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "jayanti-f-array-adaptive",
    aliases: &[],
    title: "first come, first served by a tree of minima, shallow under low contention",
    remote: Some(Remote::both("O(min(c, log N))")),
    departures: "",
    pinned: &[
        at(2).finds(149_564),
        at(3).passages_in_all(2).finds(57_688),
        at(2).under(&[Tso]).finds(208_677).fences(1),
        at(2).remote(Some(30), Some(35)),
    ],
    ..jayanti_f_array::ABOUT
};

/// The lock's type.
pub type Lock<M> = JayantiFArray<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, .. }: Size) -> Lock<M> {
    JayantiFArray::of(space, n, n.next_power_of_two().ilog2() as usize, 2)
}
