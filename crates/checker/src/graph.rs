//! The states reached and the steps between them.
use std::collections::VecDeque;

use doorway_memory::{Name, Pid};
use hashbrown::HashTable;

use crate::{
    automaton::{Automaton, broken},
    components::Steps,
    error::{Error, Fault},
    expand::{SELF, Successors},
    layout::{Field, Layout},
    run::Path,
    search::Stop,
};

pub(crate) const SHARDS: usize = 32;
pub(crate) const SHARD_BITS: u32 = SHARDS.trailing_zeros();

/// Edges carry the process in their upper bits.
pub(crate) const ID_BITS: u32 = 28;
const ID_MASK: u32 = (1 << ID_BITS) - 1;

/// A state's number: its place in its shard, and the shard in the lowest bits. Earlier states have smaller numbers, nearly.
pub(crate) type Id = u32;

pub(crate) fn id(shard: usize, index: u32) -> Id {
    index << SHARD_BITS | shard as u32
}

/// The part of the states whose hash says so.
#[derive(Default)]
pub(crate) struct Shard {
    pub(crate) states: Vec<u64>,
    pub(crate) len: u32,
    index: HashTable<u32>,
    /// The edges of the first `linked` states, one state's after the other's.
    edges: Vec<u32>,
    /// For each edge how its target was sorted, if processes are all alike.
    shuffles: Vec<u8>,
    linked: u32,
    /// How many edges each state has; if they do not all have as many, `offsets` says where each one's end.
    degree: u32,
    offsets: Vec<u32>,
}

/// The states reached and the steps between them.
pub(crate) struct Graph {
    pub(crate) automaton: Automaton,
    pub(crate) layout: Layout,
    pub(crate) shards: Vec<Shard>,
    /// How many states each shard had when a level was complete.
    pub(crate) levels: Vec<[u32; SHARDS]>,
    pub(crate) stop: Option<Stop>,
    /// Whether there is a state with too many processes inside.
    pub(crate) crowded: bool,
    /// Runs that were cut at the ticket cap.
    pub(crate) cut: u64,
    /// Whether a store buffer was full.
    pub(crate) full: bool,
    pub(crate) initial: Id,
    /// Bytes the states and their index took.
    pub(crate) state_bytes: usize,
    /// Bytes held in all at the end of the search.
    pub(crate) most_bytes: usize,
}

impl Graph {
    pub(crate) fn lens(&self) -> [u32; SHARDS] {
        std::array::from_fn(|s| self.shards[s].len)
    }

    pub(crate) fn states(&self) -> u64 {
        self.shards.iter().map(|shard| u64::from(shard.len)).sum()
    }

    pub(crate) fn transitions(&self) -> u64 {
        self.shards.iter().map(|shard| shard.edges.len() as u64).sum()
    }

    /// The length of the longest shortest run.
    pub(crate) fn depth(&self) -> u32 {
        (self.levels.len() as u32).saturating_sub(1)
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let edges: usize =
            self.shards.iter().map(|shard| 4 * (shard.offsets.len() + shard.edges.len()) + shard.shuffles.len()).sum();
        self.shards.iter().map(Shard::state_bytes).sum::<usize>() + edges + self.automaton.bytes()
    }

    pub(crate) fn state(&self, id: Id) -> &[u64] {
        let (shard, index) = (id as usize % SHARDS, id as usize >> SHARD_BITS);
        let words = self.layout.words;
        &self.shards[shard].states[index * words..][..words]
    }

    /// Whether there is a state of this number; shards are not all of the same size.
    pub(crate) fn exists(&self, id: Id) -> bool {
        id >> SHARD_BITS < self.shards[id as usize % SHARDS].len
    }

