//! Symmetry: processes that are all alike.
//!
//! An algorithm that never uses the number of a process does not change if processes are renumbered. So states that
//! differ only in these numbers count as one: the local states of the processes are kept in sorted order, which leaves
//! up to n! times fewer states. An edge then also has the permutation that sorted the successor: its [`Shuffle`].
//!
//! To follow one process for ever, there is the *followed* graph, whose nodes are a state and a place in it. Is a cycle
//! of it fair? The other processes may change places during a round, but each stays in its own *orbit*: the places
//! connected by going round and round. Enough rounds take each process to every place of its orbit, so a cycle is fair
//! if in every orbit a process takes a step or may rest.
use doorway_memory::Pid;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    actor::Actor,
    components::{Marks, Steps, Subgraph},
    edges::Edges,
    execution::Path,
    graph::{Graph, Id},
    judge::Judge,
    layout::Field,
    program::Section,
};

/// The most processes whose shuffles can be numbered in a byte.
pub(crate) const MOST: usize = 5;

/// A permutation: the process at place `p` goes to place `self.0[p]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Shuffle([u8; MOST]);

impl Shuffle {
    pub(crate) const NONE: Shuffle = Shuffle([0, 1, 2, 3, 4]);

    /// Its number among all shuffles; that of [`NONE`](Self::NONE) is 0.
    pub(crate) fn number(self) -> u8 {
        (0..MOST).fold(0, |number, i| {
            let smaller_later = self.0[i + 1..].iter().filter(|&&later| later < self.0[i]).count();
            number * (MOST - i) as u8 + smaller_later as u8
        })
    }

    pub(crate) fn numbered(number: u8) -> Shuffle {
        let mut digits = [0; MOST];
        let mut left = number;
        for i in (0..MOST).rev() {
            let base = (MOST - i) as u8;
            (digits[i], left) = (left % base, left / base);
        }
        let mut free: Vec<u8> = (0..MOST as u8).collect();
        Shuffle(digits.map(|digit| free.remove(usize::from(digit))))
    }

    #[inline]
    pub(crate) fn of(self, place: usize) -> usize {
        usize::from(self.0[place])
    }

    fn then(self, next: Shuffle) -> Shuffle {
        Shuffle(self.0.map(|place| next.0[usize::from(place)]))
    }

    /// The process at a place.
    fn at(self, place: usize) -> Pid {
        self.0.iter().position(|&at| usize::from(at) == place).expect("there is a process at each place")
    }
}

/// Sorts the local states of the processes.
pub(crate) fn sort(fields: &[Field], state: &mut [u64]) -> Shuffle {
    let n = fields.len();
    let mut order = [(0_u32, 0_u8); MOST];
    for (p, field) in fields.iter().enumerate() {
        order[p] = (field.get(state), p as u8);
    }
    order[..n].sort_unstable();
    let mut shuffle = Shuffle::NONE;
    for (place, &(local, p)) in order[..n].iter().enumerate() {
        fields[place].set(state, local);
        shuffle.0[usize::from(p)] = place as u8;
    }
    shuffle
}

/// A graph of sorted states, following one process: a node is a state and a place in it.
pub(crate) struct Followed<'a> {
    graph: &'a Graph,
    edges: &'a Edges,
    n: usize,
    shuffles: Vec<Shuffle>,
}

impl<'a> Followed<'a> {
    fn new(graph: &'a Graph) -> Followed<'a> {
        let edges = graph.edges.as_ref().expect("where processes are all alike, edges are always stored");
        Followed { graph, edges, n: graph.automaton.n(), shuffles: (0..120).map(Shuffle::numbered).collect() }
    }

    fn node(&self, state: Id, place: usize) -> Id {
        state * self.n as u32 + place as u32
    }

    fn split(&self, node: Id) -> (Id, usize) {
        (node / self.n as u32, node as usize % self.n)
    }

    /// The steps from a state: the place of the process, the target and the shuffle.
    fn steps(&self, state: Id) -> impl Iterator<Item = (usize, Id, Shuffle)> + '_ {
        let shuffles = self.edges.shuffles_of(state).iter().map(|&number| self.shuffles[usize::from(number)]);
        self.graph.steps(state).zip(shuffles).map(|((actor, target), shuffle)| (actor.pid(), target, shuffle))
    }

