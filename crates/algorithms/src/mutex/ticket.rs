//! The ticket lock. D. P. Reed and R. K. Kanodia, *Synchronization with eventcounts and sequencers*, Communications of the
//! ACM 22(2), 1979, section 3.
//!
//! ```text
//!  1  t := fetch-and-increment(Entry)                        (doorway ends)
//!  2  await Exit = t
//!     critical section
//!  3  Exit := t + 1
//! ```
//!
//! Departures: there it is a sequencer, `ticket`, and an eventcount, `await` and `advance`; ours is the form everyone
//! writes, and the line numbers are ours. Only who is inside changes Exit, so line 3 is a write and not an increment.
//!
//! Guarantees: mutual exclusion, first-come-first-served, starvation-freedom, bounded exit; one read-modify-write for a
//! passage. Everyone waits on the one counter: with caches a passage makes a number of remote references that grows with
//! that of the processes.
use doorway_memory::{Count, Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Bypass, Holds},
    LocalSpin, Remote,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "ticket",
    aliases: &["ticket-lock"],
    title: "the ticket lock",
    source: "Reed & Kanodia 1979",
    primitives: &["read", "write", "fetch-and-add"],
    local_spin: Some(LocalSpin::CACHED),
    remote: Some(Remote { cc: "Θ(N)", dsm: "∞" }),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(Fcfs),
        Bypass(Some(0)),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
    ],
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct Ticket<M: Memory> {
    entry: M::Reg<Count>,
    exit: M::Reg<Count>,
}

impl<M: Memory> Ticket<M> {
    /// What both counters hold at first.
    pub const FREE: Count = Count::in_rounds_of(1);

    /// A free lock for any number of processes.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        Ticket::of(space.shared("Entry", Self::FREE), space.shared("Exit", Self::FREE))
    }

    /// A lock of these registers, which hold [`FREE`](Self::FREE).
    pub const fn of(entry: M::Reg<Count>, exit: M::Reg<Count>) -> Self {
        Ticket { entry, exit }
    }

    /// The ticket that may enter, or will be the next to.
    pub fn serving(&self) -> &M::Reg<Count> {
        &self.exit
    }

    /// How many have arrived.
    pub fn arrived(&self) -> &M::Reg<Count> {
        &self.entry
    }

    /// Takes a ticket if it may enter at once: nobody is inside or waits.
    #[inline(always)]
    pub fn try_enter(&self, m: &mut M) -> Result<Option<Count>, M::Halt> {
        let t = m.read(&self.exit)?;
        Ok(m.compare_swap(&self.entry, t, t.plus(1))?.then_some(t))
    }
}

impl<M: Memory> Exclusion<M> for Ticket<M> {
    type Place = Count;
    const SYMMETRIC: bool = true;

    #[inline(always)]
    fn doorway(&self, m: &mut M, _: Pid) -> Result<Count, M::Halt> {
        m.at("1").fetch_add(&self.entry, Count::ONE)
    }

    #[inline(always)]
    fn wait(&self, m: &mut M, _: Pid, &t: &Count) -> Result<(), M::Halt> {
        m.at("2").until(&self.exit, move |exit| exit == t)
    }

    #[inline(always)]
    fn exit(&self, m: &mut M, _: Pid, &t: &Count) -> Result<(), M::Halt> {
        m.at("3").write(&self.exit, t.plus(1))
    }
}
