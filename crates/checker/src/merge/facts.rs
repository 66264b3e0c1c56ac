//! Facts: what a class of states has in common besides the local states, and the questions that they answer.
use rustc_hash::FxHashMap;

use super::bounds::AtMost;

/// A ticket of a state: that in the given position of a field. Or the constant zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Slot(u32);

impl Slot {
    pub(super) const ZERO: Slot = Slot(u32::MAX);
    /// The most tickets of a field.
    pub(super) const MOST: usize = 1 << 8;

    pub(super) fn new(field: usize, at: usize) -> Slot {
        Slot((field << 8 | at) as u32)
    }

    /// The field and the position in it; none if it is the constant.
    pub(super) fn place(self) -> Option<(usize, usize)> {
        (self != Slot::ZERO).then_some((self.0 as usize >> 8, self.0 as usize & 0xff))
    }
}

/// What can be asked of a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Question {
    /// What does this register hold, but for its tickets?
    Content(u32),
    /// How do two tickets compare?
    AtMost(AtMost<Slot>),
}

/// A question and its answer: the shape of the register's content, or whether it is so.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Fact {
    pub(super) question: Question,
    pub(super) answer: u32,
}

/// Something that can be asked.
pub(super) trait State {
    fn shape(&self, field: usize) -> u32;
    fn number(&self, field: usize, slot: usize) -> i32;
}

impl Question {
    /// The answer of a state of n processes.
    pub(super) fn answer(self, n: usize, state: &impl State) -> u32 {
        let number = |slot: Slot| slot.place().map_or(0, |(field, at)| state.number(field, at));
        match self {
            Question::Content(reg) => state.shape(n + reg as usize),
            Question::AtMost(AtMost { x, y, c }) => (number(x) <= number(y).saturating_add(c)).into(),
        }
    }
}

impl Fact {
    pub(super) fn content(reg: usize, shape: u32) -> Fact {
        Fact { question: Question::Content(reg as u32), answer: shape }
    }

    /// That a ticket is at most another one plus a constant, or that it is not. None if it is the same ticket.
    pub(super) fn at_most(AtMost { x, y, c }: AtMost<Slot>, holds: bool) -> Option<Fact> {
        // One of the two ways to say it.
        let (what, holds) =
            if x < y { (AtMost { x, y, c }, holds) } else { (AtMost { x: y, y: x, c: -c - 1 }, !holds) };
        (x != y).then_some(Fact { question: Question::AtMost(what), answer: holds.into() })
    }
}

/// Every fact once, so that it can be named by a number.
#[derive(Default)]
pub(super) struct Facts {
    ids: FxHashMap<Fact, u32>,
    all: Vec<Fact>,
}

impl Facts {
    pub(super) fn id(&mut self, fact: Fact) -> u32 {
        let next = self.all.len() as u32;
        let id = *self.ids.entry(fact).or_insert(next);
        if id == next {
            self.all.push(fact);
        }
        id
    }

    pub(super) fn get(&self, id: u32) -> Fact {
        self.all[id as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}
