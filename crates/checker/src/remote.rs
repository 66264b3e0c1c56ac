//! Exact worst-case remote memory references of one passage.
//!
//! Weight a process' remote accesses 1 and take the longest path through one passage, from leaving the remainder to coming
//! back to it. A cycle with such an access inside a passage means that there is no bound: the algorithm does not spin locally.
//! In distributed shared memory the registers' homes say what is remote. With caches the measured process' own cache must be
//! part of the state, and only its own.
use std::time::Instant;

use doorway_memory::{Cost, Exclusion, Pid};

use crate::{
    Bound, Error, Model, Registers, Run, View,
    components::{Steps, Subgraph},
    graph::{Graph, Id},
    incomplete,
    judge::{Judge, Need, StateSet},
    model::Cache,
    program::{Lock, Program, Section},
    properties::{affordable_threads, any},
    run::{Path, realise},
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
    let program = Lock { lock: make(&mut registers), k: model.k };
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
        if affordable_threads(graph, &model).is_none() {
            let why = "all states were found, but measuring takes more memory; raise --max-memory or lower -n";
            found.incomplete.get_or_insert(why.to_string());
            found.stopped = true;
            break;
        }
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
        let real = |path: Option<Path>| match path {
            Some(path) => realise(program, graph, model, &path),
            None => Ok(None),
        };
        if let Some((path, _)) = self.judge.shortest_to(|_| &endless) {
            let inside = |state| self.is_inside(state);
            let path = self.judge.lasso(path, inside, any, Some(vec![Need::RemoteStep(self.p)]));
            return Ok(Worst { bound: Bound::Unbounded, run: real(path)? });
        }
        // For each state where a passage can start: what it costs at most.
        let cost = |state: Id| {
            let mut first = graph.steps(state).filter(|&(process, _)| process == self.p);
            first.next().map(|(_, to)| self.weight(state, self.p) + self.rest(&ahead, to))
        };
        let starts = || (0..graph.ids() as Id).filter(|&state| graph.exists(state) && !self.is_inside(state));
        let most = starts().filter_map(cost).max().unwrap_or(0);
        let mut worst = StateSet::default();
        starts().filter(|&state| cost(state) == Some(most)).for_each(|state| _ = worst.insert(state));
        Ok(Worst { bound: Bound::AtMost(most), run: real(self.through(&worst, &ahead, most))? })
    }

    /// A path to one of the states where the worst passages start, and then through such a passage.
    fn through(&self, starts: &StateSet, ahead: &[u32], most: u32) -> Option<Path> {
        let (mut path, _) = self.judge.shortest_to(|_| starts)?;
        let start = self.judge.end(&path);
        let first = self.judge.graph.steps(start).find(|&(process, _)| process == self.p)?;
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
