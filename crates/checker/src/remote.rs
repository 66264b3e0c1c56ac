//! Exact worst-case remote memory references of one passage.
//!
//! Weight a process' remote accesses 1 and take the longest path through one passage, from leaving the remainder to coming
//! back to it. A cycle with such an access inside a passage means that there is no bound: the algorithm does not spin locally.
//! In distributed shared memory the registers' homes say what is remote. With caches the measured process' own cache must be
//! part of the state, and only its own.
use std::time::Instant;

use doorway_memory::{Cost, Exclusion, Pid};

use crate::{
    Bound, Error, Model, Registers, View,
    components::{Steps, Subgraph},
    graph::{Graph, Id},
    incomplete,
    judge::{Judge, Need, StateSet},
    model::Cache,
    program::{Lock, Program, Section},
    properties::any,
    real::{AmongReal, Finder, InGraph, realise},
    run::{Path, Run},
};

/// Worst cases of one passage.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RemoteReferences {
    /// For each process: the most remote references in a passage, over all runs. Fewer than there are processes if the
    /// measuring ended early.
    pub per_process: Vec<Worst>,
    /// States looked at, for all processes together.
    pub states: u64,
    /// Seconds it took.
    pub seconds: f64,
    /// Why this is not an answer about every run, in words; nothing if it is.
    pub incomplete: Option<String>,
    /// Whether the search ended early, so that worse passages may still be there.
    pub stopped: bool,
}

/// One process' worst case.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Worst {
    /// How many.
    pub bound: Bound,
    /// A run that ends with a passage as bad as that; or, without a bound, one with a cycle that has a remote reference in
    /// the middle of a passage. None if no real run is that bad: the bound is then too large, if anything.
    pub run: Option<Run>,
}

impl RemoteReferences {
    /// The worst of all processes.
    #[must_use]
    pub fn worst(&self) -> Bound {
        let bounds: Option<Vec<u32>> = self.per_process.iter().map(|worst| worst.bound.number()).collect();
        bounds.map_or(Bound::Unbounded, |bounds| Bound::AtMost(bounds.into_iter().max().unwrap_or(0)))
    }

    /// Whether every bound is met by a real run, and every run was seen.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.incomplete.is_none() && self.per_process.iter().all(|worst| worst.run.is_some())
    }
}

