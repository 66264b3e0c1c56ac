//! The ticket lock with capacity k. Folklore: two counters.
//!
//! ```text
//!  1  t := fetch-and-increment(Entry)                        (doorway ends)
//!  2  await t < Exit + k
//!     critical section
//!  3  fetch-and-increment(Exit)
//! ```
//!
//! Departures: none; the line numbers are this project's. The counters are [`Count`]s in rounds of k.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, first-in-first-enabled, bounded exit. All
//! waiters spin on the one counter that every process changes: with caches, the number of remote memory references of
//! a passage grows with the number of processes.
use doorway_memory::{Count, Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::{Crashes, Tso},
    Kind, LocalSpin, Remote, Size,
    claim::holds,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "ticket-k",
    title: "the ticket lock with capacity k",
    source: "folklore",
    kind: Kind::KExclusion,
    primitives: &["read", "fetch-and-add"],
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(Fife),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso, Crashes],
    remote: Some(Remote { cc: "Θ(N)", dsm: "∞" }),
    pinned: &[
        at(3).k(2).finds(682),
        at(5).k(3).finds(262_516),
        at(3).under(&[Tso]).finds(682).fences(0),
        at(3).k(2).remote(Some(4), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = TicketK<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> TicketK<M> {
    TicketK::new(space, size.k)
}

/// The lock; see the [module](self).
pub struct TicketK<M: Memory> {
    k: usize,
    entry: M::Reg<Count>,
    exit: M::Reg<Count>,
}

impl<M: Memory> TicketK<M> {
    /// A free lock for any number of processes with capacity `k`.
    pub fn new(space: &mut impl Space<Mem = M>, k: usize) -> Self {
        let free = Self::free(k);
        TicketK::of(k, space.shared("Entry", free), space.shared("Exit", free))
    }

    /// The initial value of both counters.
    pub const fn free(k: usize) -> Count {
        // A ticket enters if it is less than k ahead of Exit, and how far ahead a waiter is does not matter: rounds
        // of k suffice.
        Count::in_rounds_of(k)
    }

    /// A lock made of the given registers, which must hold [`free`](Self::free)`(k)`.
    pub const fn of(k: usize, entry: M::Reg<Count>, exit: M::Reg<Count>) -> Self {
        TicketK { k, entry, exit }
    }

    /// The capacity: the maximum number of holders.
    pub const fn k(&self) -> usize {
        self.k
    }

    /// The number of departures so far.
    pub fn left(&self) -> &M::Reg<Count> {
        &self.exit
    }

    /// The number of arrivals so far.
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
    type Inside = ();
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<Count, M::Halt> {
        m.at("1").fetch_add(&self.entry, Count::ONE)
    }

    fn wait(&self, m: &mut M, _: Pid, &t: &Count) -> Result<(), M::Halt> {
        let k = self.k;
        m.at("2").until(&self.exit, move |exit| t < exit.plus(k))
    }

    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("3").fetch_add(&self.exit, Count::ONE)?;
        Ok(())
    }
}
