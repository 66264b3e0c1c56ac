//! The search: breadth-first, exact, on all cores, and with the same result on any number of them.
//!
//! States are distributed to *shards* by their hash. A batch of states is worked on in two phases, each of which
//! distributes shards to threads, so that no two threads ever write to the same shard:
//!
//! 1. *expand*: the successors of each shard's states of the batch are computed, and sorted by the shard they belong
//!    to;
//! 2. *insert*: each shard inserts its successors from all shards, in the order of these; new ones are expanded after
//!    all states of the present level.
//!
//! What a phase does depends on the order of shards and never on that of threads, so counts and executions are
//! reproducible. The table of a shard is small enough to stay in a core's cache, which is most of the speed.
use std::sync::Arc;

use doorway_memory::Pid;

use crate::{
    actor::Packing,
    automaton::{Action, Assumed, Automaton, Forgetting, Live, Missing, Need, broken},
    edges::Edges,
    error::{Error, Fault},
    execution::Path,
    expand::{Expansion, Refusal, Successors},
    graph::{Graph, Id, SHARDS, Shard, grow, hash_state, shard_of},
    layout::{Layout, MAX_WORDS},
    merge::{Classes, Merged},
    model::Model,
    parallel,
    program::Program,
    progress::{Phase, Progress},
    properties,
    real::realise,
    registers::Register,
    table::Table,
    tickets::WIDTHS,
};

/// The number of states of each shard in a batch.
const BATCH: usize = 1024;
/// The number of states for which the table's cache lines are fetched at once, before they are inserted.
const FETCHED: usize = 16;
/// Below this number of states a batch is not worth a second thread.
const WORTH_SHARING: usize = 2048;

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
    /// A step depends on a forgotten ticket, so less is forgotten, or nothing.
    Remember(Option<Forgetting>),
    /// A register was forgotten that is live, so that it keeps its value.
    Live(Live),
    /// A step depends on which cyclic number is called 0, so states are not rotated.
    NoRotation,
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

/// The states of each shard's level that are worked on together: from the first index of each shard up to the second.
struct Range {
    from: [usize; SHARDS],
    to: [usize; SHARDS],
    /// The number of threads it is worth.
    threads: usize,
}

impl Range {
    /// The next batch of a level, if there is one.
    fn next(from: [usize; SHARDS], graph: &Graph) -> Option<Range> {
        let end = |s: usize| graph.shards[s].level.len() / graph.layout.words;
        let to: [usize; SHARDS] = std::array::from_fn(|s| (from[s] + BATCH).min(end(s)));
        let size: usize = std::iter::zip(&from, &to).map(|(from, to)| to - from).sum();
        let threads = if size < WORTH_SHARING { 1 } else { graph.model.threads };
        (size > 0).then_some(Range { from, to, threads })
    }
}

impl Graph {
    /// Finds every reachable state. With `edges`, steps are stored too, if there is memory for them; without, the search
    /// ends at the first batch with a state that has more than k holders.
    pub(crate) fn explore(
        program: &dyn Program,
        registers: Vec<Register>,
        model: &Model,
        edges: bool,
    ) -> Result<Graph, Error> {
        Self::explore_with_copies(program, registers, model, edges, None)
    }

    /// As [`explore`](Self::explore), with a cache. If it is known of which registers a copy is useful, others are not cached.
    pub(crate) fn explore_with_copies(
        program: &dyn Program,
        registers: Vec<Register>,
        model: &Model,
        edges: bool,
        copies: Option<Live>,
    ) -> Result<Graph, Error> {
        let mut model = model.clone();
        let mut width = 0;
        let mut assumed =
            Assumed { wide: WIDTHS[0], forgetting: None, live: None, copies, rotates: true, classes: None };
        if model.merges {
            match Classes::find(program, registers.clone(), &model) {
                Merged::Classes(classes) => assumed.classes = Some(Arc::new(classes)),
                Merged::No => {}
                Merged::Stopped(stop, unmerged) => {
                    let mut graph = Self::begin(program, registers, &model, false, assumed)?;
                    graph.freeze();
                    (graph.stop, graph.most_bytes, graph.unmerged) = (Some(stop), unmerged.bytes, Some(unmerged));
                    return Ok(graph);
                }
            }
        }
        if model.forgets_registers() {
            assumed.live = Some(Live::default());
            let mut graph = Self::begin(program, registers.clone(), &model, false, assumed.clone())?;
            assumed.live = Some(graph.scout(program, &[]));
        }
        let forgets = model.forgets_tickets() && !program.is_part() && registers.len() <= Need::REGISTERS;
        // On safe registers a read may return any number.
        let first = if model.safe_registers { Forgetting::grounded() } else { Forgetting::default() };
        assumed.forgetting = forgets.then_some(first);
        loop {
            match Self::attempt(program, registers.clone(), &model, edges, assumed.clone()) {
                Ok(graph) => return Ok(graph),
                Err(Ended::Failed(failure)) => return Err(failure.error),
                Err(Ended::Restart(Restart::EveryOrder)) => model.every_order = true,
                Err(Ended::Restart(Restart::Wider)) => {
                    width += 1;
                    assumed.wide = WIDTHS[width];
                }
                Err(Ended::Restart(Restart::Remember(less))) => assumed.forgetting = less,
                Err(Ended::Restart(Restart::Live(more))) => assumed.live = Some(more),
                Err(Ended::Restart(Restart::NoRotation)) => assumed.rotates = false,
            }
        }
    }

