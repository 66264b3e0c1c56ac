//! The special set on an adaptive tree, with Figure 5 as printed. R. Danek and W. Golab, *Closing the complexity gap
//! between FCFS mutual exclusion and mutual exclusion*, section 4.2.
//!
//! ```text
//! 36      if q ≠ ⊥ and MyNode[q] ≠ ⊥:
//! ```
//!
//! Departures: those of `special-set-adaptive`, whose code this is, except for line 36. To have few states, leaves come
//! from the simplest renaming, lines a and r of [`PlainTree`]; with Kim and Anderson's it fails in the same way.
//!
//! Guarantees: both operations end in a bounded number of steps. Fails: the rule. A leaf is used by different
//! processes in turn, so a process can find its own number at a sibling node, where an earlier insertion left it, and
//! be told of itself.
use doorway_memory::{Memory, Property::*, Space};

use crate::{
    About, Size,
    claim::{fails, holds},
    parts::{
        renaming_tree::PlainTree,
        special_set_adaptive::{self, AdaptiveSet, Harness, MemberTest},
    },
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "special-set-verbatim",
    title: "the special set on an adaptive tree, as printed",
    source: "Danek & Golab, section 4.2 with Fig. 5",
    claims: &[fails(Rule), holds(WaitFree)],
    tolerates: &[],
    defect: "the set can return the caller",
    remark: "the printed test is correct only for static leaves",
    departures: "",
    pinned: &[at(2).finds(13_098), at(2).refutes(Rule, COUNTEREXAMPLE)],
    ..special_set_adaptive::ABOUT
};

/// Creates the part for `size`.
pub fn new<M: Memory>(
    space: &mut impl Space<Mem = M>,
    Size { n, .. }: Size,
) -> Harness<M, AdaptiveSet<M, PlainTree<M>>> {
    let renaming = PlainTree::new(space, n);
    let set = AdaptiveSet::over(space, n, renaming).with_member_test(MemberTest::Leaf);
    Harness::new(space, n, set)
}

/// The special set as printed returns the caller.
const COUNTEREXAMPLE: &str = "\
rule FAILS in 44 steps: p0 was told of itself
\x20  1  p0  -   standing[0] = out
\x20  2  p0  -   standing[0] := coming
\x20  3  p0  a   compare-and-swap(Taken[1], ⊥, 0) = true
\x20  4  p0  25  MyNode[0] := 1
\x20  5  p0  29  NodeVal[4] := 0
\x20  6  p0  29  NodeVal[1] := 0
\x20  7  p0  -   standing[0] := in                         -> returned
\x20  8  p0  -   standing[0] = in
\x20  9  p0  L   swap(lock, true) = false
\x20 10  p0  -   standing[1] = out
\x20 11  p0  31  MyNode[0] = 1
\x20 12  p0  35  NodeVal[2] = ⊥
\x20 13  p0  35  NodeVal[3] = ⊥
\x20 14  p0  35  NodeVal[5] = ⊥
\x20 15  p0  38  MyNode[0] := ⊥
\x20 16  p0  r   Taken[1] := ⊥
\x20 17  p0  -   standing[0] := out
\x20 18  p0  U   lock := false                             -> returned
\x20 19  p0  -   standing[0] = out
\x20 20  p0  -   standing[0] := coming
\x20 21  p1  -   standing[1] = out
\x20 22  p1  -   standing[1] := coming
\x20 23  p1  a   compare-and-swap(Taken[1], ⊥, 1) = true
\x20 24  p0  a   compare-and-swap(Taken[1], ⊥, 0) = false
\x20 25  p0  a   Taken[1] = 1
\x20 26  p0  a   compare-and-swap(Taken[3], ⊥, 0) = true
\x20 27  p0  25  MyNode[0] := 3
\x20 28  p0  29  NodeVal[3] := 0
\x20 29  p0  29  NodeVal[1] := 0
\x20 30  p0  -   standing[0] := in                         -> returned
\x20 31  p0  -   standing[0] = in
\x20 32  p0  L   swap(lock, true) = false
\x20 33  p0  -   standing[1] = coming
\x20 34  p0  31  MyNode[0] = 3
\x20 35  p0  35  NodeVal[2] = ⊥
\x20 36  p0  35  NodeVal[4] = 0
\x20 37  p0  36  MyNode[0] = 3
\x20 38  p0  29  NodeVal[3] := 0
\x20 39  p0  29  NodeVal[1] := 0
\x20 40  p0  38  MyNode[0] := ⊥
\x20 41  p0  r   Taken[3] := ⊥
\x20 42  p0  -   standing[0] := out
\x20 43  p0  -   standing[0] = out
\x20 44  p0  U   lock := false                             -> returned
";