    /// A state's steps: who takes it and where it leads. Empty for a state the search did not come to.
    #[inline]
    pub(crate) fn steps(&self, id: Id) -> impl Iterator<Item = (usize, Id)> + '_ {
        self.steps_of(id).iter().map(|&edge| split(edge))
    }

    /// A state's steps, packed; see [`split`].
    #[inline]
    pub(crate) fn steps_of(&self, id: Id) -> &[u32] {
        let shard = &self.shards[id as usize % SHARDS];
        &shard.edges[shard.edges_of(id >> SHARD_BITS)]
    }

    /// How the targets of a state's steps were sorted; see [`Shuffle`](crate::symmetry::Shuffle).
    #[inline]
    pub(crate) fn shuffles_of(&self, id: Id) -> &[u8] {
        let shard = &self.shards[id as usize % SHARDS];
        &shard.shuffles[shard.edges_of(id >> SHARD_BITS)]
    }

    /// Every process' section, three bits each.
    pub(crate) fn sections(&self, id: Id) -> u32 {
        let state = self.state(id);
        (0..self.automaton.n()).fold(0, |sections, p| {
            let local = self.layout.fields[p].get(state);
            sections | (self.automaton.hot(p, local).section as u32) << (3 * p)
        })
    }

    /// A state field by field, but for the cache.
    pub(crate) fn contents(&self, id: Id) -> Vec<u32> {
        self.layout
            .fields
            .iter()
            .take(self.automaton.fields_but_caches())
            .map(|field| field.get(self.state(id)))
            .collect()
    }

    /// The shortest path to a goal, of these the one that lets the processes of smallest number go first. `watch` follows
    /// the path with a number below `watched`, starting from 0, and may forbid a step. None if it is not shorter than `limit`.
    pub(crate) fn shortest_within(
        &self,
        limit: Option<usize>,
        watched: usize,
        watch: impl Fn(usize, Id, Pid, Id) -> Option<usize>,
        goal: impl Fn(usize, Id) -> bool,
    ) -> Option<Path> {
        if goal(0, self.initial) {
            return Some(Path::default());
        }
        let start = self.initial as usize * watched;
        // For each node: the process that got there and, one up, the node it came from; 0 for those not met yet. Pages of
        // zeros cost nothing until they are written, and counterexamples tend to be short.
        let mut came_from = vec![0_u64; self.ids() * watched];
        came_from[start] = 1;
        let mut queue = VecDeque::from([start as u32]);
        let (mut depth, mut left) = (1, 1);
        while let Some(node) = queue.pop_front() {
            if left == 0 {
                (depth, left) = (depth + 1, queue.len() + 1);
            }
            left -= 1;
            if limit.is_some_and(|limit| depth >= limit) {
                return None;
            }
            let (state, watching) = (node / watched as u32, node as usize % watched);
            for (p, target) in self.steps(state) {
                let Some(next) = watch(watching, state, p, target) else { continue };
                let arrived = target as usize * watched + next;
                if came_from[arrived] != 0 {
                    continue;
                }
                came_from[arrived] = (u64::from(node) + 1) << 8 | p as u64;
                if goal(next, target) {
                    let mut steps = Vec::new();
                    let mut at = arrived;
                    while at != start {
                        steps.push(((came_from[at] & 0xff) as Pid, (at / watched) as Id));
                        at = (came_from[at] >> 8) as usize - 1;
                    }
                    steps.reverse();
                    return Some(Path { steps, cycle_at: None });
                }
                queue.push_back(arrived as u32);
            }
        }
        None
    }

    /// A register, and how many values it has held, if it may have kept the search from ending.
    pub(crate) fn growing(&self) -> Option<(Name, usize)> {
        self.automaton.growing().filter(|_| self.stop.is_some())
    }

    /// A process has done something else than before, in this state.
    pub(crate) fn nondeterminism(&self, p: Pid, state: Id) -> Error {
        let local = self.layout.fields[p].get(self.state(state));
        broken(p, self.automaton.whereabouts(p, local), Fault::Nondeterminism)
    }

    pub(crate) fn hash(&self, state: &[u64]) -> u64 {
        hash_state(&self.automaton, &self.layout, state)
    }
}

impl Steps for Graph {
    fn ids(&self) -> usize {
        self.shards.iter().map(|shard| shard.len as usize).max().unwrap_or(0) * SHARDS
    }

    #[inline]
    fn step(&self, id: Id, index: usize) -> Option<(usize, Id)> {
        self.steps_of(id).get(index).map(|&edge| split(edge))
    }
}

/// An edge's process and target.
#[inline]
pub(crate) fn split(edge: u32) -> (usize, Id) {
    ((edge >> ID_BITS) as usize, edge & ID_MASK)
}

/// Not the bits that pick a slot in the table, nor those it keeps as a tag.
pub(crate) fn shard_of(hash: u64) -> usize {
    (hash >> 48) as usize % SHARDS
}