    /// Explores, unless something turns out to be wrong that is assumed.
    fn attempt(
        program: &dyn Program,
        registers: Vec<Register>,
        model: &Model,
        edges: bool,
        assumed: Assumed,
    ) -> Result<Graph, Ended> {
        let mut graph = Self::begin(program, registers, model, edges, assumed)?;
        if graph.automaton.met_barrier() {
            return Err(Ended::Restart(Restart::EveryOrder));
        }
        graph.search(program, edges)?;
        graph.automaton.replay(program)?;
        graph.freeze();
        Ok(graph)
    }

    /// A graph of the initial state only.
    fn begin(
        program: &dyn Program,
        registers: Vec<Register>,
        model: &Model,
        edges: bool,
        assumed: Assumed,
    ) -> Result<Graph, Error> {
        let automaton = Automaton::new(program, registers, model, assumed)?;
        let layout = Layout::of(&automaton);
        // Where processes are all alike, edges carry more than can be computed again.
        let stored = edges && (!model.recomputes || model.symmetric);
        let shard =
            |_| Shard { table: Table::new(&layout, stored), level: Vec::new(), next: Vec::new(), slots: Vec::new() };
        let mut graph = Graph {
            automaton,
            packing: Packing::of(model),
            model: model.clone(),
            shards: (0..SHARDS).map(shard).collect(),
            layout,
            edges: stored.then(Edges::new),
            levels: 0,
            transitions: 0,
            stop: None,
            crowded: false,
            cut: 0,
            full: false,
            initial: 0,
            unmerged: None,
            searched_bytes: 0,
            most_bytes: 0,
        };
        // The first content of every field has the id 0.
        let start = vec![0; graph.layout.words];
        let shard = shard_of(hash_state(&graph.automaton, &graph.layout, &start));
        graph.shards[shard].table.insert(&start);
        graph.shards[shard].level = start;
        Ok(graph)
    }

    fn search(&mut self, program: &dyn Program, edges: bool) -> Result<(), Ended> {
        let mut successors: Vec<Successors> = (0..SHARDS).map(|_| Successors::by_shard()).collect();
        // For each shard and each shard that the successors come from, their numbers.
        let mut inserted = vec![vec![Vec::new(); SHARDS]; SHARDS];
        let mut done = [0; SHARDS];
        loop {
            let Some(batch) = Range::next(done, self) else {
                self.levels += 1;
                done = [0; SHARDS];
                for shard in &mut self.shards {
                    std::mem::swap(&mut shard.level, &mut shard.next);
                    shard.next.clear();
                }
                if self.shards.iter().all(|shard| shard.level.is_empty()) {
                    return Ok(());
                }
                continue;
            };
            done = batch.to;
            if let Err(ended) = self.expand(program, &batch, &mut successors) {
                return Err(self.with_execution(program, ended));
            }
            for successors in &successors {
                self.cut += successors.cut;
                self.full |= successors.full;
                self.crowded |= successors.crowded;
                self.transitions += successors.edges.len() as u64;
            }
            self.insert(&batch, &successors, &mut inserted);
            if let Some(edges) = &mut self.edges {
                edges.link(batch.threads, &successors, &inserted);
            }
            self.stop = self.must_stop(edges, &successors);
            if self.crowded && !edges && self.stop != Some(Stop::Cancelled) {
                self.stop = Some(Stop::Found);
            }
            if self.stop.is_some() {
                return Ok(());
            }
        }
    }

