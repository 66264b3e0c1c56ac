//! Strongly connected components.
//!
//! D. J. Pearce, *A space-efficient algorithm for finding strongly connected components*, Information Processing
//! Letters 116(1), 2016: one number for each state is both its index in the depth-first search and, later, its
//! component.
use crate::{
    actor::Actor,
    graph::{Id, grow},
};

/// States and the steps between them.
pub(crate) trait Steps {
    /// What is remembered from one step to the next.
    type Scratch: Default;

    /// One more than the largest id.
    fn ids(&self) -> usize;

    /// The step of this index from a state, if it has so many: its actor and its target. None in place of a step that
    /// leads out of the states.
    fn step(&self, scratch: &mut Self::Scratch, state: Id, index: usize) -> Option<Option<(Actor, Id)>>;
}

/// Which component each finished state is in.
pub(crate) struct Marks(Vec<u32>);

/// The mark of a state outside the subgraph.
const OUTSIDE: u32 = u32::MAX;

impl Marks {
    pub(crate) fn same(&self, a: Id, b: Id) -> bool {
        self.0[a as usize] == self.0[b as usize]
    }
}

/// Part of a graph: the states that are `inside`, and of the steps between them those that `keep` keeps.
#[derive(Clone, Copy)]
pub(crate) struct Subgraph<'a, G, I, K> {
    pub(crate) graph: &'a G,
    pub(crate) inside: I,
    pub(crate) keep: K,
}

impl<G: Steps, I: Fn(Id) -> bool, K: Fn(Id, Actor, Id) -> bool> Subgraph<'_, G, I, K> {
    /// Calls `found` with the states of each component and the union of the labels of its steps.
    ///
    /// A component comes after those it leads to. After cancellation some are left out.
    pub(crate) fn components(
        &self,
        cancelled: impl Fn() -> bool,
        label: impl Fn(Id, Actor, Id) -> u64,
        found: impl FnMut(&[Id], u64, &Marks),
    ) {
        self.components_from(0..self.graph.ids() as Id, cancelled, label, found);
    }

    /// The component of a state, and the union of the labels of its steps.
    pub(crate) fn component_of(&self, state: Id, label: impl Fn(Id, Actor, Id) -> u64) -> (Vec<Id>, u64) {
        let mut component = (Vec::new(), 0);
        self.components_from(
            [state],
            || false,
            label,
            |members, labels, marks| {
                // That of the first state is found last.
                if marks.same(members[0], state) {
                    component = (members.to_vec(), labels);
                }
            },
        );
        component
    }

    fn components_from(
        &self,
        roots: impl IntoIterator<Item = Id>,
        cancelled: impl Fn() -> bool,
        label: impl Fn(Id, Actor, Id) -> u64,
        mut found: impl FnMut(&[Id], u64, &Marks),
    ) {
        let Subgraph { graph, inside, keep } = self;
        // Marking the states outside beforehand saves a call of `inside` for each step that leads there, which is most
        // of the work.
        let mut marks = Marks((0..graph.ids() as Id).map(|state| if inside(state) { 0 } else { OUTSIDE }).collect());
        let mut next_index = 1;
        let mut next_component = OUTSIDE - 1;
        let mut path: Vec<Visit> = Vec::new();
        let mut open: Vec<Id> = Vec::new();
        let mut visited = 0_u32;
        let mut scratch = G::Scratch::default();
        for root in roots {
            if marks.0[root as usize] != 0 {
                continue;
            }
            marks.0[root as usize] = next_index;
            next_index += 1;
            path.push(Visit::new(root));
            while let Some(visit) = path.last_mut() {
                let state = visit.state;
                if visit.left != 0 {
                    let step = graph.step(&mut scratch, state, visit.follow());
                    let (actor, target) = step.flatten().expect("it was looked at");
                    let mark = marks.0[target as usize];
                    if mark == 0 {
                        visited += 1;
                        if visited.is_multiple_of(1 << 16) && cancelled() {
                            return;
                        }
                        marks.0[target as usize] = next_index;
                        next_index += 1;
                        grow(&mut path, 1);
                        path.push(Visit::new(target));
                    } else if mark <= next_component {
                        // The target is not in a component yet, so it will be in this one.
                        visit.labels |= label(state, actor, target);
                        visit.meet(mark, &mut marks.0[state as usize]);
                    }
                    continue;
                }
                if visit.has_more {
                    // Looking at the targets of many steps at once takes as long as looking at one, since most of the time is
                    // spent waiting for memory.
                    let start = visit.seen;
                    while visit.seen - start < LOOKED_AT {
                        let Some(step) = graph.step(&mut scratch, state, usize::from(visit.seen)) else {
                            visit.has_more = false;
                            break;
                        };
                        visit.seen += 1;
                        let Some((actor, target)) = step else { continue };
                        let mark = marks.0[target as usize];
                        if mark > next_component || !keep(state, actor, target) {
                            continue;
                        }
                        if mark == 0 {
                            visit.left |= 1 << (visit.seen - 1 - start);
                        } else {
                            visit.labels |= label(state, actor, target);
                            visit.meet(mark, &mut marks.0[state as usize]);
                        }
                    }
                    visit.start = start;
                    continue;
                }
                let Visit { first, labels, .. } = *visit;
                path.pop();
                let mark = marks.0[state as usize];
                if first {
                    let start = open.iter().rposition(|&other| marks.0[other as usize] < mark).map_or(0, |at| at + 1);
                    open.push(state);
                    next_index -= (open.len() - start) as u32;
                    for &member in &open[start..] {
                        marks.0[member as usize] = next_component;
                    }
                    next_component -= 1;
                    found(&open[start..], labels, &marks);
                    open.truncate(start);
                } else {
                    grow(&mut open, 1);
                    open.push(state);
                    let parent = path.last_mut().expect("the first state of a component is met before the others");
                    let followed = graph.step(&mut scratch, parent.state, parent.followed());
                    let (actor, _) = followed.flatten().expect("it was followed");
                    parent.labels |= labels | label(parent.state, actor, state);
                    parent.meet(mark, &mut marks.0[parent.state as usize]);
                }
            }
        }
    }
}

