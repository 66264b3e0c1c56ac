//! The states reached and the steps between them.
use doorway_memory::{Name, Pid};

use crate::{
    actor::{Actor, Packing},
    automaton::{Automaton, broken},
    edges::Edges,
    error::{Error, Fault},
    execution::Path,
    judge::StateSet,
    layout::{Field, Layout, MAX_WORDS},
    merge::Unmerged,
    model::Model,
    search::Stop,
    table::Table,
};

pub(crate) const SHARDS: usize = 32;
pub(crate) const SHARD_BITS: u32 = SHARDS.trailing_zeros();

/// What a state is called: the shard in the lowest bits, and above its number in the shard. If edges are stored, that is
/// the order in which states were found, so that states near to each other mostly have near ids, which makes for speed.
/// Else it is the slot in the shard's table.
pub(crate) type Id = u32;

pub(crate) fn id(shard: usize, number: u32) -> Id {
    number << SHARD_BITS | shard as u32
}

/// One of the parts into which states are divided by their hashes.
pub(crate) struct Shard {
    pub(crate) table: Table,
    /// While searching: the states of the present level, and those of the next one found so far.
    pub(crate) level: Vec<u64>,
    pub(crate) next: Vec<u64>,
    /// After the search: the slot of each state, if states are numbered.
    pub(crate) slots: Vec<u32>,
}

/// The states reached and the steps between them.
pub(crate) struct Graph {
    pub(crate) automaton: Automaton,
    pub(crate) layout: Layout,
    pub(crate) packing: Packing,
    /// The model that was searched.
    pub(crate) model: Model,
    pub(crate) shards: Vec<Shard>,
    /// The steps of all states, if there is memory for them. Else they are computed again whenever they are needed.
    /// States are numbered exactly if it is stored.
    pub(crate) edges: Option<Edges>,
    /// How many levels, the states at one distance from the initial state, are complete.
    pub(crate) levels: u32,
    /// How many steps the states have.
    pub(crate) transitions: u64,
    /// Why the search ended early, if it did.
    pub(crate) stop: Option<Stop>,
    /// Whether there is a state with more than k holders.
    pub(crate) crowded: bool,
    /// How many steps were not taken because of a limit on tickets or passages.
    pub(crate) cut: u64,
    /// Whether a store buffer was full.
    pub(crate) full: bool,
    pub(crate) initial: Id,
    /// How far merging came, if that was ended, and so the search before it began.
    pub(crate) unmerged: Option<Unmerged>,
    /// The bytes that the states took at the end of the search, with their numbers.
    pub(crate) searched_bytes: usize,
    /// All bytes held at the end of the search.
    pub(crate) most_bytes: usize,
}

impl Graph {
    pub(crate) fn states(&self) -> u64 {
        self.shards.iter().map(|shard| shard.table.len() as u64).sum()
    }

    /// How many states were found, for a report.
    pub(crate) fn found(&self) -> u64 {
        self.unmerged.map_or_else(|| self.states(), |unmerged| unmerged.classes)
    }

    /// The largest distance of a state from the initial state.
    pub(crate) fn depth(&self) -> u32 {
        self.levels.saturating_sub(1)
    }

    /// The bytes that the states take.
    pub(crate) fn state_bytes(&self) -> usize {
        self.shards.iter().map(|shard| shard.table.bytes()).sum()
    }

