//! Views, and their steps.
use rustc_hash::FxHashMap;

use super::Undecided;
use crate::{
    Error, Subject,
    automaton::{Action, Automaton, Missing},
    model::Model,
    program::Program,
    tickets::{Closing, TicketSet},
};

/// The registers' values and the processes' local states, by their numbers in the automaton. In a view the tickets are
/// renumbered and the processes sorted.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Config {
    pub(super) registers: Box<[u32]>,
    pub(super) processes: Box<[u32]>,
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
    shapes: Vec<u32>,
    /// What the automaton has learnt, in order.
    learnt: Vec<Missing>,
    /// Why the argument does not apply, if that has turned out.
    refused: Option<String>,
}

impl<'a> Views<'a> {
    pub(super) fn new(subject: &'a Subject, k: usize, m: usize, wide: u32) -> Result<Views<'a>, Error> {
        let model = Model::new(m + 1).k(k).symmetric();
        let program = &*subject.program;
        let automaton = Automaton::new(program, subject.registers.of(&model).to_vec(), &model, wide)?;
        let (ids, list, origins, shapes) = (FxHashMap::default(), Vec::new(), Vec::new(), Vec::new());
        Ok(Views { program, automaton, k, m, ids, list, origins, shapes, learnt: Vec::new(), refused: None })
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The initial state of so many processes.
    pub(super) fn initial(&self, processes: usize) -> Config {
        Config { registers: vec![0; self.automaton.registers.len()].into(), processes: vec![0; processes].into() }
    }

    /// Closes the set under steps; returns why nothing is decided, if so.
    pub(super) fn close(&mut self, limit: usize) -> Result<Option<Undecided>, Error> {
        let initial = self.initial(self.m);
        self.add(initial, 0, String::new())?;
        let mut next = 0;
        while next < self.list.len() {
            if self.len() > limit {
                return Ok(Some(Undecided::TooManyViews(limit)));
            }
            let view = self.list[next].clone();
            if self.holders(&view) > self.k {
                return Ok(Some(Undecided::Crowded(self.execution(next as u32))));
            }
            for mover in 0..self.m {
                for after in self.steps(&view, mover)? {
                    let step = self.step_text("a process of the view", view.processes[mover]);
                    self.add(after, next as u32, step)?;
                }
            }
            for larger in self.extensions(&view)? {
                let mover = self.m;
                for after in self.steps_of_last(&larger)? {
                    let step = self.step_text("another process", larger.processes[mover]);
                    self.add(after, next as u32, step)?;
                }
            }
            if let Some(why) = self.refused.take() {
                return Ok(Some(Undecided::DoesNotApply(why)));
            }
            next += 1;
        }
        Ok(None)
    }

    pub(super) fn holders(&self, config: &Config) -> usize {
        let is_holder = |&&local: &&u32| self.automaton.step_info(0, local).section.is_critical();
        config.processes.iter().filter(is_holder).count()
    }

    pub(super) fn contains(&self, view: &Config) -> bool {
        self.ids.contains_key(view)
    }

    fn add(&mut self, view: Config, from: u32, step: String) -> Result<(), Error> {
        if self.ids.contains_key(&view) {
            return Ok(());
        }
        for &local in &view.processes {
            let shape = match self.automaton.tickets(0, local).len() {
                0 => local,
                1 => self.placed(local, 1)?,
                _ => {
                    self.refused.get_or_insert("a process remembers more than one ticket".to_string());
                    continue;
                }
            };
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

    /// A local state with its only ticket renumbered.
    fn placed(&mut self, local: u32, number: u32) -> Result<u32, Error> {
        let image = TicketSet::EMPTY.with(number);
        self.renumbered(0, local, image)
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
            let placements = if self.automaton.tickets(0, shape).is_empty() {
                vec![(view.clone(), shape)]
            } else {
                let mut placements = Vec::new();
                for (closing, number) in Closing::around_any(self.tickets(view), self.automaton.wide) {
                    let around = self.renumber(view, &closing)?;
                    placements.push((around, self.placed(shape, number)?));
                }
                placements
            };
            for (view, local) in placements {
                let processes = view.processes.iter().copied().chain([local]).collect();
                let larger = Config { processes, ..view };
                if self.fits(&larger)? {
                    found.push(larger);
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
        let model = Model::new(self.m + 1).k(self.k).symmetric();
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
        self.automaton.learn(self.program, missing)
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
            Config { registers: config.registers.clone(), processes: others.map(|(_, &local)| local).collect() };
        self.normal(&smaller)
    }

    /// A state with its tickets' gaps closed and its processes sorted.
    pub(super) fn normal(&mut self, config: &Config) -> Result<Config, Error> {
        let closing = Closing::of(self.tickets(config), TicketSet::EMPTY, self.automaton.wide);
        let mut normal = self.renumber(config, &closing)?;
        normal.processes.sort_unstable();
        Ok(normal)
    }

    fn tickets(&self, config: &Config) -> TicketSet {
        let n = self.automaton.n();
        let of_registers =
            config.registers.iter().enumerate().map(|(reg, &value)| self.automaton.tickets(n + reg, value));
        let of_processes = config.processes.iter().map(|&local| self.automaton.tickets(0, local));
        of_registers.chain(of_processes).fold(TicketSet::EMPTY.with_zero(), TicketSet::union)
    }

    fn renumber(&mut self, config: &Config, closing: &Closing) -> Result<Config, Error> {
        let n = self.automaton.n();
        let mut renumbered = config.clone();
        for (reg, value) in renumbered.registers.iter_mut().enumerate() {
            let image = closing.image(self.automaton.tickets(n + reg, *value));
            *value = self.renumbered(n + reg, *value, image)?;
        }
        for local in &mut renumbered.processes {
            let image = closing.image(self.automaton.tickets(0, *local));
            *local = self.renumbered(0, *local, image)?;
        }
        Ok(renumbered)
    }

    /// The states after a step of a process; none if it cannot take one.
    pub(super) fn steps(&mut self, config: &Config, mover: usize) -> Result<Vec<Config>, Error> {
        let mut sorted = self.unsorted_steps(config, mover)?;
        sorted.iter_mut().for_each(|after| after.processes.sort_unstable());
        Ok(sorted)
    }

    /// The same, with each process at its place: one state, or several if a new ticket may or may not have room above it.
    fn unsorted_steps(&mut self, config: &Config, mover: usize) -> Result<Vec<Config>, Error> {
        let local = config.processes[mover];
        let info = *self.automaton.step_info(0, local);
        if info.action == Action::None {
            return Ok(Vec::new());
        }
        let reg = info.reg as usize;
        let accesses = info.action != Action::Silent;
        let value = if accesses { config.registers[reg] } else { 0 };
        let (next, written) = loop {
            match self.automaton.step(self.automaton.step_info(0, local), value) {
                Some(step) => break step,
                None => self.learn(Missing::Step { process: 0, local, value })?,
            }
        };
        let mut after = config.clone();
        after.processes[mover] = next;
        if accesses {
            after.registers[reg] = written;
        }
        let (before, tickets) = (self.tickets(config), self.tickets(&after));
        let wide = self.automaton.wide;
        let mut successors = Vec::new();
        for roomy in tickets.splits(before, wide).subsets() {
            successors.push(self.renumber(&after, &Closing::of(tickets, roomy, wide))?);
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
            let sections =
                self.list[at as usize].processes.iter().map(|&local| self.automaton.step_info(0, local).section);
            let sections: Vec<String> = sections.map(|section| section.to_string()).collect();
            steps.push(format!("{step}: {}", sections.join(", ")));
            at = *from;
        }
        steps.reverse();
        steps
    }
}
