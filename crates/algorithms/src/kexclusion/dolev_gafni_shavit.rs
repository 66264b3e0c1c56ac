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
//! `A[j][p]` is the ticket of p that j has seen when it chose its own: an acknowledgement, for j's own is larger then, and p
//! need not wait for j, whatever it reads of j's ticket while that is written. An acknowledgement is written only if it
//! changes. So a process that comes again and again while p waits does not touch it, and p does not read it in the midst
//! of being written for ever.
//!
//! What is written twice and read in the other order cannot be misread in the same way twice: `dolev-gafni-shavit-single`
//! has one copy of each.
//!
//! We did not have the text of the paper; this has the registers and the guarantees told of it, and the lines and their
//! numbers are ours.
//!
//! Departures: line 2 is N reads, one after the other. Which acknowledgement was written last a process reads in its own
//! register. A turn of lines 7 to 11 ends at the k-th it counts.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, k-first-come-first-served, bounded exit;
//! also when registers are only safe: a read that overlaps a write may return anything. Danek's Table 1 has ∞ for the
//! paper's remote references; here that is so in a distributed shared memory, and with caches there is a bound.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space, Ticket};

use super::{afek::fewer_than, k_bakery::Told};
use crate::{
    About,
    Claim::{Crashes, Holds, SafeRegisters},
    Kind, LocalSpin, Remote,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "dolev-gafni-shavit",
    aliases: &["dolev1988", "dgs"],
    title: "k-exclusion on non-atomic registers",
    source: "after Dolev, Gafni & Shavit 1988",
    kind: Kind::KExclusion,
    default_n: 2,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(KFcfs),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Crashes,
        SafeRegisters,
    ],
    remark: "meant for `--registers safe`; tickets grow with every passage",
    remote: Some(Remote::both("∞")),
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct DolevGafniShavit<M: Memory> {
    k: usize,
    x: Vec<M::Reg<bool>>,
    /// `N[p]`: the ticket, each copy written in this order and read in the other.
    number: Vec<Vec<M::Reg<Ticket>>>,
    /// `A[p][j]`: the ticket of j that p has seen, in copies as well.
    seen: Vec<Told<M, Ticket>>,
}

/// What is carried from the doorway: the ticket, and what was seen of the others.
type Place = (Ticket, Vec<Ticket>);

impl<M: Memory> DolevGafniShavit<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
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
        let mut seen =
            |copy| Told::named(space, n, Ticket::ZERO, |from, to| Name::new("A").index(from).index(to).index(copy));
        DolevGafniShavit { k, x, number, seen: (1..=copies).map(&mut seen).collect() }
    }

    /// Lines 8 and 9: whether j has seen the ticket.
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

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Place, M::Halt> {
        m.at("1").write(&self.x[p], true)?;
        m.at("1").fence()?; // or one who takes the same ticket does not see that we come
        let seen = m.fold(self.x.len(), Vec::new(), |m, seen: Vec<Ticket>, j| {
            let number = m.at("2").read(&self.number[j][0])?;
            Ok(seen.into_iter().chain([number]).collect())
        })?;
        let mine = seen.iter().copied().max().unwrap_or(Ticket::ZERO).next();
        m.fold(self.number[p].len(), (), |m, (), copy| m.at(["3", "4"][copy]).write(&self.number[p][copy], mine))?;
        m.at("4").fence()?; // or one who comes later takes the same ticket
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

    /// The exit needs no ticket.
    fn inside(&self, _: &Place) -> Place {
        (Ticket::ZERO, Vec::new())
    }

    fn exit(&self, m: &mut M, p: Pid, _: &Place) -> Result<(), M::Halt> {
        m.at("12").write(&self.x[p], false)
    }
}
