//! Unbounded tickets in finitely many states.
//!
//! Tickets grow for ever, but an algorithm can only compare them and take the next of one. So it is enough that a state
//! has their order and the *gaps* between neighbours in that order: 0, 1, or "2 or more". Zero stays zero. This leaves
//! finitely many states. (An algorithm that compares a ticket with the next but one of another needs "3 or more"
//! instead, and so on: the search then restarts with the next of [`WIDTHS`].)
//!
//! A gap of "2 or more" stands for every such real gap. When a process takes the `next` of the lower neighbour, the new
//! ticket lies in the gap, and the gap above it is 1 or again "2 or more", depending on numbers that the state does not
//! have: the search follows both, it *splits*. (Closing gaps without splitting is unsound: a real gap of 3 would be
//! treated as 2, and two `next`s in a row would meet a ticket they should stay below. This occurs in `bakery` with
//! three processes.) So every real execution is among those searched, and a property that holds for these holds. A
//! counterexample is executed with real numbers before it is reported.
//!
//! # Forgotten tickets
//!
//! Most tickets of a state are old ones, left in registers by passages that are over, and their order no longer matters.
//! Tickets below the *floor* of a state are *forgotten*: the state keeps that they are below it, and nothing else. This is
//! exact, and not only on the safe side, as long as no step depends on which numbers they were: the automaton executes every
//! step that sees forgotten tickets with all orders and gaps that they can have. The floor is the largest ticket at first. If
//! there is a step that depends on forgotten tickets, then the search starts again, and processes in some local states need
//! some tickets, which are not forgotten (`automaton/needs.rs`). If that does not help, no ticket is forgotten.
//!
//! In the first states of an execution nothing is forgotten, and zero is a ticket like the others. Once a state has a floor,
//! zero is below it, and all states that follow have one.
use doorway_memory::{Ticket, Value};

use crate::{error::Fault, registers::Kind, view::Word};

/// The widths from which on gaps are not told apart; the search uses the first that suffices.
pub(crate) const WIDTHS: [u32; 3] = [2, 3, 4];

/// The number of a forgotten ticket, in searches that forget tickets.
pub(crate) const FORGOTTEN: u32 = 127;

/// A set of ticket numbers below 128.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct TicketSet(u128);

