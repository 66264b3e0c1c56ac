//! The algorithm, executed step by step with real ticket numbers.
use std::collections::VecDeque;

use doorway_memory::{Pid, Ticket, Value};

use crate::{
    access::{Access, Op},
    actor::Actor,
    automaton::{self, UNLIMITED},
    buffers::Write,
    error::Error,
    execution::Step,
    graph::{Graph, Id},
    model::{Fences, Model},
    program::{Program, Section},
    registers::Register,
    tickets::{self, Numbering},
    view::Word,
};

/// The algorithm, executed step by step with real ticket numbers.
#[derive(Clone)]
pub(crate) struct Machine<'a> {
    program: &'a dyn Program,
    registers: &'a [Register],
    words: Vec<u64>,
    processes: Vec<(Section, u32, Vec<Word>)>,
    counts_passages: bool,
    safe_registers: bool,
    /// For each register the process that is writing it, on safe registers.
    writers: Vec<Option<Pid>>,
    fences: Fences,
    /// For each process its store buffer; empty if the model has none.
    buffers: Vec<VecDeque<Buffered>>,
}

/// A write in a store buffer.
#[derive(Clone)]
struct Buffered {
    reg: usize,
    word: u64,
    line: String,
    text: String,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a dyn Program, registers: &'a [Register], model: &Model) -> Machine<'a> {
        let start = (Section::Remainder, model.passages.unwrap_or(UNLIMITED), Vec::new());
        Machine {
            program,
            registers,
            words: registers.iter().map(|register| register.init).collect(),
            processes: vec![start; model.n],
            counts_passages: model.passages_in_all.is_some(),
            safe_registers: model.safe_registers,
            writers: vec![None; registers.len()],
            fences: model.fences,
            buffers: if model.store_buffers { vec![VecDeque::new(); model.n] } else { Vec::new() },
        }
    }

    /// The oldest write in the store buffer of process `p`, if there is one, becomes visible.
    pub(crate) fn become_visible(&mut self, p: Pid) -> Option<Step> {
        let Buffered { reg, word, line, text } = self.buffers.get_mut(p)?.pop_front()?;
        self.words[reg] = word;
        Some(Step { process: p, line, access: format!("{text} becomes visible"), arrives: None })
    }

    /// Process `p` dies.
    pub(crate) fn die(&mut self, p: Pid) -> Step {
        let (_, passages, _) = self.processes[p];
        self.processes[p] = (Section::Reap, passages, Vec::new());
        Step { process: p, line: String::new(), access: "dies".to_string(), arrives: None }
    }

    /// Process `p` aborts, if it waits.
    pub(crate) fn abort(&mut self, p: Pid) -> Option<Step> {
        let (Section::Wait, passages, history) = &self.processes[p] else { return None };
        self.processes[p] = (Section::Abort, *passages, self.program.place(history));
        Some(Step { process: p, line: String::new(), access: "aborts".to_string(), arrives: None })
    }

    /// Whether process `p` can take a step: not if the step, or noticing that `p` is dead, has to wait until writes in
    /// store buffers are visible.
    pub(crate) fn can_step(&self, p: Pid) -> Result<bool, Error> {
        let waits = |p: Pid| self.buffers.get(p).is_some_and(|buffer| !buffer.is_empty());
        Ok(match self.next_access(p)?.map(|access| access.op) {
            Some(Op::Barrier) => !(0..self.processes.len()).any(waits),
            Some(op) if op.drains() => !waits(p),
            _ => !(automaton::is_noticed(self.processes[p].0, &self.processes[p].2) && waits(p)),
        })
    }

    /// What process `p` reads from a register: its own latest write, if that is still in its store buffer.
    fn sees(&self, p: Pid, reg: usize) -> u64 {
        let own = self.buffers.get(p).and_then(|buffer| buffer.iter().rfind(|write| write.reg == reg));
        own.map_or(self.words[reg], |write| write.word)
    }

    /// Process `p` takes a step.
    #[cfg(test)]
    pub(crate) fn step(&mut self, p: Pid) -> Result<Step, Error> {
        self.step_seeing(p, None)
    }

