//! k-exclusion with O(log k) remote references. M. J. Choi, *A solution to k-exclusion with O(log k) RMR complexity*,
//! Dartmouth 2011, section 2, with its two errors repaired.
//!
//! ```text
//!    N = the least multiple of k that is at least n, for n > k
//!    parse(t) = (e, i, j): t is the j-th of block i, which has k cells, in round e, of N, counted from 1
//!    Release-Set(j) = every prefix of j's bits, padded with 0s
//!    Wait-Set(j)    = {j} and k-1 and every b from j to k-1 that is a prefix of j's bits, then 1, then 0s
//!
//! 1  t := fetch-and-increment(Entry); (e, i, j) := parse(t)                     (doorway ends)
//! 2  wait until A[i][w] >= e for some w in Wait-Set(j)
//!    critical section
//! 3  t' := fetch-and-increment(Exit) + k; j' := t' mod k
//! 4  for r = -1, and then each r in Release-Set(j'), ascending:
//! 5      Update(t' - j' + r)
//! 6      Update(t' - j' + r)
//!
//!    Update(u): (e, i, j) := parse(u)
//! 7      a := A[i][j]
//! 8      if a < e and Exit <= u + k:
//! 9          compare-and-swap(A[i][j], a, e)
//! ```
//!
//! Who leaves as the x-th lets in the partner, ticket x + k: it marks cells of the partner's block such that the partner,
//! and everyone before it in the block, finds one among the few it watches.
//!
//! Departures, both repairs:
//! 1. Line 2 also watches cell j itself. As printed, 0 is not in Wait-Set(0), and the first of a block is not let in by
//!    its partner: `log-k-printed`.
//! 2. Line 8 has u + k, printed u + 2k. With few cells, N < 3k, two stale processes could make both of line 9 fail and
//!    leave the partner outside: `log-k-first-repair`.
//!
//! The numbers of lines 5 and 6 are ours; line 8 tests a first, as one can stop there. A ticket is a [`Count`] in rounds of
//! N.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, first-in-first-enabled, bounded exit.
//! With caches a passage makes O(log k) remote references, however many processes there are, if a compare-and-swap that
//! fails does not make others fetch the cell again; if it does, see `log-k-wide`.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Count, Exclusion, Home, Memory, Name, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Claim::{Crashes, Holds},
    Kind, LocalSpin, Remote, Survey,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "log-k",
    aliases: &["choi2011", "choi"],
    title: "k-exclusion with O(log k) remote references",
    source: "Choi 2011, repaired",
    kind: Kind::KExclusion,
    primitives: &["read", "fetch-and-add", "compare-and-swap"],
    survey: Survey::Passages(2),
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
    remark: "as printed it starves: `log-k-printed`, `log-k-first-repair`; without a limit on passages n = 3, k = 2 is 8 million states",
    remote: Some(Remote { cc: "O(log k)", dsm: "∞" }),
    departures: "two errors repaired: Wait-Set(j) has j, and line 8 has u + k for u + 2k",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct LogK<M: Memory> {
    entry: M::Reg<Count>,
    exit: M::Reg<Count>,
    /// Blocks of k cells: the round up to which a cell's owner, and those it stands for, may enter.
    cells: Vec<Vec<M::Reg<Ticket>>>,
    text: Text,
}

/// Where the versions differ.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    /// Whether Wait-Set(j) has j.
    pub(crate) watches_own_cell: bool,
    /// How much later than u, in multiples of k, an update still goes on.
    pub(crate) stale_after: usize,
}

impl Text {
    const REPAIRED: Text = Text { watches_own_cell: true, stale_after: 1 };
}

impl<M: Memory> LogK<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        LogK::of(space, k, n.div_ceil(k), Text::REPAIRED)
    }

    /// With so many cells that few processes share one: the thesis' choice for caches in which a compare-and-swap that
    /// fails makes others fetch the cell again.
    pub fn wide(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        LogK::of(space, k, 3.max(n.div_ceil(bits_below(k).max(1))), Text::REPAIRED)
    }

    pub(crate) fn of(space: &mut impl Space<Mem = M>, k: usize, blocks: usize, text: Text) -> Self {
        let none_yet = Count::in_rounds_of(blocks * k);
        let entry = space.shared("Entry", none_yet);
        let exit = space.shared("Exit", none_yet);
        let open = |block| if block == 0 { none_yet.round() } else { Ticket::ZERO };
        let mut cell = |i, j| space.register(Name::new("A").index(i).index(j), Home::Nobody, open(i));
        let cells = (0..blocks).map(|i| (0..k).map(|j| cell(i, j)).collect()).collect();
        LogK { entry, exit, cells, text }
    }

    fn k(&self) -> usize {
        self.cells[0].len()
    }

    fn cell(&self, t: Count) -> &M::Reg<Ticket> {
        &self.cells[t.slot() / self.k()][t.slot() % self.k()]
    }

    /// Lines 7 to 9.
    fn update(&self, m: &mut M, u: Count) -> Result<(), M::Halt> {
        m.call(|m| {
            let a = m.at("7").read(self.cell(u))?;
            let stale = u.plus(self.text.stale_after * self.k());
            if a < u.round() && m.at("8").test(&self.exit, |exit| exit <= stale)? {
                m.at("9").compare_swap(self.cell(u), a, u.round())?;
            }
            Ok(())
        })
    }
}

