//! The k-Bakery with a reap that stops at the dead one's own number. After R. Danek, *The k-Bakery: Local-spin k-Exclusion
//! Using Non-atomic Reads and Writes*, PODC 2010, Figure 2; the mistake is ours.
//!
//! ```text
//! 14-25  of `k-bakery`
//! 25  for each i < p: Want[p][i] := ∞                        (for a dead p; it should be i ≠ p)
//! ```
//!
//! Departures: those of `k-bakery`, whose code this is but for the reap.
//!
//! Guarantees: k-exclusion, bounded exit. Fails if processes die: deadlock-freedom. Who has a larger number than the dead
//! one is never told that it is gone.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Claim::{FailsWithDeaths, Holds},
    kexclusion::k_bakery::{self, KBakery},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "k-bakery-half-reaped",
    aliases: &[],
    title: "the k-Bakery with half a reap",
    source: "ours; see `k-bakery`",
    default_n: 2,
    local_spin: None,
    remote: None,
    claims: &[Holds(Exclusion), Holds(BoundedExit), FailsWithDeaths(DeadlockFreedom)],
    remark: "without `--deaths` it is `k-bakery`",
    departures: "",
    ..k_bakery::ABOUT
};

/// The lock; see the [module](self).
pub struct KBakeryHalfReaped<M: Memory>(KBakery<M>);

impl<M: Memory> KBakeryHalfReaped<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        KBakeryHalfReaped(KBakery::new(space, n, k))
    }
}

impl<M: Memory> Exclusion<M> for KBakeryHalfReaped<M> {
    type Place = Ticket;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        self.0.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.wait(m, p, mine)
    }

    fn exit(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.exit(m, p, mine)
    }

    const REAPABLE: bool = true;

    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        m.fold(dead, (), |m, (), i| m.at("25").write(&self.0.want[(dead, i)], None))
    }
}
