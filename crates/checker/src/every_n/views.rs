//! Views, and their steps.
use std::ops::RangeInclusive;

use doorway_memory::{Pid, Queue, Tally, Value, queue_questions, tally_comparisons};
use rustc_hash::FxHashMap;

use super::Undecided;
use crate::{
    Error, Subject,
    access::Op,
    automaton::{Action, Automaton, Missing, Ran, UNLIMITED, run},
    model::{Model, Setting},
    program::Program,
    registers::Register,
    tickets::{Closing, TicketSet},
};

/// The registers' values and the processes' local states, by their numbers in the automaton. In a view the tickets are
/// renumbered and the processes sorted. A tally is not there: it is the sum of what the processes have added.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Config {
    pub(super) registers: Box<[u32]>,
    pub(super) processes: Box<[Process]>,
}

/// The local state of a process, what it has added to the tally, and how many of the others are before it in the queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Process {
    local: u32,
    added: i8,
    rank: Option<u8>,
}

impl Process {
    const INITIAL: Process = Process { local: 0, added: 0, rank: None };
}

/// The register that is a queue, and the largest number of which a process has asked whether it is among the first.
#[derive(Clone, Debug)]
struct Line {
    register: usize,
    asked: usize,
}

/// The observer is told after so many views.
const OBSERVED: usize = 256;

/// The most that a process may have added to the tally, or taken from it.
const MOST_ADDED: i64 = 8;

/// The register that is a tally, and what is known of it.
#[derive(Clone, Debug)]
struct Counter {
    register: usize,
    initially: i64,
    /// The smallest and the largest constant that it is compared with.
    constants: Option<(i64, i64)>,
    /// Whether processes may have added to it, or taken from it, when others look at it.
    signs: [bool; 2],
}

impl Counter {
    /// What a process may find, if the processes that are known of have added so much. The others may have added or taken
    /// any amount of a sign that occurs. Numbers beyond the constants are as good as the next one beyond them.
    fn seen(&self, added: i64, is_exact: bool) -> RangeInclusive<i64> {
        let sum = self.initially + added;
        let (least, most) = self.constants.map_or((sum, sum), |(least, most)| (least - 1, most + 1));
        let clamped = sum.clamp(least, most);
        let [falls, rises] = self.signs.map(|occurs| occurs && !is_exact);
        (if falls { least } else { clamped })..=(if rises { most } else { clamped })
    }
}

/// A set of views that is being closed.
pub(super) struct Views<'a> {
    program: &'a dyn Program,
    automaton: Automaton,
    k: usize,
    m: usize,
    ids: FxHashMap<Config, u32>,
    list: Vec<Config>,
    /// For each view the one it comes from, and the step.
    origins: Vec<(u32, String)>,
    /// The local states met, each with its ticket, if it has one, renumbered to 1.
    shapes: Vec<Process>,
    counter: Option<Counter>,
    line: Option<Line>,
    /// Whether something has become known of the tally or the queue, so that the set has to be made again.
    is_stale: bool,
    /// Whether the processes that are known of are all there are.
    pub(super) is_exact: bool,
    /// What the automaton has learnt, in order.
    learnt: Vec<Missing>,
    /// Why the argument does not apply, if that has turned out.
    refused: Option<String>,
}

