//! Exact worst-case remote memory references of one passage.
//!
//! Remote accesses of a process have weight 1; the worst case is the longest path through one passage, from leaving the
//! remainder to returning to it. If there is a cycle with such an access within a passage, there is no bound: the
//! algorithm is not local-spin. In distributed shared memory the registers' homes determine which accesses are remote.
//! With caches, the cache of the measured process, and no other, is part of the state.
use std::time::Instant;

use doorway_memory::{Cost, Exclusion, Pid};

use crate::{
    Bound, Error, Fewer, Model, Registers, View,
    actor::Actor,
    components::Subgraph,
    execution::{Execution, Path},
    graph::{Graph, Id},
    incomplete,
    judge::{Judge, Need, StateSet},
    model::Cache,
    program::{Lock, Program, Section},
    properties::any,
    real::{AmongReal, Finder, InGraph, realise},
    validate,
};

/// The worst cases of one passage, in remote memory references.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RemoteReferences {
    /// For each process: the most remote memory references in a passage, over all executions. Shorter than the number
    /// of processes if the search ended early.
    pub per_process: Vec<Worst>,
    /// States explored, for all processes together.
    pub states: u64,
    /// The time taken, in seconds.
    pub seconds: f64,
    /// Why the answer is not about every execution, in words; none if it is.
    pub incomplete: Option<String>,
    /// Whether the search ended early, so that there may be worse passages.
    pub stopped: bool,
}

/// The worst case of one process.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Worst {
    /// The most remote memory references in a passage.
    pub bound: Bound,
    /// An execution that ends with a passage that attains the bound; or, if there is none, a lasso whose cycle has a
    /// remote memory reference within a passage. None if no such execution was found: the bound may then be too large.
    pub execution: Option<Execution>,
}

impl RemoteReferences {
    /// The largest bound of all processes.
    #[must_use]
    pub fn worst(&self) -> Bound {
        let bounds: Option<Vec<u32>> = self.per_process.iter().map(|worst| worst.bound.number()).collect();
        bounds.map_or(Bound::Unbounded, |bounds| Bound::AtMost(bounds.into_iter().max().unwrap_or(0)))
    }

    /// Whether every execution was explored, and every bound is attained by one.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.incomplete.is_none() && self.per_process.iter().all(|worst| worst.execution.is_some())
    }
}

/// Computes the most remote memory references of a process in one passage of a lock, over all executions.
///
/// ```
/// use doorway_algorithms::mutex::peterson::Peterson;
/// use doorway_checker::{Bound, Cost, FailedCas, Model, remote_references};
///
/// let cached = remote_references(&Model::new(2), Cost::Cc(FailedCas::Counts), Peterson::new)?;
/// assert_eq!(cached.worst(), Bound::AtMost(6));
/// let distributed = remote_references(&Model::new(2), Cost::Dsm, Peterson::new)?;
/// assert_eq!(distributed.worst(), Bound::Unbounded); // each waits on the other's flag
/// # Ok::<(), doorway_checker::Error>(())
/// ```
///
/// # Errors
/// As [`check`](crate::check).
pub fn remote_references<A: Exclusion<View>>(
    model: &Model,
    cost: Cost,
    make: impl FnOnce(&mut Registers) -> A,
) -> Result<RemoteReferences, Error> {
    let mut registers = Registers::default();
    let lock = Lock::make(&mut registers, make);
    of_program(&lock, &registers, model, cost)
}