impl TicketSet {
    pub(crate) const EMPTY: TicketSet = TicketSet(0);
    const ZERO: TicketSet = TicketSet(1);

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) fn union(self, other: TicketSet) -> TicketSet {
        TicketSet(self.0 | other.0)
    }

    /// How many there are.
    pub(crate) fn len(self) -> u32 {
        self.0.count_ones()
    }

    #[inline]
    pub(crate) fn contains(self, number: u32) -> bool {
        number < 128 && self.0 >> number & 1 == 1
    }

    pub(crate) fn largest(self) -> u32 {
        127_u32.saturating_sub(self.0.leading_zeros())
    }

    /// Whether a forgotten ticket is among them.
    #[inline]
    pub(crate) fn has_forgotten(self) -> bool {
        self.contains(FORGOTTEN)
    }

    /// Those that are not forgotten.
    #[inline]
    pub(crate) fn remembered(self) -> TicketSet {
        TicketSet(self.0 & !(1 << FORGOTTEN))
    }

    #[inline]
    pub(crate) fn without(self, others: TicketSet) -> TicketSet {
        TicketSet(self.0 & !others.0)
    }

    /// The smallest, if there is one.
    pub(crate) fn smallest(self) -> Option<u32> {
        (!self.is_empty()).then(|| self.0.trailing_zeros())
    }

    /// Whether these are the tickets of a state that has a floor: the smallest of those that are not forgotten has a number
    /// then that it has in no other state.
    pub(crate) fn has_floor(self, wide: u32) -> bool {
        self.has_forgotten() || self.remembered().without_zero().smallest() == Some(wide + 1)
    }

    /// The tickets that a step makes the state forget. `self` has all tickets after the step, `needed` those that are not to be
    /// forgotten, and `before` those before the step. None if a state that has a floor gets a new ticket which is not above
    /// it: then it is not known whether it is above or below those forgotten.
    pub(crate) fn to_forget(self, needed: TicketSet, before: TicketSet, wide: u32) -> Option<TicketSet> {
        let all = self.remembered();
        let had_floor = before.has_floor(wide);
        let below_floor = if had_floor {
            let below = all.below(before.remembered().without_zero().smallest().unwrap_or(FORGOTTEN));
            if !below.without_zero().is_empty() {
                return None;
            }
            below
        } else {
            TicketSet::EMPTY
        };
        let left = all.without(below_floor);
        let floor = needed.remembered().without(below_floor).smallest().unwrap_or(FORGOTTEN).min(left.largest());
        Some(if left.is_empty() || (!had_floor && floor <= wide) { below_floor } else { all.below(floor) })
    }

    /// Whether no gap has to be closed in a state that has a floor.
    pub(crate) fn is_normal_above_floor(self, wide: u32) -> bool {
        let near = (1..=wide).fold(0, |near, gap| near | self.0 << gap);
        matches!(self.0 & !near, alone if alone == 0 || alone == 1 << (wide + 1))
    }

    pub(crate) fn numbers(self) -> impl Iterator<Item = u32> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let number = left.trailing_zeros();
            (left != 0).then(|| {
                left &= left - 1;
                number
            })
        })
    }

    /// The tickets below which there may or may not be room, because a step has put a new ticket into the wide gap
    /// below them. `before` has the tickets before the step, `self` those after it.
    pub(crate) fn splits(self, before: TicketSet, wide: u32) -> TicketSet {
        let fresh = self.0 & !(before.0 | 1);
        // The new ticket is one above the lower end of the gap, and the upper end is `wide` above that.
        TicketSet(fresh << (wide - 1) & before.0 & self.0)
    }

    /// Every subset, the empty one first.
    pub(crate) fn subsets(self) -> impl Iterator<Item = TicketSet> {
        let all = self.0;
        let mut next = Some(0_u128);
        std::iter::from_fn(move || {
            let subset = next?;
            next = (subset != all).then(|| (subset | !all).wrapping_add(1) & all);
            Some(TicketSet(subset))
        })
    }

    /// Whether no gap has to be closed.
    #[inline]
    pub(crate) fn is_normal(self, wide: u32) -> bool {
        let set = self.0 | 1;
        // Every ticket but zero has another one at most `wide` below it.
        let near = (1..=wide).fold(0, |near, gap| near | set << gap);
        set & !near & !1 == 0
    }
}

/// The tickets in a word.
pub(crate) fn of(kind: Kind, word: u64) -> Result<TicketSet, Fault> {
    let mut set = TicketSet::EMPTY;
    let mut fits = true;
    (kind.renumber)(word, &mut |ticket| {
        match ticket.to_word() {
            number @ 0..128 => set.0 |= 1 << number,
            _ => fits = false,
        }
        ticket
    });
    if fits { Ok(set) } else { Err(Fault::TooManyTickets) }
}

/// New numbers for the tickets of a state, in the same order and with the gaps closed. One is made for every other step
/// of a search, so it is a plain table.
pub(crate) struct Closing([u8; 128]);

impl Closing {
    /// Closes the gaps, but leaves a wide one below each of the tickets in `roomy`.
    pub(crate) fn of(tickets: TicketSet, roomy: TicketSet, wide: u32) -> Closing {
        let mut numbers = [0; 128];
        let (mut last, mut number) = (0, 0);
        for ticket in tickets.numbers().filter(|&ticket| ticket != 0) {
            number += if roomy.contains(ticket) { wide } else { (ticket - last).min(wide) };
            last = ticket;
            numbers[ticket as usize] = number as u8;
        }
        Closing(numbers)
    }

    /// As [`of`](Self::of), in a state that has a floor.
    pub(crate) fn above_floor(tickets: TicketSet, roomy: TicketSet, wide: u32) -> Closing {
        let floor = tickets.smallest().unwrap_or(0);
        // The numbers of the others are counted from the floor, and that is one above zero and a wide gap.
        let mut closing = Closing::of(TicketSet(tickets.0 >> floor), TicketSet(roomy.0 >> floor), wide);
        closing.0.rotate_right(floor as usize);
        closing.0.iter_mut().for_each(|number| *number += wide as u8 + 1);
        closing.0[0] = 0;
        closing
    }

