//! Locks that are wrong for some number of processes, or about which the argument says nothing: none of them may be decided.
use doorway_memory::{Exclusion, Memory, Pid, Space, Tally, Ticket, Value};

use super::{
    super::{Precision, Undecided, closed, every_n, kept::Kept},
    gottlieb, queue, ticket_k,
};
use crate::{Model, Property, Subject};

/// Asserts that a view of two processes has two holders; of a lock that is wrong, a view of three has, too, but there are many.
pub(super) fn is_crowded(make: impl Fn(usize) -> Option<Subject>) {
    for is_forgetful in [false, true] {
        let found = closed(&make, 1, Precision { m: 2, is_forgetful, kept: Kept::ALL }, false, &mut |_| true).unwrap();
        assert!(matches!(found.undecided, Some(Undecided::Crowded(_))), "{:?}", found.undecided);
    }
}

/// Whether at most one of `n` processes is a holder.
pub(super) fn excludes(n: usize, make: impl Fn(usize) -> Option<Subject>) -> bool {
    let model = Model::new(n).only([Property::Exclusion]);
    make(n).unwrap().check(&model).unwrap().holds(Property::Exclusion)
}

/// The semaphore, but it reads and then writes, so that an update may be lost.
struct LostUpdate<M: Memory> {
    s: M::Reg<Tally>,
}

impl<M: Memory> Exclusion<M> for LostUpdate<M> {
    type Place = ();
    type Inside = ();
    const SYMMETRIC: bool = true;
    fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
        Ok(())
    }
    fn wait(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("1").until(&self.s, |s| s >= 1)?;
        m.at("2").write(&self.s, Tally::new(0))
    }
    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("3").write(&self.s, Tally::new(1))
    }
}

#[test]
fn a_lost_update_is_not_decided() {
    let make = |_| Some(Subject::lock(|space| LostUpdate { s: space.shared("S", Tally::new(1)) }));
    assert!(!excludes(2, make));
    let found = every_n(1, make).unwrap();
    assert!(matches!(found.undecided, Some(Undecided::DoesNotApply(_))), "{found:?}");
}

/// A ticket lock whose tickets have two bits.
struct TwoBits<M: Memory> {
    next: M::Reg<Bits>,
    serving: M::Reg<Bits>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bits(u8);

impl Value for Bits {
    fn to_word(self) -> u64 {
        u64::from(self.0)
    }
    fn of_word(word: u64) -> Bits {
        Bits(word as u8 & 3)
    }
}

impl<M: Memory> TwoBits<M> {
    fn new(space: &mut impl Space<Mem = M>) -> Self {
        TwoBits { next: space.shared("next", Bits(0)), serving: space.shared("serving", Bits(0)) }
    }
}

impl<M: Memory> Exclusion<M> for TwoBits<M> {
    type Place = Bits;
    type Inside = ();
    const SYMMETRIC: bool = true;
    fn doorway(&self, m: &mut M, _: Pid) -> Result<Bits, M::Halt> {
        m.at("1").update(&self.next, |next| Bits((next.0 + 1) & 3))
    }
    fn wait(&self, m: &mut M, _: Pid, &t: &Bits) -> Result<(), M::Halt> {
        m.at("2").until(&self.serving, move |serving| serving == t)
    }
    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("3").update(&self.serving, |serving| Bits((serving.0 + 1) & 3))?;
        Ok(())
    }
}

/// Right for four processes, wrong for five.
#[test]
fn a_ticket_lock_with_two_bits_is_not_decided() {
    let make = |_| Some(Subject::lock(TwoBits::new));
    assert!(excludes(4, make) && !excludes(5, make));
    let found = every_n(1, make).unwrap();
    assert!(matches!(found.undecided, Some(Undecided::Crowded(_))), "{found:?}");
}

#[test]
fn one_place_too_many_is_not_decided() {
    for found in [every_n(2, ticket_k(3)), every_n(2, gottlieb(3)), every_n(2, queue(3))] {
        let found = found.unwrap();
        assert!(matches!(found.undecided, Some(Undecided::Crowded(_))), "{found:?}");
    }
}

