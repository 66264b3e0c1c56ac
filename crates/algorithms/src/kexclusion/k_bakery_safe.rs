//! The k-Bakery on non-atomic registers. R. Danek, *The k-Bakery: Local-spin k-Exclusion Using Non-atomic Reads and
//! Writes*, PODC 2010, Figure 3.
//!
//! ```text
//! 29  for each i ≠ p:
//! 30      Want[p][i][1] := Ticket[p]; Want[p][i][2] := Ticket[p]       the ticket of the previous passage
//! 31  Ticket[p] := 1 + max(Ticket[1], …, Ticket[N])                    (doorway ends)
//! 32  for each i ≠ p:
//! 33      Want[p][i][1] := Ticket[p]; Want[p][i][2] := Ticket[p]
//! 34  predecessor_set := all but p
//! 35  captured := false
//! 36  while |predecessor_set| >= k and not captured:
//! 37      for each i in predecessor_set:
//! 38          if (Ticket[p], p) < (Want[i][p][2], i):
//! 39              if (Ticket[p], p) < (Want[i][p][1], i): predecessor_set := predecessor_set - {i}
//! 40      for each i:
//! 41          if Ticket[p] < Capture[i][p][2]:
//! 42              if Ticket[p] < Capture[i][p][1]: captured := true
//! 43  for each i:
//! 44      if Capture[p][i][1] <= Ticket[i]:
//! 45          Capture[p][i][1] := Ticket[p]; Capture[p][i][2] := Ticket[p]
//!     critical section
//! 47  for each i ≠ p:
//! 48      Want[p][i][1] := ∞; Want[p][i][2] := ∞
//! ```
//!
//! A value that is written twice and read in the opposite order cannot be misread twice in the same way.
//!
//! Departures: those of `k-bakery-fife`.
//!
//! Guarantees: those of `k-bakery-fife`, also on safe registers: a read that overlaps a write returns any value, so a
//! ticket can be any number.
use doorway_memory::{Exclusion, Memory, Name, Pid, Property::*, Space, Ticket, Value};

use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use super::k_bakery::{self, PairRegisters, Set, is_before};
use crate::{
    About,
    Condition::{Crashes, SafeRegisters, Tso},
    Size,
    claim::holds,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "k-bakery-safe",
    aliases: &[],
    title: "the k-Bakery on non-atomic registers",
    source: "Danek 2010, Fig. 3",
    default_n: 2,
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(Fife),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso, Crashes, SafeRegisters],
    remark: "meant for safe registers",
    pinned: &[
        at(2).k(1).finds(10_908),
        at(2).k(1).under(&[SafeRegisters]).finds(145_019),
        at(2).under(&[Tso]).finds(66_975).fences(3),
        at(2).needs_fences(),
        at(3).k(2).passages(1).needs_fences(),
        at(2).k(1).remote(Some(22), Some(11)),
    ],
    ..k_bakery::ABOUT
};

/// The lock's type.
pub type Lock<M> = KBakerySafe<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> KBakerySafe<M> {
    KBakerySafe::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct KBakerySafe<M: Memory> {
    k: usize,
    ticket: Vec<M::Reg<Ticket>>,
    /// `Want[i][p]`: the ticket with which i wants to enter, written for p; `None` is ∞.
    want: TwoCopies<M, Option<Ticket>>,
    /// `Capture[i][p]`: the largest ticket with which i has entered, written for p.
    capture: TwoCopies<M, Ticket>,
}

impl<M: Memory> KBakerySafe<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        KBakerySafe {
            k,
            ticket: space.per_process("Ticket", n, Ticket::ZERO),
            want: TwoCopies::new(space, "Want", n, None),
            capture: TwoCopies::new(space, "Capture", n, Ticket::ZERO),
        }
    }

    /// Announces the ticket with which p wants to enter: lines 30, 33 and 48.
    fn announce(&self, m: &mut M, line: &'static str, p: Pid, want: Option<Ticket>) -> Result<(), M::Halt> {
        m.each_but(p, self.ticket.len(), |m, i| self.want.write(m, line, (p, i), want))
    }

    /// Lines 40 to 42.
    fn captured(&self, m: &mut M, p: Pid, mine: Ticket) -> Result<bool, M::Halt> {
        m.fold(self.ticket.len(), false, |m, captured, i| {
            let by_i = i != p && self.capture.test(m, ["41", "42"], (i, p), |ticket| mine < ticket)?;
            Ok(captured || by_i)
        })
    }
}

impl<M: Memory> Exclusion<M> for KBakerySafe<M> {
    type Place = Ticket;
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        let last = m.at("30").read(&self.ticket[p])?;
        self.announce(m, "30", p, Some(last))?;
        m.at("30").fence()?; // without it, a process with the same ticket may miss the announcement
        let max =
            m.fold(self.ticket.len(), Ticket::ZERO, |m, max, i| Ok(max.max(m.at("31").read(&self.ticket[i])?)))?;
        m.at("31").write(&self.ticket[p], max.next())?;
        m.at("31").fence()?; // without it, a later arrival may take the same ticket
        Ok(max.next())
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        self.announce(m, "33", p, Some(mine))?;
        m.turns(Set::all_but(p, self.ticket.len()), |m, predecessors| {
            let left = predecessors
                .without(m, |m, i| self.want.test(m, ["38", "39"], (i, p), |want| is_before(mine, p, want, i)))?;
            if self.captured(m, p, mine)? || left.len() < self.k {
                return Ok(Break(()));
            }
            m.relax();
            Ok(Continue(left))
        })?;
        m.each_but(p, self.ticket.len(), |m, i| {
            let last = m.at("44").read(&self.capture.first[(p, i)])?;
            if m.at("44").test(&self.ticket[i], |ticket| last <= ticket)? {
                self.capture.write(m, "45", (p, i), mine)?;
            }
            Ok(())
        })?;
        m.at("45").fence() // without it, the process may enter before an earlier arrival can follow at once
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.announce(m, "48", p, None)
    }
}

/// Two copies of a register for each pair of processes, written in order and read in the opposite order.
struct TwoCopies<M: Memory, T: Value> {
    first: PairRegisters<M, T>,
    second: PairRegisters<M, T>,
}

impl<M: Memory, T: Value> TwoCopies<M, T> {
    fn new(space: &mut impl Space<Mem = M>, name: &'static str, n: usize, init: T) -> Self {
        let mut copy =
            |copy| PairRegisters::named(space, n, init, |from, to| Name::new(name).index(from).index(to).index(copy));
        TwoCopies { first: copy(1), second: copy(2) }
    }

    fn write(&self, m: &mut M, line: &'static str, from_to: (Pid, Pid), value: T) -> Result<(), M::Halt> {
        m.at(line).write(&self.first[from_to], value)?;
        m.at(line).write(&self.second[from_to], value)
    }

    /// Whether `holds` is true of both copies, as read.
    fn test(
        &self,
        m: &mut M,
        lines: [&'static str; 2],
        from_to: (Pid, Pid),
        holds: impl Fn(T) -> bool,
    ) -> Result<bool, M::Halt> {
        Ok(m.at(lines[0]).test(&self.second[from_to], &holds)? && m.at(lines[1]).test(&self.first[from_to], &holds)?)
    }
}