    /// The same numbers, but these tickets are forgotten, and forgotten ones stay so.
    pub(crate) fn forgetting(mut self, tickets: TicketSet) -> Closing {
        tickets.with(FORGOTTEN).numbers().for_each(|ticket| self.0[ticket as usize] = FORGOTTEN as u8);
        self
    }

    /// The new numbers of some of the tickets.
    pub(crate) fn image(&self, tickets: TicketSet) -> TicketSet {
        TicketSet(tickets.numbers().fold(0, |set, ticket| set | 1 << self.0[ticket as usize]))
    }
}

impl Closing {
    /// The positions of a ticket that may be any number: it is one of `tickets`, or lies between two of them or above
    /// all. Each comes with the new numbers that make room for it, and its own number.
    pub(crate) fn around_any(tickets: TicketSet, wide: u32) -> Vec<(Closing, u32)> {
        let sorted: Vec<u32> = tickets.with_zero().numbers().collect();
        // The same numbers, except that the ticket at this index and those after it are larger by `by`.
        let opened = |at: usize, by: u32| {
            let mut numbers = [0; 128];
            for (i, &ticket) in sorted.iter().enumerate() {
                numbers[ticket as usize] = (ticket + if i < at { 0 } else { by }) as u8;
            }
            Closing(numbers)
        };
        let mut choices: Vec<(Closing, u32)> = sorted.iter().map(|&ticket| (opened(0, 0), ticket)).collect();
        for (at, &lower) in sorted.iter().enumerate() {
            match sorted.get(at + 1) {
                None => choices.extend((1..=wide).map(|below| (opened(0, 0), lower + below))),
                Some(&upper) if upper - lower < wide => {
                    choices.extend((1..upper - lower).map(|below| (opened(0, 0), lower + below)));
                }
                Some(_) => {
                    for (below, above) in (1..=wide).flat_map(|below| (1..=wide).map(move |above| (below, above))) {
                        if below + above >= wide {
                            choices.push((opened(at + 1, below + above - wide), lower + below));
                        }
                    }
                }
            }
        }
        choices
    }
}

impl Closing {
    /// Maps the numbers of a set to those of another set of the same size, in order.
    pub(crate) fn between(from: TicketSet, to: TicketSet) -> Closing {
        let mut numbers = [0; 128];
        std::iter::zip(from.numbers(), to.numbers()).for_each(|(old, new)| numbers[old as usize] = new as u8);
        Closing(numbers)
    }
}

impl TicketSet {
    /// Whether zero is in the set.
    pub(crate) fn has_zero(self) -> bool {
        self.contains(0)
    }

    /// Those that are smaller than a number.
    pub(crate) fn below(self, number: u32) -> TicketSet {
        TicketSet(self.0 & ((1 << number) - 1))
    }

    /// The set without zero.
    pub(crate) fn without_zero(self) -> TicketSet {
        TicketSet(self.0 & !1)
    }

    /// The set with one more number.
    pub(crate) fn with(self, number: u32) -> TicketSet {
        TicketSet(self.0 | 1 << number)
    }
}

/// New numbers for some tickets, in the same order.
#[derive(Debug)]
pub(crate) struct Numbering(Vec<(u64, u64)>);

impl Numbering {
    /// Widens every wide gap by `by`.
    pub(crate) fn widening(tickets: TicketSet, wide: u32, by: u64) -> Numbering {
        let mut pairs = vec![(0, 0)];
        let (mut last, mut number) = (0, 0);
        for ticket in tickets.numbers().filter(|&ticket| ticket != 0) {
            let gap = ticket - last;
            number += u64::from(gap) + if gap < wide { 0 } else { by };
            last = ticket;
            pairs.push((u64::from(ticket), number));
        }
        Numbering(pairs)
    }

    /// Maps the numbers of a set to those of another set of the same size, in order.
    pub(crate) fn between(from: TicketSet, to: TicketSet) -> Numbering {
        Numbering(std::iter::zip(from.numbers(), to.numbers()).map(|(a, b)| (u64::from(a), u64::from(b))).collect())
    }

