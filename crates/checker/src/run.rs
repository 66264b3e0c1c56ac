//! Runs of the algorithm, as people read them.
use std::{collections::VecDeque, fmt};

use doorway_memory::{Pid, Ticket, Value};

use crate::{
    automaton::{self, UNLIMITED},
    buffers::Write,
    error::Error,
    graph::{Graph, Id},
    model::{Fences, Model},
    program::{Program, Section},
    tickets::{self, Numbering},
    view::{Access, Op, Register, Word},
};

/// A run that shows something: a sequence of steps and, if it shows that something never happens, a cycle at its end that
/// is fair and can be repeated for ever.
///
/// Its `Display` is one line for each step: number, process, the paper's line, the access.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Run {
    /// The steps, from the initial state.
    pub steps: Vec<Step>,
    /// Where the cycle starts, if there is one: it goes from here to the end, and round again.
    pub cycle_at: Option<usize>,
}

/// One step of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Step {
    /// Who takes it, or for whom it is taken; or whose write it is that becomes visible.
    pub process: Pid,
    /// The paper's line, or that of the source.
    pub line: String,
    /// What is accessed: `flag[0] := true` writes, `flag[1] = true` reads. With store buffers there are also `fence` and
    /// `flag[0] := true becomes visible`, which is no step of the process; with deaths and abandons `dies` and `gives up`, and
    /// `flag[0] := true by another` for a process that is dead.
    pub access: String,
    /// What the process has got to by it, if anything: `inside`, `out`, `reaped`, or for a part `returned`.
    pub arrives: Option<&'static str>,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f, &[])
    }
}

impl Run {
    /// With something said before some of the steps.
    pub(crate) fn show(&self, f: &mut fmt::Formatter<'_>, said: &[(usize, String)]) -> fmt::Result {
        let width = self.steps.iter().map(|step| step.line.chars().count()).max().unwrap_or(0);
        let widest = self.steps.iter().map(|step| step.access.chars().count()).max().unwrap_or(0);
        for (i, Step { process, line, access, arrives }) in self.steps.iter().enumerate() {
            for (_, what) in said.iter().filter(|(at, _)| *at == i) {
                writeln!(f, "  {what}")?;
            }
            if self.cycle_at == Some(i) {
                writeln!(f, "  then for ever")?;
            }
            write!(f, "{:>4}  p{process}  {line:<width$}  ", i + 1)?;
            match arrives {
                Some(arrives) => writeln!(f, "{access:<widest$}  -> {arrives}")?,
                None => writeln!(f, "{access}")?,
            }
        }
        Ok(())
    }
}

/// A way through the graph: who steps, or whose write becomes visible, and where to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Path {
    pub(crate) steps: Vec<(Pid, Id)>,
    pub(crate) cycle_at: Option<usize>,
}

/// Added to a process that crashes.
pub(crate) const CRASH: Pid = 16;

impl Path {
    /// A process stops for ever, in this state, which stays as it is.
    pub(crate) fn crash(&mut self, p: Pid, state: Id) {
        self.steps.push((CRASH + p, state));
    }

    /// How many steps there are before the cycle, or in all.
    pub(crate) fn stem(&self) -> usize {
        self.cycle_at.unwrap_or(self.steps.len())
    }

    /// Who has crashed, as bits.
    pub(crate) fn crashed(&self) -> u32 {
        self.steps.iter().filter_map(|&(p, _)| p.checked_sub(CRASH)).fold(0, |set, p| set | 1 << p)
    }
}

