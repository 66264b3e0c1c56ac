//! The k-Bakery on non-atomic registers. R. Danek, *The k-Bakery: Local-spin k-Exclusion Using Non-atomic Reads and
//! Writes*, PODC 2010, Figure 3.
//!
//! ```text
//! 29  for each i ≠ p:
//! 30      Want[p][i][1] := Ticket[p]; Want[p][i][2] := Ticket[p]       the ticket of the last passage
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
//! What is written twice and read in the other order cannot be misread in the same way twice.
//!
//! Departures: those of `k-bakery-fife`.
//!
//! Guarantees: those of `k-bakery-fife`, also when registers are only safe: a read that overlaps a write may return
//! anything, so a ticket can be any number.
use doorway_memory::{Exclusion, Memory, Name, Pid, Property::*, Space, Ticket, Value};

use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use super::k_bakery::{self, Set, Told, is_before};
use crate::{
    About,
    Claim::{Crashes, Holds, SafeRegisters},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "k-bakery-safe",
    aliases: &[],
    title: "the k-Bakery on non-atomic registers",
    source: "Danek 2010, Fig. 3",
    default_n: 2,
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(KFcfs),
        Holds(Fife),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Crashes,
        SafeRegisters,
    ],
    remark: "meant for `--registers safe`",
    ..k_bakery::ABOUT
};

/// The lock; see the [module](self).
pub struct KBakerySafe<M: Memory> {
    k: usize,
    ticket: Vec<M::Reg<Ticket>>,
    /// `Want[i][p]`: the ticket with which i wants to enter, as p is told; `None` is ∞.
    want: Twice<M, Option<Ticket>>,
    /// `Capture[i][p]`: the largest ticket with which i has entered, as p is told.
    capture: Twice<M, Ticket>,
}

impl<M: Memory> KBakerySafe<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        KBakerySafe {
            k,
            ticket: space.per_process("Ticket", n, Ticket::ZERO),
            want: Twice::new(space, "Want", n, None),
            capture: Twice::new(space, "Capture", n, Ticket::ZERO),
        }
    }

    /// Says with which ticket one wants to enter: lines 30, 33 and 48.
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

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        let last = m.at("30").read(&self.ticket[p])?;
        self.announce(m, "30", p, Some(last))?;
        m.at("30").fence()?; // or one who takes the same ticket does not see that we come
        let max =
            m.fold(self.ticket.len(), Ticket::ZERO, |m, max, i| Ok(max.max(m.at("31").read(&self.ticket[i])?)))?;
        m.at("31").write(&self.ticket[p], max.next())?;
        m.at("31").fence()?; // or one who comes later takes the same ticket
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
        m.at("45").fence() // or we are inside before one who came earlier can follow at once
    }

    fn exit(&self, m: &mut M, p: Pid, _: &Ticket) -> Result<(), M::Halt> {
        self.announce(m, "48", p, None)
    }
}

/// Two copies of a register from each process to each other one, written in this order and read in the other.
struct Twice<M: Memory, T: Value> {
    first: Told<M, T>,
    second: Told<M, T>,
}

impl<M: Memory, T: Value> Twice<M, T> {
    fn new(space: &mut impl Space<Mem = M>, name: &'static str, n: usize, init: T) -> Self {
        let mut copy = |copy| Told::named(space, n, init, |from, to| Name::new(name).index(from).index(to).index(copy));
        Twice { first: copy(1), second: copy(2) }
    }

    fn write(&self, m: &mut M, line: &'static str, from_to: (Pid, Pid), value: T) -> Result<(), M::Halt> {
        m.at(line).write(&self.first[from_to], value)?;
        m.at(line).write(&self.second[from_to], value)
    }

    /// Whether something holds of both copies, as they are read.
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