pub(crate) fn of_program(
    program: &dyn Program,
    registers: &Registers,
    model: &Model,
    cost: Cost,
) -> Result<RemoteReferences, Error> {
    let start = Instant::now();
    validate::model(model)?;
    if model.store_buffers {
        return Err(Error::Model(
            "remote memory references are counted without store buffers; check them on plain atomic registers"
                .to_string(),
        ));
    }
    if model.has_interruptions() {
        return Err(Error::Model(
            "remote memory references are counted without deaths and aborts; leave them out".to_string(),
        ));
    }
    let mut found =
        RemoteReferences { per_process: Vec::new(), states: 0, seconds: 0.0, incomplete: None, stopped: false };
    // All steps of the processes are known after a search without caches.
    let whole = match cost {
        Cost::Cc(_) if !model.safe_registers => {
            let whole = Graph::explore(program, registers.of(model).to_vec(), model, false)?;
            Some(whole).filter(|whole| whole.stop.is_none())
        }
        _ => None,
    };
    let mut graph: Option<Graph> = None;
    for p in model.processes() {
        let copies = whole.as_ref().map(|whole| whole.automaton.useful_copies(p));
        let model = match cost {
            Cost::Dsm => model.clone(),
            Cost::Cc(failed_cas) => Model { cache: Some(Cache { of: p, failed_cas }), ..model.clone() },
        };
        // Without caches one graph serves all processes.
        if cost != Cost::Dsm || graph.is_none() {
            let registers = registers.of(&model).to_vec();
            let new = Graph::explore_with_copies(program, registers, &model, true, copies)?;
            found.states += new.states();
            found.stopped |= new.stop.is_some();
            found.incomplete = found.incomplete.or_else(|| incomplete(&new, &model, &[Fewer::Forget]));
            graph = Some(new);
        }
        let graph = graph.as_ref().expect("it was just made");
        found.per_process.push(Passages { judge: &Judge::new(graph, &model), p }.worst(program)?);
    }
    if model.forgets && !found.stopped && !model.cancelled() && !found.is_exact() && found.incomplete.is_none() {
        // No real execution attains a bound in the states that are left.
        return of_program(program, registers, &Model { forgets: false, ..model.clone() }, cost);
    }
    if model.cancelled() {
        found.incomplete.get_or_insert("interrupted".to_string());
        found.stopped = true;
    }
    found.seconds = start.elapsed().as_secs_f64();
    Ok(found)
}

/// The passages of one process.
struct Passages<'a, 'g> {
    judge: &'a Judge<'g>,
    p: Pid,
}

impl Passages<'_, '_> {
    fn is_in_passage(&self, state: Id) -> bool {
        self.judge.section(state, self.p) != Section::Remainder
    }

    /// The cost of a step for process `p`.
    fn weight(&self, from: Id, actor: Actor) -> u32 {
        u32::from(actor == Actor::Process(self.p) && self.judge.is_remote(from, self.p))
    }

    /// The most that the rest of the passage costs from a state on.
    fn rest(&self, ahead: &[u32], state: Id) -> u32 {
        if self.is_in_passage(state) { ahead[state as usize] } else { 0 }
    }