    /// Keeps the steps of the followed graph for which a step of the graph is kept.
    fn kept(&self, keep: impl Fn(Id, usize, Id, Shuffle) -> bool) -> impl Fn(Id, Actor, Id) -> bool {
        move |from, stepping, to| {
            let ((from, place), (to, arrives_at)) = (self.split(from), self.split(to));
            self.steps(from).any(|(p, target, shuffle)| {
                (p, target, shuffle.of(place)) == (stepping.pid(), to, arrives_at) && keep(from, p, target, shuffle)
            })
        }
    }
}

impl Steps for Followed<'_> {
    type Scratch = <Graph as Steps>::Scratch;

    fn ids(&self) -> usize {
        self.graph.ids() * self.n
    }

    #[inline]
    fn step(&self, scratch: &mut Self::Scratch, node: Id, index: usize) -> Option<Option<(Actor, Id)>> {
        let (state, place) = self.split(node);
        let (stepping, target) = self.graph.step(scratch, state, index)??;
        let shuffle = self.shuffles[usize::from(self.edges.shuffles_of(state)[index])];
        Some(Some((stepping, self.node(target, shuffle.of(place)))))
    }
}

/// The cycles of the followed graph that violate a property for the process followed.
#[derive(Default)]
pub(crate) struct AsymmetryEvidence {
    /// The nodes on a fair cycle.
    starving: FxHashSet<Id>,
    /// For each section, the nodes on a cycle with a step of the process followed.
    endless: [FxHashSet<Id>; Section::ALL.len()],
}

impl AsymmetryEvidence {
    /// Finds the cycles in one pass over the followed graph.
    pub(crate) fn of(judge: &Judge<'_>) -> AsymmetryEvidence {
        let followed = Followed::new(judge.graph);
        let mut evidence = AsymmetryEvidence::default();
        let section = |node| {
            let (state, place) = followed.split(node);
            judge.section(state, place)
        };
        let in_section = |node: Id| {
            judge.graph.exists(followed.split(node).0)
                && matches!(section(node), Section::Doorway | Section::Wait | Section::Exit)
        };
        let stays = Subgraph { graph: &followed, inside: in_section, keep: |from, _, to| section(from) == section(to) };
        stays.components(
            || judge.model.cancelled(),
            |node, stepping, _| u64::from(stepping.pid() == followed.split(node).1),
            |members, labels, marks| {
                if labels == 0 {
                    return; // the process followed takes no step
                }
                if section(members[0]) != Section::Wait {
                    evidence.endless[section(members[0]) as usize].extend(members);
                }
                if is_fair(judge, &followed, members, marks, any) {
                    evidence.starving.extend(members);
                }
            },
        );
        evidence
    }

    /// A shortest lasso with a fair cycle on which a process starves, and that process.
    pub(crate) fn starvation(&self, judge: &Judge<'_>) -> Option<(Path, Pid)> {
        lasso(judge, &self.starving, any, true)
    }

    /// A shortest lasso with a fair cycle on which a process starves and none enters or leaves, and that process.
    pub(crate) fn deadlock(&self, judge: &Judge<'_>) -> Option<(Path, Pid)> {
        let followed = Followed::new(judge.graph);
        let no_progress = |from: Id, place: usize, to: Id, shuffle: Shuffle| {
            judge.section(from, place) == judge.section(to, shuffle.of(place))
        };
        let mut stuck = FxHashSet::default();
        let without_progress = Subgraph {
            graph: &followed,
            inside: |node| self.starving.contains(&node),
            keep: followed.kept(no_progress),
        };
        without_progress.components(
            || judge.model.cancelled(),
            |node, stepping, _| u64::from(stepping.pid() == followed.split(node).1),
            |members, labels, marks| {
                if labels != 0 && is_fair(judge, &followed, members, marks, no_progress) {
                    stuck.extend(members);
                }
            },
        );
        lasso(judge, &stuck, no_progress, true)
    }

    /// A shortest lasso with a cycle on which a process takes steps in `section`, and that process.
    pub(crate) fn endless(&self, judge: &Judge<'_>, section: Section) -> Option<(Path, Pid)> {
        lasso(judge, &self.endless[section as usize], any, false)
    }
}

