//! Executions with real ticket numbers.
//!
//! When tickets are renumbered, the graph also has some paths that no execution takes. So a path is executed with real
//! numbers before it is reported; and if no execution takes it, real executions are searched, guided by the graph.
use std::{cell::Cell, cmp::Reverse, collections::BinaryHeap};

use doorway_memory::Pid;
use rustc_hash::FxHashSet;

use crate::{
    actor::Actor,
    choice::Choice,
    error::Error,
    execution::{Execution, Path},
    graph::{Graph, Id},
    judge::Judge,
    machine::Machine,
    model::Model,
    program::Program,
    registers::Register,
};

/// Executes a path of the graph with real numbers. `None` if no execution takes it.
pub(crate) fn realise(
    program: &dyn Program,
    graph: &Graph,
    model: &Model,
    path: &Path,
) -> Result<Option<Execution>, Error> {
    let renumbers = graph.automaton.has_tickets() && !model.has_real_tickets();
    let mut machine = Machine::new(program, &graph.automaton.registers, model);
    let mut steps = Vec::with_capacity(path.steps.len());
    let mut from = graph.initial;
    let mut tickets = Vec::new();
    for (i, &(actor, target)) in path.steps.iter().enumerate() {
        if path.cycle_at == Some(i) {
            tickets = machine.sorted_tickets();
        }
        match machine.step_to(actor, graph, model, target)? {
            Some(step) => steps.push(step),
            None if renumbers => return Ok(None),
            // Without renumbering every path is that of an execution, so the process did something else this time.
            None => return Err(graph.nondeterminism(actor.pid(), from)),
        }
        from = target;
    }
    if let Some(at) = path.cycle_at
        && renumbers
        && !repeats_for_ever(machine, graph, model, &path.steps[at..], tickets)?
    {
        return Ok(None);
    }
    let execution = Execution { steps, cycle_at: path.cycle_at };
    if !model.drops_differences() {
        return Ok(Some(execution));
    }
    let whole = with_nothing_forgotten(program, &graph.automaton.registers_not_raised(), model, execution)?;
    whole.map(Some).ok_or_else(|| graph.nondeterminism(0, from))
}

/// The same execution with nothing forgotten: registers hold what was written last, and the initial tickets are as they are. None
/// if a process does something else this time.
///
/// A cycle of states in which something is forgotten need not return to the same state. What is written in a round is the same
/// in every round, so the second one returns, unless tickets grow.
fn with_nothing_forgotten(
    program: &dyn Program,
    registers: &[Register],
    model: &Model,
    execution: Execution,
) -> Result<Option<Execution>, Error> {
    let mut choices: Vec<Choice> = execution.steps.iter().map(|step| step.choice).collect();
    let once = taken(Machine::new(program, registers, model), &choices, execution.cycle_at)?;
    let (Some((execution, false)), Some(at)) = (&once, execution.cycle_at) else {
        return Ok(once.map(|(execution, _)| execution));
    };
    let second = choices.len();
    choices.extend_from_within(at..);
    let twice = taken(Machine::new(program, registers, model), &choices, Some(second))?;
    Ok(twice.map(|(twice, returns)| if returns { twice } else { execution.clone() }))
}

/// The execution of these choices, and whether it returns to the state in which its cycle begins. None if one of them is not
/// possible.
fn taken(
    mut machine: Machine<'_>,
    choices: &[Choice],
    cycle_at: Option<usize>,
) -> Result<Option<(Execution, bool)>, Error> {
    let mut steps = Vec::with_capacity(choices.len());
    let mut start = None;
    for (i, &choice) in choices.iter().enumerate() {
        if cycle_at == Some(i) {
            start = Some(machine.counted());
        }
        let Some(step) = machine.take(choice)? else { return Ok(None) };
        steps.push(step);
    }
    let returns = start.is_none_or(|start| start == machine.counted());
    Ok(Some((Execution { steps, cycle_at }, returns)))
}

