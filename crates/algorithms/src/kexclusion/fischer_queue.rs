//! A queue in one shared variable. After M. J. Fischer, N. A. Lynch, J. E. Burns, A. Borodin, *Resource allocation with
//! immunity to limited process failure*, FOCS 1979.
//!
//! ```text
//!     initially V = an empty sequence of processes; lines 1 and 3 are one step each
//!
//!  1  V := V, then p                                         (doorway ends)
//!  2  await p is among the first k of V
//!     critical section
//!  3  V := V without p
//! ```
//!
//! To abort, or to reap a dead process, is line 3 as well.
//!
//! The text of the paper was not available: secondary sources say that it keeps a queue in one variable, changed by
//! atomic actions. The lines are this project's.
//!
//! V is a [queue object](doorway_memory::Queue) of the memory. Where it is a word, it has room for 15 processes.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, first-in-first-enabled, bounded exit. The
//! variable has more than n! values; [`colored_ticket`](super::colored_ticket) does the same with fewer. All waiters
//! spin on the one variable that every process changes.
use doorway_memory::{Abort, Exclusion, Memory, Pid, Property::*, Queue, Reap, Space};

use crate::{
    About,
    Condition::{Aborts, Crashes, Deaths, Expiries, Tso},
    Kind, LocalSpin, Processes, Remote, Size,
    claim::{holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "fischer-queue",
    aliases: &["fischer1979"],
    title: "a queue in one shared variable",
    source: "after Fischer et al. 1979",
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
        lacks(Exclusion).under(&[Expiries]).from(2, 1),
    ],
    tolerates: &[Tso, Crashes, Deaths, Aborts, Expiries],
    remark: "one register, changed in any way in one step",
    pinned: &[
        at(2).k(1).finds(9),
        at(3).k(1).finds(31),
        at(3).k(2).finds(55),
        at(4).k(2).finds(249),
        at(4).k(3).finds(441),
        at(5).k(2).finds(1_291),
        at(3).k(2).crashes(1).finds(55),
        at(4).k(2).crashes(1).finds(249),
        at(4).k(3).crashes(2).finds(441),
        at(2).k(1).under(&[Deaths, Aborts]).finds(44),
        at(3).k(1).under(&[Deaths, Aborts]).finds(416),
        at(3).k(2).under(&[Deaths, Aborts]).finds(536),
        at(4).k(1).under(&[Deaths, Aborts]).finds(5_040),
        at(4).k(2).under(&[Deaths, Aborts]).finds(6_672),
        at(4).k(3).under(&[Deaths, Aborts]).finds(8_592),
        at(5).k(1).under(&[Deaths, Aborts]).finds(75_712),
        at(5).k(2).under(&[Deaths, Aborts]).finds(100_832),
        at(5).k(3).under(&[Deaths, Aborts]).finds(133_472),
        at(2).k(1).under(&[Expiries]).finds(86),
        at(3).k(2).under(&[Expiries]).finds(1_354),
        at(3).under(&[Tso]).finds(55).fences(0),
        at(2).k(1).remote(Some(3), None),
        at(3).k(1).remote(Some(5), None),
        at(3).k(2).remote(Some(3), None),
        at(4).k(2).remote(Some(5), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = FischerQueue<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> FischerQueue<M> {
    FischerQueue::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct FischerQueue<M: Memory> {
    k: usize,
    v: M::Reg<Queue>,
}

impl<M: Memory> FischerQueue<M> {
    /// A free lock for `n` processes with capacity `k`.
    ///
    /// # Panics
    /// If a queue of `n` processes does not fit into the memory.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        FischerQueue { k, v: space.queue("V", n) }
    }
}

impl<M: Memory> Exclusion<M> for FischerQueue<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("1").join(&self.v, p)
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("2").until_among(&self.v, p, self.k)
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("3").leave(&self.v, p)
    }

    fn recovery(&self) -> Option<&dyn Reap<M>> {
        Some(self)
    }

    fn aborting(&self) -> Option<&dyn Abort<M, ()>> {
        Some(self)
    }
}

impl<M: Memory> Abort<M, ()> for FischerQueue<M> {
    fn abort(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("3").leave(&self.v, p)
    }
}

impl<M: Memory> Reap<M> for FischerQueue<M> {
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        m.at("3").leave(&self.v, dead)
    }
}
