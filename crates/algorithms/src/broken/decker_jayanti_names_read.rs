//! k-assignment without test-and-set. After C. Decker, P. Jayanti, *A solution to k-assignment in O(k) RMR complexity*,
//! Dartmouth 2010; the mistake is deliberate.
//!
//! ```text
//!      as `decker-jayanti-names`, but
//! 6    while Bit[name]: name := name + 1
//!      Bit[name] := true
//! ```
//!
//! Departures: those of `decker-jayanti-names`, whose code this is.
//!
//! Guarantees: k-exclusion, bounded exit. Fails: k-assignment. Two processes that read the same bit before either
//! sets it have the same name.
use doorway_memory::{Memory, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    Size, Survey,
    claim::{fails, holds},
    kexclusion::decker_jayanti_names::{self, Atomicity, DeckerJayantiNames},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "decker-jayanti-names-read",
    aliases: &[],
    title: "k-assignment without test-and-set",
    source: "this project; see `decker-jayanti-names`",
    primitives: &["read", "write", "fetch-and-add", "compare-and-swap"],
    survey: Survey::Passages(1),
    local_spin: None,
    remote: None,
    claims: &[holds(Exclusion), holds(BoundedExit), holds(WaitFreeDoorway), fails(Assignment)],
    tolerates: &[Tso],
    defect: "two holders can have the same name",
    remark: "",
    departures: "",
    pinned: &[
        at(3).k(2).finds(2_495),
        at(3).under(&[Tso]).finds(4_130).fences(0),
        at(3).refutes(Assignment, COUNTEREXAMPLE),
    ],
    ..decker_jayanti_names::ABOUT
};

/// The lock's type.
pub type Lock<M> = DeckerJayantiNames<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, k }: Size) -> Lock<M> {
    DeckerJayantiNames::of(space, n, k, Atomicity::TwoSteps)
}

/// Names read before they are taken are taken twice.
const COUNTEREXAMPLE: &str = "\
assignment FAILS in 8 steps: two holders have the name 0
\x20  1  p0  1  fetch-and-add(Entry, 1) = 3
\x20  2  p0  2  A[0] = 2
\x20  3  p0  6  Bit[0] = false
\x20  4  p1  1  fetch-and-add(Entry, 1) = 4
\x20  5  p1  2  A[1] = 2
\x20  6  p1  6  Bit[0] = false
\x20  7  p0  6  Bit[0] := true               -> inside
\x20  8  p1  6  Bit[0] := true               -> inside
";