/// Whether a cycle, executed once from a state with the tickets `before`, can be repeated for ever. It cannot if every
/// round uses up part of the distance between two tickets.
///
/// Every ticket at the end of a round is one of those at its start, or a number of `next`s above it, in every round the
/// same: ticket i becomes x(s(i)) + d(i). So after as many rounds as there are tickets each follows a cycle of s, and
/// from then on the tickets of every P-th round differ by the same amounts, P being the order of s. What was possible
/// twice with these amounts is possible for ever, exactly if no ticket grows faster than a larger one.
fn repeats_for_ever(
    mut machine: Machine<'_>,
    graph: &Graph,
    model: &Model,
    cycle: &[(Actor, Id)],
    before: Vec<u64>,
) -> Result<bool, Error> {
    let (settled, longest) = (before.len(), longest_order(before.len()));
    let mut rounds = vec![before, machine.sorted_tickets()];
    while rounds.len() < settled + 2 * longest {
        if rounds[rounds.len() - 1] == rounds[0] {
            return Ok(true);
        }
        for &(actor, target) in cycle {
            if machine.step_to(actor, graph, model, target)?.is_none() {
                return Ok(false);
            }
        }
        rounds.push(machine.sorted_tickets());
    }
    let growth = |round: usize, period: usize| -> Option<Vec<u64>> {
        std::iter::zip(&rounds[round], &rounds[round + period]).map(|(then, now)| now.checked_sub(*then)).collect()
    };
    Ok((1..=longest).any(|period| {
        let first = growth(settled, period);
        first.as_ref().is_some_and(|growth| growth.is_sorted())
            && (settled..settled + longest).all(|round| growth(round, period) == first)
    }))
}

/// The largest order of a permutation of `things` elements (Landau's function).
fn longest_order(things: usize) -> usize {
    let mut most = vec![1; things + 1];
    for prime in (2..=things).filter(|&n| (2..n).all(|divisor| n % divisor != 0)) {
        for used in (prime..=things).rev() {
            let powers = std::iter::successors(Some(prime), |power| Some(power * prime));
            let with = powers.take_while(|&power| power <= used).map(|power| most[used - power] * power).max();
            most[used] = most[used].max(with.unwrap_or(1));
        }
    }
    most[things]
}

/// A search for a path to a goal, and its completion to a counterexample.
pub(crate) trait Finder {
    /// The shortest path to a goal, completed by `finish`; of several, the one on which processes of smaller number go
    /// first. None if it is not shorter than `limit`.
    ///
    /// `watch` is a monitor: it follows the path with a number below `watched`, starting from 0, and may forbid a step.
    fn find(
        &self,
        limit: Option<usize>,
        watched: usize,
        watch: impl Fn(usize, Id, Actor, Id) -> Option<usize>,
        goal: impl Fn(usize, Id) -> bool,
        finish: impl Fn(Path) -> Option<Path>,
    ) -> Option<Path>;

    /// The shortest path to a state that is bad for one of these processes, completed by `finish`, and the first process it is
    /// bad for.
    fn find_bad(
        &self,
        judge: &Judge<'_>,
        processes: &[Pid],
        is_bad: impl Fn(Pid, Id) -> bool,
        finish: impl Fn(Path, Pid) -> Option<Path>,
    ) -> Option<(Path, Pid)> {
        if processes.is_empty() {
            return None;
        }
        let victim = |state| processes.iter().copied().find(|&p| is_bad(p, state));
        let path = self.find(
            None,
            1,
            |_, _, _, _| Some(0),
            |_, state| victim(state).is_some(),
            |path| {
                let p = victim(judge.end(&path))?;
                finish(path, p)
            },
        )?;
        let p = victim(judge.state_at(&path, path.stem()))?;
        Some((path, p))
    }
}

