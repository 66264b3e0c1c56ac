//! k-assignment without test-and-set. After C. Decker, P. Jayanti, *A solution to k-assignment in O(k) RMR complexity*,
//! Dartmouth 2010; the mistake is ours.
//!
//! ```text
//!      as `decker-jayanti-names`, but
//! 6    while Bit[name]: name := name + 1
//!      Bit[name] := true
//! ```
//!
//! Departures: those of `decker-jayanti-names`, whose code this is.
//!
//! Guarantees: k-exclusion, bounded exit. Fails: k-assignment. Two who see the same bit before either sets it have one name.
use doorway_memory::{Memory, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    Survey,
    kexclusion::decker_jayanti_names::{self, DeckerJayantiNames, Taking},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "decker-jayanti-names-read",
    aliases: &[],
    title: "k-assignment without test-and-set",
    source: "ours; see `decker-jayanti-names`",
    primitives: &["read", "write", "fetch-and-add", "compare-and-swap"],
    survey: Survey::Passages(1),
    local_spin: None,
    remote: None,
    claims: &[Holds(Exclusion), Holds(BoundedExit), Holds(WaitFreeDoorway), Fails(Assignment)],
    remark: "",
    departures: "",
    ..decker_jayanti_names::ABOUT
};

/// The lock for `n` processes, of which `k` < `n` may be inside.
pub fn decker_jayanti_names<M: Memory>(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> DeckerJayantiNames<M> {
    DeckerJayantiNames::of(space, n, k, Taking::InTwo)
}
