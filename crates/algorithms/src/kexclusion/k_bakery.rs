//! The k-Bakery. R. Danek, *The k-Bakery: Local-spin k-Exclusion Using Non-atomic Reads and Writes*, PODC 2010, Figure
//! 2 without its shaded part.
//!
//! ```text
//! 14  for each i ≠ p: Want[p][i] := Ticket[p]                the ticket of the previous passage
//! 15  Ticket[p] := 1 + max(Ticket[1], …, Ticket[N])          (doorway ends)
//! 16  for each i ≠ p: Want[p][i] := Ticket[p]
//! 18  predecessor_set := all but p
//! 19  while |predecessor_set| >= k:
//! 20      for each i in predecessor_set:
//! 21          if (Ticket[p], p) < (Want[i][p], i): predecessor_set := predecessor_set - {i}
//!     critical section
//! 25  for each i ≠ p: Want[p][i] := ∞
//! ```
//!
//! Departures: line 14 reads `Ticket[p]` once, before the first write; afterwards a process does not read its own
//! ticket. Line 15 is N reads, one after the other. Line 25 skips `Want[p][p]`, which no process reads, so the
//! diagonal does not exist. ∞ is `none`. As k < N, line 19 is tested only after each iteration.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, k-first-come-first-served, bounded exit.
//! A waiter spins on registers of its own: in distributed shared memory a passage makes 4(N-1) remote memory
//! references.
//!
//! Deaths and aborts are this project's, not the paper's. Everything that others know of a process is in registers
//! that only it writes, and line 25 does not depend on where the process was: so line 25, executed by any process,
//! completes any passage, and can be repeated from its start. To the others a process that dies before line 15 was
//! only slow to take a ticket, and one that dies later was a holder for no time at all. `Ticket[p]` stays, for
//! tickets are never reset: the next owner of the number announces itself with it on line 14, as the dead process
//! would have.
//!
//! This needs no fence. The writes of a dying process become visible before another process can know of the death: a
//! processor that switches from a process has emptied its store buffer. The reaper passes the number on after line
//! 25, and writes become visible in order; so those of the next owner become visible later. An abort is an exit,
//! which has no fence.
use alloc::vec::Vec;
use core::ops::{
    ControlFlow::{Break, Continue},
    Index,
};

use doorway_memory::{
    Abort, Exclusion, Home, Local, Memory, Name, Pid, Property::*, Reap, Sink, Source, Space, Ticket, Value,
};

