//! The ticket dispenser. R. Danek and W. Golab, *Closing the complexity gap between FCFS mutual exclusion and mutual
//! exclusion*, section 5, Figures 6-8.
//!
//! ```text
//!     tickets are the numbers modulo 7N; initially Tickets[0 … 3N-1] = FREE, the others INUSE; lastTicket = 7N-1
//!
//!     ObtainTicket:                                             DoneWithTicket:
//! 45  first := lastTicket                                       59  Tickets[ticket + 3N] := FREE
//! 46  i := 1                                                    60  lastTicket := ticket
//! 47  while i < 3N and Tickets[first + i] = INUSE:
//! 48      i := min(3N, 2i)
//! 49  last := first + i
//! 50  while first < last:
//! 51      midpoint := ⌊(first + last) / 2⌋
//! 52      if Tickets[midpoint] = INUSE:
//! 53          first := midpoint + 1
//! 55      else: last := midpoint
//! 56  ticket := first
//! 57  Tickets[ticket] := INUSE
//! ```
//!
//! Departures: none. DoneWithTicket takes the process' ticket as an argument.
//!
//! A process *participates* from the start of ObtainTicket to the end of DoneWithTicket, and *holds* its ticket between
//! the two. Of two tickets held at the same time, i is before j if j is ahead of it by less than half of 7N (⊲).
//!
//! Guarantees, under the conditions below: the tickets held lie within fewer than 7N/2 consecutive ones; a process that
//! has obtained its ticket before another begins to obtain one has the smaller ticket (Specifications 1 and 2). Both
//! operations in O(min(c, log N)) steps, if c processes participate.
//!
//! | | |
//! |---|---|
//! | Condition 2 | each process alternately obtains a ticket and is done with it |
//! | Condition 3 | one process at a time is done with its ticket; if t ⊲ u are held, t's holder is done first |
//! | Condition 4 | while a process participates, every other process does so at most three times |
//! | Condition 5 | a process that obtains its ticket while p obtains one is not done with it before p has its own |
//!
//! # How it is checked
//!
//! [`Harness`] is a dispenser used according to the conditions. A call is one operation; while a condition forbids
//! the operation, the call does nothing, so that no call ever waits for another. Steps on line `-` are the harness':
//! they can only make an operation seem longer than it is, and the executions in which they do not are among those
//! that are searched. `use[p]` is *obtaining* from before ObtainTicket, then p's ticket, and ⊥ after DoneWithTicket.
//! `overlap[q][p]` says that p was obtaining its ticket when q had obtained one, and still is. A process that obtains
//! a ticket compares it with those held; any two must even be within a third of 7N, from which Specification 1
//! follows.
//!
//! Condition 4 need not be enforced, for it follows. While p obtains, q can be done with the ticket it had before,
//! and then with no other (Condition 5). Once p holds t, q can be done with one ticket that is not after t. The next
//! is after t (Specification 2), so q is not done with it before p is done with t (Condition 3): q participates three
//! times.
use alloc::{format, string::String, vec::Vec};
use core::{
    fmt,
    ops::ControlFlow::{Break, Continue},
};

use doorway_memory::{Cyclic, Home, Local, Memory, Name, Part, Pid, Property::*, Space, Value};

use crate::blocks::test_and_set::TestAndSet;
use crate::{About, Size, claim::holds, pinned::at, rule};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "ticket-dispenser",
    title: "the ticket dispenser",
    source: "Danek & Golab, Fig. 6-8",
    default_n: 2,
    claims: &[holds(Rule), holds(WaitFree)],
    tolerates: &[],
    remark: "used according to Conditions 2-5; that `danek-golab` satisfies them is checked too",
    pinned: &[at(2).finds(31_430), at(3).finds(29_153_613).takes("1 minute, 1.5 GB")],
    ..About::PART
};

/// A source of tickets.
pub trait Dispenser<M: Memory>: Send + Sync {
    /// ObtainTicket.
    fn obtain(&self, m: &mut M, p: Pid) -> Result<Cyclic, M::Halt>;

    /// DoneWithTicket. One process at a time.
    fn done(&self, m: &mut M, p: Pid, ticket: Cyclic) -> Result<(), M::Halt>;
}

/// The dispenser; see the [module](self).
pub struct TicketDispenser<M: Memory> {
    n: usize,
    tickets: Vec<M::Reg<State>>,
    last_ticket: M::Reg<Cyclic>,
}