/// Finds paths of the graph. Every path is that of an execution, unless tickets are renumbered.
pub(crate) struct InGraph<'a>(pub(crate) &'a Judge<'a>);

impl Finder for InGraph<'_> {
    fn find(
        &self,
        limit: Option<usize>,
        watched: usize,
        watch: impl Fn(usize, Id, Actor, Id) -> Option<usize>,
        goal: impl Fn(usize, Id) -> bool,
        finish: impl Fn(Path) -> Option<Path>,
    ) -> Option<Path> {
        self.0.graph.shortest_within(limit, watched, watch, goal).and_then(finish)
    }
}

/// The most real states that one search expands, and all searches for a property together.
const MAX_STATES: usize = 20_000;
const MAX_STATES_IN_ALL: usize = 100_000;
/// The most nodes of a graph whose distances to a goal are computed.
const MAX_NODES: usize = 20_000_000;
/// The most paths to a goal that one search tries to complete.
const MAX_ATTEMPTS: usize = 200;

/// Finds paths of executions: an A* search among real states, with distances in the graph as its estimate.
pub(crate) struct AmongReal<'a> {
    program: &'a dyn Program,
    judge: &'a Judge<'a>,
    left: Cell<usize>,
    /// Whether every search so far was exhaustive.
    exhaustive: Cell<bool>,
}

/// A real state that the search has met.
struct Met<'a> {
    /// The state of the graph that stands for it, and the number of the monitor.
    node: u32,
    /// Taken when the state is expanded.
    machine: Option<Machine<'a>>,
    came_from: u32,
    step: (Actor, Id),
    depth: u32,
}

