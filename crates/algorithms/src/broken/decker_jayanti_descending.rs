//! k-exclusion with O(k) RMRs, enabling processes in the wrong order. After C. Decker, P. Jayanti, *A solution to
//! k-assignment in O(k) RMR complexity*, Dartmouth 2010; the mistake is deliberate.
//!
//! ```text
//! 4  for u = x+k, …, x+1, descending:
//!        compare-and-swap(A[u mod M], the round before that of u, the round of u)
//!    else as `decker-jayanti`
//! ```
//!
//! Departures: those of `decker-jayanti`, whose code this is, except for the order in line 4.
//!
//! Guarantees: k-exclusion, bounded exit. Fails: first-in-first-enabled. A releasing process enables ticket x+k
//! first. If the process that should have enabled ticket x+k-1 is slow, the later ticket enters while the earlier one
//! depends on the steps of others. After k-1 crashes deadlock-freedom fails too: rounds later a cell can still be one
//! round behind the value that a releasing process expects, and its only attempt is lost.
use doorway_memory::{Count, Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    Size, Survey,
    claim::{fails, holds},
    kexclusion::decker_jayanti::{self, DeckerJayanti, Order},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "decker-jayanti-descending",
    aliases: &[],
    title: "k-exclusion with O(k) RMRs, enabling processes in the wrong order",
    source: "this project; see `decker-jayanti`",
    default_n: 4,
    local_spin: None,
    remote: None,
    survey: Survey::Passages(1),
    claims: &[holds(Exclusion), holds(BoundedExit), holds(WaitFreeDoorway), fails(Fife)],
    tolerates: &[Tso],
    defect: "a later arrival is enabled before an earlier one",
    remark: "after one crash it also deadlocks, within three passages of each process",
    departures: "",
    pinned: &[at(4).k(2).finds(5_448), at(4).under(&[Tso]).finds(5_448).fences(0), at(4).refutes(Fife, COUNTEREXAMPLE)],
    ..decker_jayanti::ABOUT
};

/// The lock's type.
pub type Lock<M> = DeckerJayantiDescending<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> DeckerJayantiDescending<M> {
    DeckerJayantiDescending::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct DeckerJayantiDescending<M: Memory>(DeckerJayanti<M>);

impl<M: Memory> DeckerJayantiDescending<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        DeckerJayantiDescending(DeckerJayanti::of(space, n, k, Order::Descending))
    }
}

impl<M: Memory> Exclusion<M> for DeckerJayantiDescending<M> {
    type Place = Count;
    type Inside = ();
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Count, M::Halt> {
        self.0.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, t: &Count) -> Result<(), M::Halt> {
        self.0.wait(m, p, t)
    }

    fn exit(&self, m: &mut M, p: Pid, inside: &()) -> Result<(), M::Halt> {
        self.0.exit(m, p, inside)
    }
}

/// Decker jayanti in descending order admits the later arrival first.
const COUNTEREXAMPLE: &str = "\
fife FAILS in 10 steps, and stays so: process 1 starts the doorway after process 0 has completed it and enters first, and process 0 still waits
\x20  1  p2  1  fetch-and-add(Entry, 1) = 4
\x20  2  p2  2  A[0] = 2                             -> inside
\x20  3  p2  3  fetch-and-add(Exit, 1) = 0
\x20  4  p3  1  fetch-and-add(Entry, 1) = 5
\x20  5  p0  1  fetch-and-add(Entry, 1) = 6
\x20  6  p1  1  fetch-and-add(Entry, 1) = 7
\x20  7  p3  2  A[1] = 2                             -> inside
\x20  8  p3  3  fetch-and-add(Exit, 1) = 1
\x20  9  p3  4  compare-and-swap(A[3], 1, 2) = true
\x20 10  p1  2  A[3] = 2                             -> inside
\x20 then for ever
\x20 11  p0  2  A[2] = 1
";