/// How many steps of a state are looked at together.
const LOOKED_AT: u16 = 32;

/// A state on the path of the depth-first search.
struct Visit {
    /// The labels of the steps of its component found so far.
    labels: u64,
    state: Id,
    /// Of the steps from `start` on, those that are still to be followed, as bits.
    left: u32,
    /// How many of its steps have been looked at, and how many before those of `left`.
    seen: u16,
    start: u16,
    /// Which of the steps from `start` on was followed last.
    last: u8,
    /// Whether it may have steps that have not been looked at.
    has_more: bool,
    /// Whether it may be the first state of its component that the search met.
    first: bool,
}

impl Visit {
    fn new(state: Id) -> Visit {
        Visit { labels: 0, state, left: 0, seen: 0, start: 0, last: 0, has_more: true, first: true }
    }

    /// The index of the next step to be followed.
    fn follow(&mut self) -> usize {
        self.last = self.left.trailing_zeros() as u8;
        self.left &= self.left - 1;
        self.followed()
    }

    /// The index of the step that was followed last.
    fn followed(&self) -> usize {
        usize::from(self.start) + usize::from(self.last)
    }

    /// Takes note that a step leads to a state of the same component. `own` is the mark of this state.
    fn meet(&mut self, mark: u32, own: &mut u32) {
        if mark < *own {
            *own = mark;
            self.first = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph given by its edges: `edges[from]` are targets.
    struct Given(Vec<Vec<u32>>);

    impl Steps for Given {
        type Scratch = ();
        fn ids(&self) -> usize {
            self.0.len()
        }
        fn step(&self, _: &mut (), state: Id, index: usize) -> Option<Option<(Actor, Id)>> {
            self.0[state as usize].get(index).map(|&target| Some((Actor::Process(0), target)))
        }
    }

    /// Marsaglia's xorshift.
    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    fn reaches(graph: &Given, inside: impl Fn(Id) -> bool, from: Id) -> Vec<bool> {
        let mut seen = vec![false; graph.ids()];
        let mut left = vec![from];
        while let Some(state) = left.pop() {
            if inside(state) && !std::mem::replace(&mut seen[state as usize], true) {
                left.extend(&graph.0[state as usize]);
            }
        }
        seen
    }

    /// By definition two states are in one component if each reaches the other.
    #[test]
    fn components_are_those_of_the_definition_on_random_graphs() {
        let mut seed = 1;
        for size in (2..40).cycle().take(400) {
            let edges =
                (0..size).map(|_| (0..random(&mut seed) % 4).map(|_| random(&mut seed) as u32 % size).collect());
            let graph = Given(edges.collect());
            let outside = random(&mut seed) as u32 % size;
            let inside = |state| state != outside;
            let reach: Vec<Vec<bool>> = (0..size).map(|state| reaches(&graph, inside, state)).collect();
            let together = |a: Id, b: Id| reach[a as usize][b as usize] && reach[b as usize][a as usize];

            let mut seen = vec![false; size as usize];
            let subgraph = Subgraph { graph: &graph, inside, keep: |_, _, _| true };
            subgraph.components(
                || false,
                |_, _, _| 1,
                |members, labels, marks| {
                    for &a in members {
                        assert!(!std::mem::replace(&mut seen[a as usize], true), "{a} is in two components");
                        for b in (0..size).filter(|&b| inside(b)) {
                            assert_eq!(members.contains(&b), together(a, b), "{a} and {b}");
                            assert_eq!(members.contains(&b), marks.same(a, b));
                        }
                        for &to in &graph.0[a as usize] {
                            let before = !inside(to) || seen[to as usize] || members.contains(&to);
                            assert!(before, "{to} comes after {a}, which leads to it");
                        }
                    }
                    let inner = members.iter().any(|&a| graph.0[a as usize].iter().any(|to| members.contains(to)));
                    assert_eq!(labels == 1, inner, "the labels are those of the component's steps");
                    let (again, labels_again) = subgraph.component_of(members[0], |_, _, _| 1);
                    assert_eq!((again.len(), labels_again), (members.len(), labels));
                },
            );
            assert!((0..size).all(|state| seen[state as usize] == inside(state)), "none is left out");
        }
    }
}
