//! Splitting classes until they have the facts they need.
use std::{collections::VecDeque, rc::Rc};

use doorway_memory::Pid;
use rustc_hash::FxHashMap;

use super::{
    Classes, Filled, Node, Questions, Refused, Unmerged,
    bounds::{AtMost, Bounds},
    facts::{Fact, Facts, Question, Slot, State},
    steps::{Case, Effect, Next, Steps, as_numbers},
    symbolic::Above,
};
use crate::{
    progress::{Phase, Progress},
    search::Stop,
};

/// The number of classes looked at between two looks at the limits.
const PERIOD: u64 = 1 << 12;

/// A class of states.
struct Class {
    /// A state of the class that an execution reaches: the shapes of its fields, and all tickets. Empty if the class was split.
    shapes: Box<[u32]>,
    numbers: Box<[i32]>,
    /// The facts that its states have in common.
    facts: Box<[u32]>,
    /// Where it is among the questions.
    leaf: u32,
    /// The classes from which a step of the state leads here, or has led.
    before: Vec<u32>,
    is_queued: bool,
}

impl Class {
    fn is_split(&self) -> bool {
        self.shapes.is_empty()
    }

    fn bytes(&self) -> usize {
        size_of::<Class>() + 4 * (self.shapes.len() + self.numbers.len() + self.facts.len() + self.before.capacity())
    }
}

/// The state of a class, unpacked.
#[derive(Default)]
struct Unpacked {
    shapes: Vec<u32>,
    numbers: Vec<Vec<i32>>,
}

impl Unpacked {
    /// Replaces the contents of some fields, and returns what these held.
    fn replace(&mut self, contents: Vec<(usize, u32, Vec<i32>)>) -> Vec<(usize, u32, Vec<i32>)> {
        let replace = |(field, shape, numbers): (usize, u32, Vec<i32>)| {
            let shape = std::mem::replace(&mut self.shapes[field], shape);
            (field, shape, std::mem::replace(&mut self.numbers[field], numbers))
        };
        contents.into_iter().map(replace).collect()
    }
}

impl State for Unpacked {
    fn shape(&self, field: usize) -> u32 {
        self.shapes[field]
    }

    fn number(&self, field: usize, slot: usize) -> i32 {
        self.numbers[field][slot]
    }
}

/// The facts of a class while it is looked at, and what it needs besides.
struct Needed {
    class: u32,
    /// What is known of its tickets, if that was asked for.
    bounds: Option<Bounds>,
    /// The facts that it does not have.
    more: Vec<u32>,
}

pub(super) struct Merger<'a> {
    steps: Steps<'a>,
    n: usize,
    questions: Questions,
    facts: Facts,
    /// For each fact when it was last known of the class that is looked at.
    known_at: Vec<u64>,
    classes: Vec<Class>,
    /// Those that were not split.
    live: u64,
    /// The classes to look at: those that lead to one that was split, and then new ones.
    again: VecDeque<u32>,
    new: VecDeque<u32>,
    /// How many classes were looked at.
    looked_at: u64,
    bytes: usize,
}

