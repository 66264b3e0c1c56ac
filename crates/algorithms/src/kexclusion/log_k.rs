//! k-exclusion with O(log k) RMRs. M. J. Choi, *A solution to k-exclusion with O(log k) RMR complexity*, Dartmouth
//! 2011, section 2, with its two errors repaired.
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
//! The x-th process to leave enables its partner, ticket x + k: it marks cells of the partner's block such that the
//! partner, and every ticket before it in the block, finds one among the few cells it watches.
//!
//! Departures, both repairs:
//! 1. Line 2 also watches cell j itself. As printed, 0 is not in Wait-Set(0), and the first ticket of a block is not
//!    enabled by its partner: `log-k-printed`.
//! 2. Line 8 has u + k, printed u + 2k. With few cells, N < 3k, two stale processes could make both attempts of line 9
//!    fail, and the partner would not be enabled: `log-k-first-repair`.
//!
//! The numbers of lines 5 and 6 are this project's; line 8 tests a first, so that Exit need not be read if that
//! fails. A ticket is a [`Count`] in rounds of N.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, first-in-first-enabled, bounded exit.
//! With caches a passage makes O(log k) remote memory references, for any number of processes, if a failed
//! compare-and-swap does not invalidate other copies of the cell; if it does, see `log-k-wide`.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Count, Exclusion, Home, Memory, Name, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Condition::{Crashes, Tso},
    Kind, LocalSpin, Remote, Size, Survey,
    claim::holds,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "log-k",
    aliases: &["choi2011", "choi"],
    title: "k-exclusion with O(log k) RMRs",
    source: "Choi 2011, repaired",
    kind: Kind::KExclusion,
    primitives: &["read", "fetch-and-add", "compare-and-swap"],
    survey: Survey::Passages(2),
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
    remark: "as printed, processes starve: `log-k-printed`, `log-k-first-repair`; n = 3, k = 2 has 6 million states",
    remote: Some(Remote { cc: "O(log k)", dsm: "∞" }),
    departures: "two errors repaired: Wait-Set(j) has j, and line 8 has u + k for u + 2k",
    pinned: &[
        at(3).k(2).finds(114_069),
        at(3).k(2).whole().crashes(1).finds(5_853_424).takes("20 s"),
        at(3).under(&[Tso]).finds(114_069).fences(0),
        at(3).k(2).remote(Some(13), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = LogK<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> LogK<M> {
    LogK::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct LogK<M: Memory> {
    entry: M::Reg<Count>,
    exit: M::Reg<Count>,
    /// Blocks of k cells: the round up to which a cell's ticket, and those it stands for, are enabled.
    cells: Vec<Vec<M::Reg<Ticket>>>,
    version: Version,
}

/// The differences between the printed and the repaired algorithm.
#[derive(Clone, Copy)]
pub(crate) struct Version {
    /// Whether Wait-Set(j) contains j.
    pub(crate) watches_own_cell: bool,
    /// The number of multiples of k by which Exit may exceed u before an update is stale.
    pub(crate) stale_after: usize,
}

impl Version {
    const REPAIRED: Version = Version { watches_own_cell: true, stale_after: 1 };
}

impl<M: Memory> LogK<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        LogK::of(space, k, n.div_ceil(k), Version::REPAIRED)
    }

    /// A free lock with enough cells that few processes share one.
    ///
    /// This is the thesis' choice for caches in which a failed compare-and-swap invalidates other copies of the cell.
    pub fn wide(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        LogK::of(space, k, 3.max(n.div_ceil(bits_below(k).max(1))), Version::REPAIRED)
    }

    pub(crate) fn of(space: &mut impl Space<Mem = M>, k: usize, blocks: usize, version: Version) -> Self {
        let first = Count::in_rounds_of(blocks * k);
        let entry = space.shared("Entry", first);
        let exit = space.shared("Exit", first);
        let open = |block| if block == 0 { first.round() } else { Ticket::ZERO };
        let mut cell = |i, j| space.register(Name::new("A").index(i).index(j), Home::Nobody, open(i));
        let cells = (0..blocks).map(|i| (0..k).map(|j| cell(i, j)).collect()).collect();
        LogK { entry, exit, cells, version }
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
            let stale = u.plus(self.version.stale_after * self.k());
            if a < u.round() && m.at("8").test(&self.exit, |exit| exit <= stale)? {
                m.at("9").compare_swap(self.cell(u), a, u.round())?;
            }
            Ok(())
        })
    }
}

impl<M: Memory> Exclusion<M> for LogK<M> {
    type Place = Count;
    type Inside = ();
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<Count, M::Halt> {
        m.at("1").fetch_add(&self.entry, Count::ONE)
    }

    fn wait(&self, m: &mut M, _: Pid, &t: &Count) -> Result<(), M::Halt> {
        let (k, j) = (self.k(), t.slot() % self.k());
        let block = &self.cells[t.slot() / k];
        let watched = wait_set(j, k, self.version.watches_own_cell);
        m.spin(|m| {
            m.turns(0, |m, at| match watched.get(at) {
                None => Ok(Break(false)),
                Some(&w) if m.at("2").test(&block[w], |open| open >= t.round())? => Ok(Break(true)),
                Some(_) => Ok(Continue(at + 1)),
            })
        })
    }

    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        let k = self.k();
        let x = m.at("3").fetch_add(&self.exit, Count::ONE)?;
        let partner = x.slot() % k; // it has the same index in its block, since t' is x + k
        // Relative to x, which is not after any of them: first the last cell of the previous block, then the
        // partner's block.
        let last_before = k - partner - 1;
        let released: Vec<usize> =
            [last_before].into_iter().chain(release_set(partner, k).map(|r| k - partner + r)).collect();
        m.fold(2 * released.len(), (), |m, (), i| {
            let u = x.plus(released[i / 2]);
            self.update(m, u)
        })
    }
}

/// The number of bits of the numbers below `k`.
fn bits_below(k: usize) -> usize {
    (usize::BITS - (k - 1).leading_zeros()) as usize
}

/// The cells of its block that the j-th ticket of k watches.
fn wait_set(j: usize, k: usize, own: bool) -> Vec<usize> {
    let then_one = (0..bits_below(k)).map(|low| (j >> low | 1) << low).filter(|b| (j..k).contains(b));
    let mut set: Vec<usize> = then_one.chain([k - 1]).chain(own.then_some(j)).collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// The cells of its block that enable the j-th ticket of k and those before it, in ascending order.
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
    fn sets_have_the_properties_required_by_the_proof() {
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
    fn printed_wait_set_of_the_first_ticket_lacks_its_own_cell() {
        assert_eq!(wait_set(0, 4, false), [1, 2, 3]);
        assert_eq!(release_set(0, 4).collect::<Vec<_>>(), [0]);
    }
}
