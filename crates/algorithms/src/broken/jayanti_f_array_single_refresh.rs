//! The tree of minima with one refresh per node. After P. Jayanti, *f-arrays: implementation and applications*, PODC
//! 2002; the mistake is deliberate.
//!
//! ```text
//!  1-19  of `jayanti-f-array`, except
//! 12      refresh(x)
//! ```
//!
//! Departures: those of `jayanti-f-array`, whose code this is.
//!
//! Guarantees: mutual exclusion, bounded exit. Fails: deadlock-freedom. If another refresh that has already read the
//! leaves intervenes, the update does not reach the tree: neither an arrival nor a departure.
use doorway_memory::{Memory, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    Size,
    claim::{fails, holds},
    mutex::jayanti_f_array::{self, JayantiFArray},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "jayanti-f-array-single-refresh",
    aliases: &[],
    title: "a tree of minima with one refresh per node",
    source: "after Jayanti 2002",
    claims: &[holds(Exclusion), fails(DeadlockFreedom), holds(BoundedExit), holds(WaitFreeDoorway)],
    tolerates: &[Tso],
    defect: "one refresh can lose an arriving process, which then waits for ever",
    local_spin: None,
    remote: None,
    departures: "",
    pinned: &[
        at(2).finds(31_153),
        at(2).under(&[Tso]).finds(46_937).fences(1),
        at(2).refutes(DeadlockFreedom, COUNTEREXAMPLE),
    ],
    ..jayanti_f_array::ABOUT
};

/// The lock's type.
pub type Lock<M> = JayantiFArray<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, .. }: Size) -> Lock<M> {
    JayantiFArray::of(space, n, 0, 1)
}

/// Jayanti f array with one refresh loses an arriving process.
const COUNTEREXAMPLE: &str = "\
deadlock-freedom FAILS in 30 steps, and stays so
\x20  1  p0  1   Go[0] := false
\x20  2  p0  2   LL(C) = 0
\x20  3  p0  3   SC(C, 1) = true
\x20  4  p0  10  Leaf[0] := (0, 0)
\x20  5  p0  13  LL(Node[1]) = ∞
\x20  6  p0  14  Leaf[0] = (0, 0)
\x20  7  p0  14  Leaf[1] = ∞
\x20  8  p0  15  SC(Node[1], (0, 0)) = true
\x20  9  p0  16  LL(Own) = ⊥
\x20 10  p0  17  Node[1] = (0, 0)
\x20 11  p0  18  SC(Own, 0) = true
\x20 12  p0  19  Go[0] := true
\x20 13  p0  6   Go[0] = true                 -> inside
\x20 14  p0  10  Leaf[0] := ∞
\x20 15  p0  13  LL(Node[1]) = (0, 0)
\x20 16  p0  14  Leaf[0] = ∞
\x20 17  p0  14  Leaf[1] = ∞
\x20 18  p1  1   Go[1] := false
\x20 19  p1  2   LL(C) = 1
\x20 20  p1  3   SC(C, 2) = true
\x20 21  p1  10  Leaf[1] := (1, 1)
\x20 22  p1  13  LL(Node[1]) = (0, 0)
\x20 23  p0  15  SC(Node[1], ∞) = true
\x20 24  p1  14  Leaf[0] = ∞
\x20 25  p1  14  Leaf[1] = (1, 1)
\x20 26  p1  15  SC(Node[1], (1, 1)) = false
\x20 27  p1  16  LL(Own) = 0
\x20 28  p0  8   Own := ⊥ (was 0)
\x20 29  p0  16  LL(Own) = ⊥
\x20 30  p0  17  Node[1] = ∞                  -> out
\x20 then for ever
\x20 31  p1  6   Go[1] = false
";
