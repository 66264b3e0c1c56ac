//! Dead words: what a process has observed, and on which no later step of it depends.
//!
//! Views do not have them. They are *forgotten*: every step is executed with all numbers in their place, and has to be the same.
//! If it is not, the word is not dead, and the search begins again.
//!
//! Which words are dead is guessed first: if a word had far larger tickets, would this step or a later one be another one? This
//! is tried for all steps of a process in any environment: those of views with one member and no registers.
use rustc_hash::{FxHashMap, FxHashSet};

use doorway_memory::{Tally, Ticket, Value, ticket_comparisons};

use super::{
    Stop,
    execution::Symbolic,
    process::{Entry, On, Processes, Side},
    tables::Local,
};
use crate::{
    tickets::{self, Closing, FORGOTTEN, Numbering, TicketSet},
    view::Word,
};

/// What a dead tally is replaced by in views.
const FORGOTTEN_TALLY: i64 = i64::MIN / 2;

/// Added to a ticket, to see what depends on it.
const FAR: u64 = 1 << 20;

/// The most executions of one step, to see that nothing forgotten matters; if that takes more, less is forgotten.
const MOST_EXECUTED: usize = 10_000;

/// A local state without its tickets, and without what it has found in a tally.
pub(super) type Shape = Box<[u64]>;

/// A word of a shape.
type Place = (Shape, usize);

/// What a word may be replaced by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Blank {
    Ticket,
    Tally,
}

impl Entry {
    fn tally(&self) -> Option<i64> {
        (self.word.kind.tally)(self.word.bits)
    }

    fn with_tickets(&self, new: &mut dyn FnMut(u64) -> u64) -> Entry {
        let bits = (self.word.kind.renumber)(self.word.bits, &mut |ticket| Ticket::of_word(new(ticket.to_word())));
        Entry { word: Word { bits, ..self.word }, ..*self }
    }

    fn with_tally(&self, number: i64) -> Entry {
        Entry { word: Word { bits: Tally::new(number).to_word(), ..self.word }, ..*self }
    }

    fn has_tickets(&self) -> bool {
        let mut has = false;
        self.with_tickets(&mut |ticket| {
            has = true;
            ticket
        });
        has
    }

    /// The first thing in it that was forgotten.
    fn blank(&self) -> Option<Blank> {
        let mut forgotten = (self.tally() == Some(FORGOTTEN_TALLY)).then_some(Blank::Tally);
        self.with_tickets(&mut |ticket| {
            if ticket == u64::from(FORGOTTEN) {
                forgotten = Some(Blank::Ticket);
            }
            ticket
        });
        forgotten
    }

    pub(super) fn forgotten(&self) -> Entry {
        match self.tally() {
            Some(_) => self.with_tally(FORGOTTEN_TALLY),
            None => self.with_tickets(&mut |_| FORGOTTEN.into()),
        }
    }

    /// Replaces the first thing that was forgotten.
    fn filled(&self, number: i64) -> Entry {
        match self.blank() {
            Some(Blank::Tally) => self.with_tally(number),
            Some(Blank::Ticket) => {
                let mut left = Some(number.cast_unsigned());
                self.with_tickets(&mut |ticket| match ticket {
                    ticket if ticket == u64::from(FORGOTTEN) => left.take().unwrap_or(ticket),
                    ticket => ticket,
                })
            }
            None => *self,
        }
    }

    /// The same with other numbers, to see what depends on them.
    fn altered(&self) -> Vec<Entry> {
        match self.tally() {
            Some(number) => [i64::MAX / 4, i64::MIN / 4].map(|by| self.with_tally(number / 4 + by)).to_vec(),
            None if self.has_tickets() => vec![self.with_tickets(&mut |ticket| ticket + FAR)],
            None => Vec::new(),
        }
    }
}

/// The local states of a process in which something is forgotten.
#[derive(Default)]
pub(super) struct Dead {
    /// For each shape, whether each of its words is dead.
    words: FxHashMap<Shape, Vec<bool>>,
    forgotten: FxHashMap<u32, u32>,
}

impl Local {
    pub(super) fn blank(&self) -> Option<Blank> {
        self.history.iter().find_map(Entry::blank)
    }

    /// The same with a number in place of the first thing that is forgotten.
    pub(super) fn filled(&self, number: i64) -> Vec<Entry> {
        let mut history = self.history.to_vec();
        if let Some(entry) = history.iter_mut().find(|entry| entry.blank().is_some()) {
            *entry = entry.filled(number);
        }
        history
    }

    fn shape(&self) -> Shape {
        let bare = |entry: &Entry| if entry.tally().is_some() { 0 } else { entry.with_tickets(&mut |_| 1).word.bits };
        std::iter::once(self.section as u64).chain(self.history.iter().map(bare)).collect()
    }
}

