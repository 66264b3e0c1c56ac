//! The steps of one process, for every number of processes and every process number at once.
//!
//! What a process does next depends on its local state, on the register that it accesses, on its own number and, in a loop over
//! all processes, on the number that the loop has come to. Of the two numbers only the order matters: each step is executed
//! for several numbers of processes and several such pairs of numbers, and has to be the same. So a step is known once it is
//! known for one of them.
//!
//! A loop over all processes pauses at each new turn. To which process it comes is not up to the process: the views know.
use doorway_memory::{Index, Pid, Queue, Value, queue_questions, tally_comparisons, ticket_comparisons};
use rustc_hash::FxHashMap;

use super::{
    Stop,
    dead::{Dead, Executed},
    registers::{self, Place, Registers, Slot},
    tables::Tables,
};
use crate::{
    Subject,
    access::Op,
    automaton::{Advanced, advance, broken},
    error::Fault,
    program::Section,
    tickets::{self, Numbering, TicketSet},
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
struct Instance {
    n: usize,
    subject: Subject,
    registers: Registers,
}

/// One of the ways in which a step is executed: by which process of which instance, and where its loop is.
#[derive(Clone, Copy)]
struct Embedding {
    instance: usize,
    p: Pid,
    i: usize,
}

/// The result of executing a process, without process numbers.
pub(super) struct Symbolic {
    pub(super) section: Section,
    pub(super) history: Vec<Entry>,
    pub(super) turn: Turn,
    pub(super) op: Option<Op>,
    pub(super) target: Target,
    line: String,
    pub(super) written: u64,
}

impl Symbolic {
    fn is(&self, other: &Symbolic) -> bool {
        let same = |a: &Symbolic, b: &Symbolic| {
            (a.section, a.turn, a.op, a.target, a.written) == (b.section, b.turn, b.op, b.target, b.written)
        };
        same(self, other)
            && self.history.len() == other.history.len()
            && std::iter::zip(&self.history, &other.history).all(|(a, b)| a.is(b))
    }
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
    instances: Vec<Instance>,
    pub(super) slots: Vec<Slot>,
    pub(super) tables: Tables,
    pub(super) questions: Questions,
    pub(super) looks: FxHashMap<(u32, Side), Look>,
    pub(super) steps: FxHashMap<(u32, Side, u32), Done>,
    pub(super) settled: FxHashMap<(u32, Side), (u32, Turn)>,
    pub(super) dead: Dead,
    has_queue: bool,
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
        let mut found = self.everywhere(Side::Nowhere, |processes, at| {
            let history =
                Advanced { section: Section::Remainder, history: Vec::new(), access: None, written: 0, is_turn: false };
            processes.symbolic(at, Side::Nowhere, history)
        })?;
        let turn = found.turn;
        let history = std::mem::take(&mut found.history);
        Ok((if turn == Turn::None { local } else { self.tables.local_id(found.section, &history)? }, turn))
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

    /// Executes a process in all ways, with the tests that nothing but the order of tickets matters, and no process behind it in a
    /// queue.
    pub(super) fn executed(&mut self, local: u32, side: Side, on: On) -> Result<Symbolic, Stop> {
        let found = self.everywhere(side, |processes, at| processes.execute(at, side, local, on))?;
        self.check_tickets(local, side, on, &found)?;
        if let Some((slot, word)) = on {
            self.check_queue(local, side, slot, word, &found)?;
        }
        Ok(found)
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

    /// Executes a process in one of the ways, which all have the same result.
    pub(super) fn execute_anywhere(&self, side: Side, local: u32, history: &[Entry], on: On) -> Result<Symbolic, Stop> {
        let history = history.iter().map(|entry| entry.word).collect();
        self.execute_with(self.embeddings(side)[0], side, local, history, on)
    }

    /// Executes something in all ways, which must have the same result; notes what is asked meanwhile.
    fn everywhere(
        &mut self,
        side: Side,
        execute: impl Fn(&Processes, Embedding) -> Result<Symbolic, Stop>,
    ) -> Result<Symbolic, Stop> {
        let ways = self.embeddings(side);
        let first = ways[0];
        let ((found, asked), compared) = tally_comparisons(|| queue_questions(|| execute(self, first)));
        let found = found?;
        for way in &ways[1..] {
            if !execute(self, *way)?.is(&found) {
                let why = "its steps depend on the number of processes, or on more than the order of their numbers";
                return Err(Stop::Refused(why.to_string()));
            }
        }
        let before = self.questions.clone();
        for constant in compared {
            let Some(constant) = constant else {
                return Err(Stop::Refused("a tally is compared with another one".to_string()));
            };
            let (least, most) = self.questions.constants.unwrap_or((constant, constant));
            self.questions.constants = Some((least.min(constant), most.max(constant)));
        }
        for (p, k) in asked {
            if p != first.p {
                return Err(Stop::Refused("a process asks where another one is in the queue".to_string()));
            }
            self.questions.asked = self.questions.asked.max(k);
        }
        if self.questions == before { Ok(found) } else { Err(Stop::Stale) }
    }

    fn embeddings(&self, side: Side) -> Vec<Embedding> {
        let mut ways = Vec::new();
        for (instance, &Instance { n, .. }) in self.instances.iter().enumerate() {
            let last = n - 1;
            let pairs: Vec<(Pid, usize)> = match side {
                // Process 0 comes first: with a queue, the mover is called 0.
                Side::Nowhere => [0, n / 2, last].map(|p| (p, 0)).to_vec(),
                Side::Before => {
                    vec![(last, 0), (last, last - 1), (1, 0), (last / 2 + 1, last / 2), (n - n / 4 - 1, n / 4)]
                }
                Side::After => {
                    vec![(0, last), (last - 1, last), (0, 1), (last / 2, last / 2 + 1), (n / 4, n - n / 4 - 1)]
                }
                Side::Itself => [0, n / 2, last].map(|p| (p, p)).to_vec(),
                Side::End => [0, n / 2, last].map(|p| (p, n)).to_vec(),
            };
            let fits = |&(p, i): &(Pid, usize)| match side {
                Side::Before => i < p && p < n,
                Side::After => p < i && i < n,
                _ => true,
            };
            ways.extend(pairs.into_iter().filter(fits).map(|(p, i)| Embedding { instance, p, i }));
        }
        ways
    }

    /// Executes a process from a local state: to its next access or turn or, if there is a word, beyond the next access.
    fn execute(&self, at: Embedding, side: Side, local: u32, on: On) -> Result<Symbolic, Stop> {
        let history = self.tables.local(local).history.iter().map(|entry| entry.word).collect();
        self.execute_with(at, side, local, history, on)
    }

    /// The same, with other tickets in the history.
    fn execute_with(
        &self,
        at: Embedding,
        side: Side,
        local: u32,
        mut history: Vec<Word>,
        on: On,
    ) -> Result<Symbolic, Stop> {
        let Embedding { instance, p, i } = at;
        let Instance { n, subject, registers } = &self.instances[instance];
        let from = self.tables.local(local);
        for (word, entry) in std::iter::zip(&mut history, &from.history) {
            if let (What::Access(op, _), Some(target)) = (word.what, entry.target) {
                let reg = match target {
                    Target::Nothing => crate::access::NO_REGISTER,
                    Target::Shared(slot) => registers.numbers[slot][0],
                    Target::Own(slot) => registers.numbers[slot][p],
                    Target::Other(slot) => registers.numbers[slot][i],
                };
                word.what = What::Access(op, reg);
            }
        }
        if let Some(index) = from.index {
            history[index].bits = Index { at: i, of: *n }.to_word();
        }
        let rename = |word: u64| match on {
            Some((Some(slot), _)) if self.is_queue(slot) => renamed(word, |q| swap(q, p)),
            _ => word,
        };
        let word = on.map(|(_, word)| rename(word));
        let mut advanced = advance(&*subject.program, *n, p, from.section, history, word)?;
        advanced.written = rename(advanced.written);
        self.symbolic(at, side, advanced)
    }

    /// The result of an execution, without process numbers.
    fn symbolic(&self, at: Embedding, side: Side, mut advanced: Advanced) -> Result<Symbolic, Stop> {
        let Embedding { instance, p, i } = at;
        let Instance { n, subject, registers } = &self.instances[instance];
        if !advanced.is_turn && matches!(advanced.section, Section::Remainder | Section::Critical) {
            // The next section may begin with a loop; then it has to be known where that begins.
            let (section, history) = (advanced.section, advanced.history.clone());
            let next = advance(&*subject.program, *n, p, section, history, None)?;
            if next.is_turn {
                if next.section != section.begun() {
                    return Err(Stop::Refused("a loop over all processes begins before any access".to_string()));
                }
                (advanced.history, advanced.is_turn) = (next.history, true);
            }
        }
        let target = |reg: u32| {
            if reg == crate::access::NO_REGISTER {
                return Ok(Target::Nothing);
            }
            match registers.places[reg as usize] {
                Place { slot, owner: None } => Ok(Target::Shared(slot)),
                Place { slot, owner } if owner == Some(p) => Ok(Target::Own(slot)),
                Place { slot, owner } if owner == Some(i) && side != Side::Nowhere => Ok(Target::Other(slot)),
                _ => Err(Stop::Refused("a process accesses a register of another one than its loop is at".to_string())),
            }
        };
        let mut history = Vec::new();
        let mut position = None;
        for mut word in advanced.history {
            if let Some(index) = (word.kind.index)(word.bits).filter(|index| index.of == *n) {
                if position.replace(index.at).is_some() {
                    return Err(Stop::Refused("it has a loop over all processes within another one".to_string()));
                }
                word.bits = Index::first_of(0).to_word();
            }
            let target = if let What::Access(_, reg) = word.what { Some(target(reg)?) } else { None };
            history.push(Entry { word, target });
        }
        let turn = match position {
            None => Turn::None,
            Some(0) if advanced.is_turn => Turn::First,
            Some(now) if advanced.is_turn && now == i + 1 => Turn::Next,
            Some(now) if !advanced.is_turn && now == i => Turn::Kept,
            Some(_) => return Err(Stop::Refused("a loop over all processes goes on in another way".to_string())),
        };
        let access = advanced.access;
        Ok(Symbolic {
            section: advanced.section,
            history,
            turn,
            op: access.map(|access| access.op),
            target: access.map_or(Ok(Target::Nothing), |access| target(access.reg))?,
            line: access.map_or(String::new(), |access| access.line()),
            written: if access.is_some() { advanced.written } else { 0 },
        })
    }

    fn is_queue(&self, slot: usize) -> bool {
        self.has_queue && (self.slots[slot].kind.queue)(self.slots[slot].init).is_some()
    }

    /// Tests that a step does not depend on the processes behind the mover in the queue.
    fn check_queue(
        &self,
        local: u32,
        side: Side,
        slot: Option<usize>,
        word: u64,
        found: &Symbolic,
    ) -> Result<(), Stop> {
        if !slot.is_some_and(|slot| self.is_queue(slot)) {
            return Ok(());
        }
        let stranger = Queue::MOST - 1 - self.questions.asked;
        let longer = Queue::of_word(word).with(stranger).to_word();
        let mut more = self.execute(self.embeddings(side)[0], side, local, Some((slot, longer)))?;
        if !joins_or_leaves(word, found.written) || !joins_or_leaves(longer, more.written) {
            return Err(Stop::Refused(
                "a process does more to a queue than to join it at its end, or leave".to_string(),
            ));
        }
        more.written = Queue::of_word(more.written).without(stranger).to_word();
        if more.is(found) {
            return Ok(());
        }
        Err(Stop::Refused("what a process does depends on the processes behind it in the queue".to_string()))
    }

    /// Tests that a step does the same with wider gaps between its tickets, and that no comparison depends on their width: see
    /// the test of that name in `automaton/parametricity.rs`.
    fn check_tickets(&self, local: u32, side: Side, on: On, found: &Symbolic) -> Result<(), Stop> {
        const WIDER_BY: [u64; 2] = [1, 1 << 20];
        let from = self.tables.local(local);
        let slot = on.and_then(|(slot, _)| slot);
        let read = match on {
            Some((Some(slot), word)) => {
                tickets::of(self.slots[slot].kind, word).map_err(|fault| self.fault(local, fault))?
            }
            _ => TicketSet::EMPTY,
        };
        let seen = from.tickets.union(read);
        let mut made = Vec::new();
        found.history.iter().for_each(|entry| tickets::collect(entry.word.kind, entry.word.bits, &mut made));
        slot.iter().for_each(|&slot| tickets::collect(self.slots[slot].kind, found.written, &mut made));
        if seen.is_empty() && made.is_empty() {
            return Ok(());
        }
        let at = self.embeddings(side)[0];
        for by in WIDER_BY {
            let widened = Numbering::widening(seen, self.tables.wide, by);
            let history = from.history.iter().map(|e| Word { bits: widened.apply(&e.word), ..e.word }).collect();
            let widen = |(slot, word): (Option<usize>, u64)| {
                (slot, slot.map_or(word, |slot| widened.apply_to(self.slots[slot].kind, word)))
            };
            let (wide, compared) = ticket_comparisons(|| self.execute_with(at, side, local, history, on.map(widen)));
            let wide = wide?;
            let same_control = (wide.section, wide.turn, wide.op, wide.target)
                == (found.section, found.turn, found.op, found.target)
                && wide.history.len() == found.history.len();
            let same_history = std::iter::zip(&wide.history, &found.history).all(|(wide, found)| {
                let expected = widened.apply_with_next(found.word.kind, found.word.bits);
                expected.is_some_and(|bits| wide.is(&Entry { word: Word { bits, ..found.word }, ..*found }))
            });
            let same_written =
                slot.is_none_or(|s| widened.apply_with_next(self.slots[s].kind, found.written) == Some(wide.written));
            let alike = by == 1 || compared.iter().all(|(a, b)| widened.compares_alike(a.to_word(), b.to_word()));
            if !(same_control && same_history && same_written && alike) {
                return Err(self.fault(local, Fault::TicketArithmetic));
            }
        }
        Ok(())
    }

    pub(super) fn fault(&self, local: u32, fault: Fault) -> Stop {
        Stop::Error(broken(0, (self.section(local), String::new()), fault))
    }
}

/// Whether a queue is the same after a step of process 0, or process 0 has come to its end or left.
fn joins_or_leaves(before: u64, after: u64) -> bool {
    let before = Queue::of_word(before);
    [before, before.with(0), before.without(0)].iter().any(|queue| queue.to_word() == after)
}

/// Exchanges processes 0 and `other`.
fn swap(p: Pid, other: Pid) -> Pid {
    match p {
        0 => other,
        p if p == other => 0,
        p => p,
    }
}

fn renamed(queue: u64, new: impl Fn(Pid) -> Pid) -> u64 {
    Queue::of_word(queue).processes().fold(Queue::EMPTY, |queue, p| queue.with(new(p))).to_word()
}
