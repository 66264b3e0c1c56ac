//! The k-Bakery. R. Danek, *The k-Bakery: Local-spin k-Exclusion Using Non-atomic Reads and Writes*, PODC 2010, Figure
//! 2 without its shaded part.
//!
//! ```text
//! 14  for each i ≠ p: Want[p][i] := Ticket[p]                the ticket of the last passage
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
//! Departures: line 14 reads `Ticket[p]` once, before the first write; afterwards a process knows its ticket by heart.
//! Line 15 is N reads, one after the other. Line 25 passes over `Want[p][p]`, which nobody reads, so the diagonal does
//! not exist. ∞ is `none`. As k < N, line 19 is asked only after a turn.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, k-first-come-first-served, bounded
//! exit. A process waits on registers that are its own: in a distributed shared memory a passage makes 4(N-1) remote
//! references.
//!
//! Death and giving up are ours, not the paper's. All that is known of a process is in registers that only it writes, and
//! line 25 does not ask where it was: so line 25, run by anyone, is the end of any passage, and can be run again from its
//! start. To the others a process that dies before line 15 has only been slow to take a ticket, and one that dies later has
//! been inside for no time at all. `Ticket[p]` stays, for tickets are never reset: who has the number next announces itself
//! with it on line 14, as the dead one would have.
//!
//! No fence is needed there. The writes of one who dies become visible before anyone can know of the death: a processor that
//! leaves a process has emptied its store buffer. Who reaps hands the number on after line 25, and writes become visible in
//! their order; so the next owner's come later. Giving up is an exit, which has no fence.
use alloc::vec::Vec;
use core::ops::{
    ControlFlow::{Break, Continue},
    Index,
};

use doorway_memory::{Exclusion, Home, Local, Memory, Name, Pid, Property::*, Sink, Source, Space, Ticket, Value};

use crate::{
    About,
    Claim::{Abandons, Crashes, Deaths, Holds},
    Kind, LocalSpin, Remote,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "k-bakery",
    aliases: &["danek2010"],
    title: "the k-Bakery",
    source: "Danek 2010, Fig. 2",
    kind: Kind::KExclusion,
    local_spin: Some(LocalSpin::BOTH),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(KFcfs),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Crashes,
        Deaths,
        Abandons,
    ],
    remark: "tickets are never reset, so they grow with every passage",
    remote: Some(Remote::both("Θ(N)")),
    departures: "line 19 is tested after a turn; Want[p][p] and Capture[p][p] do not exist",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct KBakery<M: Memory> {
    k: usize,
    pub(crate) ticket: Vec<M::Reg<Ticket>>,
    /// `Want[i][p]`: the ticket with which i wants to enter, as p is told; `None` is ∞.
    pub(crate) want: Told<M, Option<Ticket>>,
}

impl<M: Memory> KBakery<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        KBakery { k, ticket: space.per_process("Ticket", n, Ticket::ZERO), want: Told::new(space, "Want", n, None) }
    }

    /// Line 15: takes a ticket.
    pub(crate) fn choose(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        let max =
            m.fold(self.ticket.len(), Ticket::ZERO, |m, max, i| Ok(max.max(m.at("15").read(&self.ticket[i])?)))?;
        m.at("15").write(&self.ticket[p], max.next())?;
        m.at("15").fence()?; // or one who comes later takes the same ticket
        Ok(max.next())
    }

    /// Lines 16 to 21, and after each turn of the loop `done`, which may end it too.
    pub(crate) fn wait_unless(
        &self,
        m: &mut M,
        p: Pid,
        mine: Ticket,
        done: impl Fn(&mut M) -> Result<bool, M::Halt>,
    ) -> Result<(), M::Halt> {
        self.want.tell(m, "16", p, Some(mine))?;
        m.turns(Set::all_but(p, self.ticket.len()), |m, predecessors| {
            let left = self.predecessors_left(m, p, mine, predecessors)?;
            if done(m)? || left.len() < self.k {
                return Ok(Break(()));
            }
            m.relax();
            Ok(Continue(left))
        })
    }

    /// Lines 20 and 21: who of the predecessors is one still.
    fn predecessors_left(&self, m: &mut M, p: Pid, mine: Ticket, predecessors: Set) -> Result<Set, M::Halt> {
        predecessors.without(m, |m, i| m.at("21").test(&self.want[(i, p)], |want| is_before(mine, p, want, i)))
    }
}

impl<M: Memory> Exclusion<M> for KBakery<M> {
    type Place = Ticket;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        let last = m.at("14").read(&self.ticket[p])?;
        self.want.tell(m, "14", p, Some(last))?;
        m.at("14").fence()?; // or one who takes the same ticket does not see that we come
        self.choose(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        self.wait_unless(m, p, mine, |_| Ok(false))
    }

    fn exit(&self, m: &mut M, p: Pid, _: &Ticket) -> Result<(), M::Halt> {
        self.reap(m, p)
    }

    const ABANDONABLE: bool = true;

    fn abandon(&self, m: &mut M, p: Pid, _: &Ticket) -> Result<(), M::Halt> {
        self.reap(m, p)
    }

    const REAPABLE: bool = true;

    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        self.want.tell(m, "25", dead, None)
    }
}

/// A register from each process to each other one, at home with who is told: `told[(from, to)]`, from ≠ to.
pub(crate) struct Told<M: Memory, T: Value> {
    /// Rows of n-1: without the diagonal.
    rows: Vec<Vec<M::Reg<T>>>,
}

impl<M: Memory, T: Value> Told<M, T> {
    pub(crate) fn new(space: &mut impl Space<Mem = M>, name: &'static str, n: usize, init: T) -> Self {
        Told::named(space, n, init, |from, to| Name::new(name).index(from).index(to))
    }

    pub(crate) fn named(space: &mut impl Space<Mem = M>, n: usize, init: T, name: impl Fn(Pid, Pid) -> Name) -> Self {
        let mut row = |from| {
            let others = (0..n).filter(|&to| to != from);
            others.map(|to| space.register(name(from, to), Home::Of(to), init)).collect()
        };
        Told { rows: (0..n).map(&mut row).collect() }
    }

    /// Writes `value` to everyone but p, one after the other.
    pub(crate) fn tell(&self, m: &mut M, line: &'static str, p: Pid, value: T) -> Result<(), M::Halt> {
        let row = self.rows[p].as_slice(); // looked up once: a write might have changed anything, for all the compiler knows
        m.fold(row.len(), (), |m, (), i| m.at(line).write(&row[i], value))
    }
}

impl<M: Memory, T: Value> Index<(Pid, Pid)> for Told<M, T> {
    type Output = M::Reg<T>;

    fn index(&self, (from, to): (Pid, Pid)) -> &M::Reg<T> {
        debug_assert_ne!(from, to, "nobody tells itself");
        &self.rows[from][to - usize::from(to > from)]
    }
}

/// Whether p with its ticket comes before i, which wants to enter with another; `None` is ∞.
pub(crate) fn is_before(mine: Ticket, p: Pid, want: Option<Ticket>, i: Pid) -> bool {
    want.is_none_or(|want| (mine, p) < (want, i))
}

/// A set of processes.
#[derive(Clone)]
pub(crate) enum Set {
    /// Up to 64 processes: a machine word, so that nothing is allocated where it matters.
    Word(u64),
    /// More: 64 to a word.
    Words(Vec<u64>),
}

impl Set {
    /// Goes through the set and takes out those of which `gone` says so.
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

    /// Takes the first member out. In a word that is two instructions that wait for nothing but each other.
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

    /// The first member from `i` on.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_processes_has_its_members_in_order_whatever_its_size() {
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
