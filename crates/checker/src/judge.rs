//! A graph together with what the properties ask of it: sections, shortest paths, cycles.
use std::collections::VecDeque;

use doorway_memory::{Home, Pid};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    components::{Steps, Subgraph},
    graph::{Graph, Id, SHARDS},
    model::Model,
    parallel,
    program::Section,
    run::Path,
};

pub(crate) struct Judge<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) model: &'a Model,
    /// Every process' section in every state, three bits each.
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

    #[inline]
    pub(crate) fn section(&self, state: Id, p: Pid) -> Section {
        Section::ALL[(self.sections[state as usize] >> (3 * p) & 7) as usize]
    }

    /// How many processes are inside.
    pub(crate) fn inside(&self, state: Id) -> usize {
        self.model.processes().filter(|&p| self.section(state, p).is_inside()).count()
    }

    /// Whether process `p`'s next access is remote: by the cache, if the states have one, else by the registers' homes.
    pub(crate) fn is_remote(&self, state: Id, p: Pid) -> bool {
        let (automaton, fields) = (&self.graph.automaton, &self.graph.layout.fields);
        let packed = self.graph.state(state);
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

    /// The processes that need not step, as bits.
    pub(crate) fn resting(&self, state: Id) -> u32 {
        let rests = |&p: &Pid| self.section(state, p).may_rest();
        self.model.processes().filter(rests).fold(0, |set, p| set | 1 << p)
    }

    /// Whether these processes, which will never step again, can be said to have crashed. A crash is nothing else than that,
    /// so it takes no states of its own.
    pub(crate) fn may_crash(&self, processes: u32) -> bool {
        processes.count_ones() as usize <= self.model.crashes
    }

    /// Whose store buffers are not empty, as bits.
    fn buffered(&self, state: Id) -> u32 {
        let (automaton, layout) = (&self.graph.automaton, &self.graph.layout);
        let packed = self.graph.state(state);
        let is_empty = |p| automaton.buffer_field(p).is_none_or(|field| layout.fields[field].get(packed) == 0);
        self.model.processes().filter(|&p| !is_empty(p)).fold(0, |set, p| set | 1 << p)
    }

    /// Whether no write stays invisible for ever if these steps, as bits, are taken again and again through these states. A
    /// buffer that is never emptied on a cycle is never added to either, so one state speaks for all.
    pub(crate) fn memory_is_fair(&self, state: Id, stepping: u32) -> bool {
        self.buffered(state) & !(stepping >> Model::memory_of(0)) == 0
    }

    /// Whether this step is someone dying.
    #[inline]
    pub(crate) fn dies(&self, stepping: Pid, to: Id) -> bool {
        self.model.interrupted(stepping).is_some_and(|p| self.section(to, p) == Section::Reap)
    }

    /// Whether this step is process `p` getting inside.
    #[inline]
    pub(crate) fn enters(&self, from: Id, p: Pid, to: Id) -> bool {
        p < self.model.n && self.section(to, p) == Section::Critical && self.section(from, p) != Section::Critical
    }

    /// The shortest path to one of these states.
    pub(crate) fn shortest_to(&self, states: &StateSet) -> Option<Path> {
        if states.is_empty() {
            return None;
        }
        self.graph.shortest_within(None, 1, |_, _, _, _| Some(0), |_, state| states.contains(state))
    }

    /// The state a path has come to after so many steps.
    pub(crate) fn state_at(&self, path: &Path, steps: usize) -> Id {
        path.steps[..steps].last().map_or(self.graph.initial, |&(_, state)| state)
    }

    /// Where a path leads.
    pub(crate) fn end(&self, path: &Path) -> Id {
        self.state_at(path, path.steps.len())
    }

    /// The path, then round a cycle through states inside, of steps that are kept, and that has all that is needed. If nothing
    /// is said, that is a step of everyone who can; who is neither in the remainder nor steps has crashed.
    pub(crate) fn lasso(
        &self,
        mut path: Path,
        inside: impl Fn(Id) -> bool,
        keep: impl Fn(Id, Pid, Id) -> bool,
        needed: Option<Vec<Need>>,
    ) -> Option<Path> {
        let start = self.end(&path);
        let around = Subgraph { graph: self.graph, inside, keep: &keep };
        let members: FxHashSet<Id> = around.component_of(start).into_iter().collect();
        let keep = |from, p, to| members.contains(&to) && keep(from, p, to);
        let mut needed = needed.unwrap_or_else(|| {
            let steps = members.iter().flat_map(|&from| self.graph.steps(from).map(move |(p, to)| (from, p, to)));
            let stepping = steps.filter(|&(from, p, to)| keep(from, p, to)).fold(0, |set, (_, p, _)| set | 1 << p);
            let resting = self.resting(start);
            for p in self.model.processes().filter(|p| (stepping | resting) >> p & 1 == 0) {
                path.crash(p, start);
            }
            let goes_on = |p: &Pid| stepping >> p & 1 == 1 && resting >> p & 1 == 0;
            let visible = |memory: &Pid| self.model.store_buffers && stepping >> memory & 1 == 1;
            let memory = self.model.processes().map(Model::memory_of).filter(visible);
            self.model.processes().filter(goes_on).chain(memory).map(Need::Step).collect()
        });
        path.cycle_at = Some(path.steps.len());
        let mut at = start;
        while !needed.is_empty() {
            let meets = |from, p, to| needed.iter().any(|need| need.met_by(self, from, p, to));
            let stretch = self.walk(at, keep, meets)?;
            for (p, to) in stretch {
                needed.retain(|need| !need.met_by(self, at, p, to));
                path.steps.push((p, to));
                at = to;
            }
        }
        if at != start {
            path.steps.extend(self.walk(at, keep, |_, _, to| to == start)?);
        }
        Some(path)
    }

    /// The shortest way to a step that meets `goal`, that step included.
    pub(crate) fn walk(
        &self,
        start: Id,
        keep: impl Fn(Id, Pid, Id) -> bool,
        goal: impl Fn(Id, Pid, Id) -> bool,
    ) -> Option<Vec<(Pid, Id)>> {
        let mut came_from: FxHashMap<Id, (Id, Pid)> = FxHashMap::default();
        let mut queue = VecDeque::from([start]);
        while let Some(state) = queue.pop_front() {
            for (p, target) in self.graph.steps(state).filter(|&(p, target)| keep(state, p, target)) {
                if goal(state, p, target) {
                    let mut steps = vec![(p, target)];
                    let mut at = state;
                    while at != start {
                        let (before, p) = came_from[&at];
                        steps.push((p, at));
                        at = before;
                    }
                    steps.reverse();
                    return Some(steps);
                }
                if target != start && !came_from.contains_key(&target) {
                    came_from.insert(target, (state, p));
                    queue.push_back(target);
                }
            }
        }
        None
    }
}

/// What a cycle must contain.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    /// A step of this process, or of its store buffer.
    Step(Pid),
    /// Someone else than this process getting inside.
    EntryOfAnother(Pid),
    /// A remote access of this process.
    RemoteStep(Pid),
}

impl Need {
    fn met_by(self, judge: &Judge<'_>, from: Id, p: Pid, to: Id) -> bool {
        match self {
            Need::Step(q) => p == q,
            Need::RemoteStep(q) => p == q && judge.is_remote(from, q),
            Need::EntryOfAnother(q) => p != q && judge.enters(from, p, to),
        }
    }
}

/// A set of states.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateSet(Vec<u64>);

impl StateSet {
    /// Whether it was not there yet.
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
