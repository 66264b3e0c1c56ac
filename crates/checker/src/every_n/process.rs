//! The steps of one process, for every number of processes and every process number at once.
//!
//! What a process does next depends on its local state, on the register that it accesses, on its own number and, in a loop over
//! all processes, on the number that the loop has come to. Of the two numbers only the order matters: each step is executed
//! for several numbers of processes and several such pairs of numbers, and has to be the same. So a step is known once it is
//! known for one of them.
//!
//! A loop over all processes pauses at each new turn. To which process it comes is not up to the process: the views know.
use rustc_hash::FxHashMap;

use super::{
    Stop,
    dead::{Dead, Executed},
    execution::Symbolic,
    registers::{self, Registers, Slot},
    tables::Tables,
};
use crate::{
    Subject,
    access::Op,
    automaton::broken,
    error::Fault,
    program::Section,
    view::{What, Word},
};

/// Where the loop of a process has come to, as seen from the process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Side {
    /// It is in no loop over the processes.
    Nowhere,
    /// At a process with a smaller number.
    Before,
    /// At the process itself.
    Itself,
    /// At a process with a larger number.
    After,
    /// Past all processes.
    End,
}

/// What becomes of a process's loop over all processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// It is in none.
    None,
    /// It is at the same process as before.
    Kept,
    /// It comes to the next process.
    Next,
    /// A loop begins: it comes to the first process.
    First,
}

/// The register that a process accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Nothing,
    Shared(usize),
    /// Its own one.
    Own(usize),
    /// The one of the process that its loop is at.
    Other(usize),
}

impl Target {
    pub(super) fn slot(self) -> Option<usize> {
        match self {
            Target::Nothing => None,
            Target::Shared(slot) | Target::Own(slot) | Target::Other(slot) => Some(slot),
        }
    }
}

/// The next access of a process.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) op: Option<Op>,
    pub(super) target: Target,
    pub(super) line: String,
}

/// The result of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) local: u32,
    pub(super) turn: Turn,
    /// What the register holds then.
    pub(super) written: u32,
}

/// A word of a history, with the register if it is the result of an access. The position of a loop over the processes is left
/// out: it is 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) word: Word,
    pub(super) target: Option<Target>,
}

impl Entry {
    pub(super) fn is(&self, other: &Entry) -> bool {
        let what = |entry: &Entry| match entry.word.what {
            What::Access(op, _) => (Some(op), What::Saved),
            what => (None, what),
        };
        (self.word.bits, what(self), self.target) == (other.word.bits, what(other), other.target)
    }
}

/// The register of a step, by its slot, and what it holds; none if the process is to stop before its step.
pub(super) type On = Option<(Option<usize>, u64)>;

/// An algorithm made for `n` processes.
pub(super) struct Instance {
    pub(super) n: usize,
    pub(super) subject: Subject,
    pub(super) registers: Registers,
}

/// What processes ask of registers whose values would grow with the number of processes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Questions {
    /// The smallest and the largest constant that a tally is compared with.
    pub(super) constants: Option<(i64, i64)>,
    /// The largest number of which a process has asked whether it is among the first of a queue.
    pub(super) asked: usize,
}

pub(super) struct Processes {
    pub(super) instances: Vec<Instance>,
    pub(super) slots: Vec<Slot>,
    pub(super) tables: Tables,
    pub(super) questions: Questions,
    pub(super) looks: FxHashMap<(u32, Side), Look>,
    pub(super) steps: FxHashMap<(u32, Side, u32), Done>,
    pub(super) settled: FxHashMap<(u32, Side), (u32, Turn)>,
    pub(super) dead: Dead,
    pub(super) has_queue: bool,
}

