//! k-exclusion on non-atomic registers. After D. Dolev, E. Gafni, N. Shavit, *Toward a non-atomic era: l-exclusion as a
//! test case*, STOC 1988.
//!
//! ```text
//!  1  X[p] := true
//!  2  for each j: seen[j] := N[j][1]; t := 1 + max(seen)
//!  3  N[p][1] := t
//!  4  N[p][2] := t                                            (doorway ends)
//!     for each j ≠ p with A[p][j] ≠ seen[j]:
//!  5      A[p][j][1] := seen[j]
//!  6      A[p][j][2] := seen[j]
//!     repeat: c := the number of j ≠ p with
//!  7      X[j],
//!  8      and not A[j][p][2] = t
//!  9          and A[j][p][1] = t,
//! 10      and (N[j][2], j) < (t, p)
//! 11          or (N[j][1], j) < (t, p)
//!     until c < k
//!     critical section
//! 12  X[p] := false
//! ```
//!
//! `A[j][p]` is the ticket of p that j read when it chose its own. It is an acknowledgement: j's ticket is larger, so
//! p need not wait for j, whatever p reads of j's ticket while it is being written. An acknowledgement is written
//! only if it changes. So a process that makes passage after passage while p waits does not write it, and p does not
//! overlap such a write for ever.
//!
//! A value that is written twice and read in the opposite order cannot be misread twice in the same way:
//! `dolev-gafni-shavit-single` has one copy of each.
//!
//! The text of the paper was not available; this has the registers and the guarantees that secondary sources report.
//! The lines and their numbers are this project's.
//!
//! Departures: line 2 is N reads, one after the other. A process reads its last acknowledgement from its own
//! register. An iteration of lines 7 to 11 ends at the k-th process it counts.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, k-first-come-first-served, bounded exit;
//! also on safe registers, where a read that overlaps a write returns any value. Danek's Table 1 has ∞ for the
//! paper's RMRs; here that holds in distributed shared memory, and with caches there is a bound.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space, Ticket};

use super::{afek::fewer_than, k_bakery::PairRegisters};
use crate::{
    About,
    Condition::{Crashes, SafeRegisters, Tso},
    Kind, LocalSpin, Remote, Size,
    claim::holds,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "dolev-gafni-shavit",
    aliases: &["dolev1988", "dgs"],
    title: "k-exclusion on non-atomic registers",
    source: "after Dolev, Gafni & Shavit 1988",
    kind: Kind::KExclusion,
    default_n: 2,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso, Crashes, SafeRegisters],
    remark: "meant for safe registers; tickets grow for ever",
    remote: Some(Remote::both("∞")),
    pinned: &[
        at(2).k(1).finds(9_277),
        at(2).k(1).under(&[SafeRegisters]).finds(1_494_860),
        at(3).k(2).passages(1).under(&[SafeRegisters]).finds(11_820_950).takes("40 s, 2 GB"),
        at(2).under(&[Tso]).finds(48_359).fences(2),
        at(2).passages(1).needs_fences(),
        at(2).k(1).remote(Some(16), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = DolevGafniShavit<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> DolevGafniShavit<M> {
    DolevGafniShavit::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct DolevGafniShavit<M: Memory> {
    k: usize,
    x: Vec<M::Reg<bool>>,
    /// `N[p]`: the ticket, in copies that are written in order and read in the opposite order.
    number: Vec<Vec<M::Reg<Ticket>>>,
    /// `A[p][j]`: the ticket of j that p has read, in copies as well.
    seen: Vec<PairRegisters<M, Ticket>>,
}

/// The result of the doorway: the ticket, and the tickets of the others as read.
type Place = (Ticket, Vec<Ticket>);

impl<M: Memory> DolevGafniShavit<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        DolevGafniShavit::in_copies(space, n, k, 2)
    }

    pub(crate) fn in_copies(space: &mut impl Space<Mem = M>, n: usize, k: usize, copies: usize) -> Self {
        let x = space.per_process("X", n, false);
        let mut number = |p| {
            let name = |copy| Name::new("N").index(p).index(copy);
            (1..=copies).map(|copy| space.register(name(copy), Home::Of(p), Ticket::ZERO)).collect()
        };
        let number = (0..n).map(&mut number).collect();
        let mut seen = |copy| {
            PairRegisters::named(space, n, Ticket::ZERO, |from, to| Name::new("A").index(from).index(to).index(copy))
        };
        DolevGafniShavit { k, x, number, seen: (1..=copies).map(&mut seen).collect() }
    }

    /// Lines 8 and 9: whether j has acknowledged the ticket.
    fn has_seen(&self, m: &mut M, j: Pid, p: Pid, mine: Ticket) -> Result<bool, M::Halt> {
        let copies = self.seen.len();
        m.all(copies, |m, i| m.at(["8", "9"][i]).test(&self.seen[copies - 1 - i][(j, p)], |seen| seen == mine))
    }

    /// Lines 10 and 11: whether j seems to have a smaller ticket.
    fn seems_before(&self, m: &mut M, j: Pid, p: Pid, mine: Ticket) -> Result<bool, M::Halt> {
        let copies = self.seen.len();
        let none = m.all(copies, |m, i| {
            m.at(["10", "11"][i]).test(&self.number[j][copies - 1 - i], |number| (number, j) >= (mine, p))
        })?;
        Ok(!none)
    }
}

impl<M: Memory> Exclusion<M> for DolevGafniShavit<M> {
    type Place = Place;
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Place, M::Halt> {
        m.at("1").write(&self.x[p], true)?;
        m.at("1").fence()?; // without it, a process with the same ticket may miss the announcement
        let seen = m.fold(self.x.len(), Vec::new(), |m, seen: Vec<Ticket>, j| {
            let number = m.at("2").read(&self.number[j][0])?;
            Ok(seen.into_iter().chain([number]).collect())
        })?;
        let mine = seen.iter().copied().max().unwrap_or(Ticket::ZERO).next();
        m.fold(self.number[p].len(), (), |m, (), copy| m.at(["3", "4"][copy]).write(&self.number[p][copy], mine))?;
        m.at("4").fence()?; // without it, a later arrival may take the same ticket
        Ok((mine, seen))
    }

    fn wait(&self, m: &mut M, p: Pid, (mine, seen): &Place) -> Result<(), M::Halt> {
        m.each_but(p, self.x.len(), |m, j| {
            if m.at("5").test(&self.seen[0][(p, j)], |last| last == seen[j])? {
                return Ok(());
            }
            m.fold(self.seen.len(), (), |m, (), copy| m.at(["5", "6"][copy]).write(&self.seen[copy][(p, j)], seen[j]))
        })?;
        m.spin(|m| {
            fewer_than(m, self.k, self.x.len(), |m, j| {
                Ok(j != p
                    && m.at("7").test(&self.x[j], |up| up)?
                    && !self.has_seen(m, j, p, *mine)?
                    && self.seems_before(m, j, p, *mine)?)
            })
        })
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("12").write(&self.x[p], false)
    }
}
