//! A graph with the queries that properties need: sections, shortest paths, cycles.
use std::collections::VecDeque;

use doorway_memory::{Home, Pid};
use rustc_hash::FxHashMap;

use crate::{
    actor::{Actor, ActorSet},
    components::Subgraph,
    execution::Path,
    graph::{Graph, Id, SHARDS, section_bits},
    model::Model,
    parallel,
    program::Section,
};

/// A graph, and the queries that properties need.
pub(crate) struct Judge<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) model: &'a Model,
    /// For each state the sections of all processes; empty if they are seldom asked for.
    sections: Vec<u32>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(graph: &'a Graph, model: &'a Model) -> Judge<'a> {
        let mut sections = vec![0; graph.ids()];
        let rows = (sections.len() / SHARDS / model.threads).max(1) * SHARDS;
        let parts = sections.chunks_mut(rows).enumerate();
        parallel::each(model.threads, parts, |(i, part)| {
            for (state, sections) in ((i * rows) as Id..).zip(part) {
                if graph.exists(state) {
                    *sections = graph.sections(state);
                }
            }
        });
        Judge { graph, model, sections }
    }

    /// A judge of few states, to which their sections are not worth the memory.
    pub(crate) fn of_few_states(graph: &'a Graph, model: &'a Model) -> Judge<'a> {
        Judge { graph, model, sections: Vec::new() }
    }

    #[inline]
    pub(crate) fn section(&self, state: Id, p: Pid) -> Section {
        let bits = section_bits(self.model.n);
        let sections = self.sections.get(state as usize).copied().unwrap_or_else(|| self.graph.sections(state));
        Section::ALL[(sections >> (bits * p) & ((1 << bits) - 1)) as usize]
    }

    /// The number of holders.
    pub(crate) fn holders(&self, state: Id) -> usize {
        self.model.processes().filter(|&p| self.section(state, p).is_critical()).count()
    }

    /// Whether the next access of process `p` is remote: by the cache, if states have one, else by the register's home.
    pub(crate) fn is_remote(&self, state: Id, p: Pid) -> bool {
        let (automaton, fields) = (&self.graph.automaton, &self.graph.layout.fields);
        let packed = &self.graph.state(state);
        let Some(access) = automaton.local(p, fields[p].get(packed)).access else { return false };
        let reg = access.reg as usize;
        match self.model.cache {
            None => automaton.registers[reg].home != Home::Of(p),
            Some(_) => {
                let cached = fields[automaton.n() + automaton.registers.len() + reg].get(packed) == 1;
                !(access.op.is_read() && cached)
            }
        }
    }

    /// Keeps the steps after which process `p` may come back to what it does in `start` without leaving its section.
    pub(crate) fn returning(&self, p: Pid, start: Id) -> impl Fn(Actor, Id) -> bool + use<'a> {
        let (graph, field) = (self.graph, self.graph.layout.fields[p]);
        let may_return = graph.automaton.may_come_to(p, field.get(&graph.state(start)));
        move |actor, to| actor != Actor::Process(p) || may_return[field.get(&graph.state(to)) as usize]
    }

    /// The processes that may rest, as bits.
    pub(crate) fn resting(&self, state: Id) -> u32 {
        let rests = |&p: &Pid| self.section(state, p).may_rest();
        self.model.processes().filter(rests).fold(0, |set, p| set | 1 << p)
    }

    /// Whether these processes, which never take a step again, may have crashed. A crash is nothing but that, so it
    /// needs no states of its own.
    pub(crate) fn may_crash(&self, processes: u32) -> bool {
        processes.count_ones() as usize <= self.model.crashes
    }

    /// The processes whose store buffers are not empty, as bits.
    fn buffered(&self, state: Id) -> u32 {
        let (automaton, layout) = (&self.graph.automaton, &self.graph.layout);
        let packed = &self.graph.state(state);
        let is_empty = |p| automaton.buffer_field(p).is_none_or(|field| layout.fields[field].get(packed) == 0);
        self.model.processes().filter(|&p| !is_empty(p)).fold(0, |set, p| set | 1 << p)
    }

    /// Whether no write stays in a store buffer for ever on a cycle of these actors' steps through `state`. A buffer
    /// without such a step gets no further writes on the cycle either, so it does not matter which state of the cycle
    /// is given.
    pub(crate) fn memory_is_fair(&self, state: Id, stepping: ActorSet) -> bool {
        self.buffered(state) & !stepping.buffers() == 0
    }

    /// Whether this step is a death, or a live process is taken for dead.
    #[inline]
    pub(crate) fn dies(&self, actor: Actor, to: Id) -> bool {
        let fails = |section: Section| section == Section::Reap || section.is_expired();
        matches!(actor, Actor::Interruption(p) if fails(self.section(to, p)))
    }

    /// Whether in this step a process enters the critical section.
    #[inline]
    pub(crate) fn enters(&self, from: Id, actor: Actor, to: Id) -> bool {
        matches!(actor, Actor::Process(p) if self.process_enters(from, p, to))
    }

    /// Whether process `p` is in the critical section after a step and was not before.
    #[inline]
    pub(crate) fn process_enters(&self, from: Id, p: Pid, to: Id) -> bool {
        self.section(to, p) == Section::Critical && self.section(from, p) != Section::Critical
    }

    /// The shortest path to one of these states.
    pub(crate) fn shortest_to(&self, states: &StateSet) -> Option<Path> {
        if states.is_empty() {
            return None;
        }
        self.graph.shortest_within(None, 1, |_, _, _, _| Some(0), |_, state| states.contains(state))
    }

    /// The state after the first `steps` steps of a path.
    pub(crate) fn state_at(&self, path: &Path, steps: usize) -> Id {
        path.steps[..steps].last().map_or(self.graph.initial, |&(_, state)| state)
    }

    /// The last state of a path.
    pub(crate) fn end(&self, path: &Path) -> Id {
        self.state_at(path, path.steps.len())
    }

    /// Extends `path` with a cycle in the subgraph of `inside` and `keep` that meets every need.
    ///
    /// Without `needed` the cycle is to be fair: it has a step of every actor that has one in the component, and the
    /// processes that neither rest nor take a step crash before it.
    pub(crate) fn lasso(
        &self,
        mut path: Path,
        inside: impl Fn(Id) -> bool,
        keep: impl Fn(Id, Actor, Id) -> bool,
        needed: Option<Vec<Need>>,
    ) -> Option<Path> {
        let start = self.end(&path);
        let goes_on = |p: &Pid| !self.section(start, *p).may_rest();
        // Mostly the nearest steps that meet the needs lie on a cycle, which is found without the component. The steps are the
        // same then: no path leads back into the component.
        let all_step = self.model.crashes == 0 && !self.model.store_buffers;
        let keep_inside = |from, actor, to| inside(to) && keep(from, actor, to);
        if let Some(needed) = needed.clone().or_else(|| all_step.then(|| self.all_steps(start)))
            && let Some(round) = self.round(start, keep_inside, &[needed], usize::MAX)
        {
            return Some(path.followed_by(round));
        }
        let around = Subgraph { graph: self.graph, inside, keep: &keep };
        let (component, stepping) = around.component_of(start, |_, actor, _| ActorSet::of(actor).0);
        let mut members = StateSet::default();
        component.into_iter().for_each(|state| _ = members.insert(state));
        let stepping = ActorSet(stepping);
        let needed = needed.unwrap_or_else(|| {
            let steps = |p: &Pid| stepping.contains(Actor::Process(*p));
            self.model.processes().filter(|p| goes_on(p) && !steps(p)).for_each(|p| path.crash(p, start));
            let processes = self.model.processes().filter(|p| goes_on(p) && steps(p)).map(Actor::Process);
            let buffers = self.model.processes().map(Actor::Buffer).filter(|&buffer| stepping.contains(buffer));
            processes.chain(buffers).map(Need::Step).collect()
        });
        let keep = |from, actor, to| members.contains(to) && keep(from, actor, to);
        let round = self.round(start, keep, &[needed], usize::MAX)?;
        Some(path.followed_by(round))
    }

    /// The steps that a fair cycle through this state has if no process crashes and writes are not buffered.
    pub(crate) fn all_steps(&self, state: Id) -> Vec<Need> {
        let goes_on = |p: &Pid| !self.section(state, *p).may_rest();
        self.model.processes().filter(goes_on).map(|p| Need::Step(Actor::Process(p))).collect()
    }

    /// A cycle through `start` of the steps kept that meets every need, those of one stage before those of the next: from the
    /// nearest step that meets one to the next, and back. None also if one of these takes a search of more than `most` states.
    pub(crate) fn round(
        &self,
        start: Id,
        keep: impl Fn(Id, Actor, Id) -> bool,
        stages: &[Vec<Need>],
        most: usize,
    ) -> Option<Vec<(Actor, Id)>> {
        let mut round = Vec::new();
        let mut at = start;
        for mut needed in stages.iter().cloned() {
            while !needed.is_empty() {
                let meets = |from, actor, to| needed.iter().any(|need| need.met_by(self, from, actor, to));
                for (actor, to) in self.walk_near(at, &keep, meets, most)? {
                    needed.retain(|need| !need.met_by(self, at, actor, to));
                    round.push((actor, to));
                    at = to;
                }
            }
        }
        if at != start {
            round.extend(self.walk_near(at, &keep, |_, _, to| to == start, most)?);
        }
        Some(round)
    }

    /// The shortest path from `start` that ends with a step that meets `goal`.
    pub(crate) fn walk(
        &self,
        start: Id,
        keep: impl Fn(Id, Actor, Id) -> bool,
        goal: impl Fn(Id, Actor, Id) -> bool,
    ) -> Option<Vec<(Actor, Id)>> {
        self.walk_near(start, keep, goal, usize::MAX)
    }

    /// As [`walk`](Self::walk), but none if about `most` states or more are nearer than the goal.
    fn walk_near(
        &self,
        start: Id,
        keep: impl Fn(Id, Actor, Id) -> bool,
        goal: impl Fn(Id, Actor, Id) -> bool,
        most: usize,
    ) -> Option<Vec<(Actor, Id)>> {
        let mut came_from: FxHashMap<Id, (Id, Actor)> = FxHashMap::default();
        let mut queue = VecDeque::from([start]);
        while let Some(state) = queue.pop_front()
            && came_from.len() <= most
        {
            for (actor, target) in self.graph.steps(state).filter(|&(actor, target)| keep(state, actor, target)) {
                if goal(state, actor, target) {
                    let mut steps = vec![(actor, target)];
                    let mut at = state;
                    while at != start {
                        let (before, actor) = came_from[&at];
                        steps.push((actor, at));
                        at = before;
                    }
                    steps.reverse();
                    return Some(steps);
                }
                if target != start && !came_from.contains_key(&target) {
                    came_from.insert(target, (state, actor));
                    queue.push_back(target);
                }
            }
        }
        None
    }
}