/// How a lock departs from Lamport's bakery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Departure {
    /// It is the bakery.
    None,
    /// Processes do not announce that they choose a number.
    NoChoosing,
    /// Of two processes with the same number neither waits for the other.
    NoTieBreak,
    /// A number is as large as the largest other one, and not larger.
    NotLarger,
    /// A process does not look at numbers of processes beyond the third.
    FirstThree,
    /// A process does not wait for the one after it.
    NotTheNext,
    /// A process waits only for processes whose numbers are even if its own is.
    Parity,
    /// A process writes its process number into its register.
    Number,
    /// A process counts the others that it has waited for, and enters after three.
    Counts,
}

struct Bakery<M: Memory> {
    departure: Departure,
    choosing: Vec<M::Reg<bool>>,
    number: Vec<M::Reg<Ticket>>,
    last: Vec<M::Reg<usize>>,
}

impl<M: Memory> Bakery<M> {
    fn new(space: &mut impl Space<Mem = M>, n: usize, departure: Departure) -> Self {
        Bakery {
            departure,
            choosing: space.per_process("choosing", n, false),
            number: space.per_process("number", n, Ticket::ZERO),
            last: space.per_process("last", n, 0),
        }
    }

    fn wait_for(&self, m: &mut M, p: Pid, i: Pid, mine: Ticket) -> Result<(), M::Halt> {
        if self.departure != Departure::NoChoosing {
            m.at("7").until(&self.choosing[i], |choosing| !choosing)?;
        }
        let has_ties = self.departure == Departure::NoTieBreak;
        m.at("8").until(&self.number[i], move |number| {
            number == Ticket::ZERO || number > mine || number == mine && (has_ties || i > p)
        })
    }
}

impl<M: Memory> Exclusion<M> for Bakery<M> {
    type Place = Ticket;
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        m.at("3").write(&self.choosing[p], true)?;
        if self.departure == Departure::Number {
            m.at("3").write(&self.last[p], p)?;
        }
        let max = m.fold(self.number.len(), Ticket::ZERO, |m, max, i| Ok(max.max(m.at("4").read(&self.number[i])?)))?;
        let is_equal = self.departure == Departure::NotLarger && max > Ticket::ZERO;
        let mine = if is_equal { max } else { max.next() };
        m.at("4").write(&self.number[p], mine)?;
        m.at("5").write(&self.choosing[p], false)?;
        Ok(mine)
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        let n = self.number.len();
        match self.departure {
            Departure::FirstThree => m.each_but(p, n.min(3), |m, i| self.wait_for(m, p, i, mine)),
            Departure::Counts => {
                let count = |m: &mut M, seen: u8, i: Pid| {
                    if i == p || seen == 3 {
                        return Ok(seen);
                    }
                    self.wait_for(m, p, i, mine)?;
                    Ok(seen + 1)
                };
                m.fold(n, 0, count).map(|_| ())
            }
            departure => m.each_but(p, n, |m, i| match departure {
                Departure::NotTheNext if i == p + 1 => Ok(()),
                Departure::Parity if i % 2 != p % 2 => Ok(()),
                _ => self.wait_for(m, p, i, mine),
            }),
        }
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("10").write(&self.number[p], Ticket::ZERO)
    }
}

fn bakery_with(departure: Departure) -> impl Fn(usize) -> Option<Subject> {
    move |n| Some(Subject::lock(move |space| Bakery::new(space, n, departure)))
}

#[test]
fn only_the_bakery_itself_is_decided() {
    assert!(every_n(1, bakery_with(Departure::None)).unwrap().holds());
}

#[test]
fn a_bakery_that_is_wrong_is_not_decided() {
    for departure in [Departure::NoChoosing, Departure::NoTieBreak, Departure::NotLarger] {
        assert!(!excludes(2, bakery_with(departure)), "{departure:?}");
        is_crowded(bakery_with(departure));
    }
    // Wrong for five processes.
    is_crowded(bakery_with(Departure::Counts));
}

/// Each is right for some numbers of processes, or looks so: what is wrong shows with more of them.
#[test]
fn a_bakery_that_uses_numbers_in_another_way_is_refused() {
    assert!(excludes(3, bakery_with(Departure::FirstThree)));
    for departure in [Departure::FirstThree, Departure::NotTheNext, Departure::Parity, Departure::Number] {
        let found = every_n(1, bakery_with(departure)).unwrap();
        assert!(matches!(found.undecided, Some(Undecided::DoesNotApply(_))), "{departure:?}: {found:?}");
    }
}
