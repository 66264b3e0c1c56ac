//! Breadth-first, exact, on all cores, and the same on any number of them.
//!
//! States are spread over *shards* by their hash. A batch of states is worked on in three phases, each shared out to the
//! threads shard by shard, so that no two threads ever write the same thing:
//!
//! 1. *expand*: each shard's states of the batch are stepped, the successors sorted by the shard they belong to;
//! 2. *insert*: each shard takes in its successors from all the others, in their order;
//! 3. *link*: each shard writes down its states' edges, now that every successor has an id.
//!
//! What a phase does depends on the order of shards and never on that of threads, so ids, counts and runs are repeatable.
//! A shard's table is small enough to stay in a core's cache, which is most of the speed.
use crate::{
    automaton::{Action, Automaton, Missing},
    error::{Error, Fault},
    expand::{Batch, Successors},
    graph::{Graph, ID_BITS, Id, SHARD_BITS, SHARDS, Shard, hash_state, id, shard_of},
    layout::Layout,
    model::{Model, Phase, Progress},
    parallel,
    program::Program,
    properties,
    real::realise,
    tickets::WIDTHS,
    view::Register,
};

/// So many states of each shard are worked on at a time.
const BATCH: u32 = 1024;
/// Below so many states a batch is not worth a second thread.
const WORTH_SHARING: u32 = 2048;

/// Why a search ended before it had seen every state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    States,
    Memory,
    Ids,
    Cancelled,
    Found,
}

/// Whether a search that met this fault starts again, in another way.
fn starts_anew(fault: &Fault, wide: u32) -> bool {
    match fault {
        Fault::Barrier => true,
        Fault::TicketArithmetic => wide < WIDTHS[WIDTHS.len() - 1],
        _ => false,
    }
}

impl Graph {
    /// Finds every state reachable. With `edges`, steps are kept too; without, the search ends at the first state with too
    /// many processes inside.
    pub(crate) fn explore(
        program: &dyn Program,
        registers: Vec<Register>,
        model: &Model,
        edges: bool,
    ) -> Result<Graph, Error> {
        let mut model = model.clone();
        let mut widths = WIDTHS.into_iter().peekable();
        loop {
            let wide = *widths.peek().expect("the last one is final");
            let result = Self::explore_gaps(program, registers.clone(), &model, edges, wide);
            match &result {
                Err(Error::Broken { fault, .. }) if starts_anew(fault, wide) => match fault {
                    Fault::Barrier => model.every_order = true,
                    _ => _ = widths.next(),
                },
                // The same again, with the edges that lead there.
                Err(Error::Broken { .. }) if !edges => return Self::explore(program, registers, &model, true),
                _ => return result,
            }
        }
    }