use crate::{
    About,
    Condition::{Aborts, Crashes, Deaths, SafeRegisters, Tso},
    Kind, LocalSpin, Remote, Size,
    claim::{holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "k-bakery",
    aliases: &["danek2010"],
    title: "the k-Bakery",
    source: "Danek 2010, Fig. 2",
    kind: Kind::KExclusion,
    local_spin: Some(LocalSpin::BOTH),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
        lacks(Exclusion).under(&[SafeRegisters]),
    ],
    tolerates: &[Tso, Crashes, Deaths, Aborts],
    remark: "tickets are never reset, so they grow for ever",
    remote: Some(Remote::both("Θ(N)")),
    departures: "line 19 is tested after each iteration; Want[p][p] and Capture[p][p] do not exist",
    pinned: &[
        at(2).k(1).finds(852),
        at(3).k(1).finds(319_435),
        at(3).k(2).finds(1_091_021),
        at(2).k(1).under(&[Deaths]).finds(3_491),
        at(2).k(1).under(&[Aborts]).finds(2_967),
        at(2).k(1).under(&[Deaths, Aborts]).finds(5_061),
        at(3).k(2).passages(1).under(&[Deaths, Aborts]).finds(230_656),
        at(3).k(1).under(&[Deaths]).finds(11_615_607).takes("1 minute, 1 GB"),
        at(3).k(2).under(&[Deaths]).finds(11_281_187).takes("1 minute, 1 GB"),
        at(3).k(2).under(&[Aborts]).finds(6_366_400).takes("20 s"),
        at(3).k(2).under(&[Deaths, Aborts]).finds(23_513_706).takes("90 s, 2 GB"),
        at(2).k(1).under(&[Deaths, Tso]).finds(52_349),
        at(2).k(1).under(&[Deaths, Aborts, Tso]).finds(72_087),
        at(2).under(&[Tso]).finds(4_122).fences(2),
        at(3).k(2).passages(1).under(&[Tso]).finds(134_343).fences(2),
        at(2).needs_fences(),
        at(2).under(&[SafeRegisters]).refutes(Exclusion, COUNTEREXAMPLE),
        at(2).k(1).remote(Some(10), Some(4)),
        at(3).k(1).remote(Some(18), Some(8)).takes("5 s"),
        at(3).k(2).remote(Some(18), Some(8)).takes("20 s"),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = KBakery<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> KBakery<M> {
    KBakery::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct KBakery<M: Memory> {
    k: usize,
    pub(crate) ticket: Vec<M::Reg<Ticket>>,
    /// `Want[i][p]`: the ticket with which i wants to enter, written for p; `None` is ∞.
    pub(crate) want: PairRegisters<M, Option<Ticket>>,
}

impl<M: Memory> KBakery<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        KBakery {
            k,
            ticket: space.per_process("Ticket", n, Ticket::ZERO),
            want: PairRegisters::new(space, "Want", n, None),
        }
    }

    /// Line 15: takes a ticket.
    pub(crate) fn choose(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        let max =
            m.fold(self.ticket.len(), Ticket::ZERO, |m, max, i| Ok(max.max(m.at("15").read(&self.ticket[i])?)))?;
        m.at("15").write(&self.ticket[p], max.next())?;
        m.at("15").fence()?; // without it, a later arrival may take the same ticket
        Ok(max.next())
    }

    /// Lines 16 to 21; evaluates `done` after each iteration of the loop, and ends if it holds.
    pub(crate) fn wait_unless(
        &self,
        m: &mut M,
        p: Pid,
        mine: Ticket,
        done: impl Fn(&mut M) -> Result<bool, M::Halt>,
    ) -> Result<(), M::Halt> {
        self.want.broadcast(m, "16", p, Some(mine))?;
        m.turns(Set::all_but(p, self.ticket.len()), |m, predecessors| {
            let left = self.predecessors_left(m, p, mine, predecessors)?;
            if done(m)? || left.len() < self.k {
                return Ok(Break(()));
            }
            m.relax();
            Ok(Continue(left))
        })
    }

    /// Lines 20 and 21: the predecessors that still are predecessors.
    fn predecessors_left(&self, m: &mut M, p: Pid, mine: Ticket, predecessors: Set) -> Result<Set, M::Halt> {
        predecessors.without(m, |m, i| m.at("21").test(&self.want[(i, p)], |want| is_before(mine, p, want, i)))
    }
}

impl<M: Memory> Exclusion<M> for KBakery<M> {
    type Place = Ticket;
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        let last = m.at("14").read(&self.ticket[p])?;
        self.want.broadcast(m, "14", p, Some(last))?;
        m.at("14").fence()?; // without it, a process with the same ticket may miss the announcement
        self.choose(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        self.wait_unless(m, p, mine, |_| Ok(false))
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.reap(m, p)
    }

    fn recovery(&self) -> Option<&dyn Reap<M>> {
        Some(self)
    }

    fn aborting(&self) -> Option<&dyn Abort<M, Ticket>> {
        Some(self)
    }
}

impl<M: Memory> Abort<M, Ticket> for KBakery<M> {
    fn abort(&self, m: &mut M, p: Pid, _: &Ticket) -> Result<(), M::Halt> {
        self.reap(m, p)
    }
}

impl<M: Memory> Reap<M> for KBakery<M> {
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        self.want.broadcast(m, "25", dead, None)
    }
}

/// A register for each ordered pair of processes, at home at its reader: `registers[(writer, reader)]`, writer ≠
/// reader.
pub(crate) struct PairRegisters<M: Memory, T: Value> {
    /// Rows of n-1, without the diagonal.
    rows: Vec<Vec<M::Reg<T>>>,
}

impl<M: Memory, T: Value> PairRegisters<M, T> {
    pub(crate) fn new(space: &mut impl Space<Mem = M>, name: &'static str, n: usize, init: T) -> Self {
        PairRegisters::named(space, n, init, |from, to| Name::new(name).index(from).index(to))
    }

    pub(crate) fn named(space: &mut impl Space<Mem = M>, n: usize, init: T, name: impl Fn(Pid, Pid) -> Name) -> Self {
        let mut row = |from| {
            let others = (0..n).filter(|&to| to != from);
            others.map(|to| space.register(name(from, to), Home::Of(to), init)).collect()
        };
        PairRegisters { rows: (0..n).map(&mut row).collect() }
    }

    /// Writes `value` to the registers for all processes except p, one after the other.
    pub(crate) fn broadcast(&self, m: &mut M, line: &'static str, p: Pid, value: T) -> Result<(), M::Halt> {
        let row = self.rows[p].as_slice(); // outside the loop: the compiler must assume that a write changes `rows`
        m.fold(row.len(), (), |m, (), i| m.at(line).write(&row[i], value))
    }
}

impl<M: Memory, T: Value> Index<(Pid, Pid)> for PairRegisters<M, T> {
    type Output = M::Reg<T>;

    fn index(&self, (from, to): (Pid, Pid)) -> &M::Reg<T> {
        debug_assert_ne!(from, to, "there is no register for a process and itself");
        &self.rows[from][to - usize::from(to > from)]
    }
}

/// Whether p, with the ticket `mine`, precedes i, which wants to enter with `want`; `None` is ∞.
pub(crate) fn is_before(mine: Ticket, p: Pid, want: Option<Ticket>, i: Pid) -> bool {
    want.is_none_or(|want| (mine, p) < (want, i))
}