/// Keeps every step.
fn any(_: Id, _: usize, _: Id, _: Shuffle) -> bool {
    true
}

/// Whether a component has a fair cycle of the steps kept: every process takes a step on it, may rest or has crashed.
fn is_fair(
    judge: &Judge<'_>,
    followed: &Followed<'_>,
    members: &[Id],
    marks: &Marks,
    keep: impl Fn(Id, usize, Id, Shuffle) -> bool,
) -> bool {
    let n = followed.n;
    if let &[node] = members {
        let (state, _) = followed.split(node);
        let round: Vec<_> = followed.steps(state).filter(|&(p, to, s)| to == state && keep(state, p, to, s)).collect();
        if round.iter().all(|&(_, _, shuffle)| shuffle == Shuffle::NONE) {
            // A process that spins is by far the most frequent case.
            let stepping = round.iter().fold(0, |set, &(place, _, _)| set | 1_u32 << place);
            return judge.may_crash(((1 << n) - 1) & !(stepping | judge.resting(state)));
        }
    }
    let rows: FxHashMap<Id, usize> = members.iter().enumerate().map(|(row, &node)| (node, row)).collect();
    let mut orbits = Orbits((0..members.len() * n).collect());
    let each_step = |visit: &mut dyn FnMut(usize, usize, usize, Shuffle)| {
        for (row, &node) in members.iter().enumerate() {
            let (state, place) = followed.split(node);
            for (stepping, target, shuffle) in followed.steps(state).filter(|&(p, to, s)| keep(state, p, to, s)) {
                let to = followed.node(target, shuffle.of(place));
                if let Some(&to) = rows.get(&to).filter(|_| marks.same(node, members[rows[&to]])) {
                    visit(row, stepping, to, shuffle);
                }
            }
        }
    };
    each_step(&mut |row, _, to, shuffle| {
        (0..n).for_each(|place| orbits.join(row * n + place, to * n + shuffle.of(place)))
    });
    let mut goes_on: FxHashSet<usize> = FxHashSet::default();
    each_step(&mut |row, stepping, _, _| {
        goes_on.insert(orbits.root(row * n + stepping));
    });
    for (row, &node) in members.iter().enumerate() {
        let (state, _) = followed.split(node);
        for place in (0..n).filter(|&place| judge.section(state, place).may_rest()) {
            goes_on.insert(orbits.root(row * n + place));
        }
    }
    // The processes of an orbit without steps or rest have crashed; their number is the same in each state.
    let crashed = (0..n).filter(|&place| !goes_on.contains(&orbits.root(place)));
    judge.may_crash(crashed.fold(0, |set, place| set | 1 << place))
}

/// Disjoint sets of places.
struct Orbits(Vec<usize>);

impl Orbits {
    fn root(&mut self, mut place: usize) -> usize {
        while self.0[place] != place {
            self.0[place] = self.0[self.0[place]];
            place = self.0[place];
        }
        place
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a] = b;
    }
}

