//! The steps of a graph: stored, or computed again.
//!
//! A step is a look-up in the automaton, and its target a look-up in the table of states. So edges need not be stored;
//! but following a stored edge is many times as fast, so they are as long as there is memory for them.
use std::cell::RefCell;

use crate::{
    actor::Actor,
    components::Steps,
    expand::{Expansion, SELF, Successors},
    graph::{Graph, Id, SHARD_BITS, SHARDS, grow, id},
    parallel,
};

/// Edges carry the packed actor in their upper bits.
const ID_BITS: u32 = 28;
const ID_MASK: u32 = (1 << ID_BITS) - 1;

/// The edges of all states that were expanded, for each shard. States are numbered in the order in which they were found.
pub(crate) struct Edges(Vec<OfShard>);

#[derive(Default)]
struct OfShard {
    /// The edges of the first `linked` states, those of one state after those of another.
    edges: Vec<u32>,
    /// For each edge, how the processes of its target were sorted, if they are all alike.
    shuffles: Vec<u8>,
    linked: u32,
    /// How many edges each state has; if that differs, `offsets` says where the edges of each state end.
    degree: u32,
    offsets: Vec<u32>,
}

impl Edges {
    pub(crate) fn new() -> Edges {
        Edges((0..SHARDS).map(|_| OfShard::default()).collect())
    }

    /// Whether edges to so many ids can be packed.
    pub(crate) fn can_be_packed(ids: usize) -> bool {
        ids <= 1 << ID_BITS
    }

    /// The bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.0.iter().map(|shard| 4 * (shard.offsets.len() + shard.edges.len()) + shard.shuffles.len()).sum()
    }

    /// Stores the edges of the states of a batch. `inserted` has for each shard, and each shard that they come from, the
    /// numbers of the successors.
    pub(crate) fn link(&mut self, threads: usize, successors: &[Successors], inserted: &[Vec<Vec<u32>>]) {
        parallel::each(threads, self.0.iter_mut().enumerate(), |(s, shard)| {
            let arrivals = inserted.iter().map(|inserted| inserted[s].iter()).collect();
            shard.link(s, &successors[s], arrivals);
        });
    }

    /// Frees spare capacity, after the last batch.
    pub(crate) fn shrink(&mut self) {
        for shard in &mut self.0 {
            shard.offsets.shrink_to_fit();
            shard.edges.shrink_to_fit();
            shard.shuffles.shrink_to_fit();
        }
    }

    #[inline]
    fn of_state(&self, state: Id) -> &[u32] {
        let shard = &self.0[state as usize % SHARDS];
        &shard.edges[shard.of(state >> SHARD_BITS)]
    }

    /// How the targets of a state's steps were sorted; see [`Shuffle`](crate::symmetry::Shuffle).
    #[inline]
    pub(crate) fn shuffles_of(&self, state: Id) -> &[u8] {
        let shard = &self.0[state as usize % SHARDS];
        &shard.shuffles[shard.of(state >> SHARD_BITS)]
    }
}

impl OfShard {
    fn link(&mut self, s: usize, successors: &Successors, mut arrivals: Vec<std::slice::Iter<'_, u32>>) {
        let mut edges = successors.edges.iter();
        grow(&mut self.edges, successors.edges.len());
        grow(&mut self.shuffles, successors.shuffles.len());
        self.shuffles.extend_from_slice(&successors.shuffles);
        for &degree in &successors.degrees {
            if self.linked == 0 {
                self.degree = u32::from(degree);
            } else if self.offsets.is_empty() && self.degree != u32::from(degree) {
                self.offsets = (1..=self.linked).map(|state| state * self.degree).collect();
            }
            for &(actor, to) in edges.by_ref().take(usize::from(degree)) {
                let target = match to {
                    SELF => id(s, self.linked),
                    to => id(
                        usize::from(to),
                        *arrivals[usize::from(to)].next().expect("every successor was inserted, in order"),
                    ),
                };
                self.edges.push(u32::from(actor) << ID_BITS | target);
            }
            self.linked += 1;
            if !self.offsets.is_empty() {
                grow(&mut self.offsets, 1);
                self.offsets.push(self.edges.len() as u32);
            }
        }
    }

    #[inline]
    fn of(&self, number: u32) -> std::ops::Range<usize> {
        let (start, end) = match number {
            unlinked if unlinked >= self.linked => (0, 0),
            _ if self.offsets.is_empty() => (number * self.degree, (number + 1) * self.degree),
            0 => (0, self.offsets[0]),
            _ => (self.offsets[number as usize - 1], self.offsets[number as usize]),
        };
        start as usize..end as usize
    }
}

/// The steps of one state, computed again.
#[derive(Default)]
pub(crate) struct Recomputed {
    of: Option<Id>,
    successors: Successors,
    targets: Vec<Target>,
}

/// The target of a step.
#[derive(Clone, Copy)]
enum Target {
    Known(Id),
    /// The position of its hash among the successors; its words follow.
    At(u32),
}

