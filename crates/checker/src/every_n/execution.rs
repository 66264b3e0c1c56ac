//! Executions of the source, for several numbers of processes and several processes, with the tests that their result does not
//! depend on these.
use doorway_memory::{Index, Pid, Queue, Value, queue_questions, tally_comparisons, ticket_comparisons};

use super::{
    Stop,
    process::{Entry, Instance, On, Processes, Side, Target, Turn},
    registers::Place,
};
use crate::{
    access::Op,
    automaton::{Advanced, advance},
    error::Fault,
    program::Section,
    tickets::{self, Numbering, TicketSet},
    view::{What, Word},
};

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
    pub(super) line: String,
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

impl Processes {
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

    /// The initial state of a process, which may begin with a loop.
    pub(super) fn executed_initially(&mut self) -> Result<Symbolic, Stop> {
        self.everywhere(Side::Nowhere, |processes, at| {
            let start =
                Advanced { section: Section::Remainder, history: Vec::new(), access: None, written: 0, is_turn: false };
            processes.symbolic(at, Side::Nowhere, start)
        })
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
