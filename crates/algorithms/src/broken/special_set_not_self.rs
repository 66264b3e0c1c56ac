//! The special set on an adaptive tree, with the obvious repair of Figure 5. R. Danek and W. Golab, *Closing the
//! complexity gap between FCFS mutual exclusion and mutual exclusion*, section 4.2.
//!
//! ```text
//! 36      if q ≠ ⊥ and q ≠ p and MyNode[q] ≠ ⊥:
//! ```
//!
//! Departures: those of `special-set-verbatim`, whose code this is, except for line 36.
//!
//! Guarantees: both operations end in a bounded number of steps. Fails: the rule, from three processes on. A process
//! found at a node that it was below before is a member, but with another leaf. It is announced from there, so the
//! nodes above still name the caller, which has left: another member is never found.
use doorway_memory::{Memory, Property::*, Space};

use crate::{
    About, Processes, Size, Survey,
    claim::{fails, holds},
    parts::{
        renaming_tree::PlainTree,
        special_set_adaptive::{self, AdaptiveSet, Harness, MemberTest},
    },
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "special-set-not-self",
    title: "the special set on an adaptive tree, never returning the caller",
    source: "after Danek & Golab, section 4.2",
    processes: Processes::AtLeast(3),
    default_n: 3,
    survey: Survey::LeftOut,
    claims: &[fails(Rule), holds(WaitFree)],
    tolerates: &[],
    defect: "the set can lose a member",
    remark: "correct for two processes, for then there is no third member to lose",
    departures: "",
    pinned: &[at(3).finds(16_428_410).takes("30 s, 1 GB"), at(3).refutes(Rule, COUNTEREXAMPLE).takes("30 s, 1 GB")],
    ..special_set_adaptive::ABOUT
};

/// Creates the part for `size`.
pub fn new<M: Memory>(
    space: &mut impl Space<Mem = M>,
    Size { n, .. }: Size,
) -> Harness<M, AdaptiveSet<M, PlainTree<M>>> {
    let renaming = PlainTree::new(space, n);
    let set = AdaptiveSet::over(space, n, renaming).with_member_test(MemberTest::LeafOfAnother);
    Harness::new(space, n, set)
}

/// The special set that does not return the caller loses a member.
const COUNTEREXAMPLE: &str = "\
rule FAILS in 90 steps: p0 was told that the set has no other member, but p1 is in it
\x20  1  p0  -   standing[0] = out
\x20  2  p0  -   standing[0] := coming
\x20  3  p1  -   standing[1] = out
\x20  4  p1  -   standing[1] := coming
\x20  5  p1  a   compare-and-swap(Taken[1], ⊥, 1) = true
\x20  6  p0  a   compare-and-swap(Taken[1], ⊥, 0) = false
\x20  7  p0  a   Taken[1] = 1
\x20  8  p0  a   compare-and-swap(Taken[3], ⊥, 0) = true
\x20  9  p0  25  MyNode[0] := 3
\x20 10  p0  29  NodeVal[3] := 0
\x20 11  p0  29  NodeVal[1] := 0
\x20 12  p0  -   standing[0] := in                         -> returned
\x20 13  p0  -   standing[0] = in
\x20 14  p0  L   swap(lock, true) = false
\x20 15  p0  -   standing[1] = coming
\x20 16  p0  -   standing[2] = out
\x20 17  p0  31  MyNode[0] = 3
\x20 18  p0  35  NodeVal[2] = ⊥
\x20 19  p0  35  NodeVal[4] = ⊥
\x20 20  p0  35  NodeVal[5] = ⊥
\x20 21  p0  38  MyNode[0] := ⊥
\x20 22  p0  r   Taken[3] := ⊥
\x20 23  p0  -   standing[0] := out
\x20 24  p0  U   lock := false                             -> returned
\x20 25  p0  -   standing[0] = out
\x20 26  p0  -   standing[0] := coming
\x20 27  p0  a   compare-and-swap(Taken[1], ⊥, 0) = false
\x20 28  p1  25  MyNode[1] := 1
\x20 29  p1  29  NodeVal[4] := 1
\x20 30  p1  29  NodeVal[1] := 1
\x20 31  p1  -   standing[1] := in                         -> returned
\x20 32  p1  -   standing[1] = in
\x20 33  p1  L   swap(lock, true) = false
\x20 34  p1  -   standing[0] = coming
\x20 35  p1  -   standing[2] = out
\x20 36  p1  31  MyNode[1] = 1
\x20 37  p1  35  NodeVal[2] = ⊥
\x20 38  p1  35  NodeVal[3] = 0
\x20 39  p1  36  MyNode[0] = ⊥
\x20 40  p1  35  NodeVal[5] = ⊥
\x20 41  p1  38  MyNode[1] := ⊥
\x20 42  p1  r   Taken[1] := ⊥
\x20 43  p0  a   Taken[1] = ⊥
\x20 44  p1  -   standing[1] := out
\x20 45  p1  U   lock := false                             -> returned
\x20 46  p1  -   standing[1] = out
\x20 47  p1  -   standing[1] := coming
\x20 48  p1  a   compare-and-swap(Taken[1], ⊥, 1) = true
\x20 49  p1  25  MyNode[1] := 1
\x20 50  p1  29  NodeVal[4] := 1
\x20 51  p1  29  NodeVal[1] := 1
\x20 52  p1  -   standing[1] := in                         -> returned
\x20 53  p2  -   standing[2] = out
\x20 54  p2  -   standing[2] := coming
\x20 55  p2  a   compare-and-swap(Taken[1], ⊥, 2) = false
\x20 56  p2  a   Taken[1] = 1
\x20 57  p2  a   compare-and-swap(Taken[2], ⊥, 2) = true
\x20 58  p0  a   compare-and-swap(Taken[2], ⊥, 0) = false
\x20 59  p0  a   Taken[2] = 2
\x20 60  p0  25  MyNode[0] := 5
\x20 61  p0  29  NodeVal[7] := 0
\x20 62  p0  29  NodeVal[5] := 0
\x20 63  p0  -   standing[0] := in                         -> returned
\x20 64  p0  -   standing[0] = in
\x20 65  p2  25  MyNode[2] := 2
\x20 66  p2  29  NodeVal[2] := 2
\x20 67  p2  29  NodeVal[1] := 2
\x20 68  p2  -   standing[2] := in                         -> returned
\x20 69  p2  -   standing[2] = in
\x20 70  p2  L   swap(lock, true) = false
\x20 71  p2  -   standing[0] = in
\x20 72  p2  31  MyNode[2] = 2
\x20 73  p2  35  NodeVal[3] = 0
\x20 74  p2  36  MyNode[0] = 5
\x20 75  p2  29  NodeVal[7] := 0
\x20 76  p2  29  NodeVal[5] := 0
\x20 77  p2  38  MyNode[2] := ⊥
\x20 78  p2  r   Taken[2] := ⊥
\x20 79  p2  -   standing[2] := out
\x20 80  p2  -   standing[0] = in
\x20 81  p2  U   lock := false                             -> returned
\x20 82  p0  L   swap(lock, true) = false
\x20 83  p0  -   standing[1] = in
\x20 84  p0  31  MyNode[0] = 5
\x20 85  p0  35  NodeVal[6] = ⊥
\x20 86  p0  35  NodeVal[1] = 2
\x20 87  p0  36  MyNode[2] = ⊥
\x20 88  p0  38  MyNode[0] := ⊥
\x20 89  p0  -   standing[0] := out
\x20 90  p0  U   lock := false                             -> returned
";
