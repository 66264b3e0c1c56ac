//! Processes that are all alike.
//!
//! An algorithm that never looks at a process' number does the same whoever is who. So states that differ only in who is
//! who are counted as one: the processes' local states are kept in sorted order, which leaves up to n! times fewer. An edge
//! then also says where each process of the state went when the successor was sorted: its [`Shuffle`].
//!
//! To follow one process for ever, one goes through the *followed* graph: a state and a place in it. Is a cycle there fair?
//! The other processes may change places on the way round, but each of them keeps to its own *orbit*: the places connected
//! by going round and round. Whoever follows the cycle often enough takes each process to every place of its orbit, so it is
//! fair if in every orbit someone steps or may rest.
use doorway_memory::Pid;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    components::{Marks, Steps, Subgraph},
    graph::{Graph, Id},
    judge::Judge,
    layout::Field,
    program::Section,
    run::Path,
};

/// The most processes whose shuffles have numbers.
pub(crate) const MOST: usize = 5;

/// Where each process goes: to place `self.0[p]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Shuffle([u8; MOST]);

impl Shuffle {
    pub(crate) const NONE: Shuffle = Shuffle([0, 1, 2, 3, 4]);

    /// Its number among all; [`NONE`](Self::NONE) is 0.
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

    /// Who is at a place.
    fn at(self, place: usize) -> Pid {
        self.0.iter().position(|&at| usize::from(at) == place).expect("someone is at each place")
    }
}

/// Sorts the processes of a state.
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
    n: usize,
    shuffles: Vec<Shuffle>,
}

impl<'a> Followed<'a> {
    fn new(graph: &'a Graph) -> Followed<'a> {
        Followed { graph, n: graph.automaton.n(), shuffles: (0..120).map(Shuffle::numbered).collect() }
    }

    fn node(&self, state: Id, place: usize) -> Id {
        state * self.n as u32 + place as u32
    }

    fn split(&self, node: Id) -> (Id, usize) {
        (node / self.n as u32, node as usize % self.n)
    }

    /// A state's steps: at which place, where to, and who goes where.
    fn steps(&self, state: Id) -> impl Iterator<Item = (usize, Id, Shuffle)> + '_ {
        let shuffles = self.graph.shuffles_of(state).iter().map(|&number| self.shuffles[usize::from(number)]);
        self.graph.steps(state).zip(shuffles).map(|((place, target), shuffle)| (place, target, shuffle))
    }

    /// Which steps of the followed graph are kept, given which of the graph's are.
    fn kept(&self, keep: impl Fn(Id, usize, Id, Shuffle) -> bool) -> impl Fn(Id, Pid, Id) -> bool {
        move |from, stepping, to| {
            let ((from, place), (to, arrives_at)) = (self.split(from), self.split(to));
            self.steps(from).any(|(p, target, shuffle)| {
                (p, target, shuffle.of(place)) == (stepping, to, arrives_at) && keep(from, p, target, shuffle)
            })
        }
    }
}

impl Steps for Followed<'_> {
    fn ids(&self) -> usize {
        self.graph.ids() * self.n
    }

    #[inline]
    fn step(&self, node: Id, index: usize) -> Option<(Pid, Id)> {
        let (state, place) = self.split(node);
        let (stepping, target) = self.graph.step(state, index)?;
        let shuffle = self.shuffles[usize::from(self.graph.shuffles_of(state)[index])];
        Some((stepping, self.node(target, shuffle.of(place))))
    }
}

/// What can go wrong for a process that is followed for ever: the first node of a cycle that shows it.
#[derive(Default)]
pub(crate) struct Trouble {
    /// On a fair cycle.
    starving: FxHashSet<Id>,
    /// On a cycle of its own steps, for each section.
    endless: [FxHashSet<Id>; Section::ALL.len()],
}

impl Trouble {
    /// Goes through the followed graph once.
    pub(crate) fn of(judge: &Judge<'_>) -> Trouble {
        let followed = Followed::new(judge.graph);
        let mut trouble = Trouble::default();
        let section = |node| {
            let (state, place) = followed.split(node);
            judge.section(state, place)
        };
        let on_the_way = |node: Id| {
            judge.graph.exists(followed.split(node).0)
                && matches!(section(node), Section::Doorway | Section::Wait | Section::Exit)
        };
        let there = Subgraph { graph: &followed, inside: on_the_way, keep: |from, _, to| section(from) == section(to) };
        there.components(
            || judge.model.cancelled(),
            |node, stepping, _| u32::from(stepping == followed.split(node).1),
            |members, labels, marks| {
                if labels == 0 {
                    return; // it stays where it is only because others go on without it
                }
                if section(members[0]) != Section::Wait {
                    trouble.endless[section(members[0]) as usize].extend(members);
                }
                if is_fair(judge, &followed, members, marks, any) {
                    trouble.starving.extend(members);
                }
            },
        );
        trouble
    }

