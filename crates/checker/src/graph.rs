//! The states reached and the steps between them.
use std::collections::VecDeque;

use doorway_memory::{Name, Pid};
use hashbrown::HashTable;

use crate::{
    actor::{Actor, Packing},
    automaton::{Automaton, broken},
    components::Steps,
    error::{Error, Fault},
    execution::Path,
    expand::{SELF, Successors},
    layout::{Field, Layout},
    search::Stop,
};

pub(crate) const SHARDS: usize = 32;
pub(crate) const SHARD_BITS: u32 = SHARDS.trailing_zeros();

/// Edges carry the packed actor in their upper bits.
pub(crate) const ID_BITS: u32 = 28;
const ID_MASK: u32 = (1 << ID_BITS) - 1;

/// The number of a state: its index in its shard, and the shard in the lowest bits. Earlier states mostly have smaller
/// numbers.
pub(crate) type Id = u32;

pub(crate) fn id(shard: usize, index: u32) -> Id {
    index << SHARD_BITS | shard as u32
}

/// One of the parts into which states are divided by their hashes.
#[derive(Default)]
pub(crate) struct Shard {
    pub(crate) states: Vec<u64>,
    pub(crate) len: u32,
    index: HashTable<u32>,
    /// The edges of the first `linked` states, those of one state after those of another.
    edges: Vec<u32>,
    /// For each edge, how the processes of its target were sorted, if they are all alike.
    shuffles: Vec<u8>,
    linked: u32,
    /// How many edges each state has; if that differs, `offsets` says where the edges of each state end.
    degree: u32,
    offsets: Vec<u32>,
}

/// The states reached and the steps between them.
pub(crate) struct Graph {
    pub(crate) automaton: Automaton,
    pub(crate) layout: Layout,
    pub(crate) packing: Packing,
    pub(crate) shards: Vec<Shard>,
    /// How many states each shard had when each level was complete.
    pub(crate) levels: Vec<[u32; SHARDS]>,
    /// Why the search ended early, if it did.
    pub(crate) stop: Option<Stop>,
    /// Whether there is a state with more than k holders.
    pub(crate) crowded: bool,
    /// How many steps were not taken because of a limit on tickets or passages.
    pub(crate) cut: u64,
    /// Whether a store buffer was full.
    pub(crate) full: bool,
    pub(crate) initial: Id,
    /// The bytes that the states and their index took.
    pub(crate) state_bytes: usize,
    /// All bytes held at the end of the search.
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

    /// The largest distance of a state from the initial state.
    pub(crate) fn depth(&self) -> u32 {
        (self.levels.len() as u32).saturating_sub(1)
    }

    /// The bytes held.
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

    /// Whether there is a state of this number: shards are not all of the same size.
    pub(crate) fn exists(&self, id: Id) -> bool {
        id >> SHARD_BITS < self.shards[id as usize % SHARDS].len
    }