impl<'a> AmongReal<'a> {
    pub(crate) fn new(program: &'a dyn Program, judge: &'a Judge<'a>) -> AmongReal<'a> {
        AmongReal { program, judge, left: Cell::new(MAX_STATES_IN_ALL), exhaustive: Cell::new(true) }
    }

    /// Whether a path that was not found does not exist.
    pub(crate) fn was_exhaustive(&self) -> bool {
        // Of the values that a read of a safe register may return, only a few were tried. And where something is forgotten or
        // merged, it is better to check again without.
        let model = &self.judge.model;
        self.exhaustive.get() && !model.safe_registers && !model.drops_differences()
    }

    fn is_real(&self, path: &Path) -> bool {
        let Judge { graph, model, .. } = self.judge;
        matches!(realise(self.program, graph, model, path), Ok(Some(_)))
    }

    fn path_to(&self, met: &[Met<'_>], mut at: usize) -> Path {
        let mut steps = Vec::new();
        while at != 0 {
            steps.push(met[at].step);
            at = met[at].came_from as usize;
        }
        steps.reverse();
        Path { steps, cycle_at: None }
    }
}

impl Finder for AmongReal<'_> {
    fn find(
        &self,
        limit: Option<usize>,
        watched: usize,
        watch: impl Fn(usize, Id, Actor, Id) -> Option<usize>,
        goal: impl Fn(usize, Id) -> bool,
        finish: impl Fn(Path) -> Option<Path>,
    ) -> Option<Path> {
        let (graph, model) = (self.judge.graph, self.judge.model);
        let out_of_budget = || {
            self.exhaustive.set(false);
            None
        };
        if graph.states() as usize * watched > MAX_NODES {
            return out_of_budget();
        }
        let distance = distances(graph, watched, &watch, &goal);
        let start = graph.initial as usize * watched;
        let machine = Machine::new(self.program, &graph.automaton.registers, model);
        let mut seen = FxHashSet::from_iter([(start as u32, machine.sorted_tickets())]);
        let first = Met {
            node: start as u32,
            machine: Some(machine),
            came_from: 0,
            step: (Actor::Process(0), graph.initial),
            depth: 0,
        };
        let mut met = vec![first];
        let mut open = BinaryHeap::from([Reverse((distance[start], 0_usize))]);
        let mut attempts = 0;
        while let Some(Reverse((length, at))) = open.pop() {
            if length == FAR {
                continue; // only at the start
            }
            if limit.is_some_and(|limit| length as usize >= limit) {
                return None;
            }
            if met.len() > MAX_STATES || self.left.get() == 0 || attempts > MAX_ATTEMPTS || model.cancelled() {
                return out_of_budget();
            }
            self.left.set(self.left.get() - 1);
            let Met { node, depth, .. } = met[at];
            let (state, watching) = (node / watched as u32, node as usize % watched);
            if goal(watching, state) {
                attempts += 1;
                let found = finish(self.path_to(&met, at));
                if let Some(found) = found.filter(|path| path.cycle_at.is_none() || self.is_real(path)) {
                    return Some(found);
                }
                self.exhaustive.set(false); // there may be other cycles here
            }
            let machine = met[at].machine.take().expect("it is expanded once");
            for (actor, target) in graph.steps(state) {
                let Some(next) = watch(watching, state, actor, target) else { continue };
                let node = target as usize * watched + next;
                if distance[node] == FAR {
                    continue;
                }
                let mut machine = machine.clone();
                if !matches!(machine.step_to(actor, graph, model, target), Ok(Some(_))) {
                    continue;
                }
                if seen.insert((node as u32, machine.sorted_tickets())) {
                    open.push(Reverse((depth + 1 + distance[node], met.len())));
                    met.push(Met {
                        node: node as u32,
                        machine: Some(machine),
                        came_from: at as u32,
                        step: (actor, target),
                        depth: depth + 1,
                    });
                }
            }
        }
        None
    }
}

/// The distance of a node from which no goal can be reached.
const FAR: u32 = u32::MAX;

/// The distance of each node, a state and a number of the monitor, from a goal.
fn distances(
    graph: &Graph,
    watched: usize,
    watch: &impl Fn(usize, Id, Actor, Id) -> Option<usize>,
    goal: &impl Fn(usize, Id) -> bool,
) -> Vec<u32> {
    let nodes = graph.ids() * watched;
    let all = || (0..graph.ids() as Id).filter(|&state| graph.exists(state));
    let each_edge = |visit: &mut dyn FnMut(usize, usize)| {
        for state in all() {
            for (actor, target) in graph.steps(state) {
                for watching in 0..watched {
                    if let Some(next) = watch(watching, state, actor, target) {
                        visit(state as usize * watched + watching, target as usize * watched + next);
                    }
                }
            }
        }
    };
    // The reversed edges: those into a node begin where those into the previous node end.
    let mut begin = vec![0_u32; nodes + 1];
    each_edge(&mut |_, to| begin[to + 1] += 1);
    (0..nodes).for_each(|node| begin[node + 1] += begin[node]);
    let mut from = vec![0_u32; begin[nodes] as usize];
    let mut next = begin.clone();
    each_edge(&mut |node, to| {
        from[next[to] as usize] = node as u32;
        next[to] += 1;
    });
    let mut distance = vec![FAR; nodes];
    let mut queue: Vec<u32> = Vec::new();
    for state in all() {
        for watching in (0..watched).filter(|&watching| goal(watching, state)) {
            let node = state as usize * watched + watching;
            distance[node] = 0;
            queue.push(node as u32);
        }
    }
    let mut at = 0;
    while let Some(&node) = queue.get(at) {
        at += 1;
        for &before in &from[begin[node as usize] as usize..begin[node as usize + 1] as usize] {
            if distance[before as usize] == FAR {
                distance[before as usize] = distance[node as usize] + 1;
                queue.push(before);
            }
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_orders_of_permutations_are_landaus() {
        let orders: Vec<usize> = (0..=12).map(longest_order).collect();
        assert_eq!(orders, [1, 1, 2, 3, 4, 6, 6, 12, 15, 20, 30, 30, 60]);
    }
}