pub(crate) fn hash_state(automaton: &Automaton, layout: &Layout, state: &[u64]) -> u64 {
    let (processes, registers) = layout.fields.split_at(automaton.n());
    let (registers, more) = registers.split_at(automaton.registers.len());
    let locals = processes.iter().enumerate().map(|(p, field)| automaton.hot(p, field.get(state)).hash);
    let values = registers.iter().enumerate().map(|(reg, field)| automaton.value_hash(reg, field.get(state)));
    let hash = locals.chain(values).fold(0, |hash, content| hash ^ content);
    if more.is_empty() { hash } else { hash ^ hash_more(automaton, more, state) }
}

/// The part of a state's hash that is about store buffers, or the cache.
fn hash_more(automaton: &Automaton, fields: &[Field], state: &[u64]) -> u64 {
    let content = |(i, field): (usize, &Field)| match automaton.has_buffers() {
        true => automaton.buffers(i).hash(field.get(state)),
        false => automaton.cache_hash(i, field.get(state)),
    };
    fields.iter().enumerate().map(content).fold(0, |hash, content| hash ^ content)
}

impl Shard {
    /// The index of a state, a new one if need be.
    #[inline]
    pub(crate) fn insert(&mut self, state: &[u64], hash: u64, rehash: impl Fn(&[u64]) -> u64) -> u32 {
        let (states, words) = (&self.states, state.len());
        let known = |index: &u32| &states[*index as usize * words..][..words];
        // Word by word: for one or two words a call of the library's comparison takes longer than the comparison.
        let same = |index: &u32| std::iter::zip(known(index), state).all(|(a, b)| a == b);
        if let Some(&index) = self.index.find(hash, same) {
            return index;
        }
        let index = self.len;
        self.index.insert_unique(hash, index, |index| rehash(known(index)));
        grow(&mut self.states, words);
        self.states.extend_from_slice(state);
        self.len += 1;
        index
    }

    /// Writes down the edges of the states of a batch, whose successors now have indices.
    pub(crate) fn link<'a>(
        &mut self,
        s: usize,
        from: u32,
        successors: &Successors,
        inserted: impl Fn(usize) -> &'a Vec<u32>,
    ) {
        let mut arrivals: Vec<_> = (0..SHARDS).map(|to| inserted(to).iter()).collect();
        let mut edges = successors.edges.iter();
        grow(&mut self.edges, successors.edges.len());
        grow(&mut self.shuffles, successors.shuffles.len());
        self.shuffles.extend_from_slice(&successors.shuffles);
        for (state, &degree) in (from..).zip(&successors.degrees) {
            if self.linked == 0 {
                self.degree = u32::from(degree);
            } else if self.offsets.is_empty() && self.degree != u32::from(degree) {
                self.offsets = (1..=self.linked).map(|state| state * self.degree).collect();
            }
            for &(process, to) in edges.by_ref().take(usize::from(degree)) {
                let target = match to {
                    SELF => id(s, state),
                    to => id(
                        usize::from(to),
                        *arrivals[usize::from(to)].next().expect("every successor was inserted, in order"),
                    ),
                };
                self.edges.push(u32::from(process) << ID_BITS | target);
            }
            self.linked += 1;
            if !self.offsets.is_empty() {
                grow(&mut self.offsets, 1);
                self.offsets.push(self.edges.len() as u32);
            }
        }
    }

    #[inline]
    fn edges_of(&self, index: u32) -> std::ops::Range<usize> {
        let (start, end) = match index {
            unlinked if unlinked >= self.linked => (0, 0),
            _ if self.offsets.is_empty() => (index * self.degree, (index + 1) * self.degree),
            0 => (0, self.offsets[0]),
            _ => (self.offsets[index as usize - 1], self.offsets[index as usize]),
        };
        start as usize..end as usize
    }

    /// No more states will come: gives back the index, and what growing took too much.
    pub(crate) fn freeze(&mut self) {
        self.index = HashTable::new();
        self.states.shrink_to_fit();
        self.offsets.shrink_to_fit();
        self.edges.shrink_to_fit();
        self.shuffles.shrink_to_fit();
    }

    pub(crate) fn state_bytes(&self) -> usize {
        self.states.len() * 8 + self.index.allocation_size()
    }
}

/// Makes room by a quarter at a time: doubling would waste up to half of the memory.
pub(crate) fn grow<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 4).max(16));
    }
}