impl<'a> Merger<'a> {
    pub(super) fn new(steps: Steps<'a>) -> Merger<'a> {
        Merger {
            n: steps.model.n,
            steps,
            questions: Questions::default(),
            facts: Facts::default(),
            known_at: Vec::new(),
            classes: Vec::new(),
            live: 0,
            again: VecDeque::new(),
            new: VecDeque::new(),
            looked_at: 0,
            bytes: 0,
        }
    }

    /// How far it has come. The bytes are a rough figure.
    pub(super) fn unmerged(&self) -> Unmerged {
        let tables = 48 * self.questions.nodes.len() + 64 * (self.questions.first.len() + self.facts.len());
        Unmerged { classes: self.live, bytes: self.bytes + tables, growing: self.steps.growing() }
    }

    /// Finds all classes.
    pub(super) fn run(&mut self) -> Result<(), Refused> {
        let (shapes, tickets): (Vec<u32>, Vec<Vec<u64>>) = self.steps.start().into_iter().unzip();
        let numbers = tickets.iter().map(|tickets| as_numbers(tickets).into()).collect();
        self.class_of(&Unpacked { shapes, numbers });
        let mut state = Unpacked::default();
        while let Some(class) = self.again.pop_front().or_else(|| self.new.pop_front()) {
            self.classes[class as usize].is_queued = false;
            if !self.classes[class as usize].is_split() {
                self.look_at(class, &mut state)?;
            }
            if self.looked_at.is_multiple_of(PERIOD) {
                self.report()?;
            }
        }
        self.report()
    }

    /// Reports progress, and ends the work if a limit of the model is reached.
    fn report(&self) -> Result<(), Refused> {
        let model = self.steps.model;
        let Unmerged { classes, bytes, growing } = self.unmerged();
        let bytes = bytes as u64;
        if let Some(observer) = &model.observer {
            observer.progress(&Progress { phase: Phase::Merging, states: classes, depth: 0, bytes, growing });
        }
        match () {
            () if model.cancelled() => Err(Refused::Stopped(Stop::Cancelled)),
            () if model.max_states.is_some_and(|max| classes >= max) => Err(Refused::Stopped(Stop::States)),
            () if model.max_memory.is_some_and(|max| bytes > max) => Err(Refused::Stopped(Stop::Memory)),
            () => Ok(()),
        }
    }

    /// Adds the facts that a class needs. If it does not have one, the class is split.
    fn look_at(&mut self, class: u32, state: &mut Unpacked) -> Result<(), Refused> {
        self.looked_at += 1;
        self.unpack(class, state);
        self.known_at.resize(self.facts.len(), 0);
        for &fact in &self.classes[class as usize].facts {
            self.known_at[fact as usize] = self.looked_at;
        }
        let mut needed = Needed { class, bounds: None, more: Vec::new() };
        let mut targets = Vec::new();
        for p in 0..self.n {
            let mine = [&[0][..], &state.numbers[p]].concat();
            let next = self.steps.next(p, state.shapes[p], &mine)?;
            let local = Seen { n: self.n, p, locals: mine.len(), read: None };
            self.need_guard(&mut needed, &next.guard, local, state);
            if next.then != Next::Nothing {
                let read = match next.then {
                    Next::Reads(reg) => Some((reg, state.shapes[self.n + reg])),
                    _ => None,
                };
                let mut seen = mine.clone();
                if let Some((reg, shape)) = read {
                    seen.extend(&state.numbers[self.n + reg]);
                    self.need(&mut needed, Fact::content(reg, shape), state);
                }
                let step = self.steps.step((p, state.shapes[p]), read, &seen)?;
                let slots = Seen { read: read.map(|(reg, _)| reg), ..local };
                targets.push(self.follow(&mut needed, &step, slots, &seen, state));
            }
            let abort = self.steps.abort(p, state.shapes[p], &mine)?;
            for interruption in abort.into_iter().chain(self.steps.death(p, state.shapes[p])) {
                targets.push(self.follow(&mut needed, &interruption, local, &mine, state));
            }
        }
        let class = if needed.more.is_empty() { class } else { self.split(needed, &targets) };
        for target in targets {
            let target = &mut self.classes[target as usize];
            if !target.is_split() && target.before.last() != Some(&class) {
                let capacity = target.before.capacity();
                target.before.push(class);
                self.bytes += 4 * (target.before.capacity() - capacity);
            }
        }
        Ok(())
    }

    /// Takes a step that sees these numbers, and returns the class to which it leads. The class that is looked at needs the facts
    /// on which the step depends, and those that the other class needs.
    fn follow(
        &mut self,
        needed: &mut Needed,
        step: &Rc<Case<Effect>>,
        seen: Seen,
        numbers: &[i32],
        state: &mut Unpacked,
    ) -> u32 {
        self.need_guard(needed, &step.guard, seen, state);
        let Effect { local, slots, written } = &step.then;
        let made = |slots: &[Above]| slots.iter().map(|above| numbers[above.slot] + above.by).collect();
        let mut changed = vec![(seen.p, *local, slots)];
        changed.extend(written.iter().map(|(reg, shape, slots)| (self.n + reg, *shape, slots)));
        let after = changed.iter().map(|&(field, shape, slots)| (field, shape, made(slots))).collect();
        let before = state.replace(after);
        let target = self.class_of(state);
        state.replace(before);
        let was = |slot: Slot| match slot.place() {
            None => (Slot::ZERO, 0),
            Some((field, at)) => match changed.iter().find(|(changed, ..)| *changed == field) {
                Some((.., slots)) => (seen.slot(slots[at].slot), slots[at].by),
                None => (slot, 0),
            },
        };
        for i in 0..self.classes[target as usize].facts.len() {
            let id = self.classes[target as usize].facts[i];
            let Fact { question, answer } = self.facts.get(id);
            match question {
                Question::Content(reg) if written.as_ref().is_some_and(|(written, ..)| *written == reg as usize) => {}
                Question::Content(_) => self.need_known(needed, id, state),
                Question::AtMost(AtMost { x, y, c }) => {
                    let before @ [(was_x, x_by), (was_y, y_by)] = [was(x), was(y)];
                    if before == [(x, 0), (y, 0)] {
                        self.need_known(needed, id, state);
                        continue;
                    }
                    let what = AtMost { x: was_x, y: was_y, c: c - x_by + y_by };
                    if let Some(fact) = Fact::at_most(what, answer == 1) {
                        self.need(needed, fact, state);
                    }
                }
            }
        }
        target
    }

    fn need_guard(&mut self, needed: &mut Needed, guard: &[(AtMost, bool)], seen: Seen, state: &Unpacked) {
        for &(AtMost { x, y, c }, holds) in guard {
            if let Some(fact) = Fact::at_most(AtMost { x: seen.slot(x), y: seen.slot(y), c }, holds) {
                self.need(needed, fact, state);
            }
        }
    }

    /// A class needs a fact: it is added to those it needs, unless it follows from what is known of the class.
    fn need(&mut self, needed: &mut Needed, fact: Fact, state: &Unpacked) {
        let id = self.facts.id(fact);
        self.need_known(needed, id, state);
    }

    /// As [`need`](Self::need), given the number of the fact.
    fn need_known(&mut self, needed: &mut Needed, id: u32, state: &Unpacked) {
        if self.known_at.len() < self.facts.len() {
            self.known_at.resize(self.facts.len(), 0);
        }
        if std::mem::replace(&mut self.known_at[id as usize], self.looked_at) == self.looked_at {
            return;
        }
        let fact = self.facts.get(id);
        debug_assert_eq!(fact.question.answer(self.n, state), fact.answer, "a fact of the class's own state");
        if let Question::AtMost(what) = fact.question {
            let (facts, class) = (&self.facts, &self.classes[needed.class as usize]);
            let known = || class.facts.iter().chain(&needed.more).map(|&known| facts.get(known));
            let starts = starts(state);
            let bounds = needed.bounds.get_or_insert_with(|| bounds(&self.steps, state, &starts, known()));
            let what = in_list(&starts, what);
            if bounds.decide(what).is_some() {
                return;
            }
            bounds.add(what, fact.answer == 1);
        }
        needed.more.push(id);
    }

    /// Splits a class by facts that it needs, and returns the part that has them.
    fn split(&mut self, Needed { class, more, .. }: Needed, targets: &[u32]) -> u32 {
        let new = self.classes.len() as u32;
        self.bytes -= self.classes[class as usize].bytes();
        let old = &mut self.classes[class as usize];
        let [shapes, facts] = [&mut old.shapes, &mut old.facts].map(std::mem::take);
        let (numbers, before) = (std::mem::take(&mut old.numbers), std::mem::take(&mut old.before));
        let mut leaf = old.leaf;
        for &fact in &more {
            let Fact { question, answer } = self.facts.get(fact);
            let next = self.questions.nodes.len() as u32;
            self.questions.nodes[leaf as usize] = Node::asks(question);
            self.questions.nodes[leaf as usize].go_on(answer, next);
            self.questions.nodes.push(Node::Leaf(Some(new)));
            leaf = next;
        }
        let facts = [&facts[..], &more].concat().into();
        let leads_to_itself = targets.contains(&class);
        let part = Class { shapes, numbers, facts, leaf, before: Vec::new(), is_queued: leads_to_itself };
        self.bytes += part.bytes();
        self.classes.push(part);
        if leads_to_itself {
            self.again.push_back(new);
        }
        for class in before {
            let Class { is_queued, .. } = &mut self.classes[class as usize];
            if !std::mem::replace(is_queued, true) {
                self.again.push_back(class);
            }
        }
        new
    }

    /// The class of a state, a new one if need be.
    fn class_of(&mut self, state: &Unpacked) -> u32 {
        let first = self.questions.first(self.n, state).unwrap_or_else(|| {
            self.questions.first.insert(state.shapes[..self.n].into(), self.questions.nodes.len() as u32);
            self.questions.nodes.push(Node::Leaf(None));
            self.questions.nodes.len() as u32 - 1
        });
        let mut node = first;
        loop {
            let next = self.questions.nodes.len() as u32;
            let at = &mut self.questions.nodes[node as usize];
            let Some(question) = at.question() else {
                if let Some(class) = at.class() {
                    return class;
                }
                *at = Node::Leaf(Some(self.classes.len() as u32));
                break;
            };
            let answer = question.answer(self.n, state);
            node = match at.after(answer) {
                Some(node) => node,
                None => {
                    at.go_on(answer, next);
                    self.questions.nodes.push(Node::Leaf(None));
                    next
                }
            };
        }
        let class = Class {
            shapes: state.shapes.clone().into(),
            numbers: state.numbers.concat().into(),
            facts: self.answers(first, state),
            leaf: node,
            before: Vec::new(),
            is_queued: true,
        };
        self.bytes += class.bytes();
        self.live += 1;
        self.classes.push(class);
        let class = self.classes.len() as u32 - 1;
        self.new.push_back(class);
        class
    }

    /// The answers of a state to all questions from this one on.
    fn answers(&mut self, first: u32, state: &Unpacked) -> Box<[u32]> {
        let mut facts = Vec::new();
        let mut at = &self.questions.nodes[first as usize];
        while let Some(question) = at.question() {
            let answer = question.answer(self.n, state);
            facts.push(self.facts.id(Fact { question, answer }));
            let Some(next) = at.after(answer) else { break };
            at = &self.questions.nodes[next as usize];
        }
        facts.into()
    }

    fn unpack(&self, class: u32, state: &mut Unpacked) {
        let Class { shapes, numbers, .. } = &self.classes[class as usize];
        state.shapes.clear();
        state.shapes.extend_from_slice(shapes);
        state.numbers.resize_with(shapes.len(), Vec::new);
        let mut left = &numbers[..];
        for (field, &shape) in shapes.iter().enumerate() {
            let (first, others) = left.split_at(self.steps.shapes[field].least(shape).len());
            state.numbers[field].clear();
            state.numbers[field].extend_from_slice(first);
            left = others;
        }
    }

    /// The classes, each with the state that stands for it: registers of which nothing matters have their initial values, and
    /// tickets are as small as the facts allow.
    pub(super) fn into_classes(mut self) -> Classes {
        let fields = self.steps.shapes.len();
        let mut contents: Vec<Vec<Filled>> = (0..fields).map(|_| Vec::new()).collect();
        let mut ids: FxHashMap<(usize, u32, Box<[i32]>), u32> = FxHashMap::default();
        let mut members = Vec::new();
        let mut state = Unpacked::default();
        let mut next = 0;
        let all = std::mem::take(&mut self.classes);
        let start: Vec<u32> = self.steps.start().into_iter().map(|(shape, _)| shape).collect();
        for mut class in all {
            if class.is_split() {
                continue;
            }
            self.questions.nodes[class.leaf as usize] = Node::Leaf(Some(next));
            next += 1;
            let facts: Vec<Fact> = class.facts.iter().map(|&fact| self.facts.get(fact)).collect();
            let is_open = |reg: usize| !facts.iter().any(|fact| fact.question == Question::Content(reg as u32));
            let open: Vec<usize> = (self.n..fields).filter(|field| is_open(field - self.n)).collect();
            open.iter().for_each(|&field| class.shapes[field] = start[field]);
            state.shapes = class.shapes.into();
            state.numbers = (0..fields).map(|field| self.least(field, state.shapes[field])).collect();
            let starts = starts(&state);
            let numbers = bounds(&self.steps, &state, &starts, facts.into_iter()).least_numbers();
            for field in 0..fields {
                let (shape, from) = (state.shapes[field], starts[field]);
                let numbers: Box<[i32]> = numbers[from..from + state.numbers[field].len()].into();
                let id = *ids.entry((field, shape, numbers.clone())).or_insert_with(|| {
                    contents[field].push(match field.checked_sub(self.n) {
                        None => {
                            let (section, passages, history) = self.steps.local_with(field, shape, &numbers);
                            Filled::Local(section, passages, history)
                        }
                        Some(reg) => Filled::Value(self.steps.value_with(reg, shape, &numbers)),
                    });
                    contents[field].len() as u32 - 1
                });
                members.push(id);
            }
        }
        Classes { n: self.n, questions: self.questions, shapes: self.steps.shapes, contents, members }
    }

    fn least(&self, field: usize, shape: u32) -> Vec<i32> {
        self.steps.shapes[field].least(shape).to_vec()
    }
}

/// What a step sees: the slots of a local state, after zero, and then those of the register that is read.
#[derive(Clone, Copy)]
struct Seen {
    n: usize,
    p: Pid,
    /// One more than the slots of the local state.
    locals: usize,
    read: Option<usize>,
}

impl Seen {
    fn slot(self, at: usize) -> Slot {
        match (at, self.read) {
            (0, _) => Slot::ZERO,
            (at, Some(reg)) if at >= self.locals => Slot::new(self.n + reg, at - self.locals),
            (at, _) => Slot::new(self.p, at - 1),
        }
    }
}

/// For each field the position of its first ticket in a list of all, of which zero is the first.
fn starts(state: &Unpacked) -> Vec<usize> {
    let lengths = state.numbers.iter().map(Vec::len);
    lengths.scan(1, |next, len| Some(std::mem::replace(next, *next + len))).collect()
}

/// A question about tickets in such a list.
fn in_list(starts: &[usize], AtMost { x, y, c }: AtMost<Slot>) -> AtMost {
    let [x, y] = [x, y].map(|slot| slot.place().map_or(0, |(field, at)| starts[field] + at));
    AtMost { x, y, c }
}

/// What facts tell of the tickets of a state.
fn bounds(steps: &Steps<'_>, state: &Unpacked, starts: &[usize], facts: impl Iterator<Item = Fact>) -> Bounds {
    let least = state.shapes.iter().enumerate().flat_map(|(field, &shape)| steps.shapes[field].least(shape));
    let least: Vec<i32> = std::iter::once(&0).chain(least).copied().collect();
    let about_tickets = facts.filter_map(|Fact { question, answer }| match question {
        Question::AtMost(what) => Some((in_list(starts, what), answer == 1)),
        Question::Content(_) => None,
    });
    Bounds::of(&least, about_tickets)
}