impl<M: Memory> Exclusion<M> for LogK<M> {
    type Place = Count;
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<Count, M::Halt> {
        m.at("1").fetch_add(&self.entry, Count::ONE)
    }

    fn wait(&self, m: &mut M, _: Pid, &t: &Count) -> Result<(), M::Halt> {
        let (k, j) = (self.k(), t.slot() % self.k());
        let block = &self.cells[t.slot() / k];
        let watched = wait_set(j, k, self.text.watches_own_cell);
        m.spin(|m| {
            m.turns(0, |m, at| match watched.get(at) {
                None => Ok(Break(false)),
                Some(&w) if m.at("2").test(&block[w], |open| open >= t.round())? => Ok(Break(true)),
                Some(_) => Ok(Continue(at + 1)),
            })
        })
    }

    /// The exit is the same for everyone.
    fn inside(&self, _: &Count) -> Count {
        Count::in_rounds_of(self.cells.len() * self.k())
    }

    fn exit(&self, m: &mut M, _: Pid, _: &Count) -> Result<(), M::Halt> {
        let k = self.k();
        let x = m.at("3").fetch_add(&self.exit, Count::ONE)?;
        let partner = x.slot() % k; // of the same index in its block: t' is x + k
        // As counts from x, which is not after any of them: first the last cell of the block before, then the partner's.
        let last_before = k - partner - 1;
        let released: Vec<usize> =
            [last_before].into_iter().chain(release_set(partner, k).map(|r| k - partner + r)).collect();
        m.fold(2 * released.len(), (), |m, (), i| {
            let u = x.plus(released[i / 2]);
            self.update(m, u)
        })
    }
}

/// How many bits the numbers below `k` take.
fn bits_below(k: usize) -> usize {
    (usize::BITS - (k - 1).leading_zeros()) as usize
}

/// Which cells of its block the j-th of k watches.
fn wait_set(j: usize, k: usize, own: bool) -> Vec<usize> {
    let then_one = (0..bits_below(k)).map(|low| (j >> low | 1) << low).filter(|b| (j..k).contains(b));
    let mut set: Vec<usize> = then_one.chain([k - 1]).chain(own.then_some(j)).collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// Which cells of its block let in the j-th of k, and everyone before it; ascending.
fn release_set(j: usize, k: usize) -> impl Iterator<Item = usize> {
    let bits = bits_below(k);
    let padded = (0..=bits).map(move |prefix| j >> (bits - prefix) << (bits - prefix));
    padded.scan(None, |last, r| Some((*last != Some(r)).then(|| *last.insert(r)))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (P1) to (P5) of section 3.1 of the thesis, and the number of cells.
    #[test]
    fn the_sets_have_the_properties_the_proof_needs() {
        for k in 1..70 {
            let wait: Vec<Vec<usize>> = (0..k).map(|j| wait_set(j, k, true)).collect();
            let release: Vec<Vec<usize>> = (0..k).map(|j| release_set(j, k).collect()).collect();
            let meet = |i: usize, j: usize| wait[i].iter().copied().find(|w| release[j].contains(w));
            for j in 0..k {
                assert!(wait[j].iter().all(|w| (j..k).contains(w)), "P1, P2: k={k} j={j}");
                assert!(release[j].iter().all(|&r| r <= j) && release[j].is_sorted(), "P1, P3: k={k} j={j}");
                assert!(wait[j].len() <= bits_below(k) + 2 && release[j].len() <= bits_below(k) + 1, "P6: k={k} j={j}");
                for i in 0..=j {
                    assert!(meet(i, j).is_some(), "P4: k={k} i={i} j={j}");
                    assert!((0..=i).all(|h| meet(h, j) <= meet(i, j)), "P5: k={k} i={i} j={j}");
                }
            }
        }
    }

    #[test]
    fn as_printed_the_first_of_a_block_does_not_watch_its_own_cell() {
        assert_eq!(wait_set(0, 4, false), [1, 2, 3]);
        assert_eq!(release_set(0, 4).collect::<Vec<_>>(), [0]);
    }
}
