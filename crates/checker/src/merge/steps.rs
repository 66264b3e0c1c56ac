//! The steps of processes, without the numbers of tickets.
//!
//! A *shape* is the content of a field of a state, a local state or a register's value, without the numbers of its tickets; these
//! are its *slots*. Steps are learnt as the search meets them: for each shape of a local state, and of the register that
//! the process accesses, there are a few cases, each with a guard.
use std::rc::Rc;

use doorway_memory::{Name, Pid, Ticket, Value};
use rustc_hash::FxHashMap;

use super::{
    Refused,
    bounds::AtMost,
    facts::Slot,
    symbolic::{Above, Executed, execute},
};
use crate::{
    access::Op,
    automaton::{UNLIMITED, growing, look, run},
    model::Model,
    program::{Program, Section},
    registers::{Kind, Register},
    tickets,
    view::{What, Word},
};

/// A number that every kind of value can have in place of a ticket.
const ANY: u64 = 1;

/// The contents of one field, without the numbers of their tickets.
#[derive(Default)]
pub(super) struct Shapes {
    ids: FxHashMap<Box<[u64]>, u32>,
    /// For each shape the least number of each of its slots.
    least: Vec<Box<[i32]>>,
}

impl Shapes {
    /// The number of a shape, if it is known.
    fn known(&self, key: &[u64]) -> Option<u32> {
        self.ids.get(key).copied()
    }

    fn id(&mut self, key: Box<[u64]>, least: impl FnOnce() -> Box<[i32]>) -> u32 {
        let next = self.ids.len() as u32;
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.least.push(least());
        }
        id
    }

    pub(super) fn least(&self, shape: u32) -> &[i32] {
        &self.least[shape as usize]
    }
}

/// A word without its tickets.
fn blank(kind: Kind, word: u64) -> u64 {
    (kind.renumber)(word, &mut |_| Ticket::of_word(ANY))
}

/// A word with these tickets.
fn fill(kind: Kind, word: u64, numbers: &mut impl Iterator<Item = u64>) -> u64 {
    (kind.renumber)(word, &mut |_| Ticket::of_word(numbers.next().unwrap_or(ANY)))
}

fn fill_history(history: &[Word], numbers: &mut impl Iterator<Item = u64>) -> Vec<Word> {
    history.iter().map(|word| Word { bits: fill(word.kind, word.bits, numbers), ..*word }).collect()
}

/// The tickets of a word.
fn numbers_in(kind: Kind, word: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    tickets::collect(kind, word, &mut numbers);
    numbers
}

/// The tickets of a history.
pub(super) fn numbers_of(history: &[Word]) -> Vec<u64> {
    history.iter().flat_map(|word| numbers_in(word.kind, word.bits)).collect()
}

/// The least number that each slot of a word can have.
fn least_in(kind: Kind, word: u64) -> Vec<i32> {
    let zeros = fill(kind, blank(kind, word), &mut std::iter::repeat(0));
    numbers_in(kind, zeros).into_iter().map(|number| i32::from(number != 0)).collect()
}

/// What two local states of the same shape have in common.
pub(super) fn local_key(section: Section, passages: u32, history: &[Word]) -> Box<[u64]> {
    let what = |what| match what {
        What::Continued => 0,
        What::Broken => 1,
        What::Saved => 2,
        What::Access(op, reg) => 3 + (op as u64) + (u64::from(reg) << 8),
    };
    let words = history.iter().flat_map(|word| [what(word.what), blank(word.kind, word.bits)]);
    std::iter::once(u64::from(passages) << 8 | section as u64).chain(words).collect()
}

/// What a process does next, whatever the register that it accesses holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// Nothing any more.
    Nothing,
    /// A step that does not depend on a register.
    Alone,
    /// A step that depends on what this register holds.
    Reads(usize),
}

/// What a step changes.
pub(super) struct Effect {
    /// The new local state, and what its slots are among those of the old local state and of the register that was read.
    pub(super) local: u32,
    pub(super) slots: Vec<Above>,
    /// The same for the register that is written.
    pub(super) written: Option<(usize, u32, Vec<Above>)>,
}

/// What a step does if its guard is fulfilled. Slots are those of the local state, and then those of the register that is read;
/// the first is zero.
pub(super) struct Case<T> {
    pub(super) guard: Vec<(AtMost, bool)>,
    pub(super) then: T,
}

type Cases<T> = Vec<Rc<Case<T>>>;

fn known<T>(cases: &Cases<T>, numbers: &[i32]) -> Option<Rc<Case<T>>> {
    let applies = |case: &&Rc<Case<T>>| case.guard.iter().all(|(what, holds)| what.holds(numbers) == *holds);
    cases.iter().find(applies).cloned()
}

/// A local state without its tickets.
struct Local {
    section: Section,
    passages: u32,
    history: Box<[Word]>,
    next: Cases<Next>,
    /// By the register that is read, and its shape.
    steps: FxHashMap<Option<(usize, u32)>, Cases<Effect>>,
    aborts: Cases<Effect>,
}

