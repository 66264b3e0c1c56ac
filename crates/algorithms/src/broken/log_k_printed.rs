//! k-exclusion with O(log k) RMRs, as printed. M. J. Choi, *A solution to k-exclusion with O(log k) RMR complexity*,
//! Dartmouth 2011, section 2.
//!
//! ```text
//!    Wait-Set(j) = k-1 and every b from j to k-1 that is a prefix of j's bits, then 1, then 0s
//! 8      if a < e and Exit <= u + 2k:
//!    else as `log-k`
//! ```
//!
//! Departures: only the order of the tests in line 8.
//!
//! Guarantees: k-exclusion, bounded exit. Fails: starvation-freedom after k-1 crashes. 0 is not in Wait-Set(0), so
//! the first ticket of a block does not notice that its partner has enabled it; it depends on those after it.
use doorway_memory::{Count, Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::{Crashes, Tso},
    Size,
    claim::{fails, holds},
    kexclusion::log_k::{self, LogK, Version},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "log-k-printed",
    aliases: &[],
    title: "k-exclusion with O(log k) RMRs, as printed",
    source: "Choi 2011",
    claims: &[holds(Exclusion), holds(BoundedExit), holds(WaitFreeDoorway), fails(StarvationFreedom).under(&[Crashes])],
    tolerates: &[Tso],
    defect: "a process can starve after a crash",
    remark: "the text claims that it tolerates k-1 crashes",
    remote: None,
    departures: "",
    pinned: &[
        at(3).k(2).finds(28_344),
        at(3).under(&[Tso]).finds(28_344).fences(0),
        at(3).k(2).passages_in_all(3).crashes(1).refutes(StarvationFreedom, COUNTEREXAMPLE),
        at(3).k(2).remote(Some(9), None),
    ],
    ..log_k::ABOUT
};

/// The lock's type.
pub type Lock<M> = LogKPrinted<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> LogKPrinted<M> {
    LogKPrinted::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct LogKPrinted<M: Memory>(LogK<M>);

impl<M: Memory> LogKPrinted<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        LogKPrinted(LogK::of(space, k, n.div_ceil(k), Version { watches_own_cell: false, stale_after: 2 }))
    }

    /// As printed, except for the first repair: every waiter watches its own cell too.
    pub fn with_first_repair(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        LogKPrinted(LogK::of(space, k, n.div_ceil(k), Version { watches_own_cell: true, stale_after: 2 }))
    }
}

impl<M: Memory> Exclusion<M> for LogKPrinted<M> {
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

/// Error A: 0 is not in Wait-Set(0). The first process that leaves admits ticket 2 in a cell that its owner does not
/// read.
const COUNTEREXAMPLE: &str = "\
starvation-freedom FAILS in 12 steps, and stays so (for process 0, 1, 2): process 1 never enters
\x20  1  p0  1  fetch-and-add(Entry, 1) = 0
\x20  2  p0  2  A[0][1] = 1                             -> inside
\x20  3  p0  3  fetch-and-add(Exit, 1) = 0
\x20  4  p0  7  A[0][1] = 1
\x20  5  p0  7  A[0][1] = 1
\x20  6  p0  7  A[1][0] = 0
\x20  7  p0  8  Exit = 1
\x20  8  p0  9  compare-and-swap(A[1][0], 0, 1) = true
\x20  9  p0  7  A[1][0] = 1                             -> out
\x20 10  p0  1  fetch-and-add(Entry, 1) = 1
\x20 11  p1  1  fetch-and-add(Entry, 1) = 2
\x20 12  p0     crashes
\x20 then for ever
\x20 13  p1  2  A[1][1] = 0
";
