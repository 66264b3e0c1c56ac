//! The search: breadth-first, exact, on all cores, and with the same result on any number of them.
//!
//! States are distributed to *shards* by their hash. A batch of states is worked on in three phases, each of which
//! distributes shards to threads, so that no two threads ever write to the same shard:
//!
//! 1. *expand*: the successors of each shard's states of the batch are computed, and sorted by the shard they belong
//!    to;
//! 2. *insert*: each shard inserts its successors from all shards, in the order of these;
//! 3. *link*: each shard stores the edges of its states, now that every successor has an id.
//!
//! What a phase does depends on the order of shards and never on that of threads, so ids, counts and executions are
//! reproducible. The table of a shard is small enough to stay in a core's cache, which is most of the speed.
use doorway_memory::Pid;

use crate::{
    actor::Packing,
    automaton::{Action, Automaton, Missing, broken},
    error::{Error, Fault},
    expand::{Batch, Refusal, Successors},
    graph::{Graph, ID_BITS, Id, SHARD_BITS, SHARDS, Shard, hash_state, id, shard_of},
    layout::Layout,
    model::Model,
    parallel,
    program::Program,
    progress::{Phase, Progress},
    properties,
    real::realise,
    registers::Register,
    tickets::WIDTHS,
};

/// The number of states of each shard in a batch.
const BATCH: u32 = 1024;
/// Below this number of states a batch is not worth a second thread.
const WORTH_SHARING: u32 = 2048;

/// Why a search ended before it had found every state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// It reached the limit on states.
    States,
    /// It reached the limit on memory.
    Memory,
    /// It found as many states as can be numbered.
    Ids,
    /// The observer cancelled it.
    Cancelled,
    /// It found a state with more than k holders, and nothing else was asked for.
    Found,
}

/// Why an attempt to search ended without a graph.
enum Ended {
    Restart(Restart),
    Failed(Box<Failure>),
}

/// An error, and the process whose step is at fault, if the error is in a step.
struct Failure {
    error: Error,
    culprit: Option<Culprit>,
}

/// A reason to search again in another way.
enum Restart {
    /// There are barriers, so no step can be taken before all others.
    EveryOrder,
    /// A comparison depends on the distance between two tickets, so more distances are told apart.
    Wider,
}

/// The process whose step is at fault.
struct Culprit {
    process: Pid,
    local: u32,
    /// The value of the register that it accesses; none if another process is writing it.
    sees: Option<u32>,
}

impl From<Error> for Ended {
    fn from(error: Error) -> Ended {
        Ended::Failed(Box::new(Failure { error, culprit: None }))
    }
}

/// The buffers that batches are worked on in.
struct Workspace {
    /// For each shard the successors of its states.
    successors: Vec<Successors>,
    /// For each shard and each shard that the successors come from, their indices.
    inserted: Vec<Vec<Vec<u32>>>,
}

impl Workspace {
    fn new() -> Workspace {
        Workspace {
            successors: (0..SHARDS).map(|_| Successors::new()).collect(),
            inserted: vec![vec![Vec::new(); SHARDS]; SHARDS],
        }
    }
}

/// The states of each shard that are worked on together: from the first index of each shard up to the second.
struct Range {
    from: [u32; SHARDS],
    to: [u32; SHARDS],
    /// The number of threads it is worth.
    threads: usize,
}

impl Range {
    /// The next batch of the states up to `end`, if there is one.
    fn next(from: [u32; SHARDS], end: &[u32; SHARDS], model: &Model) -> Option<Range> {
        let to: [u32; SHARDS] = std::array::from_fn(|s| (from[s] + BATCH).min(end[s]));
        let size: u32 = std::iter::zip(&from, &to).map(|(from, to)| to - from).sum();
        let threads = if size < WORTH_SHARING { 1 } else { model.threads };
        (size > 0).then_some(Range { from, to, threads })
    }
}