    /// As [`between`](Self::between), but to the other set also belong tickets that are forgotten: the smallest, as many as
    /// it has fewer numbers.
    pub(crate) fn forgetting(from: TicketSet, to: TicketSet) -> Numbering {
        let zero = if to.has_zero() { TicketSet::ZERO } else { TicketSet::EMPTY };
        let (old, new) = (from.remembered().without(zero), to.remembered().without(zero));
        let forgets = (old.len() - new.len()) as usize;
        let new = std::iter::repeat_n(FORGOTTEN, forgets).chain(new.numbers());
        let forgotten = (u64::from(FORGOTTEN), u64::from(FORGOTTEN));
        let pairs = std::iter::zip(old.numbers(), new).map(|(a, b)| (u64::from(a), u64::from(b)));
        Numbering(zero.numbers().map(|_| (0, 0)).chain(pairs).chain([forgotten]).collect())
    }

    /// The same numbers, but zero stays zero.
    pub(crate) fn keeping_zero(mut self) -> Numbering {
        self.0.iter_mut().filter(|(old, _)| *old == 0).for_each(|(_, new)| *new = 0);
        self
    }

    /// Closes the gaps of real, unlimited tickets, and forgets those below the floor.
    pub(crate) fn closing_real(tickets: &[u64], floor: u64, wide: u32) -> Numbering {
        let mut sorted: Vec<u64> = tickets.iter().copied().chain([0]).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let (mut last, mut number) = if floor == 0 { (0, 0) } else { (floor, u64::from(wide) + 1) };
        let new_number = |ticket| {
            if ticket < floor {
                return (ticket, u64::from(FORGOTTEN));
            }
            number += u64::min(ticket - last, wide.into());
            last = ticket;
            (ticket, number)
        };
        Numbering(sorted.into_iter().map(new_number).collect())
    }

    /// Whether two new numbers, each of a ticket or of a few `next`s of one, compare in the same way however wide the
    /// gaps are: the comparison must have the same result for the old numbers, where gaps are smallest.
    pub(crate) fn compares_alike(&self, a: u64, b: u64) -> bool {
        /// Less than the width of a widened gap: a number further above a ticket did not come from few `next`s.
        const FAR: u64 = 1 << 18;
        let old = |new: u64| {
            let &(old, base) = self.0.iter().rev().find(|&&(_, base)| base <= new)?;
            (new - base < FAR).then_some(old + (new - base))
        };
        match (old(a), old(b)) {
            (Some(old_a), Some(old_b)) => old_a.cmp(&old_b) == a.cmp(&b),
            _ => false,
        }
    }

    pub(crate) fn number(&self, ticket: u64) -> Option<u64> {
        self.0.binary_search_by_key(&ticket, |&(old, _)| old).ok().map(|at| self.0[at].1)
    }

    pub(crate) fn apply(&self, word: &Word) -> u64 {
        self.apply_to(word.kind, word.bits)
    }

    pub(crate) fn apply_to(&self, kind: Kind, word: u64) -> u64 {
        (kind.renumber)(word, &mut |ticket| self.number(ticket.to_word()).map_or(ticket, Ticket::of_word))
    }

    /// As [`apply_to`](Self::apply_to), but a ticket without a new number must be the next of one with.
    pub(crate) fn apply_with_next(&self, kind: Kind, word: u64) -> Option<u64> {
        let mut covered = true;
        let renumbered = (kind.renumber)(word, &mut |ticket| {
            let old = ticket.to_word();
            let new = self.number(old).or_else(|| Some(self.number(old.checked_sub(1)?)? + 1));
            covered &= new.is_some();
            new.map_or(ticket, Ticket::of_word)
        });
        covered.then_some(renumbered)
    }
}

/// Adds the real tickets of a word to a list.
pub(crate) fn collect(kind: Kind, word: u64, into: &mut Vec<u64>) {
    (kind.renumber)(word, &mut |ticket| {
        into.push(ticket.to_word());
        ticket
    });
}

impl TicketSet {
    /// The set with zero, which every state has.
    pub(crate) fn with_zero(self) -> TicketSet {
        self.union(TicketSet::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u32]) -> TicketSet {
        TicketSet(numbers.iter().fold(0, |set, number| set | 1 << number))
    }