impl<M: Memory> TicketDispenser<M> {
    /// A dispenser for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        let state = |i| if i < 3 * n { State::Free } else { State::InUse };
        TicketDispenser {
            n,
            tickets: space.ring("Tickets", 7 * n, state),
            last_ticket: space.shared("lastTicket", Cyclic::new(7 * n - 1, 7 * n)),
        }
    }

    fn is_in_use(&self, m: &mut M, line: &'static str, ticket: Cyclic) -> Result<bool, M::Halt> {
        m.at(line).test(&self.tickets[ticket.index()], |state| state == State::InUse)
    }
}

impl<M: Memory> Dispenser<M> for TicketDispenser<M> {
    fn obtain(&self, m: &mut M, _: Pid) -> Result<Cyclic, M::Halt> {
        // One loop for both searches, so that the local state of the first is dropped when the second starts.
        let ticket = m.turns(Search::Bound, |m, search| {
            let Search::Within(first, ahead) = search else {
                let first = m.at("45").read(&self.last_ticket)?;
                let bound = 3 * self.n;
                let i = m.turns(1, |m, i| {
                    let more = i < bound && self.is_in_use(m, "47", first.plus(i))?;
                    Ok(if more { Continue(bound.min(2 * i)) } else { Break(i) })
                })?;
                return Ok(Continue(Search::Within(first, i)));
            };
            if ahead == 0 {
                return Ok(Break(first));
            }
            let half = ahead / 2;
            let in_use = self.is_in_use(m, "52", first.plus(half))?;
            Ok(Continue(if in_use {
                Search::Within(first.plus(half + 1), ahead - half - 1)
            } else {
                Search::Within(first, half)
            }))
        })?;
        m.at("57").write(&self.tickets[ticket.index()], State::InUse)?;
        Ok(ticket)
    }

    fn done(&self, m: &mut M, _: Pid, ticket: Cyclic) -> Result<(), M::Halt> {
        m.at("59").write(&self.tickets[ticket.plus(3 * self.n).index()], State::Free)?;
        m.at("60").write(&self.last_ticket, ticket)
    }
}

/// Whether ticket `i` is before ticket `j`, both held at the same time: i ⊲ j.
pub fn is_before(i: Cyclic, j: Cyclic) -> bool {
    i != j && 2 * j.ahead_of(i) < i.of()
}

/// Whether two tickets are less than a third of all tickets apart.
///
/// If this holds for any two of several tickets, they all lie within a third of all tickets: less than half, as
/// Specification 1 requires.
fn are_close(i: Cyclic, j: Cyclic) -> bool {
    3 * j.ahead_of(i).min(i.ahead_of(j)) < i.of()
}

/// The progress of ObtainTicket.
#[derive(Clone, Copy)]
enum Search {
    /// Lines 45-49.
    Bound,
    /// Lines 50-55: `first`, and how far `last` is ahead of it.
    Within(Cyclic, usize),
}

/// What is saved for `Search::Bound`: no cyclic number, since that would be the same in every execution.
impl Local for Search {
    fn save(&self, to: &mut impl doorway_memory::Sink) {
        match *self {
            Search::Bound => to.put(false),
            Search::Within(first, ahead) => {
                to.put(true);
                to.put(first);
                to.put(ahead);
            }
        }
    }
    fn load(from: &mut impl doorway_memory::Source) -> Self {
        if from.take() { Search::Within(from.take(), from.take()) } else { Search::Bound }
    }
}

/// The state of a ticket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Free,
    InUse,
}

impl Value for State {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        if word == 0 { State::Free } else { State::InUse }
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Free => "FREE",
            State::InUse => "INUSE",
        })
    }
}

/// A dispenser used according to its conditions, with its tickets judged; see the [module](self#how-it-is-checked).
pub struct Harness<M: Memory, D> {
    dispenser: D,
    monitor: UsageMonitor<M>,
    lock: TestAndSet<M>,
}

impl<M: Memory, D: Dispenser<M>> Harness<M, D> {
    /// A harness for an unused dispenser and `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, dispenser: D) -> Self {
        Harness { dispenser, monitor: UsageMonitor::new(space, n), lock: TestAndSet::new(space) }
    }
}

/// Creates the part for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, .. }: Size) -> Harness<M, TicketDispenser<M>> {
    let dispenser = TicketDispenser::new(space, n);
    Harness::new(space, n, dispenser)
}

impl<M: Memory, D: Dispenser<M>> Part<M> for Harness<M, D> {
    type Outcome = Verdict;
    const AGAIN: bool = true;

    fn call(&self, m: &mut M, p: Pid) -> Result<Verdict, M::Halt> {
        let Some(ticket) = self.monitor.ticket(m, p)? else {
            self.monitor.begin(m, p)?;
            let ticket = m.call(|m| self.dispenser.obtain(m, p))?;
            return self.monitor.obtained(m, p, ticket);
        };
        if self.monitor.may_be_done(m, p, ticket)? && self.lock.try_lock(m)? {
            m.call(|m| self.dispenser.done(m, p, ticket))?;
            self.monitor.end(m, p)?;
            self.lock.unlock(m)?;
        }
        Ok(Verdict::Right)
    }

