//! The k-Bakery without its first announcement. R. Danek, *The k-Bakery: Local-spin k-Exclusion Using Non-atomic Reads
//! and Writes*, PODC 2010, section 4: the race that line 14 prevents.
//!
//! ```text
//! 15-25  of `k-bakery`
//! ```
//!
//! Departures: those of `k-bakery`, whose code this is but for line 14, which is left out.
//!
//! Guarantees: bounded exit. Fails: k-exclusion; one that has its ticket and has not announced it looks as if it were
//! not there, so those with larger tickets go in before it, and it follows since its ticket is the smallest.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Claim::{Fails, Holds},
    kexclusion::k_bakery::{self, KBakery},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "k-bakery-no-announce",
    aliases: &[],
    title: "the k-Bakery without its first announcement",
    source: "Danek 2010, section 4",
    default_n: 2,
    claims: &[Fails(Exclusion), Holds(BoundedExit)],
    remark: "the text tells the race for k = 1; with a larger k it takes as many more inside",
    remote: None,
    departures: "",
    ..k_bakery::ABOUT
};

/// The lock; see the [module](self).
pub struct KBakeryNoAnnounce<M: Memory>(KBakery<M>);

impl<M: Memory> KBakeryNoAnnounce<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        KBakeryNoAnnounce(KBakery::new(space, n, k))
    }
}

impl<M: Memory> Exclusion<M> for KBakeryNoAnnounce<M> {
    type Place = Ticket;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        self.0.choose(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.wait(m, p, mine)
    }

    fn exit(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.exit(m, p, mine)
    }
}