impl Processes {
    /// The local state without its dead words.
    pub(super) fn forget(&mut self, local: u32) -> Result<u32, Stop> {
        if let Some(&forgotten) = self.dead.forgotten.get(&local) {
            return Ok(forgotten);
        }
        let from = self.tables.local(local);
        let section = from.section;
        let mut history = from.history.to_vec();
        if let Some(dead) = self.dead.words.get(&from.shape()) {
            std::iter::zip(&mut history, dead)
                .filter(|(_, dead)| **dead)
                .for_each(|(entry, _)| *entry = entry.forgotten());
        }
        let forgotten = self.tables.local_id(section, &history)?;
        self.dead.forgotten.insert(local, forgotten);
        Ok(forgotten)
    }

    /// Finds the dead words, from all steps that were executed so far.
    pub(super) fn find_dead_words(&mut self) -> Result<(), Stop> {
        let mut shapes: FxHashMap<Shape, Vec<bool>> = FxHashMap::default();
        // Words that are needed; and those that become part of a word, for each such word.
        let mut needed: FxHashSet<Place> = FxHashSet::default();
        let mut sources: FxHashMap<Place, Vec<Place>> = FxHashMap::default();
        for Executed { local, side, on, to } in self.all_executed() {
            let (from, to) = (self.tables.local(local), self.tables.local(to).shape());
            let shape = from.shape();
            let can_die: Vec<bool> = from.history.iter().map(|entry| !entry.altered().is_empty()).collect();
            for word in (0..can_die.len()).filter(|&word| can_die[word]) {
                match self.changes(local, side, on, word)? {
                    None => {
                        needed.insert((shape.clone(), word));
                    }
                    Some(changes) => changes.into_iter().for_each(|change| {
                        sources.entry((to.clone(), change)).or_default().push((shape.clone(), word));
                    }),
                }
            }
            shapes.insert(shape, can_die);
        }
        let mut left: Vec<Place> = needed.iter().cloned().collect();
        while let Some(place) = left.pop() {
            for source in sources.remove(&place).into_iter().flatten() {
                if needed.insert(source.clone()) {
                    left.push(source);
                }
            }
        }
        for (shape, word) in needed {
            if let Some(dead) = shapes.get_mut(&shape) {
                dead[word] = false;
            }
        }
        self.dead = Dead { words: shapes, forgotten: FxHashMap::default() };
        Ok(())
    }

    /// The words of the local state after a step that are others if a word before it is; none if the step is another one.
    fn changes(&self, local: u32, side: Side, on: On, word: usize) -> Result<Option<Vec<usize>>, Stop> {
        let from = self.tables.local(local);
        let found = self.execute_anywhere(side, local, &from.history, on)?;
        let mut changes = Vec::new();
        for altered in from.history[word].altered() {
            let mut history = from.history.to_vec();
            history[word] = altered;
            let (other, compared) = ticket_comparisons(|| self.execute_anywhere(side, local, &history, on));
            let Ok(other) = other else { return Ok(None) };
            let is_compared = compared.iter().any(|(a, b)| (a.to_word() >= FAR) != (b.to_word() >= FAR));
            let same = |of: &Symbolic| (of.section, of.turn, of.op, of.target, of.written, of.history.len());
            if is_compared || same(&found) != same(&other) {
                return Ok(None);
            }
            let differs = |&at: &usize| !found.history[at].is(&other.history[at]);
            changes.extend((0..found.history.len()).filter(differs));
        }
        Ok(Some(changes))
    }

    /// The local state with some numbers in place of what is forgotten.
    pub(super) fn filled(&mut self, local: u32) -> Result<u32, Stop> {
        let mut filled = local;
        while let Some(blank) = self.tables.local(filled).blank() {
            let number = if blank == Blank::Ticket { 0 } else { *self.tally_range().start() };
            filled = self.tables.filled(filled, number)?;
        }
        Ok(filled)
    }

    /// Executes a process, and tests that it does the same for all numbers in place of what is forgotten. If it does not, nothing of
    /// such a local state is forgotten from then on.
    pub(super) fn executed_despite_forgotten(&mut self, local: u32, side: Side, on: On) -> Result<Symbolic, Stop> {
        if self.tables.local(local).blank().is_none() {
            return self.executed(local, side, on);
        }
        let filled = self.filled(local)?;
        match self.executed(filled, side, on) {
            Err(Stop::Stale) => return Err(Stop::Stale),
            Ok(found) if self.is_same_despite_forgotten(local, side, on, &found)? => return Ok(found),
            _ => {}
        }
        self.dead.words.remove(&self.tables.local(local).shape());
        self.dead.forgotten.clear();
        // They lead to local states in which something else is forgotten.
        self.looks.clear();
        self.steps.clear();
        self.settled.clear();
        Err(Stop::Stale)
    }