    /// The steps from a state, each with its actor and target. None for a state that was not expanded.
    #[inline]
    pub(crate) fn steps(&self, id: Id) -> impl Iterator<Item = (Actor, Id)> + '_ {
        self.edges_of(id).iter().map(|&edge| self.unpack(edge))
    }

    /// The targets of the steps from a state.
    #[inline]
    pub(crate) fn successors(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        self.edges_of(id).iter().map(|&edge| edge & ID_MASK)
    }

    #[inline]
    fn edges_of(&self, id: Id) -> &[u32] {
        let shard = &self.shards[id as usize % SHARDS];
        &shard.edges[shard.edges_of(id >> SHARD_BITS)]
    }

    #[inline]
    fn unpack(&self, edge: u32) -> (Actor, Id) {
        (self.packing.unpack(edge >> ID_BITS), edge & ID_MASK)
    }

    /// How the targets of a state's steps were sorted; see [`Shuffle`](crate::symmetry::Shuffle).
    #[inline]
    pub(crate) fn shuffles_of(&self, id: Id) -> &[u8] {
        let shard = &self.shards[id as usize % SHARDS];
        &shard.shuffles[shard.edges_of(id >> SHARD_BITS)]
    }

    /// The sections of all processes.
    pub(crate) fn sections(&self, id: Id) -> u32 {
        let state = self.state(id);
        (0..self.automaton.n()).fold(0, |sections, p| {
            let local = self.layout.fields[p].get(state);
            sections | (self.automaton.step_info(p, local).section as u32) << (section_bits(self.automaton.n()) * p)
        })
    }

    /// The fields of a state, without the cache.
    pub(crate) fn contents(&self, id: Id) -> Vec<u32> {
        self.layout
            .fields
            .iter()
            .take(self.automaton.fields_but_caches())
            .map(|field| field.get(self.state(id)))
            .collect()
    }

    /// The shortest path to a goal; of several, the one on which processes of smaller number go first. None if it is
    /// not shorter than `limit`.
    ///
    /// `watch` is a monitor: it follows the path with a number below `watched`, starting from 0, and may forbid a step.
    pub(crate) fn shortest_within(
        &self,
        limit: Option<usize>,
        watched: usize,
        watch: impl Fn(usize, Id, Actor, Id) -> Option<usize>,
        goal: impl Fn(usize, Id) -> bool,
    ) -> Option<Path> {
        if goal(0, self.initial) {
            return Some(Path::default());
        }
        let start = self.initial as usize * watched;
        // For each node: the actor of the step that led there and, plus 1, the node it came from; 0 for nodes not met
        // yet. Pages of zeros cost nothing until they are written, and counterexamples tend to be short.
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
            for (actor, target) in self.steps(state) {
                let Some(next) = watch(watching, state, actor, target) else { continue };
                let arrived = target as usize * watched + next;
                if came_from[arrived] != 0 {
                    continue;
                }
                came_from[arrived] = (u64::from(node) + 1) << 8 | u64::from(self.packing.pack(actor));
                if goal(next, target) {
                    let mut steps = Vec::new();
                    let mut at = arrived;
                    while at != start {
                        let actor = self.packing.unpack((came_from[at] & 0xff) as u32);
                        steps.push((actor, (at / watched) as Id));
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

    /// A register that may have kept the search from ending, and how many values it has held.
    pub(crate) fn growing(&self) -> Option<(Name, usize)> {
        self.automaton.growing().filter(|_| self.stop.is_some())
    }

    /// The error that a process did something else than before in this state.
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
    fn step(&self, id: Id, index: usize) -> Option<(Actor, Id)> {
        self.edges_of(id).get(index).map(|&edge| self.unpack(edge))
    }
}

/// The shard of a state. It depends on other bits of the hash than the position in the shard's table and its tags do.
pub(crate) fn shard_of(hash: u64) -> usize {
    (hash >> 48) as usize % SHARDS
}

/// The hash of a state: the exclusive or of the hashes of its fields.
pub(crate) fn hash_state(automaton: &Automaton, layout: &Layout, state: &[u64]) -> u64 {
    let (processes, registers) = layout.fields.split_at(automaton.n());
    let (registers, more) = registers.split_at(automaton.registers.len());
    let locals = processes.iter().enumerate().map(|(p, field)| automaton.step_info(p, field.get(state)).hash);
    let values = registers.iter().enumerate().map(|(reg, field)| automaton.value_hash(reg, field.get(state)));
    let hash = locals.chain(values).fold(0, |hash, content| hash ^ content);
    if more.is_empty() { hash } else { hash ^ hash_more(automaton, more, state) }
}

/// The part of a state's hash that comes from store buffers or the cache.
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
        // Word by word: for one or two words, calling `memcmp` takes longer than comparing.
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

    /// Stores the edges of the states of a batch, whose successors now have indices.
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
            for &(actor, to) in edges.by_ref().take(usize::from(degree)) {
                let target = match to {
                    SELF => id(s, state),
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
    fn edges_of(&self, index: u32) -> std::ops::Range<usize> {
        let (start, end) = match index {
            unlinked if unlinked >= self.linked => (0, 0),
            _ if self.offsets.is_empty() => (index * self.degree, (index + 1) * self.degree),
            0 => (0, self.offsets[0]),
            _ => (self.offsets[index as usize - 1], self.offsets[index as usize]),
        };
        start as usize..end as usize
    }

    /// Frees the index and spare capacity, after the last state was inserted.
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

/// Reserves room for `more` elements, growing by a quarter: doubling would waste up to half of the memory.
pub(crate) fn grow<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 4).max(16));
    }
}

/// The number of bits that a section takes among those of `n` processes, which fit into 32. The sections with larger
/// numbers occur in models with expiries only, which have fewer processes.
#[inline]
pub(crate) fn section_bits(n: usize) -> usize {
    if n <= 8 { 4 } else { 3 }
}
