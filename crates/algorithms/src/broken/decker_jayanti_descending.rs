//! k-exclusion with O(k) remote references, letting others in in the wrong order. After C. Decker, P. Jayanti, *A solution
//! to k-assignment in O(k) RMR complexity*, Dartmouth 2010; the mistake is ours.
//!
//! ```text
//! 4  for u = x+k, …, x+1, descending:
//!        compare-and-swap(A[u mod M], the round before that of u, the round of u)
//!    else as `decker-jayanti`
//! ```
//!
//! Departures: those of `decker-jayanti`, whose code this is but for the order in line 4.
//!
//! Guarantees: k-exclusion, bounded exit. Fails: first-in-first-enabled. Who leaves lets in ticket x+k first. If who should
//! have let in ticket x+k-1 is slow, the later one is inside, and the earlier one waits for the steps of others. Fails, too,
//! when k-1 processes stop for ever: deadlock-freedom. Rounds later a cell can still be a round behind what who leaves
//! expects there, and its one attempt is lost.
use doorway_memory::{Count, Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    Survey,
    kexclusion::decker_jayanti::{self, DeckerJayanti, Order},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "decker-jayanti-descending",
    aliases: &[],
    title: "k-exclusion with O(k) remote references, letting others in in the wrong order",
    source: "ours; see `decker-jayanti`",
    default_n: 4,
    local_spin: None,
    remote: None,
    survey: Survey::Passages(1),
    claims: &[Holds(Exclusion), Holds(BoundedExit), Holds(WaitFreeDoorway), Fails(Fife)],
    remark: "after a crash it deadlocks as well, with `--passages 3`",
    departures: "",
    ..decker_jayanti::ABOUT
};

/// The lock; see the [module](self).
pub struct DeckerJayantiDescending<M: Memory>(DeckerJayanti<M>);

impl<M: Memory> DeckerJayantiDescending<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        DeckerJayantiDescending(DeckerJayanti::of(space, n, k, Order::Descending))
    }
}

impl<M: Memory> Exclusion<M> for DeckerJayantiDescending<M> {
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