    /// Takes all words for dead that have tickets or tallies.
    #[cfg(test)]
    pub(super) fn suppose_all_dead(&mut self) {
        self.dead.words.values_mut().flatten().for_each(|dead| *dead = true);
        self.dead.forgotten.clear();
    }

    /// Whether a step is `found` for everything that was forgotten: for each ticket at every position among those that the process
    /// sees, and for each tally that its comparisons tell apart. All of them are executed with the tests of any other step, so
    /// there are no further ones for which it might differ.
    fn is_same_despite_forgotten(&mut self, local: u32, side: Side, on: On, found: &Symbolic) -> Result<bool, Stop> {
        let Local { section, ref history, tickets: known, .. } = *self.tables.local(local);
        let kind = on.and_then(|(slot, _)| slot).map(|slot| self.slots[slot].kind);
        let read = match (kind, on) {
            (Some(kind), Some((_, word))) => tickets::of(kind, word).map_err(|fault| self.fault(local, fault))?,
            _ => TicketSet::EMPTY,
        };
        let seen = known.union(read).with_zero();
        let dead = self.dead.words.get(&Local::new(found.section, &found.history).shape()).cloned();
        let is_dead = |at: usize| dead.as_ref().is_some_and(|dead| dead[at]);
        let mut left = vec![Filling { history: history.to_vec(), seen, all: seen }];
        let mut executed = 0;
        while let Some(filling) = left.pop() {
            // The number of a forgotten ticket must not be that of another one.
            if filling.all.largest() + 2 * self.tables.wide >= FORGOTTEN {
                return Ok(false);
            }
            if let Some(more) = filling.filled(self.tables.wide, self.tally_range()) {
                left.extend(more);
                continue;
            }
            executed += 1;
            if executed > MOST_EXECUTED {
                return Ok(false);
            }
            let numbering = Numbering::between(seen, filling.seen);
            let on = on.map(|(slot, word)| (slot, kind.map_or(word, |kind| numbering.apply_to(kind, word))));
            let filled = self.tables.local_id(section, &filling.history)?;
            let other = match self.executed(filled, side, on) {
                Ok(other) => other,
                Err(Stop::Stale) => return Err(Stop::Stale),
                Err(_) => return Ok(false),
            };
            let control = |of: &Symbolic| (of.section, of.turn, of.op, of.target, of.history.len());
            let is_same_word = |at: usize| {
                let (found, other) = (&found.history[at], &other.history[at]);
                let expected = numbering.apply_with_next(found.word.kind, found.word.bits);
                let expected = expected.map(|bits| Entry { word: Word { bits, ..found.word }, ..*found });
                expected.is_some_and(|expected| other.is(&expected))
                    || is_dead(at) && other.forgotten().is(&found.forgotten())
            };
            let is_same_written =
                kind.is_none_or(|kind| numbering.apply_with_next(kind, found.written) == Some(other.written));
            if control(&other) != control(found) || !is_same_written || !(0..other.history.len()).all(is_same_word) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The numbers of a tally that stand for all: from below the smallest constant to above the largest.
    pub(super) fn tally_range(&self) -> std::ops::RangeInclusive<i64> {
        self.questions.constants.map_or(0..=0, |(least, most)| least - 1..=most + 1)
    }
}

/// A local state with numbers in place of some of what was forgotten.
struct Filling {
    history: Vec<Entry>,
    /// The tickets that the process sees, renumbered; and with those that were filled in.
    seen: TicketSet,
    all: TicketSet,
}

impl Filling {
    /// The same with each number in place of the next thing that is forgotten; none if nothing is.
    fn filled(&self, wide: u32, tallies: std::ops::RangeInclusive<i64>) -> Option<Vec<Filling>> {
        let (at, blank) = self.history.iter().enumerate().find_map(|(at, entry)| Some((at, entry.blank()?)))?;
        let filled = |mut history: Vec<Entry>, number: i64| {
            history[at] = history[at].filled(number);
            history
        };
        if blank == Blank::Tally {
            let with = |number| Filling { history: filled(self.history.clone(), number), ..*self };
            return Some(tallies.map(with).collect());
        }
        let with = |(closing, number): (Closing, u32)| {
            let all = closing.image(self.all);
            let numbering = Numbering::between(self.all, all);
            let renumber =
                |entry: &Entry| Entry { word: Word { bits: numbering.apply(&entry.word), ..entry.word }, ..*entry };
            let history = self.history.iter().map(renumber).collect();
            Filling { history: filled(history, number.into()), seen: closing.image(self.seen), all: all.with(number) }
        };
        Some(Closing::around_any(self.all, wide).into_iter().map(with).collect())
    }
}

/// A step, or what a process does until its first access in a turn of a loop.
pub(super) struct Executed {
    pub(super) local: u32,
    pub(super) side: Side,
    pub(super) on: On,
    pub(super) to: u32,
}