    /// Explores with gaps of `wide` and more between tickets looking alike.
    fn explore_gaps(
        program: &dyn Program,
        registers: Vec<Register>,
        model: &Model,
        edges: bool,
        wide: u32,
    ) -> Result<Graph, Error> {
        let automaton = Automaton::new(program, registers, model, wide)?;
        let layout = Layout::of(&automaton);
        let mut graph = Graph {
            automaton,
            layout,
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
        // Every field's first content has the id 0.
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

    fn search(&mut self, program: &dyn Program, model: &Model, edges: bool) -> Result<(), Error> {
        let mut successors: Vec<Successors> = (0..SHARDS).map(|_| Successors::new()).collect();
        let mut inserted: Vec<Vec<Vec<u32>>> = vec![vec![Vec::new(); SHARDS]; SHARDS];
        let mut done = [0_u32; SHARDS];
        let mut level = self.lens();
        loop {
            let from = done;
            for (done, end) in std::iter::zip(&mut done, &level) {
                *done = (*done + BATCH).min(*end);
            }
            let size: u32 = std::iter::zip(&from, &done).map(|(from, to)| to - from).sum();
            if size == 0 {
                self.levels.push(level);
                level = self.lens();
                if level == done {
                    return Ok(());
                }
                continue;
            }
            let threads = if size < WORTH_SHARING { 1 } else { model.threads };
            self.expand(program, model, threads, &from, &done, &mut successors)?;
            self.cut += successors.iter().map(|successors| successors.cut).sum::<u64>();
            self.full |= successors.iter().any(|successors| successors.full);
            self.crowded |= successors.iter().any(|successors| successors.crowded);
            if self.crowded && !edges {
                self.stop = Some(Stop::Found);
                return Ok(());
            }
            self.insert(threads, &successors, &mut inserted);
            if edges {
                parallel::each(threads, self.shards.iter_mut().enumerate(), |(s, shard)| {
                    shard.link(s, from[s], &successors[s], |to| &inserted[to][s]);
                });
            }
            self.stop = self.must_stop(model, edges, &successors);
            if self.stop.is_some() {
                return Ok(());
            }
        }
    }

    /// Steps the states of a batch. What the automaton does not know yet is learnt between tries, in the order of shards.
    fn expand(
        &mut self,
        program: &dyn Program,
        model: &Model,
        threads: usize,
        from: &[u32; SHARDS],
        to: &[u32; SHARDS],
        successors: &mut [Successors],
    ) -> Result<(), Error> {
        let mut again = [true; SHARDS];
        while again.contains(&true) {
            let work = successors.iter_mut().enumerate().filter(|(s, _)| again[*s]);
            parallel::each(threads, work, |(s, successors)| {
                let batch = Batch { graph: self, model, shard: s, from: from[s], to: to[s] };
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
                *again = !successors.missing.is_empty();
                for missing in successors.missing.drain(..) {
                    if let Err(error) = self.automaton.learn(program, missing) {
                        return Err(self.with_execution(program, model, missing, error));
                    }
                }
            }
            if !self.layout.holds(&self.automaton) {
                self.widen(model.threads)?;
                // Successors found so far are packed in the old way.
                again = [true; SHARDS];
            }
        }
        Ok(())
    }

    /// An error met in the step of a process, with the execution that leads there.
    fn with_execution(&self, program: &dyn Program, model: &Model, missing: Missing, error: Error) -> Error {
        let (Some((p, local, value)), Error::Broken { process, section, line, fault, .. }) =
            (missing.step_of(), &error)
        else {
            return error;
        };
        if starts_anew(fault, self.automaton.wide) {
            return error;
        }
        let hot = self.automaton.hot(p, local);
        // What a process sees is what the register holds, unless it has written it itself or it is being written.
        let value = value.filter(|_| hot.action == Action::Seeing && !model.store_buffers && !model.safe_registers);
        let holds =
            |state: &[u64], value| self.layout.fields[self.automaton.n() + hot.reg as usize].get(state) == value;
        // Two of the faults are about a register that another process is writing.
        let overlaps = matches!(missing, Missing::Overlap { .. } | Missing::Domain { .. });
        let is_written = |state: &[u64]| {
            let reg = hot.reg as usize;
            let value = self.layout.fields[self.automaton.n() + reg].get(state);
            self.automaton.writer(reg, value).is_some_and(|writer| writer != p)
        };
        let is_there = |state: Id| {
            let state = self.state(state);
            self.layout.fields[p].get(state) == local
                && value.is_none_or(|value| holds(state, value))
                && (!overlaps || is_written(state))
        };
        let path = self.shortest_within(None, 1, |_, _, _, _| Some(0), |_, state| is_there(state));
        let execution = path.and_then(|path| realise(program, self, model, &path).ok().flatten());
        let (process, section, line, fault) = (*process, *section, line.clone(), fault.clone());
        Error::Broken { process, section, line, fault, execution }
    }

    /// Packs every state anew. Hashes, and so shards and tables, do not depend on the packing.
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

    fn insert(&mut self, threads: usize, successors: &[Successors], inserted: &mut [Vec<Vec<u32>>]) {
        let (automaton, layout) = (&self.automaton, &self.layout);
        let work = self.shards.iter_mut().zip(inserted).enumerate();
        parallel::each(threads, work, |(t, (shard, inserted))| {
            let rehash = |state: &[u64]| hash_state(automaton, layout, state);
            for (successors, inserted) in std::iter::zip(successors, inserted) {
                inserted.clear();
                let arrivals = successors.to[t].chunks_exact(layout.words + 1);
                inserted.extend(arrivals.map(|arrival| shard.insert(&arrival[1..], arrival[0], rehash)));
            }
        });
    }

    fn must_stop(&mut self, model: &Model, edges: bool, successors: &[Successors]) -> Option<Stop> {
        let states = self.states();
        let bytes = self.bytes() + successors.iter().map(Successors::bytes).sum::<usize>();
        self.most_bytes = bytes;
        if let Some(observer) = &model.observer {
            observer.progress(&Progress {
                phase: Phase::Searching,
                states,
                depth: self.levels.len() as u32,
                bytes: bytes as u64,
                growing: self.automaton.growing(),
            });
        }
        // The largest growth of a shard between two looks: its tables double. And what is found is to be judged.
        let growth = bytes / 8;
        let judging = if edges { properties::bytes_to_judge(self, model, 1) } else { 0 };
        if model.cancelled() {
            Some(Stop::Cancelled)
        } else if model.max_states.is_some_and(|max| states >= max) {
            Some(Stop::States)
        } else if model.max_memory.is_some_and(|max| (bytes + growth + judging) as u64 > max) {
            Some(Stop::Memory)
        } else if self.shards.iter().any(|shard| shard.len + BATCH * 256 > 1 << (ID_BITS - SHARD_BITS)) {
            Some(Stop::Ids)
        } else {
            None
        }
    }
}
