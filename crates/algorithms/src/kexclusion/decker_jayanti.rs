//! k-exclusion with O(k) RMRs. After C. Decker, P. Jayanti, *A solution to k-assignment in O(k) RMR complexity*,
//! Dartmouth 2010.
//!
//! ```text
//!    M = the number of cells, one for each process; ticket t is the (t mod M)-th of round t div M
//!
//! 1  t := fetch-and-increment(Entry)                                            (doorway ends)
//! 2  await A[t mod M] >= the round of t
//!    critical section
//! 3  x := fetch-and-increment(Exit)
//! 4  for u = x+1, …, x+k, ascending:
//!        compare-and-swap(A[u mod M], the round before that of u, the round of u)
//! ```
//!
//! The x-th process to leave may enable ticket x+k. It enables the k-1 tickets before that one too, since the
//! processes that should have done so may have crashed; so k-1 processes can crash, and one of any k still comes
//! through. One attempt for each ticket is enough: if a compare-and-swap fails, another process has enabled the
//! ticket. The order matters: when a ticket is enabled early, all tickets before it are enabled already, and no cell
//! falls behind. In the opposite order neither holds: `decker-jayanti-descending`. `decker-jayanti-descending`. The
//! text of the paper was not available. Choi's thesis reports that a leaving process enables k tickets, one after the
//! other; the lines and their numbers are this project's. Names for the holders, which the paper is about, are in
//! `decker-jayanti-names`. `decker-jayanti-names`. Departures: tickets are [`Count`]s in rounds of M. Exit counts one
//! round behind Entry, so that the round before that of u is the round of Exit's own number. u is the round of Exit's
//! own number. Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, first-in-first-enabled,
//! bounded exit. A waiter spins on a cell that no other process waits on. With caches a passage makes O(k) remote
//! memory references, for any number of processes, if a failed compare-and-swap does not invalidate other copies of
//! the cell. many processes there are, if a compare-and-swap that fails does not make others fetch the cell again.
use alloc::vec::Vec;

use doorway_memory::{Count, Exclusion, Home, Memory, Name, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Condition::{Crashes, Tso},
    Kind, LocalSpin, Remote, Size,
    claim::holds,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "decker-jayanti",
    aliases: &["decker2010", "decker"],
    title: "k-exclusion with O(k) RMRs",
    source: "after Decker & Jayanti 2010",
    kind: Kind::KExclusion,
    primitives: &["read", "fetch-and-add", "compare-and-swap"],
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
    remote: Some(Remote { cc: "Θ(k)", dsm: "∞" }),
    departures: "Exit counts one round behind Entry",
    pinned: &[
        at(2).k(1).finds(48),
        at(3).k(1).finds(261),
        at(3).k(2).finds(43_803),
        at(3).under(&[Tso]).finds(43_803).fences(0),
        at(2).k(1).remote(Some(5), None),
        at(3).k(1).remote(Some(5), None),
        at(3).k(2).remote(Some(6), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = DeckerJayanti<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> DeckerJayanti<M> {
    DeckerJayanti::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct DeckerJayanti<M: Memory> {
    k: usize,
    entry: M::Reg<Count>,
    exit: M::Reg<Count>,
    /// For each cell, the last round whose ticket is enabled.
    cells: Vec<M::Reg<Ticket>>,
    order: Order,
}

/// The order in which a leaving process enables tickets.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    Ascending,
    Descending,
}

impl<M: Memory> DeckerJayanti<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        DeckerJayanti::of(space, n, k, Order::Ascending)
    }

    pub(crate) fn of(space: &mut impl Space<Mem = M>, n: usize, k: usize, order: Order) -> Self {
        let one_round_behind = Count::in_rounds_of(n);
        let first = one_round_behind.plus(n);
        let open = |slot| if slot < k { first.round() } else { one_round_behind.round() };
        DeckerJayanti {
            k,
            entry: space.shared("Entry", first),
            exit: space.shared("Exit", one_round_behind),
            cells: (0..n).map(|slot| space.register(Name::new("A").index(slot), Home::Nobody, open(slot))).collect(),
            order,
        }
    }
}

impl<M: Memory> Exclusion<M> for DeckerJayanti<M> {
    type Place = Count;
    type Inside = ();
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<Count, M::Halt> {
        m.at("1").fetch_add(&self.entry, Count::ONE)
    }

    fn wait(&self, m: &mut M, _: Pid, &t: &Count) -> Result<(), M::Halt> {
        let round = t.round();
        m.at("2").until(&self.cells[t.slot()], move |open| open >= round)
    }

    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        // One loop that replaces x by the next u, so that x is not part of the local state.
        let start = Count::in_rounds_of(self.cells.len());
        m.fold(self.k + 1, start, |m, from, i| {
            let (u, from) = match (i, self.order) {
                (0, Order::Ascending) => return Ok(m.at("3").fetch_add(&self.exit, Count::ONE)?.plus(1)),
                (0, Order::Descending) => return m.at("3").fetch_add(&self.exit, Count::ONE),
                (_, Order::Ascending) => (from, from.plus(1)),
                (_, Order::Descending) => (from.plus(self.k + 1 - i), from),
            };
            m.at("4").compare_swap(&self.cells[u.slot()], u.round(), u.round().next())?;
            Ok(from)
        })?;
        Ok(())
    }
}