    #[test]
    fn gaps_close_to_two_and_zero_stays() {
        let closing = Closing::of(set(&[3, 4, 9]), TicketSet::EMPTY, 2);
        assert_eq!(closing.image(set(&[3, 4, 9])), set(&[2, 3, 5]));
        assert!(set(&[2, 3, 5]).is_normal(2));
        assert!(!set(&[3, 4]).is_normal(2));
        assert!(set(&[3, 4]).is_normal(3));
    }

    #[test]
    fn a_new_ticket_in_a_wide_gap_splits_the_search() {
        let (before, after) = (set(&[0, 1, 3]), set(&[0, 1, 2, 3]));
        let splits = after.splits(before, 2);
        assert_eq!(splits, set(&[3]));
        let images: Vec<TicketSet> = splits.subsets().map(|roomy| Closing::of(after, roomy, 2).image(after)).collect();
        assert_eq!(images, [set(&[0, 1, 2, 3]), set(&[0, 1, 2, 4])]);
        assert_eq!(set(&[0, 1, 3, 4]).splits(before, 2), TicketSet::EMPTY, "a new largest ticket has nothing above it");
    }

    #[test]
    fn tickets_below_the_floor_are_forgotten() {
        let forgotten =
            |after: &[u32], needed: &[u32], before: &[u32]| set(after).to_forget(set(needed), set(before), 2);
        // The floor is the smallest ticket that is needed, or the largest of all.
        assert_eq!(forgotten(&[0, 1, 3, 5], &[3, 5], &[0, 1, 3]), Some(set(&[0, 1])));
        assert_eq!(forgotten(&[0, 1, 3], &[], &[0, 1, 3]), Some(set(&[0, 1])));
        // It is not near zero, which is an ordinary ticket until there is a floor.
        assert_eq!(forgotten(&[0, 2], &[], &[0]), Some(set(&[])));
        // Once there is a floor, zero is below it.
        assert_eq!(forgotten(&[0, 1, 3], &[0], &[0, 1, 3]), Some(set(&[])));
        assert_eq!(forgotten(&[0, 3, 4, FORGOTTEN], &[0, 4], &[3, FORGOTTEN]), Some(set(&[0, 3])));
        assert_eq!(forgotten(&[0, 3], &[0], &[3]), Some(set(&[0])));
        assert_eq!(forgotten(&[0, FORGOTTEN], &[0], &[FORGOTTEN]), Some(set(&[0])));
        // A new ticket below the floor cannot be compared with those forgotten.
        assert_eq!(forgotten(&[1, 3, FORGOTTEN], &[1, 3], &[3, FORGOTTEN]), None);
        assert_eq!(forgotten(&[1, FORGOTTEN], &[1], &[0, FORGOTTEN]), None);
    }

    #[test]
    fn forgotten_tickets_are_renumbered_together() {
        let closing = Closing::above_floor(set(&[5, 6, 9]), TicketSet::EMPTY, 2).forgetting(set(&[1, 3]));
        let image = closing.image(set(&[1, 3, 5, 9, FORGOTTEN]));
        assert_eq!(image, set(&[3, 6, FORGOTTEN]));
        assert!(set(&[3, 4, 6]).is_normal_above_floor(2) && !set(&[3, 6]).is_normal_above_floor(2));
        assert!(!set(&[2, 3]).is_normal_above_floor(2) && set(&[]).is_normal_above_floor(2));
        let numbering = Numbering::forgetting(set(&[1, 3, 5, 9, FORGOTTEN]), image);
        assert_eq!([1, 3, 5, 9, 127].map(|ticket| numbering.number(ticket)), [127, 127, 3, 6, 127].map(Some));
        let real = Numbering::closing_real(&[4, 90, 91, 200], 90, 2);
        assert_eq!([0, 4, 90, 91, 200].map(|ticket| real.number(ticket)), [127, 127, 3, 4, 6].map(Some));
    }

    #[test]
    fn subsets_yields_every_subset() {
        assert_eq!(set(&[2, 5]).subsets().collect::<Vec<_>>(), [set(&[]), set(&[2]), set(&[5]), set(&[2, 5])]);
    }
}
