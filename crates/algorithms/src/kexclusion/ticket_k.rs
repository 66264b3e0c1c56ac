//! The ticket lock for k inside. Folklore: two counters, as anyone would write it.
//!
//! ```text
//!  1  t := fetch-and-increment(Entry)                        (doorway ends)
//!  2  await t < Exit + k
//!     critical section
//!  3  fetch-and-increment(Exit)
//! ```
//!
//! Departures: none; the line numbers are ours. The counters are [`Count`]s in rounds of k.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, first-in-first-enabled, bounded
//! exit. Everyone waits on the one counter that everyone changes: with caches a passage makes a number of remote
//! references that grows with that of the processes.
use doorway_memory::{Count, Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Crashes, Holds},
    Kind, LocalSpin, Remote,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "ticket-k",
    title: "the ticket lock for k inside",
    source: "folklore",
    kind: Kind::KExclusion,
    primitives: &["read", "fetch-and-add"],
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(KFcfs),
        Holds(Fife),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Crashes,
    ],
    remote: Some(Remote { cc: "Θ(N)", dsm: "∞" }),
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct TicketK<M: Memory> {
    k: usize,
    entry: M::Reg<Count>,
    exit: M::Reg<Count>,
}

impl<M: Memory> TicketK<M> {
    /// A free lock for any number of processes, of which `k` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, k: usize) -> Self {
        let free = Self::free(k);
        TicketK::of(k, space.shared("Entry", free), space.shared("Exit", free))
    }

    /// What both counters hold at first.
    pub const fn free(k: usize) -> Count {
        // Who waits is at most k ahead of who leaves, or must wait anyway: rounds of k tell that.
        Count::in_rounds_of(k)
    }

    /// A lock of these registers, which hold what [`free`](Self::free) says.
    pub const fn of(k: usize, entry: M::Reg<Count>, exit: M::Reg<Count>) -> Self {
        TicketK { k, entry, exit }
    }

    /// How many may be inside.
    pub const fn k(&self) -> usize {
        self.k
    }

    /// How many have left.
    pub fn left(&self) -> &M::Reg<Count> {
        &self.exit
    }

    /// How many have arrived.
    pub fn arrived(&self) -> &M::Reg<Count> {
        &self.entry
    }

    /// Takes a ticket if it may enter at once.
    #[inline(always)]
    pub fn try_enter(&self, m: &mut M) -> Result<Option<Count>, M::Halt> {
        let t = m.read(&self.entry)?;
        let exit = m.read(&self.exit)?;
        Ok((t < exit.plus(self.k) && m.compare_swap(&self.entry, t, t.plus(1))?).then_some(t))
    }
}

impl<M: Memory> Exclusion<M> for TicketK<M> {
    type Place = Count;
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<Count, M::Halt> {
        m.at("1").fetch_add(&self.entry, Count::ONE)
    }

    fn wait(&self, m: &mut M, _: Pid, &t: &Count) -> Result<(), M::Halt> {
        let k = self.k;
        m.at("2").until(&self.exit, move |exit| t < exit.plus(k))
    }

    /// The exit is the same for everyone.
    fn inside(&self, _: &Count) -> Count {
        Count::in_rounds_of(self.k)
    }

    fn exit(&self, m: &mut M, _: Pid, _: &Count) -> Result<(), M::Halt> {
        m.at("3").fetch_add(&self.exit, Count::ONE)?;
        Ok(())
    }
}