impl Recomputed {
    fn compute(&mut self, graph: &Graph, state: Id) {
        if self.of == Some(state) {
            return;
        }
        if self.successors.to.is_empty() {
            self.successors = Successors::in_one_list();
        }
        self.successors.clear();
        Expansion::of(graph).expand(&graph.state(state)[..graph.layout.words], &mut self.successors);
        self.of = Some(state);
        self.targets.clear();
        let mut at = 0;
        for &(_, shard) in &self.successors.edges {
            self.targets.push(if shard == SELF { Target::Known(state) } else { Target::At(at) });
            at += if shard == SELF { 0 } else { graph.layout.words as u32 + 1 };
        }
    }

    /// The step of this index. None if its target is not in the graph, because the search ended early.
    #[inline]
    fn target(&mut self, graph: &Graph, index: usize) -> Option<(Actor, Id)> {
        let actor = graph.packing.unpack(self.successors.edges[index].0.into());
        let target = match self.targets[index] {
            Target::Known(target) => target,
            Target::At(at) => {
                let words = &self.successors.to[0][at as usize..][..graph.layout.words + 1];
                let target = graph.id_of(words[0], &words[1..])?;
                self.targets[index] = Target::Known(target);
                target
            }
        };
        Some((actor, target))
    }
}

impl Graph {
    /// The steps from a state, each with its actor and target.
    #[inline]
    pub(crate) fn steps(&self, state: Id) -> StepsOf<'_> {
        thread_local! {
            static STEPS: RefCell<Recomputed> = RefCell::default();
        }
        match &self.edges {
            Some(edges) => StepsOf::Stored(self, edges.of_state(state).iter()),
            None => STEPS.with_borrow_mut(|steps| {
                steps.of = None; // they may be those of another graph
                steps.compute(self, state);
                let all: Vec<_> = (0..steps.targets.len()).filter_map(|i| steps.target(self, i)).collect();
                StepsOf::Computed(all.into_iter())
            }),
        }
    }

    #[inline]
    fn unpack(&self, edge: u32) -> (Actor, Id) {
        (self.packing.unpack(edge >> ID_BITS), edge & ID_MASK)
    }
}

/// The steps from a state.
pub(crate) enum StepsOf<'a> {
    Stored(&'a Graph, std::slice::Iter<'a, u32>),
    Computed(std::vec::IntoIter<(Actor, Id)>),
}

impl Iterator for StepsOf<'_> {
    type Item = (Actor, Id);

    #[inline]
    fn next(&mut self) -> Option<(Actor, Id)> {
        match self {
            StepsOf::Stored(graph, edges) => edges.next().map(|&edge| graph.unpack(edge)),
            StepsOf::Computed(steps) => steps.next(),
        }
    }
}

impl Steps for Graph {
    type Scratch = Recomputed;

    fn ids(&self) -> usize {
        Graph::ids(self)
    }

    #[inline]
    fn step(&self, scratch: &mut Recomputed, state: Id, index: usize) -> Option<Option<(Actor, Id)>> {
        if let Some(edges) = &self.edges {
            return edges.of_state(state).get(index).map(|&edge| Some(self.unpack(edge)));
        }
        scratch.compute(self, state);
        (index < scratch.targets.len()).then(|| scratch.target(self, index))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use doorway_algorithms::mutex::bakery::Bakery;

    use super::*;
    use crate::{Model, Registers, program::Lock};

    fn bakery(max_memory: u64) -> Graph {
        let model = Model::new(3).threads(1).max_memory(max_memory);
        let mut registers = Registers::default();
        let program = Lock::make(&mut registers, |space| Bakery::new(space, 3));
        Graph::explore(&program, registers.of(&model).to_vec(), &model, true).expect("it keeps the rules")
    }

    /// For each state the actors and targets of its steps.
    fn steps(graph: &Graph) -> BTreeMap<Vec<u32>, Vec<(usize, Vec<u32>)>> {
        let states = (0..graph.ids() as Id).filter(|&state| graph.exists(state));
        let of = |state| graph.steps(state).map(|(actor, target)| (actor.pid(), graph.contents(target))).collect();
        states.map(|state| (graph.contents(state), of(state))).collect()
    }

    #[test]
    fn edges_are_given_up_before_the_search_is_and_computed_again() {
        let limits = std::iter::successors(Some(8_000_000_u64), |limit| Some(limit * 9 / 10));
        let mut outcomes = Vec::new();
        let mut all = None;
        for graph in limits.map(bakery) {
            outcomes.push((graph.edges.is_some(), graph.stop.is_none()));
            if graph.stop.is_some() {
                break;
            }
            let steps = steps(&graph);
            assert_eq!(graph.transitions, steps.values().map(|steps| steps.len() as u64).sum::<u64>());
            assert!(steps == *all.get_or_insert_with(|| steps.clone()), "{outcomes:?}");
        }
        outcomes.dedup();
        assert_eq!(outcomes, [(true, true), (false, true), (false, false)]);
    }
}
