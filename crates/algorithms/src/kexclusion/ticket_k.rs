//! The ticket lock for k inside. Folklore: two counters, as anyone would write it.
//!
//! ```text
//!  1  t := fetch-and-increment(Entry)                        (doorway ends)
//!  2  await t < Exit + k
//!     critical section
//!  3  fetch-and-increment(Exit)
//! ```
//!
//! Departures: none; the line numbers are ours.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, first-in-first-enabled, bounded
//! exit. Everyone waits on the one counter that everyone changes: with caches a passage makes a number of remote
//! references that grows with that of the processes.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Crashes, Holds},
    Kind, LocalSpin, Processes,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "ticket-k",
    aliases: &["ticket-lock"],
    title: "the ticket lock for k inside",
    source: "folklore",
    kind: Kind::KExclusion,
    processes: Processes::AtLeast(2),
    default_n: 3,
    primitives: &["read", "fetch-and-add"],
    sequential: false,
    survey_passages: Some(2),
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
    remark: "its counters are plain numbers that only grow: it can be checked for a number of passages, no further",
};

/// The lock; see the [module](self).
pub struct TicketK<M: Memory> {
    k: u64,
    entry: M::Reg<u64>,
    exit: M::Reg<u64>,
}

impl<M: Memory> TicketK<M> {
    /// A free lock for any number of processes, of which `k` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, k: usize) -> Self {
        TicketK { k: k as u64, entry: space.shared("Entry", 0), exit: space.shared("Exit", 0) }
    }
}

impl<M: Memory> Exclusion<M> for TicketK<M> {
    type Place = u64;
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<u64, M::Halt> {
        m.at("1").fetch_add(&self.entry, 1)
    }

    fn wait(&self, m: &mut M, _: Pid, &t: &u64) -> Result<(), M::Halt> {
        m.spin(|m| m.at("2").test(&self.exit, |exit| t < exit + self.k))
    }

    fn exit(&self, m: &mut M, _: Pid, _: &u64) -> Result<(), M::Halt> {
        m.at("3").fetch_add(&self.exit, 1)?;
        Ok(())
    }
}