    fn rule(&self, latest: &[Option<Verdict>]) -> Result<(), String> {
        rule::of_each_call(latest, |p, verdict| match verdict {
            Verdict::Right => None,
            Verdict::NotAfter(q) => Some(format!("p{p} obtained its ticket after p{q}, but it is not after p{q}'s")),
            Verdict::FarFrom(q) => Some(format!("the tickets of p{p} and p{q} are too far apart")),
        })
    }
}

/// Whether a ticket may be given out while others are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It may.
    Right,
    /// It is not after the ticket of this process, which had obtained it before.
    NotAfter(Pid),
    /// It is not within a third of all tickets from the ticket of this process.
    FarFrom(Pid),
}

impl Value for Verdict {
    #[inline(always)]
    fn to_word(self) -> u64 {
        match self {
            Verdict::Right => 0,
            Verdict::NotAfter(q) => 2 * q as u64 + 1,
            Verdict::FarFrom(q) => 2 * q as u64 + 2,
        }
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        match word {
            0 => Verdict::Right,
            _ if word % 2 == 1 => Verdict::NotAfter((word / 2) as usize),
            _ => Verdict::FarFrom((word / 2 - 1) as usize),
        }
    }
}

/// Observes how processes use a dispenser: whether they satisfy Conditions 3 and 5, and whether the dispenser
/// satisfies its specifications. Every step here is on line `-`.
pub struct UsageMonitor<M: Memory> {
    n: usize,
    usage: Vec<M::Reg<Usage>>,
    /// `overlap[q][p]`.
    overlap: Vec<Vec<M::Reg<bool>>>,
}

impl<M: Memory> UsageMonitor<M> {
    /// A monitor for an unused dispenser and `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        let mut overlap = |q: Pid, p: Pid| space.register(Name::new("overlap").index(q).index(p), Home::Nobody, false);
        let overlap = (0..n).map(|q| (0..n).map(|p| overlap(q, p)).collect()).collect();
        UsageMonitor { n, usage: space.array("use", n, Usage::None), overlap }
    }

    /// The ticket that `p` holds, if it holds one.
    pub fn ticket(&self, m: &mut M, p: Pid) -> Result<Option<Cyclic>, M::Halt> {
        Ok(m.at("-").read(&self.usage[p])?.ticket())
    }

    /// Whether `p` is obtaining a ticket or holds one.
    pub fn participates(&self, m: &mut M, p: Pid) -> Result<bool, M::Halt> {
        m.at("-").test(&self.usage[p], |usage| usage != Usage::None)
    }

    /// Must be called before ObtainTicket.
    pub fn begin(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("-").write(&self.usage[p], Usage::Obtaining)
    }

    /// Must be called after ObtainTicket. Compares the ticket with those that are held.
    pub fn obtained(&self, m: &mut M, p: Pid, ticket: Cyclic) -> Result<Verdict, M::Halt> {
        let verdict = m.fold(self.n, Verdict::Right, |m, verdict, q| {
            if q == p {
                return Ok(verdict);
            }
            // Set the flag before reading `use[q]`: once q has its ticket, it may not read the flag any more.
            m.at("-").write(&self.overlap[p][q], true)?;
            let usage = m.at("-").read(&self.usage[q])?;
            if usage != Usage::Obtaining {
                m.at("-").write(&self.overlap[p][q], false)?;
            }
            match usage {
                Usage::None | Usage::Obtaining => {}
                Usage::Holding(other) if !are_close(other, ticket) => return Ok(Verdict::FarFrom(q)),
                Usage::Holding(other) => {
                    if !is_before(other, ticket) && !m.at("-").test(&self.overlap[q][p], |overlap| overlap)? {
                        return Ok(Verdict::NotAfter(q));
                    }
                }
            }
            Ok(verdict)
        })?;
        // In this order, so that a process that sees no overlap sees the ticket.
        m.at("-").write(&self.usage[p], Usage::Holding(ticket))?;
        m.each_but(p, self.n, |m, q| m.at("-").write(&self.overlap[q][p], false))?;
        Ok(verdict)
    }

    /// Whether Conditions 3 and 5 permit `p` to be done with its ticket; once they do, they continue to.
    pub fn may_be_done(&self, m: &mut M, p: Pid, ticket: Cyclic) -> Result<bool, M::Halt> {
        let all_have = m.all_but(p, self.n, |m, q| m.at("-").test(&self.overlap[p][q], |o| !o))?;
        let is_first = |m: &mut M, q: Pid| {
            m.at("-").test(&self.usage[q], |usage| usage.ticket().is_none_or(|other| !is_before(other, ticket)))
        };
        Ok(all_have && m.all_but(p, self.n, is_first)?)
    }

    /// Must be called after DoneWithTicket.
    pub fn end(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("-").write(&self.usage[p], Usage::None)
    }
}

