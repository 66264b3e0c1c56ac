//! The algorithm, executed step by step with real ticket numbers. `counterpart.rs` has the states of a graph that stand for its
//! states.
mod counterpart;

use std::{
    collections::VecDeque,
    hash::{Hash, Hasher},
};

use doorway_memory::{Home, Pid, Ticket, Value};

use crate::{
    access::{Access, Op},
    automaton::{self, UNLIMITED},
    choice::Choice,
    error::Error,
    execution::{Remote, Step},
    model::{Model, Setting},
    program::{Program, Section, is_being_reaped},
    registers::Register,
    tickets,
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
    setting: Setting,
    /// For each process its store buffer; empty if the model has none.
    buffers: Vec<VecDeque<Buffered>>,
    /// Tickets below this one are forgotten; 0 if none are.
    floor: u64,
    /// The number of steps taken.
    taken: usize,
    /// For each register the step that wrote its value; none for the initial value.
    written: Vec<Option<usize>>,
    /// For each register the processes that have a valid copy in their caches, as bits.
    cached: Vec<u32>,
}

/// What a process does that was taken for dead, and whose passage is over.
const FINDS_OUT: &str = "finds out";

/// A write in a store buffer.
#[derive(Clone)]
struct Buffered {
    reg: usize,
    word: u64,
    line: String,
    text: String,
    /// The step that wrote it.
    step: usize,
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
            setting: model.setting(),
            buffers: if model.store_buffers { vec![VecDeque::new(); model.n] } else { Vec::new() },
            floor: 0,
            taken: 0,
            written: vec![None; registers.len()],
            cached: vec![0; registers.len()],
        }
    }

    /// A step that accesses no register, after which the process is in this section.
    fn event(&mut self, choice: Choice, access: &str, section: Section) -> Step {
        self.taken += 1;
        let p = choice.process();
        Step {
            choice,
            process: p,
            line: String::new(),
            access: access.to_string(),
            arrives: None,
            sections: [section, self.processes[p].0],
            register: None,
            reads: false,
            writes: false,
            from: None,
            remote: None,
        }
    }

    /// The oldest write in the store buffer of process `p`, if there is one, becomes visible.
    pub(crate) fn become_visible(&mut self, p: Pid) -> Option<Step> {
        let Buffered { reg, word, line, text, step } = self.buffers.get_mut(p)?.pop_front()?;
        self.words[reg] = word;
        self.written[reg] = Some(step);
        let event = self.event(Choice::Visible(p), &format!("{text} becomes visible"), self.processes[p].0);
        Some(Step { line, register: Some(reg), writes: true, ..event })
    }

    /// Process `p` dies.
    pub(crate) fn die(&mut self, p: Pid) -> Step {
        let (section, passages, _) = self.processes[p];
        self.processes[p] = (Section::Reap, passages, Vec::new());
        self.event(Choice::Dies(p), "dies", section)
    }

    /// Process `p` aborts, if it waits.
    pub(crate) fn abort(&mut self, p: Pid) -> Option<Step> {
        let (Section::Wait, passages, history) = &self.processes[p] else { return None };
        self.processes[p] = (Section::Abort, *passages, self.program.place(history));
        Some(self.event(Choice::Aborts(p), "aborts", Section::Wait))
    }

    /// Process `p` is taken for dead, or finds out that it was, if one is possible.
    pub(crate) fn expire(&mut self, p: Pid) -> Option<Step> {
        let (section, passages, history) = &self.processes[p];
        let (section, passages) = (*section, *passages);
        let (next, history) = self.program.expire(section, history)?;
        self.processes[p] = (next, passages, history);
        let text = if section.is_expired() { FINDS_OUT } else { "is taken for dead" };
        Some(self.event(Choice::Expires(p), text, section))
    }

    /// Process `p` crashes. The caller sees to it that it takes no further step.
    pub(crate) fn crash(&mut self, p: Pid) -> Step {
        self.event(Choice::Crashes(p), "crashes", self.processes[p].0)
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

    /// What process `p` reads from a register, and the step that wrote it: its own latest write, if that is still in its
    /// store buffer.
    fn sees(&self, p: Pid, reg: usize) -> (u64, Option<usize>) {
        let own = self.buffers.get(p).and_then(|buffer| buffer.iter().rfind(|write| write.reg == reg));
        own.map_or((self.words[reg], self.written[reg]), |write| (write.word, Some(write.step)))
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
                self.written[reg] = Some(self.taken);
                let access = format!("{} begins", access.text(self.registers));
                let event = self.event(Choice::Step(p), &access, section);
                return Ok(Step { line, register: Some(reg), writes: true, ..event });
            }
            self.writers[reg] = None;
        }
        let register = next.and_then(|access| access.register());
        let (held, from) = register.map_or((0, None), |reg| self.sees(p, reg));
        let word = seen.unwrap_or(held);
        let ran = automaton::run(self.program, p, section, passages, history, self.setting, word)?;
        if self.counts_passages && self.program.begins(section) {
            *self.words.last_mut().expect("the last register counts passages") += 1;
        }
        let mut text = ran.access.map_or("(no access)".to_string(), |access| access.text(self.registers));
        let mut writes = false;
        let mut remote = None;
        if let Some(access) = ran.access
            && let Some(reg) = access.register()
        {
            remote = self.count(p, &access, word);
            writes = access.writes(word) && !(access.op == Op::Write && self.buffers.get(p).is_some());
            if writes {
                self.written[reg] = Some(self.taken);
            }
            match (access.op.is_read(), self.buffers.get_mut(p)) {
                (true, _) if self.writers[reg].is_some() => text += " while it is written",
                (true, _) if access.op == Op::LoadLinked => self.words[reg] = ran.written,
                (true, _) => {}
                (false, Some(buffer)) if access.op == Op::Write => {
                    let (word, line, text) = (ran.written, line.clone(), text.clone());
                    buffer.push_back(Buffered { reg, word, line, text, step: self.taken });
                }
                (false, _) => self.words[reg] = ran.written,
            }
            if self.safe_registers && access.op == Op::Write {
                text += " ends";
            }
        }
        let is_reaped = section == Section::Reap || section.is_expired() && is_being_reaped(&self.processes[p].2);
        if is_reaped {
            text += " by another";
        } else if section.is_expired() && ran.section == Section::Remainder {
            text = FINDS_OUT.to_string();
        }
        self.taken += 1;
        let reads = ran.access.is_some_and(|access| !matches!(access.op, Op::Write | Op::Fence | Op::Barrier));
        let step = Step {
            choice: Choice::Step(p),
            process: p,
            line,
            access: text,
            sections: [section, ran.section],
            register: ran.access.and_then(|access| access.register()),
            reads,
            writes,
            from: from.filter(|_| reads),
            remote,
            arrives: match ran.section {
                Section::Remainder if section == Section::Reap => Some("reaped"),
                there if is_reaped && there.is_expired() && !is_being_reaped(&ran.history) => Some("reaped"),
                Section::ExpiredCritical if section == Section::ExpiredWait => Some("inside"),
                Section::Critical if section == Section::Critical => None,
                Section::Critical if self.program.is_part() => Some("returned"),
                Section::Critical => Some("inside"),
                Section::Remainder => Some("out"),
                _ => None,
            },
        };
        self.processes[p] = (ran.section, ran.passages, ran.history);
        Ok(step)
    }

    /// Whether an access of process `p` to a register that holds `word` is remote; updates the caches.
    fn count(&mut self, p: Pid, access: &Access, word: u64) -> Option<Remote> {
        let reg = access.register().filter(|_| !self.safe_registers && self.buffers.is_empty())?;
        let is_cached = self.cached[reg] >> p & 1 == 1;
        if access.can_fail() || access.writes(word) {
            self.cached[reg] = 0;
        }
        self.cached[reg] |= 1 << p;
        let dsm = self.registers[reg].home != Home::Of(p);
        Some(Remote { cc: !(access.op.is_read() && is_cached), dsm })
    }

    /// Process `p` takes a step. If it reads a register that is being written, `value` is the number of the value that it
    /// sees, among those that it [may see](Machine::values_seen).
    pub(crate) fn step_seeing_value(&mut self, p: Pid, value: usize) -> Result<Step, Error> {
        let seen = self.values_seen(p)?.map(|values| values[value]);
        let step = self.step_seeing(p, seen)?;
        let choice = if seen.is_some() { Choice::StepSeeing(p, value) } else { step.choice };
        Ok(Step { choice, ..step })
    }

    /// The values that the next step of process `p` may see, if it reads a register that is being written.
    pub(crate) fn values_seen(&self, p: Pid) -> Result<Option<Vec<u64>>, Error> {
        let read = self.next_access(p)?.filter(|access| access.op.is_read());
        let flickers = read.filter(|access| self.writers[access.reg as usize].is_some());
        Ok(flickers.map(|access| {
            let domain = self.registers[access.reg as usize].kind.domain;
            domain(&self.notable_tickets()).unwrap_or_default()
        }))
    }

    /// The value with this number among those that the next step of process `p` may see, as text.
    pub(crate) fn show_seen(&self, p: Pid, value: usize) -> Result<String, Error> {
        let register = self.next_access(p)?.and_then(|access| access.register());
        let word = self.values_seen(p)?.and_then(|values| values.get(value).copied());
        Ok(register.zip(word).map_or(String::new(), |(reg, word)| (self.registers[reg].kind.show)(word)))
    }

    /// The section of process `p`.
    pub(crate) fn section(&self, p: Pid) -> Section {
        self.processes[p].0
    }

    /// Whether process `p` takes further steps, as far as the program and the limit on passages go.
    pub(crate) fn goes_on(&self, p: Pid) -> bool {
        let (section, passages, _) = self.processes[p];
        self.program.goes_on(section) && !(self.program.begins(section) && passages == 0)
    }

    /// Whether process `p` can die: not if it is dead and its reap has not begun, or if it was taken for dead.
    pub(crate) fn can_die(&self, p: Pid) -> bool {
        let (section, _, history) = &self.processes[p];
        !section.is_expired() && !automaton::is_noticed(*section, history)
    }

    /// Whether process `p` can be taken for dead, or find out that it was.
    pub(crate) fn can_expire(&self, p: Pid) -> bool {
        let (section, _, history) = &self.processes[p];
        self.program.expire(*section, history).is_some()
    }

    /// Whether process `p` is a holder, and a resource has refused its token.
    pub(crate) fn is_refused(&self, p: Pid) -> bool {
        let (section, _, history) = &self.processes[p];
        self.program.is_refused(*section, history)
    }

    /// The values of the registers, as text.
    pub(crate) fn values(&self) -> Vec<String> {
        std::iter::zip(self.registers, &self.words).map(|(register, &word)| (register.kind.show)(word)).collect()
    }

    /// For each register the process that is writing it.
    pub(crate) fn writers(&self) -> &[Option<Pid>] {
        &self.writers
    }

    /// The writes in the store buffer of process `p`, oldest first.
    pub(crate) fn buffered(&self, p: Pid) -> impl Iterator<Item = &str> {
        self.buffers.get(p).into_iter().flatten().map(|write| write.text.as_str())
    }

    /// Whether the outcomes of a part's calls obey its rule, or the names of holders are different and below `k`.
    pub(crate) fn rule(&self, k: usize) -> Result<(), String> {
        let processes: Vec<(Section, &[Word])> =
            self.processes.iter().map(|(section, _, history)| (*section, history.as_slice())).collect();
        self.program.rule(k, &processes)
    }

    /// What the checker counts as one state, if nothing is forgotten.
    pub(crate) fn counted(&self) -> impl Eq + Hash + use<> {
        let bits = |history: &[Word]| history.iter().map(|word| word.bits).collect::<Vec<u64>>();
        let processes = self.processes.iter();
        let processes = processes.map(|(section, passages, history)| (*section, *passages, bits(history)));
        let written = |buffer: &VecDeque<Buffered>| buffer.iter().map(|write| (write.reg, write.word)).collect();
        let buffers: Vec<Vec<(usize, u64)>> = self.buffers.iter().map(written).collect();
        (self.words.clone(), self.writers.clone(), processes.collect::<Vec<_>>(), buffers)
    }

    /// Hashes the caches.
    pub(crate) fn hash_caches(&self, hasher: &mut impl Hasher) {
        self.cached.hash(hasher);
    }

    pub(crate) fn next_access(&self, p: Pid) -> Result<Option<Access>, Error> {
        let (section, _, history) = &self.processes[p];
        automaton::look(self.program, p, *section, history.clone(), self.setting).map(|(access, _)| access)
    }

    /// Does what was chosen, if it is possible.
    pub(crate) fn take(&mut self, choice: Choice) -> Result<Option<Step>, Error> {
        Ok(match choice {
            Choice::Step(p) => Some(self.step_seeing_value(p, 0)?),
            Choice::StepSeeing(p, value) => Some(self.step_seeing_value(p, value)?),
            Choice::Visible(p) => self.become_visible(p),
            Choice::Dies(p) => Some(self.die(p)),
            Choice::Aborts(p) => self.abort(p),
            Choice::Expires(p) => self.expire(p),
            Choice::Crashes(p) => Some(self.crash(p)),
        })
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

    /// The present tickets in ascending order, each once, and zero. Those that are forgotten are left out.
    pub(crate) fn sorted_tickets(&self) -> Vec<u64> {
        let mut real = self.real_tickets();
        real.retain(|&ticket| ticket >= self.floor);
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
}