/// A set of processes.
#[derive(Clone)]
pub(crate) enum Set {
    /// Up to 64 processes, in one machine word: this avoids allocation in the common case.
    Word(u64),
    /// More than 64 processes, 64 in each word.
    Words(Vec<u64>),
}

impl Set {
    /// Visits every member and removes those for which `gone` holds.
    pub(crate) fn without<M: Memory>(
        self,
        m: &mut M,
        gone: impl Fn(&mut M, Pid) -> Result<bool, M::Halt>,
    ) -> Result<Set, M::Halt> {
        m.turns((self.clone(), self), |m, (mut rest, mut left)| {
            let Some(i) = rest.pop() else { return Ok(Break(left)) };
            if gone(m, i)? {
                left.remove(i);
            }
            Ok(Continue((rest, left)))
        })
    }

    pub(crate) fn all_but(p: Pid, n: usize) -> Set {
        let first = |n: usize| u64::MAX >> (64 - n.min(64));
        let mut all = match n {
            ..=64 => Set::Word(first(n)),
            _ => Set::Words((0..n.div_ceil(64)).map(|word| first(n - 64 * word)).collect()),
        };
        all.remove(p);
        all
    }

    fn words(&self) -> &[u64] {
        match self {
            Set::Word(word) => core::slice::from_ref(word),
            Set::Words(words) => words,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.words().iter().map(|word| word.count_ones() as usize).sum()
    }

    fn remove(&mut self, p: Pid) {
        match self {
            Set::Word(word) => *word &= !(1 << p),
            Set::Words(words) => words[p / 64] &= !(1 << (p % 64)),
        }
    }

    /// Removes and returns the first member. For a word these are two instructions that depend only on each other.
    fn pop(&mut self) -> Option<Pid> {
        if let Set::Word(word) = self {
            let first = (*word != 0).then(|| word.trailing_zeros() as usize);
            *word &= word.wrapping_sub(1);
            return first;
        }
        let first = self.next(0)?;
        self.remove(first);
        Some(first)
    }

    /// The first member that is at least `i`.
    fn next(&self, i: usize) -> Option<Pid> {
        let words = self.words();
        let above = |word: u64| word & u64::MAX << (i % 64);
        let first = words.get(i / 64).map_or(0, |&word| above(word));
        if first != 0 {
            return Some(i / 64 * 64 + first.trailing_zeros() as usize);
        }
        let (later, word) = words.iter().enumerate().skip(i / 64 + 1).find(|&(_, &word)| word != 0)?;
        Some(64 * later + word.trailing_zeros() as usize)
    }
}

impl Local for Set {
    fn save(&self, to: &mut impl Sink) {
        to.put(self.words().len());
        self.words().iter().for_each(|&word| to.put(word));
    }

    fn load(from: &mut impl Source) -> Set {
        match from.take() {
            1 => Set::Word(from.take()),
            many => Set::Words((0..many).map(|_| from.take()).collect()),
        }
    }
}

/// Section 6 of the paper.
const COUNTEREXAMPLE: &str = "\
exclusion FAILS in 20 steps
\x20  1  p0  14  Ticket[0] = 0
\x20  2  p0  14  Want[0][1] := 0 begins
\x20  3  p0  14  Want[0][1] := 0 ends
\x20  4  p0  15  Ticket[0] = 0
\x20  5  p0  15  Ticket[1] = 0
\x20  6  p0  15  Ticket[0] := 1 begins
\x20  7  p0  15  Ticket[0] := 1 ends
\x20  8  p0  16  Want[0][1] := 1 begins
\x20  9  p1  14  Ticket[1] = 0
\x20 10  p1  14  Want[1][0] := 0 begins
\x20 11  p1  14  Want[1][0] := 0 ends
\x20 12  p1  15  Ticket[0] = 1
\x20 13  p1  15  Ticket[1] = 0
\x20 14  p1  15  Ticket[1] := 2 begins
\x20 15  p1  15  Ticket[1] := 2 ends
\x20 16  p1  16  Want[1][0] := 2 begins
\x20 17  p1  16  Want[1][0] := 2 ends
\x20 18  p1  21  Want[0][1] = ∞ while it is written  -> inside
\x20 19  p0  16  Want[0][1] := 1 ends
\x20 20  p0  21  Want[1][0] = 2                      -> inside
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_any_size_iterate_in_order() {
        for n in [2, 63, 64, 65, 128, 200] {
            for p in [0, 1, n / 2, n - 1] {
                let mut set = Set::all_but(p, n);
                let members =
                    |set: &Set| core::iter::successors(set.next(0), |i| set.next(i + 1)).collect::<Vec<Pid>>();
                let others: Vec<Pid> = (0..n).filter(|&i| i != p).collect();
                assert_eq!((members(&set), set.len()), (others.clone(), n - 1), "all but {p} of {n}");
                set.remove(others[0]);
                assert_eq!(members(&set), others[1..], "n={n}, p={p}");
                assert_eq!(set.next(n), None);
            }
        }
    }
}