/// How a process is using the dispenser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Usage {
    None,
    Obtaining,
    Holding(Cyclic),
}

impl Usage {
    fn ticket(self) -> Option<Cyclic> {
        match self {
            Usage::Holding(ticket) => Some(ticket),
            _ => None,
        }
    }
}

impl Value for Usage {
    #[inline(always)]
    fn to_word(self) -> u64 {
        match self {
            Usage::None => 0,
            Usage::Obtaining => 1,
            Usage::Holding(ticket) => ticket.to_word() + 2,
        }
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        match word {
            0 => Usage::None,
            1 => Usage::Obtaining,
            _ => Usage::Holding(Cyclic::of_word(word - 2)),
        }
    }
    fn map_cyclic(self, f: &mut dyn FnMut(Cyclic) -> Cyclic) -> Self {
        match self {
            Usage::Holding(ticket) => Usage::Holding(f(ticket)),
            _ => self,
        }
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Usage::None => f.write_str("⊥"),
            Usage::Obtaining => f.write_str("obtaining"),
            Usage::Holding(ticket) => ticket.show(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use doorway_memory::Solo;

    use super::*;

    #[test]
    fn tickets_count_up_and_wrap_around() {
        for n in [2, 3, 1024] {
            let mut solo = Solo::new();
            let dispenser = TicketDispenser::new(&mut solo, n);
            for i in 0..20 * n {
                assert_eq!(dispenser.obtain(&mut solo, i % n), Ok(Cyclic::new(i, 7 * n)));
                let Ok(()) = dispenser.done(&mut solo, i % n, Cyclic::new(i, 7 * n));
            }
        }
    }

    #[test]
    fn every_process_can_hold_a_ticket_at_once() {
        for n in [2, 5, 1024] {
            let mut solo = Solo::new();
            let dispenser = TicketDispenser::new(&mut solo, n);
            for round in 0..20 {
                for p in 0..n {
                    assert_eq!(dispenser.obtain(&mut solo, p), Ok(Cyclic::new(round * n + p, 7 * n)));
                }
                for p in 0..n {
                    let Ok(()) = dispenser.done(&mut solo, p, Cyclic::new(round * n + p, 7 * n));
                }
            }
        }
    }

    #[test]
    fn order_spans_half_of_all_tickets() {
        let is_before = |n: usize, i, j| is_before(Cyclic::new(i, 7 * n), Cyclic::new(j, 7 * n));
        assert!(is_before(2, 0, 6) && !is_before(2, 6, 0));
        assert!(is_before(2, 13, 1) && !is_before(2, 1, 13));
        assert!(!is_before(2, 4, 4));
        assert!(is_before(3, 0, 10) && !is_before(3, 0, 11) && is_before(3, 11, 0));
    }

    #[test]
    fn tickets_are_close_within_a_third_of_all() {
        let are_close = |n: usize, i, j| are_close(Cyclic::new(i, 7 * n), Cyclic::new(j, 7 * n));
        assert!(are_close(2, 12, 2) && are_close(2, 2, 12) && !are_close(2, 0, 5));
        assert!(are_close(3, 0, 6) && !are_close(3, 0, 7));
    }

    #[test]
    fn rule_forbids_tickets_out_of_order_or_far_apart() {
        let part = new(&mut Solo::new(), Size { n: 2, k: 1 });
        let rule = |verdict| part.rule(&[Some(Verdict::Right), Some(verdict)]);
        assert!(rule(Verdict::Right).is_ok());
        assert_eq!(rule(Verdict::FarFrom(0)).unwrap_err(), "the tickets of p1 and p0 are too far apart");
        assert_eq!(
            rule(Verdict::NotAfter(0)).unwrap_err(),
            "p1 obtained its ticket after p0, but it is not after p0's"
        );
    }

    #[test]
    fn values_round_trip_through_words() {
        for verdict in [Verdict::Right, Verdict::NotAfter(0), Verdict::FarFrom(0), Verdict::FarFrom(3)] {
            assert_eq!(Verdict::of_word(verdict.to_word()), verdict);
        }
        for usage in
            [Usage::None, Usage::Obtaining, Usage::Holding(Cyclic::new(0, 14)), Usage::Holding(Cyclic::new(9, 14))]
        {
            assert_eq!(Usage::of_word(usage.to_word()), usage);
        }
    }
}