impl Graph {
    /// Finds every reachable state. With `edges`, steps are stored too; without, the search ends at the first batch
    /// with a state that has more than k holders, and then stores the steps of the states found so far.
    pub(crate) fn explore(
        program: &dyn Program,
        registers: Vec<Register>,
        model: &Model,
        edges: bool,
    ) -> Result<Graph, Error> {
        let mut model = model.clone();
        let mut width = 0;
        loop {
            match Self::attempt(program, registers.clone(), &model, edges, WIDTHS[width]) {
                Ok(graph) => return Ok(graph),
                Err(Ended::Failed(failure)) => return Err(failure.error),
                Err(Ended::Restart(Restart::EveryOrder)) => model.every_order = true,
                Err(Ended::Restart(Restart::Wider)) => width += 1,
            }
        }
    }

    /// Explores with gaps between tickets of `wide` and more not told apart.
    fn attempt(
        program: &dyn Program,
        registers: Vec<Register>,
        model: &Model,
        edges: bool,
        wide: u32,
    ) -> Result<Graph, Ended> {
        let automaton = Automaton::new(program, registers, model, wide)?;
        if automaton.met_barrier() {
            return Err(Ended::Restart(Restart::EveryOrder));
        }
        let layout = Layout::of(&automaton);
        let mut graph = Graph {
            automaton,
            layout,
            packing: Packing::of(model),
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            levels: Vec::new(),
            stop: None,
            crowded: false,
            cut: 0,
            full: false,
            initial: 0,
            state_bytes: 0,
            most_bytes: 0,
        };
        // The first content of every field has the id 0.
        let start = vec![0; graph.layout.words];
        let hash = graph.hash(&start);
        let shard = shard_of(hash);
        let (automaton, layout) = (&graph.automaton, &graph.layout);
        graph.shards[shard].insert(&start, hash, |state| hash_state(automaton, layout, state));
        graph.initial = id(shard, 0);
        graph.search(program, model, edges)?;
        graph.automaton.replay(program)?;
        graph.state_bytes = graph.shards.iter().map(Shard::state_bytes).sum();
        graph.shards.iter_mut().for_each(Shard::freeze);
        Ok(graph)
    }

    fn search(&mut self, program: &dyn Program, model: &Model, edges: bool) -> Result<(), Ended> {
        let mut work = Workspace::new();
        let mut done = [0_u32; SHARDS];
        let mut level = self.lens();
        loop {
            let Some(batch) = Range::next(done, &level, model) else {
                self.levels.push(level);
                level = self.lens();
                if level == done {
                    return Ok(());
                }
                continue;
            };
            done = batch.to;
            if let Err(ended) = self.expand(program, model, &batch, &mut work.successors) {
                return Err(self.with_execution(program, model, ended, (!edges).then_some(&batch.from)));
            }
            self.cut += work.successors.iter().map(|successors| successors.cut).sum::<u64>();
            self.full |= work.successors.iter().any(|successors| successors.full);
            self.crowded |= work.successors.iter().any(|successors| successors.crowded);
            self.insert(&batch, &mut work);
            if self.crowded && !edges {
                self.stop = Some(self.link_expanded(program, model, &done)?.unwrap_or(Stop::Found));
                return Ok(());
            }
            if edges {
                self.link(&batch, &work);
            }
            self.stop = self.must_stop(model, edges, &work.successors);
            if self.stop.is_some() {
                return Ok(());
            }
        }
    }

    /// Stores the steps of the states up to `expanded`, all of whose successors are known, after a search without
    /// edges. Returns why it ended early, if it did.
    fn link_expanded(
        &mut self,
        program: &dyn Program,
        model: &Model,
        expanded: &[u32; SHARDS],
    ) -> Result<Option<Stop>, Ended> {
        let mut work = Workspace::new();
        let mut done = [0_u32; SHARDS];
        while let Some(batch) = Range::next(done, expanded, model) {
            done = batch.to;
            self.expand(program, model, &batch, &mut work.successors)?;
            self.insert(&batch, &mut work);
            self.link(&batch, &work);
            self.most_bytes = self.bytes_with(&work.successors);
            if model.cancelled() {
                return Ok(Some(Stop::Cancelled));
            }
            if self.exceeds_memory(model, true) {
                return Ok(Some(Stop::Memory));
            }
        }
        Ok(None)
    }

