//! k-exclusion with O(k) remote references. After C. Decker, P. Jayanti, *A solution to k-assignment in O(k) RMR
//! complexity*, Dartmouth 2010.
//!
//! ```text
//!    M = as many cells as processes; ticket t is the (t mod M)-th of round t div M
//!
//! 1  t := fetch-and-increment(Entry)                                            (doorway ends)
//! 2  await A[t mod M] >= the round of t
//!    critical section
//! 3  x := fetch-and-increment(Exit)
//! 4  for u = x+1, …, x+k, ascending:
//!        compare-and-swap(A[u mod M], the round before that of u, the round of u)
//! ```
//!
//! Who leaves as the x-th may let in ticket x+k. It lets in the k-1 before that one too, for who was to do that may have
//! stopped on the way; so k-1 can stop, and still one of any k comes through. One attempt at each is enough: a
//! compare-and-swap that fails has found that another has let that ticket in. The order matters: who is let in early has
//! everyone before it let in already, and no cell falls behind. With the order turned round neither is so:
//! `decker-jayanti-descending`.
//!
//! We did not have the text of the paper. That who leaves lets in k, one after the other, is told of it in Choi's thesis;
//! the lines, and their numbers, are ours. Names for those inside, which the paper is about, are in
//! `decker-jayanti-names`.
//!
//! Departures: tickets are [`Count`]s in rounds of M. Exit counts one round behind Entry, so that the round before that of
//! u is the round of Exit's own number.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, first-in-first-enabled, bounded exit.
//! A waiting process watches one cell that no other waits for. With caches a passage makes O(k) remote references, however
//! many processes there are, if a compare-and-swap that fails does not make others fetch the cell again.
use alloc::vec::Vec;

use doorway_memory::{Count, Exclusion, Home, Memory, Name, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Claim::{Crashes, Holds},
    Kind, LocalSpin, Remote,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "decker-jayanti",
    aliases: &["decker2010", "decker"],
    title: "k-exclusion with O(k) remote references",
    source: "after Decker & Jayanti 2010",
    kind: Kind::KExclusion,
    primitives: &["read", "fetch-and-add", "compare-and-swap"],
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
    remote: Some(Remote { cc: "Θ(k)", dsm: "∞" }),
    departures: "Exit counts one round behind Entry",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct DeckerJayanti<M: Memory> {
    k: usize,
    entry: M::Reg<Count>,
    exit: M::Reg<Count>,
    /// The last round whose ticket may enter.
    cells: Vec<M::Reg<Ticket>>,
    order: Order,
}

/// In which order who leaves lets others in.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    Ascending,
    Descending,
}

impl<M: Memory> DeckerJayanti<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        DeckerJayanti::of(space, n, k, Order::Ascending)
    }

    pub(crate) fn of(space: &mut impl Space<Mem = M>, n: usize, k: usize, order: Order) -> Self {
        let a_round_behind = Count::in_rounds_of(n);
        let none_yet = a_round_behind.plus(n);
        let open = |slot| if slot < k { none_yet.round() } else { a_round_behind.round() };
        DeckerJayanti {
            k,
            entry: space.shared("Entry", none_yet),
            exit: space.shared("Exit", a_round_behind),
            cells: (0..n).map(|slot| space.register(Name::new("A").index(slot), Home::Nobody, open(slot))).collect(),
            order,
        }
    }
}

impl<M: Memory> Exclusion<M> for DeckerJayanti<M> {
    type Place = Count;
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<Count, M::Halt> {
        m.at("1").fetch_add(&self.entry, Count::ONE)
    }

    fn wait(&self, m: &mut M, _: Pid, &t: &Count) -> Result<(), M::Halt> {
        let round = t.round();
        m.at("2").until(&self.cells[t.slot()], move |open| open >= round)
    }

    /// The exit is the same for everyone.
    fn inside(&self, _: &Count) -> Count {
        Count::in_rounds_of(self.cells.len())
    }

    fn exit(&self, m: &mut M, _: Pid, nothing: &Count) -> Result<(), M::Halt> {
        // One loop, in which x is forgotten for who is next: its round, and the one after, is all that need be known of it.
        m.fold(self.k + 1, *nothing, |m, from, i| {
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