/// A shortest path to one of the nodes and a cycle of them: a fair one, or one with a step of the process followed.
fn lasso(
    judge: &Judge<'_>,
    nodes: &FxHashSet<Id>,
    keep: impl Fn(Id, usize, Id, Shuffle) -> bool,
    fair: bool,
) -> Option<(Path, Pid)> {
    if nodes.is_empty() {
        return None;
    }
    let followed = Followed::new(judge.graph);
    let n = followed.n;
    let place_of = |state| (0..n).find(|&place| nodes.contains(&followed.node(state, place)));
    let path = judge.graph.shortest_within(None, 1, |_, _, _, _| Some(0), |_, state| place_of(state).is_some())?;
    let state = judge.end(&path);
    let (mut path, arrangement) = named(judge, &path);
    let place = place_of(state)?;
    let process = arrangement.at(place);
    let around = Subgraph { graph: &followed, inside: |node| nodes.contains(&node), keep: followed.kept(&keep) };
    let (nodes, _) = around.component_of(followed.node(state, place), |_, _, _| 0);
    let nodes: FxHashSet<Id> = nodes.into_iter().collect();
    // From here on processes have numbers: a node is a state and the arrangement of the processes in it.
    let start = (state, arrangement);
    let rests = |p: Pid| judge.section(state, arrangement.of(p)).may_rest();
    let mut needed = vec![process];
    if fair {
        let stepping = stepping_processes(&followed, start, process, &nodes, &keep);
        (0..n).filter(|&p| !rests(p) && stepping >> p & 1 == 0).for_each(|p| path.crash(p, state));
        needed = (0..n).filter(|&p| !rests(p) && stepping >> p & 1 == 1).collect();
    }
    path.cycle_at = Some(path.steps.len());
    let mut at = start;
    while !needed.is_empty() || at != start {
        // To a step of a process that is still needed; after the last of them, back to the start.
        let mut came_from = FxHashMap::default();
        let mut queue = std::collections::VecDeque::from([at]);
        let mut end = None;
        'search: while let Some(here) = queue.pop_front() {
            let (state, arrangement): (Id, Shuffle) = here;
            for (place, target, shuffle) in followed.steps(state).filter(|&(p, to, s)| keep(state, p, to, s)) {
                let p = arrangement.at(place);
                let there = (target, arrangement.then(shuffle));
                if !nodes.contains(&followed.node(target, there.1.of(process))) {
                    continue;
                }
                let arrived = if needed.is_empty() { there == start } else { needed.contains(&p) };
                if arrived || (there != at && !came_from.contains_key(&there)) {
                    if arrived {
                        end = Some((here, p, there));
                        break 'search;
                    }
                    came_from.insert(there, (here, p));
                    queue.push_back(there);
                }
            }
        }
        let (mut here, p, there) = end?;
        let mut steps = vec![(Actor::Process(p), there.0)];
        while here != at {
            let (before, p) = came_from[&here];
            steps.push((Actor::Process(p), here.0));
            here = before;
        }
        steps.reverse();
        needed.retain(|&p| !steps.iter().any(|&(actor, _)| actor == Actor::Process(p)));
        path.steps.extend(steps);
        at = there;
    }
    Some((path, process))
}

/// The processes with a step on some cycle from `start` on which `process` stays in the component, as bits.
fn stepping_processes(
    followed: &Followed<'_>,
    start: (Id, Shuffle),
    process: Pid,
    component: &FxHashSet<Id>,
    keep: impl Fn(Id, usize, Id, Shuffle) -> bool,
) -> u32 {
    let mut stepping = 0;
    let mut seen = FxHashSet::from_iter([start]);
    let mut left = vec![start];
    while let Some((state, arrangement)) = left.pop() {
        for (place, target, shuffle) in followed.steps(state).filter(|&(p, to, s)| keep(state, p, to, s)) {
            let there = (target, arrangement.then(shuffle));
            if component.contains(&followed.node(target, there.1.of(process))) {
                stepping |= 1 << arrangement.at(place);
                if seen.insert(there) {
                    left.push(there);
                }
            }
        }
    }
    stepping
}

/// A path through sorted states with the numbers of processes instead of their places, and the arrangement at its end.
pub(crate) fn named(judge: &Judge<'_>, path: &Path) -> (Path, Shuffle) {
    let followed = Followed::new(judge.graph);
    let mut arrangement = Shuffle::NONE;
    let mut at = judge.graph.initial;
    let steps = path.steps.iter().map(|&(actor, target)| {
        let place = actor.pid();
        let step = followed.steps(at).find(|&(p, to, _)| (p, to) == (place, target));
        let (_, _, shuffle) = step.expect("a path is made of steps");
        let process = arrangement.at(place);
        arrangement = arrangement.then(shuffle);
        at = target;
        (Actor::Process(process), target)
    });
    let steps = steps.collect();
    (Path { steps, cycle_at: None }, arrangement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_are_numbered_from_0_to_119() {
        let all: FxHashSet<Shuffle> = (0..120).map(Shuffle::numbered).collect();
        assert_eq!(all.len(), 120);
        assert!((0..120).all(|number| Shuffle::numbered(number).number() == number));
        assert_eq!(Shuffle::NONE.number(), 0);
    }

    #[test]
    fn then_composes_shuffles() {
        let (a, b) = (Shuffle([1, 2, 0, 3, 4]), Shuffle([0, 2, 1, 4, 3]));
        assert!((0..MOST).all(|p| a.then(b).of(p) == b.of(a.of(p))));
        assert!((0..MOST).all(|p| a.at(a.of(p)) == p));
    }
}