/// The processes and registers, as far as they are known.
pub(super) struct Steps<'a> {
    program: &'a dyn Program,
    pub(super) model: &'a Model,
    pub(super) registers: Vec<Register>,
    locals: Vec<Vec<Local>>,
    /// For each register and shape a value of that shape.
    words: Vec<Vec<u64>>,
    /// Of the local states of each process, and then of the values of each register.
    pub(super) shapes: Vec<Shapes>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(program: &'a dyn Program, registers: Vec<Register>, model: &'a Model) -> Steps<'a> {
        Steps {
            program,
            model,
            locals: model.processes().map(|_| Vec::new()).collect(),
            words: registers.iter().map(|_| Vec::new()).collect(),
            shapes: (0..model.n + registers.len()).map(|_| Shapes::default()).collect(),
            registers,
        }
    }

    /// The contents of all fields at the start: their shapes, and their tickets.
    pub(super) fn start(&mut self) -> Vec<(u32, Vec<u64>)> {
        let passages = self.model.passages.unwrap_or(UNLIMITED);
        let locals = self.model.processes().map(|p| (self.local(p, Section::Remainder, passages, &[]), Vec::new()));
        let mut start: Vec<(u32, Vec<u64>)> = locals.collect();
        for reg in 0..self.registers.len() {
            let Register { init, kind, .. } = self.registers[reg];
            start.push((self.value(reg, init), numbers_in(kind, init)));
        }
        start
    }

    /// A register that has held many values besides tickets, and their number.
    pub(super) fn growing(&self) -> Option<(Name, usize)> {
        growing(&self.registers, self.words.iter().map(Vec::len))
    }

    /// The shape of a local state.
    fn local(&mut self, p: Pid, section: Section, passages: u32, history: &[Word]) -> u32 {
        let least = || history.iter().flat_map(|word| least_in(word.kind, word.bits)).collect();
        let id = self.shapes[p].id(local_key(section, passages, history), least);
        if id as usize == self.locals[p].len() {
            let blanked = history.iter().map(|word| Word { bits: blank(word.kind, word.bits), ..*word });
            self.locals[p].push(Local {
                section,
                passages,
                history: blanked.collect(),
                next: Vec::new(),
                steps: FxHashMap::default(),
                aborts: Vec::new(),
            });
        }
        id
    }

    /// The shape of a register's value.
    fn value(&mut self, reg: usize, word: u64) -> u32 {
        let kind = self.registers[reg].kind;
        let blanked = blank(kind, word);
        let id = self.shapes[self.model.n + reg].id([blanked].into(), || least_in(kind, word).into());
        if id as usize == self.words[reg].len() {
            self.words[reg].push(blanked);
        }
        id
    }

    /// A local state of a shape, with these tickets.
    pub(super) fn local_with(&self, p: Pid, shape: u32, numbers: &[i32]) -> (Section, u32, Vec<Word>) {
        let Local { section, passages, history, .. } = &self.locals[p][shape as usize];
        (*section, *passages, fill_history(history, &mut as_words(numbers)))
    }

    /// A value of a shape, with these tickets.
    pub(super) fn value_with(&self, reg: usize, shape: u32, numbers: &[i32]) -> u64 {
        fill(self.registers[reg].kind, self.words[reg][shape as usize], &mut as_words(numbers))
    }

    /// What a process does next. `numbers` are zero and those of its local state.
    pub(super) fn next(&mut self, p: Pid, shape: u32, numbers: &[i32]) -> Result<Rc<Case<Next>>, Refused> {
        let Local { section, passages, history, next, .. } = &self.locals[p][shape as usize];
        if let Some(case) = known(next, numbers) {
            return Ok(case);
        }
        let (program, setting, section) = (self.program, self.model.setting(), *section);
        let case = if !program.goes_on(section) || program.begins(section) && *passages == 0 {
            Case { guard: Vec::new(), then: Next::Nothing }
        } else {
            let Executed { guard, result, .. } = execute(numbers, &self.least(p, shape, None)?, &mut |numbers| {
                let history = fill_history(history, &mut numbers[1..].iter().copied());
                let (access, _) = look(program, p, section, history, setting)?;
                let next = match access {
                    Some(access) if !access.op.is_fence() && access.op != Op::Write => Next::Reads(access.reg as usize),
                    _ => Next::Alone,
                };
                Ok((next, Vec::new()))
            })?;
            Case { guard, then: result }
        };
        Ok(learn(&mut self.locals[p][shape as usize].next, case))
    }

    /// The step of a process that reads this register, of this shape, or none. `numbers` are zero, those of its local state, and
    /// those of the register.
    pub(super) fn step(
        &mut self,
        (p, shape): (Pid, u32),
        read: Option<(usize, u32)>,
        numbers: &[i32],
    ) -> Result<Rc<Case<Effect>>, Refused> {
        let Local { section, passages, history, steps, .. } = &self.locals[p][shape as usize];
        if let Some(case) = steps.get(&read).and_then(|cases| known(cases, numbers)) {
            return Ok(case);
        }
        let (program, setting, registers) = (self.program, self.model.setting(), &self.registers);
        let word = read.map(|(reg, shape)| (registers[reg].kind, self.words[reg][shape as usize]));
        let run = |numbers: &[u64]| {
            let mut numbers = numbers[1..].iter().copied();
            let history = fill_history(history, &mut numbers);
            let word = word.map_or(0, |(kind, word)| fill(kind, word, &mut numbers));
            run(program, p, *section, *passages, history, setting, word)
        };
        let executed = execute(numbers, &self.least(p, shape, read)?, &mut |numbers| {
            let ran = run(numbers)?;
            let key = local_key(ran.section, ran.passages, &ran.history);
            let mut made = numbers_of(&ran.history);
            let written = ran.access.and_then(|access| access.register()).map(|reg| (reg, registers[reg].kind));
            made.extend(written.iter().flat_map(|(_, kind)| numbers_in(*kind, ran.written)));
            let result = (key, written.map(|(reg, kind)| (reg, blank(kind, ran.written))));
            Ok((result, made))
        })?;
        let ran = run(&as_words(numbers).collect::<Vec<u64>>())?;
        let local = self.local(p, ran.section, ran.passages, &ran.history);
        let (slots, made) = executed.made.split_at(self.shapes[p].least(local).len());
        let written = executed.result.1.map(|(reg, word)| (reg, self.value(reg, word), made.to_vec()));
        let case = Case { guard: executed.guard, then: Effect { local, slots: slots.to_vec(), written } };
        Ok(learn(self.locals[p][shape as usize].steps.entry(read).or_default(), case))
    }

    /// The abort of a process, if it may abort. `numbers` are zero and those of its local state.
    pub(super) fn abort(&mut self, p: Pid, shape: u32, numbers: &[i32]) -> Result<Option<Rc<Case<Effect>>>, Refused> {
        let Local { section, passages, history, aborts, .. } = &self.locals[p][shape as usize];
        if !self.model.aborts || *section != Section::Wait {
            return Ok(None);
        }
        if let Some(case) = known(aborts, numbers) {
            return Ok(Some(case));
        }
        let (program, passages) = (self.program, *passages);
        let place = |numbers: &[u64]| program.place(&fill_history(history, &mut numbers[1..].iter().copied()));
        let executed = execute(numbers, &self.least(p, shape, None)?, &mut |numbers| {
            let place = place(numbers);
            Ok((local_key(Section::Abort, passages, &place), numbers_of(&place)))
        })?;
        let place = place(&as_words(numbers).collect::<Vec<u64>>());
        let local = self.local(p, Section::Abort, passages, &place);
        let case = Case { guard: executed.guard, then: Effect { local, slots: executed.made, written: None } };
        Ok(Some(learn(&mut self.locals[p][shape as usize].aborts, case)))
    }

    /// The local state of a process after its death, if that is another one.
    pub(super) fn death(&mut self, p: Pid, shape: u32) -> Option<Rc<Case<Effect>>> {
        let Local { section, passages, .. } = self.locals[p][shape as usize];
        let is_mortal = self.model.deaths && !section.is_expired();
        let local = is_mortal.then(|| self.local(p, Section::Reap, passages, &[])).filter(|&local| local != shape)?;
        Some(Rc::new(Case { guard: Vec::new(), then: Effect { local, slots: Vec::new(), written: None } }))
    }

    /// The least numbers of zero, of a local state, and of the register that is read.
    fn least(&self, p: Pid, shape: u32, read: Option<(usize, u32)>) -> Result<Vec<i32>, Refused> {
        let read = read.map_or(&[][..], |(reg, shape)| self.shapes[self.model.n + reg].least(shape));
        let mine = self.shapes[p].least(shape);
        let has_room = mine.len().max(read.len()) <= Slot::MOST;
        has_room.then(|| [&[0][..], mine, read].concat()).ok_or(Refused::Arithmetic)
    }

    /// The shape of a local state, and its tickets; none if there is no such shape.
    pub(super) fn known_local(shapes: &Shapes, section: Section, passages: u32, history: &[Word]) -> Option<Content> {
        Some((shapes.known(&local_key(section, passages, history))?, as_numbers(&numbers_of(history))))
    }

    /// The same for a register's value.
    pub(super) fn known_value(shapes: &Shapes, kind: Kind, word: u64) -> Option<Content> {
        Some((shapes.known(&[blank(kind, word)])?, as_numbers(&numbers_in(kind, word))))
    }
}

/// A shape and the numbers of its slots.
pub(crate) type Content = (u32, Box<[i32]>);

fn learn<T>(cases: &mut Cases<T>, case: Case<T>) -> Rc<Case<T>> {
    let case = Rc::new(case);
    cases.push(case.clone());
    case
}

fn as_words(numbers: &[i32]) -> impl Iterator<Item = u64> + '_ {
    numbers.iter().map(|&number| number as u64)
}

/// Tickets as numbers that can be subtracted. A search does not live to see one that is too large.
pub(super) fn as_numbers(tickets: &[u64]) -> Box<[i32]> {
    tickets.iter().map(|&number| i32::try_from(number).unwrap_or(i32::MAX / 8)).collect()
}
