//! The first-in-first-enabled k-Bakery with a reap that cleans up too much. After R. Danek, *The k-Bakery: Local-spin
//! k-Exclusion Using Non-atomic Reads and Writes*, PODC 2010, Figure 2 with its shaded part; the mistake is ours.
//!
//! ```text
//! 14-25  of `k-bakery-fife`
//! 25  for each i ≠ p: Want[p][i] := ∞                        (also for a dead p)
//!  *  Ticket[p] := 0                                         (for a dead p)
//! ```
//!
//! Departures: those of `k-bakery-fife`, whose code this is but for the reap.
//!
//! Guarantees: k-exclusion, bounded exit, as long as nobody dies. Fails if someone does: k-exclusion. With `Ticket[p]` the
//! largest ticket is forgotten, but `Capture[p][i]` still has it: it captures those who come later with smaller ones.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Claim::{FailsWithDeaths, Holds},
    kexclusion::k_bakery_fife::{self, KBakeryFife},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "k-bakery-fife-reset",
    aliases: &[],
    title: "the k-Bakery, first-in-first-enabled, with a reap that resets the ticket",
    source: "ours; see `k-bakery-fife`",
    local_spin: None,
    remote: None,
    claims: &[Holds(Exclusion), Holds(BoundedExit), FailsWithDeaths(Exclusion)],
    remark: "without `--deaths` it is `k-bakery-fife`; with, `--passages-in-all 5` decides",
    departures: "",
    ..k_bakery_fife::ABOUT
};

/// The lock; see the [module](self).
pub struct KBakeryFifeReset<M: Memory>(KBakeryFife<M>);

impl<M: Memory> KBakeryFifeReset<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        KBakeryFifeReset(KBakeryFife::new(space, n, k))
    }
}

impl<M: Memory> Exclusion<M> for KBakeryFifeReset<M> {
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
        self.0.reap(m, dead)?;
        m.at("*").write(&self.0.base.ticket[dead], Ticket::ZERO)
    }
}