/// The algorithm itself, run step by step with real numbers.
#[derive(Clone)]
pub(crate) struct Machine<'a> {
    program: &'a dyn Program,
    registers: &'a [Register],
    words: Vec<u64>,
    processes: Vec<(Section, u32, Vec<Word>)>,
    counts_passages: bool,
    safe_registers: bool,
    /// Who is writing each register, if they are safe.
    writers: Vec<Option<Pid>>,
    fences: Fences,
    /// For each process what it has written and others do not see yet; none if there are no store buffers.
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

    /// Process `p` gives up, if it waits.
    pub(crate) fn give_up(&mut self, p: Pid) -> Option<Step> {
        let (Section::Wait, passages, history) = &self.processes[p] else { return None };
        self.processes[p] = (Section::Abandon, *passages, self.program.place(history));
        Some(Step { process: p, line: String::new(), access: "gives up".to_string(), arrives: None })
    }

    /// Whether process `p` can take a step: not if it waits for its own writes to become visible, or others for these to
    /// notice that it is dead.
    pub(crate) fn can_step(&self, p: Pid) -> Result<bool, Error> {
        let waits = |p: Pid| self.buffers.get(p).is_some_and(|buffer| !buffer.is_empty());
        Ok(match self.next_access(p)?.map(|access| access.op) {
            Some(Op::Barrier) => !(0..self.processes.len()).any(waits),
            Some(op) if op.drains() => !waits(p),
            _ => !(automaton::is_noticed(self.processes[p].0, &self.processes[p].2) && waits(p)),
        })
    }

    /// What process `p` sees in a register: what it has written itself, if that is not in the memory yet.
    fn sees(&self, p: Pid, reg: usize) -> u64 {
        let own = self.buffers.get(p).and_then(|buffer| buffer.iter().rfind(|write| write.reg == reg));
        own.map_or(self.words[reg], |write| write.word)
    }

    /// Process `p` takes a step.
    #[cfg(test)]
    pub(crate) fn step(&mut self, p: Pid) -> Result<Step, Error> {
        self.step_seeing(p, None)
    }

    /// Process `p` takes a step in which it sees this word, if one is given, whatever the register holds.
    fn step_seeing(&mut self, p: Pid, seen: Option<u64>) -> Result<Step, Error> {
        let (section, passages, history) = self.processes[p].clone();
        // Looking first tells which register the step is about.
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
            *self.words.last_mut().expect("there is a register to count them") += 1;
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

    /// Process `p` takes a step; if it may see anything, `pick` picks one of so many things.
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

    /// Process `p` takes a step that leads to `target`; none if there is no such step. A read of a register that is being
    /// written may return anything: what it has to, to get there, is found by trying.
    pub(crate) fn step_to(&mut self, p: Pid, graph: &Graph, model: &Model, target: Id) -> Result<Option<Step>, Error> {
        let arrived =
            |machine: &Machine<'_>| machine.counted_as(graph, model).as_ref() == Some(&graph.contents(target));
        if let Some(p) = model.becomes_visible(p) {
            return Ok(self.become_visible(p).filter(|_| arrived(self)));
        }
        if let Some(p) = model.interrupted(p) {
            let local = graph.layout.fields[p].get(graph.state(target));
            let dies = graph.automaton.hot(p, local).section == Section::Reap;
            let step = if dies { Some(self.die(p)) } else { self.give_up(p) };
            return Ok(step.filter(|_| arrived(self)));
        }
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

    /// One ticket for each way to lie among those there are, with as much room as there is for others to come.
    fn notable_tickets(&self) -> Vec<Ticket> {
        /// How far above all others a ticket is put that need not be close.
        const FAR: u64 = 1 << 20;
        let real = self.sorted_tickets();
        let between = real.windows(2).flat_map(|gap| [gap[0] + 1, gap[1] - 1, gap[0].midpoint(gap[1])]);
        let above = [real[real.len() - 1] + 1, real[real.len() - 1] + FAR];
        let mut notable: Vec<u64> = between.chain(above).chain(real.iter().copied()).collect();
        notable.sort_unstable();
        notable.dedup();
        notable.into_iter().map(Ticket::of_word).collect()
    }

    /// The tickets there are, each once, and zero.
    pub(crate) fn sorted_tickets(&self) -> Vec<u64> {
        let mut real = self.real_tickets();
        real.push(0);
        real.sort_unstable();
        real.dedup();
        real
    }

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

    /// The state, field by field, that this one is counted as; none if some of it never occurs in the graph.
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
