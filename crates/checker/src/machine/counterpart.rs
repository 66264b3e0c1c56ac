//! The state of a graph that stands for a state of the machine.
//!
//! A search renumbers tickets and, if it forgets, drops tickets and registers. Here the same is done to real numbers, after
//! each step.
use doorway_memory::{Ticket, Value};

use super::{Buffered, Machine};
use crate::{
    actor::Actor,
    automaton::{Need, RegisterSet},
    buffers::Write,
    error::Error,
    execution::Step,
    graph::{Graph, Id},
    model::Model,
    program::Section,
    registers::Register,
    tickets::{self, Numbering},
    view::Word,
};

impl Machine<'_> {
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
            |machine: &mut Machine<'_>| machine.counted_as(graph, model).as_ref() == Some(&graph.contents(target));
        let p = match actor {
            Actor::Process(p) => p,
            Actor::Buffer(p) => return Ok(self.become_visible(p).filter(|_| arrived(self))),
            Actor::Interruption(p) => {
                let local = graph.layout.fields[p].get(&graph.state(target));
                let section = graph.automaton.step_info(p, local).section;
                let step = match section {
                    Section::Reap => Some(self.die(p)),
                    Section::Abort => self.abort(p),
                    _ => self.expire(p),
                };
                return Ok(step.filter(|_| arrived(self)));
            }
            Actor::Crash(p) => return Ok(Some(self.crash(p))),
        };
        if !self.can_step(p)? {
            return Ok(None);
        }
        for value in 0..self.values_seen(p)?.map_or(1, |values| values.len()) {
            let mut trial = self.clone();
            let step = trial.step_seeing_value(p, value)?;
            if arrived(&mut trial) {
                *self = trial;
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    /// Forgets registers and tickets, and rotates cyclic numbers, as the graph's search has after this step.
    fn forget(&mut self, graph: &Graph) {
        if let Some(rotation) = graph.automaton.rotation() {
            let by = rotation.needed(self.registers, &self.words);
            self.words = rotation.words(self.registers, &self.words, by);
            for (_, _, history) in &mut self.processes {
                *history = rotation.history(self.registers, history, by);
            }
        }
        if graph.automaton.forgets_registers() {
            let processes = self.processes.iter().enumerate();
            let live = processes.fold(RegisterSet::default(), |live, (p, (section, passages, history))| {
                live.union(graph.automaton.live_in(p, *section, *passages, history))
            });
            let all = (0..self.words.len()).map(RegisterSet::of).fold(RegisterSet::default(), RegisterSet::union);
            for reg in all.without(live).registers().filter(|&reg| graph.automaton.can_be_cleared(reg)) {
                let Register { init, kind, .. } = &self.registers[reg];
                // If the initial tickets are raised, zero is not forgotten, and one is.
                let old = Ticket::of_word(graph.automaton.raised().min(1));
                self.words[reg] = (kind.renumber)(*init, &mut |_| old);
            }
        }
        if graph.automaton.raised() > 0 {
            self.floor = self.floor.max(u64::from(graph.automaton.wide) + 1);
        }
        while graph.automaton.forgets() {
            let floor = self.next_floor(graph);
            if floor == self.floor {
                break;
            }
            self.floor = floor;
        }
    }

    /// The floor below which tickets are forgotten, given that those below the present one are.
    fn next_floor(&self, graph: &Graph) -> u64 {
        let (all, mut needed) = (self.real_tickets(), Vec::new());
        for (p, (section, _, history)) in self.processes.iter().enumerate() {
            let mut known = Vec::new();
            history.iter().for_each(|word| tickets::collect(word.kind, word.bits, &mut known));
            for &need in graph.automaton.needs_of_real(p, *section, history, self.floor) {
                let mut tickets = if need.has_local() { known.clone() } else { Vec::new() };
                need.registers().for_each(|reg| {
                    tickets::collect(self.registers[reg].kind, self.words[reg], &mut tickets);
                });
                if need == Need::ALL_LOCAL {
                    needed.extend(known.iter().copied());
                }
                needed.extend(tickets.into_iter().max());
            }
        }
        let known = |tickets: Vec<u64>| tickets.into_iter().filter(|&ticket| ticket >= self.floor);
        let largest = known(all.clone()).max();
        let floor = known(needed).chain(largest).min().unwrap_or(self.floor);
        let wide = graph.automaton.wide;
        let is_near_zero =
            Numbering::closing_real(&all, 0, wide).number(floor).is_none_or(|number| number <= wide.into());
        if self.floor > 0 || !is_near_zero { floor } else { 0 }
    }

    /// The fields of the graph's state that stands for this one; none if one of them never occurs in the graph. It has to be
    /// called after every step, since tickets are forgotten step by step.
    pub(crate) fn counted_as(&mut self, graph: &Graph, model: &Model) -> Option<Vec<u32>> {
        if graph.automaton.merges() {
            return graph.automaton.merged_real(self.processes.iter(), &self.words).map(<[u32]>::to_vec);
        }
        self.forget(graph);
        let numbering = if model.has_real_tickets() {
            Numbering::between(Default::default(), Default::default())
        } else {
            let numbering = Numbering::closing_real(&self.real_tickets(), self.floor, graph.automaton.wide);
            if graph.automaton.raised() > 0 { numbering.keeping_zero() } else { numbering }
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
