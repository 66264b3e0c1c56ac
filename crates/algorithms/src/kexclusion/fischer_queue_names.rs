//! The queue of `fischer-queue`, whose first k processes claim names. It is for processes on several machines, which are
//! taken for dead when their leases expire.
//!
//! ```text
//!     initially V = an empty sequence of processes; Name[0..k-1] = no process, token 0
//!
//!  1  V := V, then p                                         (doorway ends)
//!  2  await p is among the first k of V
//!  3  for j := 0 to k-1: if no process has Name[j], then p has it, and its token grows by 1; go on below
//!     critical section with name j and that token
//!  4  no process has Name[j]
//!  5  V := V without p
//! ```
//!
//! Lines 1, 4 and 5 and each turn of line 3 are one step each. To reap a dead process is line 4 for the name that it
//! has, then line 5; to abort is line 5.
//!
//! Line 3 is the renaming of J. H. Moir and M. Anderson, *Wait-free algorithms for fast, long-lived renaming*, 1995, by
//! test-and-set bits: at most k processes are between lines 2 and 5, and one of the names that a process tries is free
//! when it tries it.
//!
//! A token is for the resource that the name stands for. A process that is slow, so that others take it for dead and
//! reap it, may believe that it is still a holder; a resource that refuses tokens smaller than the largest it has seen
//! serves it no more once its successor has come. See [`Fence`].
//!
//! The algorithm is this project's.
//!
//! Guarantees: k-exclusion, k-assignment, starvation-freedom even if k-1 processes crash, first-in-first-enabled,
//! bounded exit. With expiries, exclusion holds by token only.
use alloc::vec::Vec;

use doorway_memory::{Abort, Assign, Claim, Exclusion, Fence, Memory, Pid, Property::*, Queue, Reap, Space, Ticket};

use crate::{
    About,
    Condition::{Aborts, Crashes, Deaths, Expiries, Tso},
    Kind, LocalSpin, Processes, Remote, Size,
    claim::{holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "fischer-queue-names",
    aliases: &[],
    title: "a queue whose first k processes have names",
    source: "doorway, after Fischer et al. 1979",
    kind: Kind::KExclusion,
    processes: Processes::Queued(2),
    primitives: &["read", "update"],
    local_spin: Some(LocalSpin::CACHED),
    remote: Some(Remote::both("∞")),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(Fife),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
        holds(Assignment),
        lacks(Exclusion).under(&[Expiries]).from(2, 1),
        lacks(Assignment).under(&[Expiries]).from(2, 1),
        holds(Fenced).under(&[Expiries]),
    ],
    tolerates: &[Tso, Crashes, Deaths, Aborts, Expiries],
    remark: "the lock across machines: crash-safe, for any number of processes, and it assigns names and tokens",
    pinned: &[
        at(2).k(1).finds(43),
        at(3).k(1).finds(153),
        at(3).k(2).finds(6_103),
        at(4).k(3).finds(4_825_919).takes("1 minute"),
        at(3).k(2).crashes(1).finds(6_103),
        at(2).k(1).under(&[Deaths, Aborts]).finds(411),
        at(3).k(2).under(&[Deaths, Aborts]).finds(186_808),
        at(2).k(1).under(&[Expiries]).finds(4_449),
        at(2).k(1).under(&[Expiries, Aborts]).finds(5_545),
        at(3).k(1).under(&[Expiries]).finds(126_423),
        at(3).k(2).passages(1).under(&[Expiries]).finds(406_297),
        at(3).k(2).passages(2).under(&[Expiries]).finds(21_675_769).takes("2 minutes, 2 GB"),
        at(3).under(&[Tso]).finds(6_103).fences(0),
        at(2).k(1).remote(Some(5), None),
        at(3).k(1).remote(Some(7), None),
        at(3).k(2).remote(Some(6), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = FischerQueueNames<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> FischerQueueNames<M> {
    FischerQueueNames::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct FischerQueueNames<M: Memory> {
    v: M::Reg<Queue>,
    name: Vec<M::Reg<Claim>>,
}

impl<M: Memory> FischerQueueNames<M> {
    /// A free lock for `n` processes with capacity `k`.
    ///
    /// # Panics
    /// If a queue of `n` processes does not fit into the memory.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        FischerQueueNames { v: space.queue("V", n), name: space.array("Name", k, Claim::FREE) }
    }
}

impl<M: Memory> Exclusion<M> for FischerQueueNames<M> {
    type Place = ();
    /// The name and its token.
    type Inside = (usize, Ticket);

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("1").join(&self.v, p)
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(usize, Ticket), M::Halt> {
        m.at("2").until_among(&self.v, p, self.name.len())?;
        m.at("3").claim(&self.name, p)
    }

    fn exit(&self, m: &mut M, p: Pid, &(name, _): &(usize, Ticket)) -> Result<(), M::Halt> {
        m.at("4").unclaim(&self.name[name], p)?;
        m.at("5").leave(&self.v, p)
    }

    fn recovery(&self) -> Option<&dyn Reap<M>> {
        Some(self)
    }

    fn aborting(&self) -> Option<&dyn Abort<M, ()>> {
        Some(self)
    }

    fn names(&self) -> Option<&dyn Assign<(usize, Ticket)>> {
        Some(self)
    }

    fn tokens(&self) -> Option<&dyn Fence<(usize, Ticket)>> {
        Some(self)
    }
}

impl<M: Memory> Abort<M, ()> for FischerQueueNames<M> {
    fn abort(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.reap(m, p)
    }
}

impl<M: Memory> Reap<M> for FischerQueueNames<M> {
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        m.fold(self.name.len(), (), |m, (), j| m.at("4").unclaim(&self.name[j], dead))?;
        m.at("5").leave(&self.v, dead)
    }
}

impl<M: Memory> Assign<(usize, Ticket)> for FischerQueueNames<M> {
    fn name(&self, &(name, _): &(usize, Ticket)) -> usize {
        name
    }
}

impl<M: Memory> Fence<(usize, Ticket)> for FischerQueueNames<M> {
    fn token(&self, &(_, token): &(usize, Ticket)) -> Ticket {
        token
    }

    fn resources(&self) -> usize {
        self.name.len()
    }
}
