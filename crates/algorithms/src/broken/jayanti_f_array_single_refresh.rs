//! The tree of minima, refreshed once. After P. Jayanti, *f-arrays: implementation and applications*, PODC 2002; the mistake
//! is ours.
//!
//! ```text
//!  1-19  of `jayanti-f-array`, except
//! 12      refresh(x)
//! ```
//!
//! Departures: those of `jayanti-f-array`, whose code this is.
//!
//! Guarantees: mutual exclusion, bounded exit. Fails: deadlock-freedom; who is disturbed by another that has read the leaves
//! before is not seen in the tree, neither when it comes nor when it goes.
use doorway_memory::{Memory, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    mutex::jayanti_f_array::{self, JayantiFArray},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "jayanti-f-array-single-refresh",
    aliases: &[],
    title: "a tree of minima, refreshed once",
    source: "after Jayanti 2002",
    claims: &[Holds(Exclusion), Fails(DeadlockFreedom), Holds(BoundedExit), Holds(WaitFreeDoorway)],
    local_spin: None,
    remote: None,
    departures: "",
    ..jayanti_f_array::ABOUT
};

/// The lock for `n` processes.
pub fn jayanti_f_array<M: Memory>(space: &mut impl Space<Mem = M>, n: usize) -> JayantiFArray<M> {
    JayantiFArray::of(space, n, 0, 1)
}