/// Computes the most remote references a process can make in one passage of a lock, over all runs.
///
/// ```
/// use doorway_algorithms::mutex::peterson::Peterson;
/// use doorway_checker::{Bound, Cost, FailedCas, Model, remote_references};
///
/// let cached = remote_references(&Model::new(2), Cost::Cc(FailedCas::Counts), Peterson::new)?;
/// assert_eq!(cached.worst(), Bound::AtMost(6));
/// let distributed = remote_references(&Model::new(2), Cost::Dsm, Peterson::new)?;
/// assert_eq!(distributed.worst(), Bound::Unbounded); // one waits on the other's flag
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
    let start = Instant::now();
    model.validate()?;
    if model.store_buffers {
        return Err(Error::Model("remote references are counted without store buffers".to_string()));
    }
    if model.has_interruptions() {
        return Err(Error::Model("remote references are counted without deaths and abandons".to_string()));
    }
    let mut registers = Registers::default();
    let program = Lock::make(&mut registers, model.k, make);
    let mut found =
        RemoteReferences { per_process: Vec::new(), states: 0, seconds: 0.0, incomplete: None, stopped: false };
    let mut graph: Option<Graph> = None;
    for p in model.processes() {
        let model = match cost {
            Cost::Dsm => model.clone(),
            Cost::Cc(failed_cas) => Model { cache: Some(Cache { of: p, failed_cas }), ..model.clone() },
        };
        // Without caches one graph serves all.
        if cost != Cost::Dsm || graph.is_none() {
            let new = Graph::explore(&program, registers.list.clone(), &model, true)?;
            found.states += new.states();
            found.stopped |= new.stop.is_some();
            found.incomplete = found.incomplete.or_else(|| incomplete(&new, &model));
            graph = Some(new);
        }
        let graph = graph.as_ref().expect("it was just made");
        found.per_process.push(Passages { judge: &Judge::new(graph, &model), p }.worst(&program)?);
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
    fn is_inside(&self, state: Id) -> bool {
        self.judge.section(state, self.p) != Section::Remainder
    }

    /// What a step costs process `p`.
    fn weight(&self, from: Id, process: Pid) -> u32 {
        u32::from(process == self.p && self.judge.is_remote(from, self.p))
    }

    /// What is still to come after a step.
    fn rest(&self, ahead: &[u32], state: Id) -> u32 {
        if self.is_inside(state) { ahead[state as usize] } else { 0 }
    }

    /// The steps with which process `p` can start a passage.
    fn first_steps(&self, start: Id) -> impl Iterator<Item = (Pid, Id)> + '_ {
        self.judge.graph.steps(start).filter(|&(process, _)| process == self.p)
    }

    /// What a passage costs at most that starts with this step.
    fn cost_from(&self, ahead: &[u32], start: Id, to: Id) -> u32 {
        self.weight(start, self.p) + self.rest(ahead, to)
    }

    fn worst(&self, program: &dyn Program) -> Result<Worst, Error> {
        let (graph, model) = (self.judge.graph, self.judge.model);
        let passage = Subgraph { graph, inside: |state| graph.exists(state) && self.is_inside(state), keep: any };
        let mut endless = StateSet::default();
        let mut ahead = vec![0_u32; graph.ids()];
        passage.components(
            || model.cancelled(),
            |from, process, _| self.weight(from, process),
            |members, remote, marks| {
                let mut most = 0;
                for &state in members {
                    if remote != 0 {
                        endless.insert(state);
                    }
                    for (process, to) in graph.steps(state).filter(|&(_, to)| !marks.same(state, to)) {
                        most = most.max(self.weight(state, process) + self.rest(&ahead, to));
                    }
                }
                members.iter().for_each(|&state| ahead[state as usize] = most);
            },
        );
        if !endless.is_empty() {
            let inside = |state| self.is_inside(state);
            let round = |path, _| self.judge.lasso(path, inside, any, Some(vec![Need::RemoteStep(self.p)]));
            let in_graph = InGraph(self.judge).find_bad(self.judge, |_| &endless, round);
            let among_real =
                || AmongReal::new(program, self.judge).find_bad(self.judge, |_| &endless, round).map(|(path, _)| path);
            let run = self.realise(program, in_graph.map(|(path, _)| path), among_real)?;
            return Ok(Worst { bound: Bound::Unbounded, run });
        }
        // For each state where a passage can start: what it costs at most. The first step may have several successors, when a
        // new ticket splits the search or a safe register is read while it is written.
        let cost = |state: Id| self.first_steps(state).map(|(_, to)| self.cost_from(&ahead, state, to)).max();
        let starts = || (0..graph.ids() as Id).filter(|&state| graph.exists(state) && !self.is_inside(state));
        let most = starts().filter_map(cost).max().unwrap_or(0);
        let mut worst = StateSet::default();
        starts().filter(|&state| cost(state) == Some(most)).for_each(|state| _ = worst.insert(state));
        let among_real = || self.search_through(program, &ahead, most);
        let run = self.realise(program, self.through(&worst, &ahead, most), among_real)?;
        Ok(Worst { bound: Bound::AtMost(most), run })
    }

    /// Runs a path with real numbers, or else what a search among real executions finds.
    fn realise(
        &self,
        program: &dyn Program,
        in_graph: Option<Path>,
        among_real: impl FnOnce() -> Option<Path>,
    ) -> Result<Option<Run>, Error> {
        let Judge { graph, model, .. } = self.judge;
        let Some(path) = in_graph else { return Ok(None) };
        match realise(program, graph, model, &path)? {
            Some(run) => Ok(Some(run)),
            None if model.symmetric => Ok(None),
            None => among_real().map_or(Ok(None), |path| realise(program, graph, model, &path)),
        }
    }

    /// A real execution that ends with a passage as bad as that, if one is found.
    fn search_through(&self, program: &dyn Program, ahead: &[u32], most: u32) -> Option<Path> {
        /// Outside the passage; with so much still to pay, it is one more than that.
        const NOT_YET: usize = 0;
        let watch = |watching: usize, from, process, to| {
            let starts = process == self.p && !self.is_inside(from);
            let to_pay = match watching.checked_sub(1) {
                _ if starts => most,
                Some(left) => left as u32,
                None => return Some(NOT_YET),
            };
            let paid = self.weight(from, process);
            let is_worst = paid <= to_pay && self.rest(ahead, to) == to_pay - paid;
            Some(if is_worst { 1 + (to_pay - paid) as usize } else { NOT_YET })
        };
        AmongReal::new(program, self.judge).find(None, most as usize + 2, watch, |watching, _| watching == 1, Some)
    }

    /// A path to one of the states where the worst passages start, and then through such a passage.
    fn through(&self, starts: &StateSet, ahead: &[u32], most: u32) -> Option<Path> {
        let mut path = self.judge.shortest_to(starts)?;
        let start = self.judge.end(&path);
        let first = self.first_steps(start).find(|&(_, to)| self.cost_from(ahead, start, to) == most)?;
        path.steps.push(first);
        let mut at = first.1;
        let mut left = most - self.weight(start, self.p);
        while left > 0 {
            // Free steps that give nothing away, then one that costs.
            let free =
                |from, process, to| self.weight(from, process) == 0 && self.is_inside(to) && ahead[to as usize] == left;
            let costs = |from, process, to| self.weight(from, process) == 1 && self.rest(ahead, to) == left - 1;
            let keep = |from, process, to| free(from, process, to) || costs(from, process, to);
            let stretch = self.judge.walk(at, keep, costs)?;
            at = stretch.last()?.1;
            left -= 1;
            path.steps.extend(stretch);
        }
        Some(path)
    }
}
