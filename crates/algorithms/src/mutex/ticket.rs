//! The ticket lock. D. P. Reed and R. K. Kanodia, *Synchronization with eventcounts and sequencers*, Communications
//! of the ACM 22(2), 1979, section 3.
//!
//! ```text
//!  1  t := fetch-and-increment(Entry)                        (doorway ends)
//!  2  await Exit = t
//!     critical section
//!  3  Exit := t + 1
//! ```
//!
//! Departures: the text has a sequencer, `ticket`, and an eventcount, `await` and `advance`; this is the form in
//! common use, with line numbers of this project. Only the holder changes Exit, so line 3 is a write and not an
//! increment.
//!
//! Guarantees: mutual exclusion, first-come-first-served, starvation-freedom, bounded exit; one read-modify-write per
//! passage. All waiters spin on one counter: with caches, the number of remote memory references of a passage grows
//! with the number of processes.
use doorway_memory::{Count, Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Remote, Size,
    claim::{bypass, holds},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "ticket",
    aliases: &["ticket-lock"],
    title: "the ticket lock",
    source: "Reed & Kanodia 1979",
    primitives: &["read", "write", "fetch-and-add"],
    local_spin: Some(LocalSpin::CACHED),
    remote: Some(Remote { cc: "Θ(N)", dsm: "∞" }),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(Fcfs),
        bypass(Some(0)),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso],
    pinned: &[at(3).finds(62), at(3).remote(Some(5), None), at(3).under(&[Tso]).finds(92).fences(0)],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Ticket<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, _: Size) -> Ticket<M> {
    Ticket::new(space)
}

/// The lock; see the [module](self).
pub struct Ticket<M: Memory> {
    entry: M::Reg<Count>,
    exit: M::Reg<Count>,
}

impl<M: Memory> Ticket<M> {
    /// The initial value of both counters.
    pub const FREE: Count = Count::in_rounds_of(1);

    /// A free lock for any number of processes.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        Ticket::of(space.shared("Entry", Self::FREE), space.shared("Exit", Self::FREE))
    }

    /// A lock made of the given registers, which must hold [`FREE`](Self::FREE).
    pub const fn of(entry: M::Reg<Count>, exit: M::Reg<Count>) -> Self {
        Ticket { entry, exit }
    }

    /// The ticket that is being served: its owner is the holder, or the next process to enter.
    pub fn serving(&self) -> &M::Reg<Count> {
        &self.exit
    }

    /// The number of arrivals so far.
    pub fn arrived(&self) -> &M::Reg<Count> {
        &self.entry
    }

    /// Takes a ticket if it can be served at once: there is neither a holder nor a waiter.
    #[inline(always)]
    pub fn try_enter(&self, m: &mut M) -> Result<Option<Count>, M::Halt> {
        let t = m.read(&self.exit)?;
        Ok(m.compare_swap(&self.entry, t, t.plus(1))?.then_some(t))
    }
}

impl<M: Memory> Exclusion<M> for Ticket<M> {
    type Place = Count;
    type Inside = Count;
    const SYMMETRIC: bool = true;

    #[inline(always)]
    fn doorway(&self, m: &mut M, _: Pid) -> Result<Count, M::Halt> {
        m.at("1").fetch_add(&self.entry, Count::ONE)
    }

    #[inline(always)]
    fn wait(&self, m: &mut M, _: Pid, &t: &Count) -> Result<Count, M::Halt> {
        m.at("2").until(&self.exit, move |exit| exit == t)?;
        Ok(t)
    }

    #[inline(always)]
    fn exit(&self, m: &mut M, _: Pid, &t: &Count) -> Result<(), M::Halt> {
        m.at("3").write(&self.exit, t.plus(1))
    }
}