    /// The steps with which process `p` can start a passage.
    fn first_steps(&self, start: Id) -> impl Iterator<Item = (Actor, Id)> + '_ {
        self.judge.graph.steps(start).filter(|&(actor, _)| actor == Actor::Process(self.p))
    }

    /// The most that a passage costs which starts with this step.
    fn cost_from(&self, ahead: &[u32], start: Id, to: Id) -> u32 {
        self.weight(start, Actor::Process(self.p)) + self.rest(ahead, to)
    }

    fn worst(&self, program: &dyn Program) -> Result<Worst, Error> {
        let (graph, model) = (self.judge.graph, self.judge.model);
        let passage = Subgraph { graph, inside: |state| graph.exists(state) && self.is_in_passage(state), keep: any };
        let mut endless = StateSet::default();
        let mut ahead = vec![0_u32; graph.ids()];
        passage.components(
            || model.cancelled(),
            |from, actor, _| self.weight(from, actor).into(),
            |members, remote, marks| {
                let mut most = 0;
                for &state in members {
                    if remote != 0 {
                        endless.insert(state);
                    }
                    for (actor, to) in graph.steps(state).filter(|&(_, to)| !marks.same(state, to)) {
                        most = most.max(self.weight(state, actor) + self.rest(&ahead, to));
                    }
                }
                members.iter().for_each(|&state| ahead[state as usize] = most);
            },
        );
        if !endless.is_empty() {
            let in_passage = |state| self.is_in_passage(state);
            let round = |path, _| self.judge.lasso(path, in_passage, any, Some(vec![Need::RemoteStep(self.p)]));
            let is_endless = |_, state| endless.contains(state);
            let in_graph = InGraph(self.judge).find_bad(self.judge, &[self.p], is_endless, round);
            let among_real = || {
                AmongReal::new(program, self.judge)
                    .find_bad(self.judge, &[self.p], is_endless, round)
                    .map(|(path, _)| path)
            };
            let execution = self.realise(program, in_graph.map(|(path, _)| path), among_real)?;
            return Ok(Worst { bound: Bound::Unbounded, execution });
        }
        // The most that a passage costs which starts in a state. The first step may have several successors, if a new
        // ticket splits the search or a safe register is read while it is written.
        let cost = |state: Id| self.first_steps(state).map(|(_, to)| self.cost_from(&ahead, state, to)).max();
        let starts = || (0..graph.ids() as Id).filter(|&state| graph.exists(state) && !self.is_in_passage(state));
        let most = starts().filter_map(cost).max().unwrap_or(0);
        let mut worst = StateSet::default();
        starts().filter(|&state| cost(state) == Some(most)).for_each(|state| _ = worst.insert(state));
        let among_real = || self.search_through(program, &ahead, most);
        let execution = self.realise(program, self.through(&worst, &ahead, most), among_real)?;
        Ok(Worst { bound: Bound::AtMost(most), execution })
    }

    /// Executes a path with real numbers; if that is not possible, the path that a search of real executions finds.
    fn realise(
        &self,
        program: &dyn Program,
        in_graph: Option<Path>,
        among_real: impl FnOnce() -> Option<Path>,
    ) -> Result<Option<Execution>, Error> {
        let Judge { graph, model, .. } = self.judge;
        let Some(path) = in_graph else { return Ok(None) };
        match realise(program, graph, model, &path)? {
            Some(execution) => Ok(Some(execution)),
            None if model.symmetric => Ok(None),
            None => among_real().map_or(Ok(None), |path| realise(program, graph, model, &path)),
        }
    }

    /// The path of a real execution that ends with a passage of this cost, if one is found.
    fn search_through(&self, program: &dyn Program, ahead: &[u32], most: u32) -> Option<Path> {
        /// Before the passage. Within it, the monitor's number is 1 more than the cost still to come.
        const NOT_YET: usize = 0;
        let watch = |watching: usize, from, actor, to| {
            let starts = actor == Actor::Process(self.p) && !self.is_in_passage(from);
            let ahead_cost = match watching.checked_sub(1) {
                _ if starts => most,
                Some(left) => left as u32,
                None => return Some(NOT_YET),
            };
            let paid = self.weight(from, actor);
            let is_worst = paid <= ahead_cost && self.rest(ahead, to) == ahead_cost - paid;
            Some(if is_worst { 1 + (ahead_cost - paid) as usize } else { NOT_YET })
        };
        AmongReal::new(program, self.judge).find(None, most as usize + 2, watch, |watching, _| watching == 1, Some)
    }

    /// A path to one of the states in which the worst passages start, and through such a passage.
    fn through(&self, starts: &StateSet, ahead: &[u32], most: u32) -> Option<Path> {
        let mut path = self.judge.shortest_to(starts)?;
        let start = self.judge.end(&path);
        let first = self.first_steps(start).find(|&(_, to)| self.cost_from(ahead, start, to) == most)?;
        path.steps.push(first);
        let mut at = first.1;
        let mut left = most - self.weight(start, Actor::Process(self.p));
        while left > 0 {
            // Free steps after which the cost to come is the same, then one that costs.
            let free =
                |from, actor, to| self.weight(from, actor) == 0 && self.is_in_passage(to) && ahead[to as usize] == left;
            let costs = |from, actor, to| self.weight(from, actor) == 1 && self.rest(ahead, to) == left - 1;
            let keep = |from, actor, to| free(from, actor, to) || costs(from, actor, to);
            let stretch = self.judge.walk(at, keep, costs)?;
            at = stretch.last()?.1;
            left -= 1;
            path.steps.extend(stretch);
        }
        Some(path)
    }
}