    /// A shortest run to where a process starves, and round a fair cycle there; and which process it is.
    pub(crate) fn starvation(&self, judge: &Judge<'_>) -> Option<(Path, Pid)> {
        lasso(judge, &self.starving, any, true)
    }

    /// A shortest run to where nobody ever enters or leaves though someone wants to.
    pub(crate) fn deadlock(&self, judge: &Judge<'_>) -> Option<(Path, Pid)> {
        let followed = Followed::new(judge.graph);
        let no_progress = |from: Id, place: usize, to: Id, shuffle: Shuffle| {
            judge.section(from, place) == judge.section(to, shuffle.of(place))
        };
        let mut stuck = FxHashSet::default();
        let there = Subgraph {
            graph: &followed,
            inside: |node| self.starving.contains(&node),
            keep: followed.kept(no_progress),
        };
        there.components(
            || judge.model.cancelled(),
            |node, stepping, _| u32::from(stepping == followed.split(node).1),
            |members, labels, marks| {
                if labels != 0 && is_fair(judge, &followed, members, marks, no_progress) {
                    stuck.extend(members);
                }
            },
        );
        lasso(judge, &stuck, no_progress, true)
    }

    /// A shortest run to where a process can be kept in a section by steps of its own, and round.
    pub(crate) fn endless(&self, judge: &Judge<'_>, section: Section) -> Option<(Path, Pid)> {
        lasso(judge, &self.endless[section as usize], any, false)
    }
}

/// Keeps every step.
fn any(_: Id, _: usize, _: Id, _: Shuffle) -> bool {
    true
}

/// Whether everyone steps, or may rest, on the way round a component, by steps that are kept.
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
            // A process that spins: by far the most frequent case.
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
    // Who keeps to an orbit where nobody does has crashed; of these there are as many in each state.
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

/// A shortest path to one of the nodes, and round a cycle of them: a fair one, or one with a step of the process followed.
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
    let there = Subgraph { graph: &followed, inside: |node| nodes.contains(&node), keep: followed.kept(&keep) };
    let nodes: FxHashSet<Id> = there.component_of(followed.node(state, place)).into_iter().collect();
    // From here on everyone has a name: a node is a state and who is where in it.
    let start = (state, arrangement);
    let rests = |p: Pid| judge.section(state, arrangement.of(p)).may_rest();
    let mut needed = vec![process];
    if fair {
        let stepping = who_steps(&followed, start, process, &nodes, &keep);
        (0..n).filter(|&p| !rests(p) && stepping >> p & 1 == 0).for_each(|p| path.crash(p, state));
        needed = (0..n).filter(|&p| !rests(p) && stepping >> p & 1 == 1).collect();
    }
    path.cycle_at = Some(path.steps.len());
    let mut at = start;
    while !needed.is_empty() || at != start {
        // To a step of someone who is needed; when nobody is, back.
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
        let mut steps = vec![(p, there.0)];
        while here != at {
            let (before, p) = came_from[&here];
            steps.push((p, here.0));
            here = before;
        }
        steps.reverse();
        needed.retain(|p| !steps.iter().any(|(q, _)| p == q));
        path.steps.extend(steps);
        at = there;
    }
    Some((path, process))
}

/// Who steps somewhere on the ways round from a state, with this process staying in the component.
fn who_steps(
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

/// A path through sorted states with the processes' names instead of their places, and who is where at its end.
pub(crate) fn named(judge: &Judge<'_>, path: &Path) -> (Path, Shuffle) {
    let followed = Followed::new(judge.graph);
    let mut arrangement = Shuffle::NONE;
    let mut at = judge.graph.initial;
    let steps = path.steps.iter().map(|&(place, target)| {
        let step = followed.steps(at).find(|&(p, to, _)| (p, to) == (place, target));
        let (_, _, shuffle) = step.expect("a path is made of steps");
        let process = arrangement.at(place);
        arrangement = arrangement.then(shuffle);
        at = target;
        (process, target)
    });
    let steps = steps.collect();
    (Path { steps, cycle_at: None }, arrangement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_have_numbers() {
        let all: FxHashSet<Shuffle> = (0..120).map(Shuffle::numbered).collect();
        assert_eq!(all.len(), 120);
        assert!((0..120).all(|number| Shuffle::numbered(number).number() == number));
        assert_eq!(Shuffle::NONE.number(), 0);
    }

    #[test]
    fn one_after_the_other() {
        let (a, b) = (Shuffle([1, 2, 0, 3, 4]), Shuffle([0, 2, 1, 4, 3]));
        assert!((0..MOST).all(|p| a.then(b).of(p) == b.of(a.of(p))));
        assert!((0..MOST).all(|p| a.at(a.of(p)) == p));
    }
}