    /// Finds the successors of a batch. What the automaton does not know yet is learnt between attempts, in the order
    /// of shards.
    fn expand(&mut self, program: &dyn Program, range: &Range, successors: &mut [Successors]) -> Result<(), Ended> {
        let mut again = [true; SHARDS];
        let mut first = None;
        while again.contains(&true) {
            let work = successors.iter_mut().enumerate().filter(|(s, _)| again[*s]);
            parallel::each(range.threads, work, |(s, successors)| {
                let words = self.layout.words;
                successors.clear();
                Expansion::of(self)
                    .expand(&self.shards[s].level[range.from[s] * words..range.to[s] * words], successors);
            });
            for (again, successors) in std::iter::zip(&mut again, &mut *successors) {
                if let Some(Refusal { process, local, fault }) = successors.refused.first() {
                    let error = broken(*process, self.automaton.whereabouts(*process, *local), fault.clone());
                    let culprit = Culprit { process: *process, local: *local, sees: None };
                    return Err(Ended::Failed(Box::new(Failure { error, culprit: Some(culprit) })));
                }
                if successors.lost_floor {
                    return Err(Ended::Restart(Restart::Remember(self.automaton.otherwise())));
                }
                if successors.lost_class {
                    let why = "a state is in no class of those that were merged, which is a defect of the checker; check it \
                               without merging, and report it";
                    return Err(Error::Model(why.to_string()).into());
                }
                *again = !successors.missing.is_empty();
                for missing in successors.missing.drain(..) {
                    self.learn(program, missing)?;
                    if let (None, true, Missing::Step { process, local, value }) =
                        (&first, self.automaton.forgot_too_much(), missing)
                    {
                        first = Some(Culprit { process: process as usize, local, sees: Some(value) });
                    }
                }
            }
            // The other steps of these states could be learnt too, so that one restart does for all of them.
            if self.automaton.forgot_too_much() {
                let path = first.and_then(|culprit| self.path_to(&culprit)).unwrap_or_default();
                return Err(Ended::Restart(Restart::Live(self.scout(program, &path.steps))));
            }
            if !self.layout.holds(&self.automaton) {
                self.widen()?;
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
        if self.automaton.depends_on_forgotten() {
            return Err(Ended::Restart(Restart::Remember(self.automaton.remember_more())));
        }
        if self.automaton.cannot_rotate() {
            return Err(Ended::Restart(Restart::NoRotation));
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

    /// Adds an execution that leads to the step of the culprit.
    fn with_execution(&mut self, program: &dyn Program, ended: Ended) -> Ended {
        let Ended::Failed(failure) = ended else { return ended };
        let (error, culprit) = match *failure {
            Failure { error, culprit: Some(culprit) } => (error, culprit),
            Failure { error, culprit: None } => return error.into(),
        };
        let Error::Broken { process, section, line, fault, .. } = error else { return error.into() };
        let path = self.path_to(&culprit);
        let execution = path.and_then(|path| realise(program, self, &self.model, &path).ok().flatten());
        Error::Broken { process, section, line, fault, execution }.into()
    }

    /// The shortest path to a state in which the culprit takes its step.
    fn path_to(&mut self, &Culprit { process: p, local, sees }: &Culprit) -> Option<Path> {
        // Steps that are computed again may lead to what was learnt last.
        if !self.layout.holds(&self.automaton) {
            self.widen().ok()?;
        }
        self.freeze();
        let info = self.automaton.step_info(p, local);
        let reg = info.reg as usize;
        let held = |state: &[u64]| self.layout.fields[self.automaton.n() + reg].get(state);
        let is_there = |state: Id| {
            let state = &self.state(state);
            let sees_it = match sees {
                None => self.automaton.writer(reg, held(state)).is_some_and(|writer| writer != p),
                // A process reads what the register holds, unless it has written it itself or it is being written.
                Some(value) => {
                    let depends =
                        info.action == Action::ReadsValue && !self.model.store_buffers && !self.model.safe_registers;
                    !depends || held(state) == value
                }
            };
            self.layout.fields[p].get(state) == local && sees_it
        };
        self.shortest_within(None, 1, |_, _, _, _| Some(0), |_, state| is_there(state))
    }

    /// Packs every state in a new layout. Hashes, and so shards, do not depend on the layout.
    fn widen(&mut self) -> Result<(), Error> {
        let layout = Layout::of(&self.automaton);
        if layout.words > MAX_WORDS {
            return Err(Error::Model("a state takes more than 16 words, which is more than can be packed".to_string()));
        }
        parallel::each(self.model.threads, self.shards.iter_mut(), |shard| {
            let mut table = Table::new(&layout, self.edges.is_some());
            let mut state = [0; MAX_WORDS];
            let mut copy = |slot| {
                if shard.table.get(slot, &mut state) {
                    table.insert(&self.layout.convert(&layout, &state)[..layout.words]);
                }
            };
            match self.edges {
                // In the order of their numbers, which are to stay the same.
                Some(_) => shard.table.slots_by_number().into_iter().for_each(|slot| copy(slot as usize)),
                None => (0..shard.table.slots()).for_each(copy),
            }
            shard.table = table;
            for states in [&mut shard.level, &mut shard.next] {
                let narrow = std::mem::take(states);
                for state in narrow.chunks_exact(self.layout.words) {
                    states.extend(&self.layout.convert(&layout, state)[..layout.words]);
                }
            }
        });
        self.layout = layout;
        Ok(())
    }

    fn insert(&mut self, batch: &Range, successors: &[Successors], inserted: &mut [Vec<Vec<u32>>]) {
        let (words, numbered) = (self.layout.words, self.edges.is_some());
        let work = self.shards.iter_mut().zip(inserted).enumerate();
        parallel::each(batch.threads, work, |(t, (shard, inserted))| {
            for (successors, inserted) in std::iter::zip(successors, inserted) {
                inserted.clear();
                for group in successors.to[t].chunks(FETCHED * (words + 1)) {
                    let states = || group.chunks_exact(words + 1).map(|arrival| &arrival[1..]);
                    shard.table.fetch(states());
                    for state in states() {
                        let (is_new, number) = shard.table.insert(state);
                        if is_new {
                            grow(&mut shard.next, words);
                            shard.next.extend_from_slice(state);
                        }
                        if numbered {
                            inserted.push(number);
                        }
                    }
                }
            }
        });
    }

    /// Forgets the edges and the numbers of states, to save memory.
    fn forget_edges(&mut self) {
        self.edges = None;
        parallel::each(self.model.threads, self.shards.iter_mut(), |shard| {
            shard.table = shard.table.without_numbers();
        });
    }

    /// Makes the graph ready for questions, after the last state was inserted.
    fn freeze(&mut self) {
        self.searched_bytes = self.state_bytes();
        let start = vec![0; self.layout.words];
        let hash = hash_state(&self.automaton, &self.layout, &start);
        self.initial = self.id_of(hash, &start).expect("it was inserted first");
        for shard in &mut self.shards {
            (shard.level, shard.next) = (Vec::new(), Vec::new());
            if self.edges.is_some() {
                // With stored edges no state is looked up any more. The slots are the same without numbers.
                shard.slots = shard.table.slots_by_number();
                shard.table = shard.table.without_numbers();
            }
        }
        self.edges.iter_mut().for_each(Edges::shrink);
    }

    fn must_stop(&mut self, judged: bool, successors: &[Successors]) -> Option<Stop> {
        let states = self.states();
        self.most_bytes = self.bytes_with(successors);
        let model = &self.model;
        if let Some(observer) = &model.observer {
            observer.progress(&Progress {
                phase: Phase::Searching,
                states,
                depth: self.levels,
                bytes: self.most_bytes as u64,
                growing: self.automaton.growing(),
            });
        }
        if model.cancelled() {
            return Some(Stop::Cancelled);
        }
        if model.max_states.is_some_and(|max| states >= max) {
            return Some(Stop::States);
        }
        let symmetric = model.symmetric;
        if self.edges.is_some() && (self.exceeds_memory(true) || !Edges::can_be_packed(self.ids() / 8 * 9)) {
            if symmetric {
                return Some(if self.exceeds_memory(true) { Stop::Memory } else { Stop::Ids });
            }
            self.forget_edges();
            self.most_bytes = self.bytes_with(successors);
        }
        match () {
            () if self.exceeds_memory(judged) => Some(Stop::Memory),
            () if self.ids() / 4 * 5 > 1 << Id::BITS => Some(Stop::Ids),
            () => None,
        }
    }

    fn bytes_with(&self, successors: &[Successors]) -> usize {
        self.bytes() + successors.iter().map(Successors::bytes).sum::<usize>()
    }

    /// Whether the next batch, or checking the properties if they are to be `judged`, may take more than the memory limit.
    fn exceeds_memory(&self, judged: bool) -> bool {
        // Between two calls the table of every shard may grow by a quarter, and a shard has both tables meanwhile.
        let growth = self.state_bytes() / 4 + self.state_bytes() / SHARDS * self.model.threads;
        let judging = if judged { properties::bytes_to_judge(self, &self.model, 1) } else { 0 };
        self.model.max_memory.is_some_and(|max| (self.most_bytes + growth + judging) as u64 > max)
    }
}