    /// The bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let lists = |shard: &Shard| 8 * (shard.level.len() + shard.next.len()) + 4 * shard.slots.len();
        let lists: usize = self.shards.iter().map(lists).sum();
        self.state_bytes() + lists + self.edges.as_ref().map_or(0, Edges::bytes) + self.automaton.bytes()
    }

    /// One more than the largest id.
    pub(crate) fn ids(&self) -> usize {
        let ids = |shard: &Shard| if self.edges.is_some() { shard.table.len() } else { shard.table.slots() };
        self.shards.iter().map(ids).max().unwrap_or(0) * SHARDS
    }

    /// The fields of a state, packed as the layout says.
    #[inline]
    pub(crate) fn state(&self, id: Id) -> [u64; MAX_WORDS] {
        let mut state = [0; MAX_WORDS];
        let (shard, number) = (&self.shards[id as usize % SHARDS], id as usize >> SHARD_BITS);
        let slot = if self.edges.is_some() { shard.slots[number] as usize } else { number };
        shard.table.get(slot, &mut state);
        state
    }

    /// Whether there is a state of this id: shards are not all of the same size, and not every slot is taken.
    #[inline]
    pub(crate) fn exists(&self, id: Id) -> bool {
        let (shard, number) = (&self.shards[id as usize % SHARDS], id as usize >> SHARD_BITS);
        if self.edges.is_some() { number < shard.table.len() } else { shard.table.is_taken(number) }
    }

    /// The id of a state of this hash.
    #[inline]
    pub(crate) fn id_of(&self, hash: u64, state: &[u64]) -> Option<Id> {
        let shard = shard_of(hash);
        let table = &self.shards[shard].table;
        table.find(state).map(|slot| id(shard, table.number(slot as usize)))
    }

    /// The sections of all processes.
    pub(crate) fn sections(&self, id: Id) -> u32 {
        let state = &self.state(id);
        (0..self.automaton.n()).fold(0, |sections, p| {
            let local = self.layout.fields[p].get(state);
            sections | (self.automaton.step_info(p, local).section as u32) << (section_bits(self.automaton.n()) * p)
        })
    }

    /// The fields of a state, without the cache.
    pub(crate) fn contents(&self, id: Id) -> Vec<u32> {
        let state = self.state(id);
        let fields = self.layout.fields.iter().take(self.automaton.fields_but_caches());
        fields.map(|field| field.get(&state)).collect()
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
        // The nodes in the order in which they are met, a state and a number of the monitor each; and where each level
        // begins. The step that led to a node is found again in the end, among those of the level before.
        let mut met: Vec<(Id, u8)> = vec![(self.initial, 0)];
        let mut begin = vec![0];
        let mut seen = vec![StateSet::default(); watched];
        seen[0].insert(self.initial);
        loop {
            let level = begin[begin.len() - 1]..met.len();
            if level.is_empty() || limit.is_some_and(|limit| begin.len() >= limit) {
                return None;
            }
            begin.push(met.len());
            for at in level {
                let (state, watching) = met[at];
                for (actor, target) in self.steps(state) {
                    let Some(next) = watch(usize::from(watching), state, actor, target) else { continue };
                    if !seen[next].insert(target) {
                        continue;
                    }
                    if goal(next, target) {
                        return Some(self.path_through(&met, &begin, &watch, (target, next as u8)));
                    }
                    grow(&mut met, 1);
                    met.push((target, next as u8));
                }
            }
        }
    }

    /// The path to the last node, on which each node is the first of its level that leads to the next one.
    fn path_through(
        &self,
        met: &[(Id, u8)],
        begin: &[usize],
        watch: &impl Fn(usize, Id, Actor, Id) -> Option<usize>,
        last: (Id, u8),
    ) -> Path {
        let mut steps = Vec::new();
        let mut at = last;
        for level in begin.windows(2).rev() {
            let leads = |&(state, watching): &(Id, u8)| {
                let mut steps = self.steps(state);
                let leads = |&(actor, target): &(Actor, Id)| {
                    target == at.0 && watch(usize::from(watching), state, actor, target) == Some(usize::from(at.1))
                };
                steps.find(leads).map(|(actor, _)| (actor, (state, watching)))
            };
            let (actor, before) =
                met[level[0]..level[1]].iter().find_map(leads).expect("a node was met from the level before");
            steps.push((actor, at.0));
            at = before;
        }
        steps.reverse();
        Path { steps, cycle_at: None }
    }

    /// A register that may have kept the search from ending, and how many values it has held.
    pub(crate) fn growing(&self) -> Option<(Name, usize)> {
        let growing = self.unmerged.map_or_else(|| self.automaton.growing(), |unmerged| unmerged.growing);
        growing.filter(|_| self.stop.is_some())
    }

    /// The error that a process did something else than before in this state.
    pub(crate) fn nondeterminism(&self, p: Pid, state: Id) -> Error {
        let local = self.layout.fields[p].get(&self.state(state));
        broken(p, self.automaton.whereabouts(p, local), Fault::Nondeterminism)
    }
}

/// The shard of a state.
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