    /// Process `p` takes a step. If `seen` is given, the access finds this word, whatever the register holds.
    fn step_seeing(&mut self, p: Pid, seen: Option<u64>) -> Result<Step, Error> {
        let (section, passages, history) = self.processes[p].clone();
        // Looking ahead tells which register the step accesses.
        let next = self.next_access(p)?;
        let line = next.map_or(String::new(), |access| access.line());
        if let Some(access) = next.filter(|access| self.safe_registers && access.op == Op::Write) {
            let reg = access.reg as usize;
            if self.writers[reg].is_none() {
                self.writers[reg] = Some(p);
                self.words[reg] = access.operands[0];
                self.processes[p].0 = section.begun();
                if section == Section::Remainder && passages != UNLIMITED {
                    self.processes[p].1 -= 1;
                }
                let access = format!("{} begins", access.text(self.registers));
                return Ok(Step { process: p, line, access, arrives: None });
            }
            self.writers[reg] = None;
        }
        let register = next.and_then(|access| access.register());
        let word = seen.unwrap_or_else(|| register.map_or(0, |reg| self.sees(p, reg)));
        let ran = automaton::run(self.program, p, section, passages, history, self.fences, word)?;
        if self.counts_passages && self.program.begins(section) {
            *self.words.last_mut().expect("the last register counts passages") += 1;
        }
        let mut text = ran.access.map_or("(no access)".to_string(), |access| access.text(self.registers));
        if let Some(access) = ran.access
            && let Some(reg) = access.register()
        {
            match (access.op.is_read(), self.buffers.get_mut(p)) {
                (true, _) if self.writers[reg].is_some() => text += " while it is written",
                (true, _) if access.op == Op::LoadLinked => self.words[reg] = ran.written,
                (true, _) => {}
                (false, Some(buffer)) if access.op == Op::Write => {
                    buffer.push_back(Buffered { reg, word: ran.written, line: line.clone(), text: text.clone() });
                }
                (false, _) => self.words[reg] = ran.written,
            }
            if self.safe_registers && access.op == Op::Write {
                text += " ends";
            }
        }
        if section == Section::Reap {
            text += " by another";
        }
        let step = Step {
            process: p,
            line,
            access: text,
            arrives: match ran.section {
                Section::Remainder if section == Section::Reap => Some("reaped"),
                Section::Critical if self.program.is_part() => Some("returned"),
                Section::Critical => Some("inside"),
                Section::Remainder => Some("out"),
                _ => None,
            },
        };
        self.processes[p] = (ran.section, ran.passages, ran.history);
        Ok(step)
    }

    /// Process `p` takes a step. If it reads a register that is being written, `pick` chooses the value by its index.
    #[cfg(test)]
    pub(crate) fn step_seeing_anything(&mut self, p: Pid, mut pick: impl FnMut(usize) -> usize) -> Result<Step, Error> {
        let read = self.next_access(p)?.filter(|access| access.op.is_read());
        let flickers = read.filter(|access| self.writers[access.reg as usize].is_some());
        let seen = flickers.map(|access| {
            let all = (self.registers[access.reg as usize].kind.domain)(&self.notable_tickets()).unwrap_or_default();
            all[pick(all.len())]
        });
        self.step_seeing(p, seen)
    }

    fn next_access(&self, p: Pid) -> Result<Option<Access>, Error> {
        let (section, _, history) = &self.processes[p];
        automaton::look(self.program, p, *section, history.clone(), self.fences).map(|(access, _)| access)
    }

