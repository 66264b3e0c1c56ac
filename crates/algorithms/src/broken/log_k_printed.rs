//! k-exclusion with O(log k) remote references, as printed. M. J. Choi, *A solution to k-exclusion with O(log k) RMR
//! complexity*, Dartmouth 2011, section 2.
//!
//! ```text
//!    Wait-Set(j) = k-1 and every b from j to k-1 that is a prefix of j's bits, then 1, then 0s
//! 8      if a < e and Exit <= u + 2k:
//!    else as `log-k`
//! ```
//!
//! Departures: none but the order of the tests in line 8.
//!
//! Guarantees: k-exclusion, bounded exit. Fails: starvation-freedom when k-1 processes stop for ever. 0 is not in
//! Wait-Set(0), so the first of a block does not notice that its partner has let it in; it depends on those after it.
use doorway_memory::{Count, Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::Holds,
    kexclusion::log_k::{self, LogK, Text},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "log-k-printed",
    aliases: &[],
    title: "k-exclusion with O(log k) remote references, as printed",
    source: "Choi 2011",
    claims: &[Holds(Exclusion), Holds(BoundedExit), Holds(WaitFreeDoorway)],
    remark: "claimed to survive k-1 crashes, and does not: starvation",
    remote: None,
    departures: "",
    ..log_k::ABOUT
};

/// The lock; see the [module](self).
pub struct LogKPrinted<M: Memory>(LogK<M>);

impl<M: Memory> LogKPrinted<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        LogKPrinted(LogK::of(space, k, n.div_ceil(k), Text { watches_own_cell: false, stale_after: 2 }))
    }

    /// As printed, but for the first repair: everyone watches its own cell too.
    pub fn with_first_repair(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        LogKPrinted(LogK::of(space, k, n.div_ceil(k), Text { watches_own_cell: true, stale_after: 2 }))
    }
}

impl<M: Memory> Exclusion<M> for LogKPrinted<M> {
    type Place = Count;
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Count, M::Halt> {
        self.0.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, t: &Count) -> Result<(), M::Halt> {
        self.0.wait(m, p, t)
    }

    fn inside(&self, t: &Count) -> Count {
        self.0.inside(t)
    }

    fn exit(&self, m: &mut M, p: Pid, t: &Count) -> Result<(), M::Halt> {
        self.0.exit(m, p, t)
    }
}