    /// Finds the successors of a batch. What the automaton does not know yet is learnt between attempts, in the order
    /// of shards.
    fn expand(
        &mut self,
        program: &dyn Program,
        model: &Model,
        range: &Range,
        successors: &mut [Successors],
    ) -> Result<(), Ended> {
        let mut again = [true; SHARDS];
        while again.contains(&true) {
            let work = successors.iter_mut().enumerate().filter(|(s, _)| again[*s]);
            parallel::each(range.threads, work, |(s, successors)| {
                let batch = Batch { graph: self, model, shard: s, from: range.from[s], to: range.to[s] };
                successors.clear();
                match self.layout.words {
                    1 => batch.expand::<1>(successors),
                    2 => batch.expand::<2>(successors),
                    3 => batch.expand::<3>(successors),
                    4 => batch.expand::<4>(successors),
                    5 | 6 => batch.expand::<6>(successors),
                    7 | 8 => batch.expand::<8>(successors),
                    _ => batch.expand::<16>(successors),
                }
            });
            for (again, successors) in std::iter::zip(&mut again, &mut *successors) {
                if let Some(Refusal { process, local, fault }) = successors.refused.first() {
                    let error = broken(*process, self.automaton.whereabouts(*process, *local), fault.clone());
                    let culprit = Culprit { process: *process, local: *local, sees: None };
                    return Err(Ended::Failed(Box::new(Failure { error, culprit: Some(culprit) })));
                }
                *again = !successors.missing.is_empty();
                successors.missing.drain(..).try_for_each(|missing| self.learn(program, missing))?;
            }
            if !self.layout.holds(&self.automaton) {
                self.widen(model.threads)?;
                // Successors found so far are packed in the old way.
                again = [true; SHARDS];
            }
        }
        Ok(())
    }

    /// Learns what was missing, or finds out that the search has to restart or fails.
    fn learn(&mut self, program: &dyn Program, missing: Missing) -> Result<(), Ended> {
        let learnt = self.automaton.learn(program, missing);
        if self.automaton.met_barrier() {
            return Err(Ended::Restart(Restart::EveryOrder));
        }
        learnt.map_err(|error| match (&error, missing) {
            (Error::Broken { fault: Fault::TicketArithmetic, .. }, _)
                if self.automaton.wide < WIDTHS[WIDTHS.len() - 1] =>
            {
                Ended::Restart(Restart::Wider)
            }
            (_, Missing::Step { process, local, value }) => {
                let culprit = Culprit { process: process as usize, local, sees: Some(value) };
                Ended::Failed(Box::new(Failure { error, culprit: Some(culprit) }))
            }
            _ => error.into(),
        })
    }

    /// Adds an execution that leads to the step of the culprit. If the search is one without edges, the steps of the
    /// states up to `unlinked` are stored first.
    fn with_execution(
        &mut self,
        program: &dyn Program,
        model: &Model,
        ended: Ended,
        unlinked: Option<&[u32; SHARDS]>,
    ) -> Ended {
        let Ended::Failed(failure) = ended else { return ended };
        let (error, Culprit { process: p, local, sees }) = match *failure {
            Failure { error, culprit: Some(culprit) } => (error, culprit),
            Failure { error, culprit: None } => return error.into(),
        };
        let Error::Broken { process, section, line, fault, .. } = error else { return error.into() };
        if let Some(expanded) = unlinked {
            // Without all of the steps there may be no path, and the error is reported without an execution.
            let _ = self.link_expanded(program, model, expanded);
        }
        let info = self.automaton.step_info(p, local);
        let reg = info.reg as usize;
        let held = |state: &[u64]| self.layout.fields[self.automaton.n() + reg].get(state);
        let is_there = |state: Id| {
            let state = self.state(state);
            let sees_it = match sees {
                None => self.automaton.writer(reg, held(state)).is_some_and(|writer| writer != p),
                // A process reads what the register holds, unless it has written it itself or it is being written.
                Some(value) => {
                    let depends = info.action == Action::ReadsValue && !model.store_buffers && !model.safe_registers;
                    !depends || held(state) == value
                }
            };
            self.layout.fields[p].get(state) == local && sees_it
        };
        let path = self.shortest_within(None, 1, |_, _, _, _| Some(0), |_, state| is_there(state));
        let execution = path.and_then(|path| realise(program, self, model, &path).ok().flatten());
        Error::Broken { process, section, line, fault, execution }.into()
    }