    /// Takes a step of `actor` that leads to `target`, if there is one.
    ///
    /// A read of a register that is being written may return any value: the one that leads there is found by trying.
    pub(crate) fn step_to(
        &mut self,
        actor: Actor,
        graph: &Graph,
        model: &Model,
        target: Id,
    ) -> Result<Option<Step>, Error> {
        let arrived =
            |machine: &Machine<'_>| machine.counted_as(graph, model).as_ref() == Some(&graph.contents(target));
        let p = match actor {
            Actor::Process(p) => p,
            Actor::Buffer(p) => return Ok(self.become_visible(p).filter(|_| arrived(self))),
            Actor::Interruption(p) => {
                let local = graph.layout.fields[p].get(graph.state(target));
                let dies = graph.automaton.step_info(p, local).section == Section::Reap;
                let step = if dies { Some(self.die(p)) } else { self.abort(p) };
                return Ok(step.filter(|_| arrived(self)));
            }
            Actor::Crash(process) => {
                return Ok(Some(Step { process, line: String::new(), access: "crashes".to_string(), arrives: None }));
            }
        };
        if !self.can_step(p)? {
            return Ok(None);
        }
        let read = self.next_access(p)?.filter(|access| access.op.is_read());
        let flickers = read.filter(|access| self.writers[access.reg as usize].is_some());
        let choices: Vec<Option<u64>> = match flickers {
            None => vec![None],
            Some(access) => {
                let domain = self.registers[access.reg as usize].kind.domain;
                domain(&self.notable_tickets()).unwrap_or_default().into_iter().map(Some).collect()
            }
        };
        for seen in choices {
            let mut trial = self.clone();
            let step = trial.step_seeing(p, seen)?;
            if arrived(&trial) {
                *self = trial;
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    /// One ticket for each position among the present ones, with as much room around it as there is.
    fn notable_tickets(&self) -> Vec<Ticket> {
        /// The distance of a ticket that need not be close to the largest one.
        const FAR: u64 = 1 << 20;
        let real = self.sorted_tickets();
        let between = real.windows(2).flat_map(|gap| [gap[0] + 1, gap[1] - 1, gap[0].midpoint(gap[1])]);
        let above = [real[real.len() - 1] + 1, real[real.len() - 1] + FAR];
        let mut notable: Vec<u64> = between.chain(above).chain(real.iter().copied()).collect();
        notable.sort_unstable();
        notable.dedup();
        notable.into_iter().map(Ticket::of_word).collect()
    }

    /// The present tickets in ascending order, each once, and zero.
    pub(crate) fn sorted_tickets(&self) -> Vec<u64> {
        let mut real = self.real_tickets();
        real.push(0);
        real.sort_unstable();
        real.dedup();
        real
    }

    /// The present tickets.
    fn real_tickets(&self) -> Vec<u64> {
        let mut real = Vec::new();
        let histories = self.processes.iter().flat_map(|(_, _, history)| history);
        histories.for_each(|word| tickets::collect(word.kind, word.bits, &mut real));
        std::iter::zip(self.registers, &self.words).for_each(|(register, &word)| {
            tickets::collect(register.kind, word, &mut real);
        });
        for write in self.buffers.iter().flatten() {
            tickets::collect(self.registers[write.reg].kind, write.word, &mut real);
        }
        real
    }

    /// The fields of the graph's state that stands for this one; none if one of them never occurs in the graph.
    pub(crate) fn counted_as(&self, graph: &Graph, model: &Model) -> Option<Vec<u32>> {
        let numbering = if model.has_real_tickets() {
            Numbering::between(Default::default(), Default::default())
        } else {
            Numbering::closing_real(&self.real_tickets(), graph.automaton.wide)
        };
        let locals = self.processes.iter().enumerate().map(|(p, (section, passages, history))| {
            let history: Vec<Word> = history.iter().map(|word| Word { bits: numbering.apply(word), ..*word }).collect();
            graph.automaton.known_local(p, *section, *passages, &history)
        });
        let mut locals: Vec<Option<u32>> = locals.collect();
        if model.symmetric {
            locals.sort_unstable();
        }
        let values = std::iter::zip(self.registers, &self.words).enumerate().map(|(reg, (register, &word))| {
            graph.automaton.known_value(reg, numbering.apply_to(register.kind, word), self.writers[reg])
        });
        let buffers = self.buffers.iter().enumerate().map(|(p, buffer)| {
            let write = |write: &Buffered| {
                let word = numbering.apply_to(self.registers[write.reg].kind, write.word);
                Some((write.reg as u32, graph.automaton.known_value(write.reg, word, None)?))
            };
            let writes: Option<Vec<Write>> = buffer.iter().map(write).collect();
            graph.automaton.buffers(p).known(&writes?)
        });
        locals.into_iter().chain(values).chain(buffers).collect()
    }
}