/// A step that a cycle must contain.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    /// A step of this actor.
    Step(Actor),
    /// An entry of this process.
    Entry(Pid),
    /// An entry of another process than this one.
    EntryOfAnother(Pid),
    /// A remote memory reference of this process.
    RemoteStep(Pid),
}

impl Need {
    fn met_by(self, judge: &Judge<'_>, from: Id, actor: Actor, to: Id) -> bool {
        match self {
            Need::Step(needed) => actor == needed,
            Need::RemoteStep(p) => actor == Actor::Process(p) && judge.is_remote(from, p),
            Need::Entry(p) => actor == Actor::Process(p) && judge.enters(from, actor, to),
            Need::EntryOfAnother(p) => actor != Actor::Process(p) && judge.enters(from, actor, to),
        }
    }
}

/// A set of states.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateSet(Vec<u64>);

impl StateSet {
    /// Adds a state; returns whether it is new.
    pub(crate) fn insert(&mut self, state: Id) -> bool {
        let word = state as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] >> (state % 64) & 1 == 0;
        self.0[word] |= 1 << (state % 64);
        is_new
    }

    pub(crate) fn contains(&self, state: Id) -> bool {
        self.0.get(state as usize / 64).is_some_and(|word| word >> (state % 64) & 1 == 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