    /// Packs every state in a new layout. Hashes, and so shards and tables, do not depend on the layout.
    fn widen(&mut self, threads: usize) -> Result<(), Error> {
        let layout = Layout::of(&self.automaton);
        if layout.words > 16 {
            return Err(Error::Model("a state takes more than 16 words, which is more than can be packed".to_string()));
        }
        parallel::each(threads, self.shards.iter_mut(), |shard| {
            let mut states = Vec::with_capacity(shard.len as usize * layout.words);
            for state in shard.states.chunks_exact(self.layout.words) {
                self.layout.convert(&layout, state, &mut states);
            }
            shard.states = states;
        });
        self.layout = layout;
        Ok(())
    }

    fn insert(&mut self, batch: &Range, Workspace { successors, inserted }: &mut Workspace) {
        let (automaton, layout) = (&self.automaton, &self.layout);
        let successors = &*successors;
        let work = self.shards.iter_mut().zip(inserted).enumerate();
        parallel::each(batch.threads, work, |(t, (shard, inserted))| {
            let rehash = |state: &[u64]| hash_state(automaton, layout, state);
            for (successors, inserted) in std::iter::zip(successors, inserted) {
                inserted.clear();
                let arrivals = successors.to[t].chunks_exact(layout.words + 1);
                inserted.extend(arrivals.map(|arrival| shard.insert(&arrival[1..], arrival[0], rehash)));
            }
        });
    }

    fn link(&mut self, batch: &Range, Workspace { successors, inserted }: &Workspace) {
        parallel::each(batch.threads, self.shards.iter_mut().enumerate(), |(s, shard)| {
            shard.link(s, batch.from[s], &successors[s], |to| &inserted[to][s]);
        });
    }

    fn must_stop(&mut self, model: &Model, edges: bool, successors: &[Successors]) -> Option<Stop> {
        let states = self.states();
        self.most_bytes = self.bytes_with(successors);
        if let Some(observer) = &model.observer {
            observer.progress(&Progress {
                phase: Phase::Searching,
                states,
                depth: self.levels.len() as u32,
                bytes: self.most_bytes as u64,
                growing: self.automaton.growing(),
            });
        }
        if model.cancelled() {
            Some(Stop::Cancelled)
        } else if model.max_states.is_some_and(|max| states >= max) {
            Some(Stop::States)
        } else if self.exceeds_memory(model, edges) {
            Some(Stop::Memory)
        } else if self.shards.iter().any(|shard| shard.len + BATCH * 256 > 1 << (ID_BITS - SHARD_BITS)) {
            Some(Stop::Ids)
        } else {
            None
        }
    }

    fn bytes_with(&self, successors: &[Successors]) -> usize {
        self.bytes() + successors.iter().map(Successors::bytes).sum::<usize>()
    }

    /// Whether the next batch, or checking the properties if there are edges, may take more than the memory limit.
    fn exceeds_memory(&self, model: &Model, edges: bool) -> bool {
        // Between two calls the table of a shard may double.
        let growth = self.most_bytes / 8;
        let judging = if edges { properties::bytes_to_judge(self, model, 1) } else { 0 };
        model.max_memory.is_some_and(|max| (self.most_bytes + growth + judging) as u64 > max)
    }
}