impl<'a> Views<'a> {
    pub(super) fn new(subject: &'a Subject, k: usize, m: usize, wide: u32) -> Result<Views<'a>, Error> {
        let program = &*subject.program;
        let model = model(program, k, m);
        let automaton = Automaton::new(program, subject.registers.of(&model).to_vec(), &model, wide)?;
        let (ids, list, origins, shapes) = (FxHashMap::default(), Vec::new(), Vec::new(), Vec::new());
        let tally = |(register, kind): (usize, &Register)| {
            Some(Counter { register, initially: (kind.kind.tally)(kind.init)?, constants: None, signs: [false; 2] })
        };
        let mut counters = automaton.registers.iter().enumerate().filter_map(tally);
        let counter = counters.next();
        let refused = counters.next().map(|_| "it has more than one tally".to_string());
        drop(counters);
        let queue =
            |(register, kind): (usize, &Register)| (kind.kind.queue)(kind.init).map(|_| Line { register, asked: 0 });
        let mut lines = automaton.registers.iter().enumerate().filter_map(queue);
        let line = lines.next();
        let refused = refused.or(lines.next().map(|_| "it has more than one queue".to_string()));
        drop(lines);
        let (learnt, is_stale, is_exact) = (Vec::new(), false, false);
        Ok(Views {
            program,
            automaton,
            k,
            m,
            ids,
            list,
            origins,
            shapes,
            counter,
            line,
            is_stale,
            is_exact,
            learnt,
            refused,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The initial state of so many processes.
    pub(super) fn initial(&self, processes: usize) -> Config {
        Config {
            registers: vec![0; self.automaton.registers.len()].into(),
            processes: vec![Process::INITIAL; processes].into(),
        }
    }

    /// Closes the set under steps; returns why nothing is decided, if so.
    pub(super) fn close(
        &mut self,
        limit: usize,
        observer: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Option<Undecided>, Error> {
        loop {
            let undecided = self.close_once(limit, observer)?;
            if !std::mem::take(&mut self.is_stale) {
                return Ok(undecided);
            }
            self.ids.clear();
            self.list.clear();
            self.origins.clear();
            self.shapes.clear();
        }
    }

    fn close_once(
        &mut self,
        limit: usize,
        observer: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Option<Undecided>, Error> {
        let initial = self.initial(self.m);
        self.add(initial, 0, String::new())?;
        let mut next = 0;
        while next < self.list.len() {
            if self.len() > limit {
                return Ok(Some(Undecided::TooManyViews(limit)));
            }
            if next % OBSERVED == 0 && !observer(self.len()) {
                return Ok(Some(Undecided::Interrupted));
            }
            let view = self.list[next].clone();
            if self.holders(&view) > self.k {
                return Ok(Some(Undecided::Crowded(self.execution(next as u32))));
            }
            for mover in 0..self.m {
                for after in self.steps(&view, mover)? {
                    let step = self.step_text("a process of the view", view.processes[mover].local);
                    self.add(after, next as u32, step)?;
                }
            }
            for larger in self.extensions(&view)? {
                let mover = self.m;
                for after in self.steps_of_last(&larger)? {
                    let step = self.step_text("another process", larger.processes[mover].local);
                    self.add(after, next as u32, step)?;
                }
            }
            if let Some(why) = &self.refused {
                return Ok(Some(Undecided::DoesNotApply(why.clone())));
            }
            if self.is_stale {
                return Ok(None);
            }
            next += 1;
        }
        Ok(None)
    }

    pub(super) fn holders(&self, config: &Config) -> usize {
        let is_holder = |process: &&Process| self.automaton.step_info(0, process.local).section.is_critical();
        config.processes.iter().filter(is_holder).count()
    }

    pub(super) fn contains(&self, view: &Config) -> bool {
        self.ids.contains_key(view)
    }

    fn add(&mut self, view: Config, from: u32, step: String) -> Result<(), Error> {
        if self.ids.contains_key(&view) {
            return Ok(());
        }
        for &process in &view.processes {
            if let Some(counter) = &mut self.counter {
                let signs = [counter.signs[0] || process.added < 0, counter.signs[1] || process.added > 0];
                self.is_stale |= signs != counter.signs;
                counter.signs = signs;
            }
            let shape = match self.automaton.tickets(0, process.local).len() {
                0 => process,
                1 => self.placed(process, 1)?,
                _ => {
                    self.refused.get_or_insert("a process remembers more than one ticket".to_string());
                    continue;
                }
            };
            // Where in the queue it is shows when it is added to a view.
            let shape = Process { rank: shape.rank.map(|_| 0), ..shape };
            if !self.shapes.contains(&shape) {
                // Views that were looked at before need not be extended by it: a state of m + 1 processes whose views
                // are all in the set is an extension of that one among them which is looked at last.
                self.shapes.push(shape);
            }
        }
        self.ids.insert(view.clone(), self.list.len() as u32);
        self.list.push(view);
        self.origins.push((from, step));
        Ok(())
    }

    /// A process with its only ticket renumbered.
    fn placed(&mut self, process: Process, number: u32) -> Result<Process, Error> {
        let local = self.renumbered(0, process.local, TicketSet::EMPTY.with(number))?;
        Ok(Process { local, ..process })
    }

    /// The content of a field with its tickets renumbered.
    fn renumbered(&mut self, field: usize, id: u32, image: TicketSet) -> Result<u32, Error> {
        if self.automaton.tickets(field, id) == image {
            return Ok(id);
        }
        loop {
            if let Some(renumbered) = self.automaton.renumbered(field as u32, id, image) {
                return Ok(renumbered);
            }
            let missing = Missing::Renumbering { field: field as u32, id, image };
            self.learn(missing)?;
        }
    }

    /// Every state of m + 1 processes that has this view, and whose other views are in the set too: the last process is
    /// the one that the view does not have.
    fn extensions(&mut self, view: &Config) -> Result<Vec<Config>, Error> {
        let mut found = Vec::new();
        for shape in self.shapes.clone() {
            let placements = if self.automaton.tickets(0, shape.local).is_empty() {
                vec![(view.clone(), shape)]
            } else {
                let mut placements = Vec::new();
                for (closing, number) in Closing::around_any(self.tickets(view), self.automaton.wide) {
                    let around = self.renumber(view, &closing)?;
                    placements.push((around, self.placed(shape, number)?));
                }
                placements
            };
            for (view, process) in placements {
                for larger in lined_up(&view, process) {
                    if self.fits(&larger)? {
                        found.push(larger);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Whether the views of a state that have its last process are in the set.
    fn fits(&mut self, larger: &Config) -> Result<bool, Error> {
        for left_out in 0..self.m {
            let smaller = self.without(larger, left_out)?;
            if !self.contains(&smaller) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether another program does the same, wherever this one was executed.
    pub(super) fn is_alike(&self, other: &Subject) -> Result<bool, Error> {
        let model = model(&*other.program, self.k, self.m);
        let registers = other.registers.of(&model).to_vec();
        let mut automaton = Automaton::new(&*other.program, registers, &model, self.automaton.wide)?;
        for &missing in &self.learnt {
            automaton.learn(&*other.program, missing)?;
            // Local states and values are numbered as they are met, so that equal steps have equal numbers.
            let is_alike = match missing {
                Missing::Step { local, value, .. } => {
                    let [ours, theirs] = [&self.automaton, &automaton].map(|automaton| {
                        let info = automaton.step_info(0, local);
                        (info.reg, automaton.step(info, value))
                    });
                    ours == theirs
                }
                _ => true,
            };
            if !is_alike {
                return Ok(false);
            }
        }
        Ok((0..self.automaton.fields()).all(|field| self.automaton.contents(field) == automaton.contents(field)))
    }

    fn learn(&mut self, missing: Missing) -> Result<(), Error> {
        self.learnt.push(missing);
        let ((learnt, asked), compared) =
            tally_comparisons(|| queue_questions(|| self.automaton.learn(self.program, missing)));
        learnt?;
        for constant in compared {
            let (Some(constant), Some(counter)) = (constant, &mut self.counter) else {
                self.refused.get_or_insert("a tally is compared with another one".to_string());
                continue;
            };
            let (least, most) = counter.constants.unwrap_or((constant, constant));
            let constants = Some((least.min(constant), most.max(constant)));
            self.is_stale |= counter.constants != constants;
            counter.constants = constants;
        }
        for (p, k) in asked {
            let Some(line) = &mut self.line else { continue };
            if p != 0 {
                self.refused.get_or_insert("a process asks where another one is in the queue".to_string());
            }
            self.is_stale |= k > line.asked;
            line.asked = line.asked.max(k);
            if line.asked + self.m + 1 > Queue::MOST {
                self.refused.get_or_insert("a word has no room for such a queue".to_string());
            }
        }
        match missing {
            Missing::Step { local, value, .. } if !self.program.is_symmetric() => self.check_alike(local, value),
            _ => Ok(()),
        }
    }

    /// Tests that a step does not depend on the number of its process, nor on who is behind it in the queue.
    fn check_alike(&mut self, local: u32, value: u32) -> Result<(), Error> {
        let from = self.automaton.local(0, local);
        let (section, history) = (from.section, from.history.to_vec());
        let register = from.access.and_then(|access| access.register());
        let word = register.map_or(0, |reg| self.automaton.word(reg, value));
        let is_queue = self.line.as_ref().is_some_and(|line| register == Some(line.register));
        let execute =
            |p: Pid, word: u64| run(self.program, p, section, UNLIMITED, history.clone(), Setting::PLAIN, word);
        let ran = execute(0, word)?;
        let mut is_alike = true;
        for other in 1..=self.m {
            let swapped = |word: u64| if is_queue { renamed(word, |p| swap(p, other)) } else { word };
            let theirs = execute(other, swapped(word))?;
            is_alike &= is_same(&ran, &theirs) && theirs.written == swapped(ran.written);
        }
        if is_queue {
            // One more behind all others.
            let stranger = Queue::MOST - 1 - self.line.as_ref().map_or(0, |line| line.asked);
            let more = execute(0, Queue::of_word(word).with(stranger).to_word())?;
            let without = Queue::of_word(more.written).without(stranger).to_word();
            is_alike &= is_same(&ran, &more) && without == ran.written;
        }
        if !is_alike {
            self.refused.get_or_insert("its processes are not all alike: they use their numbers".to_string());
        }
        Ok(())
    }

    /// The steps of the last process of a state, as those before it see them.
    fn steps_of_last(&mut self, larger: &Config) -> Result<Vec<Config>, Error> {
        let last = larger.processes.len() - 1;
        let mut seen = Vec::new();
        for after in self.unsorted_steps(larger, last)? {
            seen.push(self.without(&after, last)?);
        }
        Ok(seen)
    }

    /// The view without one of the processes.
    pub(super) fn without(&mut self, config: &Config, left_out: usize) -> Result<Config, Error> {
        let others = config.processes.iter().enumerate().filter(|&(p, _)| p != left_out);
        let smaller =
            Config { registers: config.registers.clone(), processes: others.map(|(_, &process)| process).collect() };
        self.normal(&smaller)
    }

    /// A state with its tickets' gaps closed and its processes sorted.
    pub(super) fn normal(&mut self, config: &Config) -> Result<Config, Error> {
        let closing = Closing::of(self.tickets(config), TicketSet::EMPTY, self.automaton.wide);
        let mut normal = self.renumber(config, &closing)?;
        let ranks: Vec<u8> = config.processes.iter().filter_map(|process| process.rank).collect();
        for rank in normal.processes.iter_mut().filter_map(|process| process.rank.as_mut()) {
            *rank = ranks.iter().filter(|&other| other < rank).count() as u8;
        }
        normal.processes.sort_unstable();
        Ok(normal)
    }

    fn tickets(&self, config: &Config) -> TicketSet {
        let n = self.automaton.n();
        let of_registers =
            config.registers.iter().enumerate().map(|(reg, &value)| self.automaton.tickets(n + reg, value));
        let of_processes = config.processes.iter().map(|process| self.automaton.tickets(0, process.local));
        of_registers.chain(of_processes).fold(TicketSet::EMPTY.with_zero(), TicketSet::union)
    }

    fn renumber(&mut self, config: &Config, closing: &Closing) -> Result<Config, Error> {
        let n = self.automaton.n();
        let mut renumbered = config.clone();
        for (reg, value) in renumbered.registers.iter_mut().enumerate() {
            let image = closing.image(self.automaton.tickets(n + reg, *value));
            *value = self.renumbered(n + reg, *value, image)?;
        }
        for process in &mut renumbered.processes {
            let image = closing.image(self.automaton.tickets(0, process.local));
            process.local = self.renumbered(0, process.local, image)?;
        }
        Ok(renumbered)
    }

    /// The states after a step of a process; none if it cannot take one.
    pub(super) fn steps(&mut self, config: &Config, mover: usize) -> Result<Vec<Config>, Error> {
        let mut sorted = self.unsorted_steps(config, mover)?;
        sorted.iter_mut().for_each(|after| after.processes.sort_unstable());
        Ok(sorted)
    }

    /// The same, with each process at its place: one state, or several if a new ticket may or may not have room above it,
    /// or if other processes may have changed the tally.
    fn unsorted_steps(&mut self, config: &Config, mover: usize) -> Result<Vec<Config>, Error> {
        let local = config.processes[mover].local;
        let info = *self.automaton.step_info(0, local);
        let reg = info.reg as usize;
        match info.action {
            Action::None => Ok(Vec::new()),
            Action::Silent => {
                let (next, _) = self.step(local, 0)?;
                let mut after = config.clone();
                after.processes[mover].local = next;
                self.renumbered_steps(config, &after)
            }
            _ if self.counter.as_ref().is_some_and(|counter| counter.register == reg) => {
                self.steps_on_the_tally(config, mover)
            }
            _ if self.line.as_ref().is_some_and(|line| line.register == reg) => self.steps_on_the_queue(config, mover),
            Action::Write | Action::ReadsValue => {
                let (next, written) = self.step(local, config.registers[reg])?;
                let mut after = config.clone();
                after.processes[mover].local = next;
                after.registers[reg] = written;
                self.renumbered_steps(config, &after)
            }
        }
    }

    /// The next local state and the value written.
    fn step(&mut self, local: u32, value: u32) -> Result<(u32, u32), Error> {
        loop {
            match self.automaton.step(self.automaton.step_info(0, local), value) {
                Some(step) => return Ok(step),
                None => self.learn(Missing::Step { process: 0, local, value })?,
            }
        }
    }

    fn steps_on_the_tally(&mut self, config: &Config, mover: usize) -> Result<Vec<Config>, Error> {
        let Process { local, added, .. } = config.processes[mover];
        let op = self.automaton.local(0, local).access.map(|access| access.op);
        if !matches!(op, Some(Op::Read | Op::Test | Op::FetchAdd)) {
            self.refused.get_or_insert("a tally is written, and not only added to".to_string());
            return Ok(Vec::new());
        }
        let Some(counter) = self.counter.clone() else { return Ok(Vec::new()) };
        let (reg, known) = (counter.register, config.processes.iter().map(|process| i64::from(process.added)).sum());
        let mut successors = Vec::new();
        for number in counter.seen(known, self.is_exact) {
            let word = Tally::new(number).to_word();
            if self.automaton.known_value(reg, word, None).is_none() {
                self.learn(Missing::Value { reg: reg as u32, word })?;
            }
            let value = self.automaton.known_value(reg, word, None).expect("it was learnt");
            let (next, written) = self.step(local, value)?;
            let by = self.automaton.word(reg, written).cast_signed() - number;
            let sum = i64::from(added) + by;
            if sum.abs() > MOST_ADDED {
                self.refused.get_or_insert("a process adds more and more to a tally".to_string());
                return Ok(Vec::new());
            }
            let mut after = config.clone();
            after.processes[mover] = Process { local: next, added: sum as i8, ..config.processes[mover] };
            successors.extend(self.renumbered_steps(config, &after)?);
        }
        Ok(successors)
    }

    /// The process is executed as process 0. Others that are not known of may be in the queue; what matters is how many of
    /// them are before it, up to the largest number that it asks for.
    fn steps_on_the_queue(&mut self, config: &Config, mover: usize) -> Result<Vec<Config>, Error> {
        let Some(Line { register, asked }) = self.line.clone() else { return Ok(Vec::new()) };
        let order = in_line(config);
        let number = |p: usize| if p == mover { 0 } else { 1 + order.iter().position(|&q| q == p).unwrap_or(0) };
        let strangers = if self.is_exact { 0 } else { asked };
        let mut successors = Vec::new();
        for before in 0..=strangers {
            let unknown = (Queue::MOST - before..Queue::MOST).fold(Queue::EMPTY, Queue::with);
            let queue = order.iter().fold(unknown, |queue, &p| queue.with(number(p)));
            let word = queue.to_word();
            if self.automaton.known_value(register, word, None).is_none() {
                self.learn(Missing::Value { reg: register as u32, word })?;
            }
            let value = self.automaton.known_value(register, word, None).expect("it was learnt");
            let (next, written) = self.step(config.processes[mover].local, value)?;
            let written = Queue::of_word(self.automaton.word(register, written));
            let mut after = config.clone();
            after.processes[mover].local = next;
            let known: Vec<usize> = written.processes().filter(|&p| p < Queue::MOST - before).collect();
            for (p, process) in after.processes.iter_mut().enumerate() {
                let is_known = p == mover || order.contains(&p);
                let rank = known.iter().position(|&q| is_known && q == number(p));
                process.rank = rank.map(|rank| rank as u8);
            }
            if known.len() != after.processes.iter().filter(|process| process.rank.is_some()).count() {
                self.refused.get_or_insert("a process puts others into the queue".to_string());
            }
            successors.extend(self.renumbered_steps(config, &after)?);
        }
        Ok(successors)
    }

    /// The states after a step, with their tickets renumbered.
    fn renumbered_steps(&mut self, before: &Config, after: &Config) -> Result<Vec<Config>, Error> {
        let (before, tickets) = (self.tickets(before), self.tickets(after));
        let wide = self.automaton.wide;
        let mut successors = Vec::new();
        for roomy in tickets.splits(before, wide).subsets() {
            successors.push(self.renumber(after, &Closing::of(tickets, roomy, wide))?);
        }
        Ok(successors)
    }

    fn step_text(&self, who: &str, local: u32) -> String {
        let (section, line) = self.automaton.whereabouts(0, local);
        format!("{who} executes line {line} ({section})")
    }

    /// The steps that lead to a view.
    fn execution(&self, to: u32) -> Vec<String> {
        let mut steps = Vec::new();
        let mut at = to;
        while at != 0 {
            let (from, step) = &self.origins[at as usize];
            let sections = self.list[at as usize]
                .processes
                .iter()
                .map(|process| self.automaton.step_info(0, process.local).section);
            let sections: Vec<String> = sections.map(|section| section.to_string()).collect();
            steps.push(format!("{step}: {}", sections.join(", ")));
            at = *from;
        }
        steps.reverse();
        steps
    }
}

/// The model of an automaton for views. Process 0 stands for all of them.
fn model(program: &dyn Program, k: usize, m: usize) -> Model {
    let model = Model::new(m + 1).k(k);
    if program.is_symmetric() { model.symmetric() } else { model }
}

/// The processes in the queue, the first one first.
fn in_line(config: &Config) -> Vec<usize> {
    let mut order: Vec<usize> = (0..config.processes.len()).filter(|&p| config.processes[p].rank.is_some()).collect();
    order.sort_unstable_by_key(|&p| config.processes[p].rank);
    order
}

/// A view with one more process, at every place of the queue if it is there.
fn lined_up(view: &Config, process: Process) -> Vec<Config> {
    let with = |ranks: &dyn Fn(u8) -> u8, rank| {
        let others = view.processes.iter().map(|other| Process { rank: other.rank.map(ranks), ..*other });
        let processes = others.chain([Process { rank, ..process }]).collect();
        Config { registers: view.registers.clone(), processes }
    };
    if process.rank.is_none() {
        return vec![with(&|rank| rank, None)];
    }
    let length = in_line(view).len() as u8;
    (0..=length).map(|at| with(&|rank| rank + u8::from(rank >= at), Some(at))).collect()
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

/// Whether two processes have done the same, whatever they have written.
fn is_same(a: &Ran, b: &Ran) -> bool {
    let access = |ran: &Ran| ran.access.map(|access| (access.op, access.reg));
    let history = |ran: &Ran| ran.history.iter().map(|word| (word.bits, word.what)).collect::<Vec<_>>();
    (a.section, access(a), history(a)) == (b.section, access(b), history(b))
}