impl Processes {
    /// An algorithm, made for several numbers of processes. Steps are executed for the first of them, and compared with those
    /// for the others.
    pub(super) fn new(subjects: Vec<(usize, Subject)>, wide: u32) -> Result<Processes, Stop> {
        let (slots, all) = registers::of(&subjects).map_err(Stop::Refused)?;
        let has_queue = slots.iter().any(|slot| (slot.kind.queue)(slot.init).is_some());
        let tables = Tables::new(&slots, wide)?;
        let instances: Vec<Instance> =
            std::iter::zip(subjects, all).map(|((n, subject), registers)| Instance { n, subject, registers }).collect();
        let (looks, steps, settled) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        let questions = Questions::default();
        Ok(Processes { instances, slots, tables, questions, looks, steps, settled, dead: Dead::default(), has_queue })
    }

    /// The local states of a process before its first step, with what becomes of its loop.
    pub(super) fn initial(&mut self) -> Result<(u32, Turn), Stop> {
        let local = self.tables.local_id(Section::Remainder, &[])?;
        let Symbolic { section, history, turn, .. } = self.executed_initially()?;
        Ok((if turn == Turn::None { local } else { self.tables.local_id(section, &history)? }, turn))
    }

    pub(super) fn section(&self, local: u32) -> Section {
        self.tables.local(local).section
    }

    /// The next access.
    pub(super) fn look(&mut self, local: u32, side: Side) -> Result<Look, Stop> {
        if let Some(look) = self.looks.get(&(local, side)) {
            return Ok(look.clone());
        }
        let found = self.executed_despite_forgotten(local, side, None)?;
        let look = Look { op: found.op, target: found.target, line: found.line };
        self.looks.insert((local, side), look.clone());
        Ok(look)
    }

    /// A process whose loop has come to a process: the local state before its next access, and what becomes of its loop until
    /// then.
    pub(super) fn settle(&mut self, local: u32, side: Side) -> Result<(u32, Turn), Stop> {
        if let Some(&settled) = self.settled.get(&(local, side)) {
            return Ok(settled);
        }
        let found = self.executed_despite_forgotten(local, side, None)?;
        let before = self.section(local);
        let section = if found.section == before.begun() { before } else { found.section };
        if before != section && matches!(before, Section::Remainder | Section::Critical) {
            return Err(Stop::Refused(
                "a section may have no access, depending on the number of processes".to_string(),
            ));
        }
        let settled = (self.after(local, section, &found.history)?, found.turn);
        self.settled.insert((local, side), settled);
        Ok(settled)
    }

    /// A step, on a register that holds this value.
    pub(super) fn step(&mut self, local: u32, side: Side, target: Target, value: u32) -> Result<Done, Stop> {
        let slot = target.slot();
        if let Some(&done) = self.steps.get(&(local, side, value)) {
            return Ok(done);
        }
        let word = slot.map_or(0, |slot| self.tables.word(slot, value));
        let found = self.executed_despite_forgotten(local, side, Some((slot, word)))?;
        let written = match slot {
            Some(slot) => self.tables.value_id(slot, found.written)?,
            None => 0,
        };
        let done = Done { local: self.after(local, found.section, &found.history)?, turn: found.turn, written };
        self.steps.insert((local, side, value), done);
        Ok(done)
    }

    /// The local state that `before` leads to: if something was forgotten there, it still is.
    fn after(&mut self, before: u32, section: Section, history: &[Entry]) -> Result<u32, Stop> {
        let after = self.tables.local_id(section, history)?;
        if self.tables.local(before).blank().is_none() { Ok(after) } else { self.forget(after) }
    }

    /// All steps that were executed, and all beginnings of turns.
    pub(super) fn all_executed(&self) -> Vec<Executed> {
        let steps = self.steps.iter().map(|(&(local, side, value), done)| {
            let slot = self.looks.get(&(local, side)).and_then(|look| look.target.slot());
            let word = slot.map_or(0, |slot| self.tables.word(slot, value));
            Executed { local, side, on: Some((slot, word)), to: done.local }
        });
        let settled = self.settled.iter();
        let settled = settled.map(|(&(local, side), &(to, _))| Executed { local, side, on: None, to });
        steps.chain(settled).collect()
    }

    pub(super) fn fault(&self, local: u32, fault: Fault) -> Stop {
        Stop::Error(broken(0, (self.section(local), String::new()), fault))
    }
}
