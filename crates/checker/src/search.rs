//! Breadth-first, exact, on all cores, and the same on any number of them.
//!
//! States are spread over *shards* by their hash. A batch of states is worked on in three phases, each shared out to the
//! threads shard by shard, so that no two threads ever write the same thing:
//!
//! 1. *expand*: each shard's states of the batch are stepped, the successors sorted by the shard they belong to;
//! 2. *insert*: each shard takes in its successors from all the others, in their order;
//! 3. *link*: each shard writes down its states' edges, now that every successor has an id.
//!
//! What a phase does depends on the order of shards and never on that of threads, so ids, counts and runs are repeatable.
//! A shard's table is small enough to stay in a core's cache, which is most of the speed.
use hashbrown::HashTable;

use crate::{
    automaton::{Action, Automaton, Missing, UNLIMITED},
    components::Steps,
    error::Error,
    layout::Layout,
    model::{Model, Phase, Progress},
    parallel,
    program::{Program, Section},
    tickets::{Closing, TicketSet},
    view::Register,
};

pub(crate) const SHARDS: usize = 32;
const SHARD_BITS: u32 = SHARDS.trailing_zeros();

/// Edges carry the process in their upper bits.
const ID_BITS: u32 = 28;
const ID_MASK: u32 = (1 << ID_BITS) - 1;

/// So many states of each shard are worked on at a time.
const BATCH: u32 = 1024;
/// Below so many states a batch is not worth a second thread.
const WORTH_SHARING: u32 = 2048;

/// The successor is the state itself.
const SELF: u8 = u8::MAX;

/// A state's number: its place in its shard, and the shard in the lowest bits. Earlier states have smaller numbers, nearly.
pub(crate) type Id = u32;

pub(crate) fn id(shard: usize, index: u32) -> Id {
    index << SHARD_BITS | shard as u32
}

/// The part of the states whose hash says so.
#[derive(Default)]
pub(crate) struct Shard {
    states: Vec<u64>,
    len: u32,
    index: HashTable<u32>,
    /// The edges of the first `linked` states, one state's after the other's.
    edges: Vec<u32>,
    linked: u32,
    /// How many edges each state has; if they do not all have as many, `offsets` says where each one's end.
    degree: u32,
    offsets: Vec<u32>,
}

/// What a shard's states of the batch lead to.
#[derive(Default)]
struct Successors {
    /// For each shard: the successors that belong there, each with its hash in front.
    to: Vec<Vec<u64>>,
    /// For each edge: the process and the successor's shard, or [`SELF`].
    edges: Vec<(u8, u8)>,
    degrees: Vec<u16>,
    missing: Vec<Missing>,
    crowded: bool,
    cut: u64,
}

/// Why a search ended before it had seen every state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    States,
    Memory,
    Ids,
    Cancelled,
    Found,
}

/// The states reached and the steps between them.
pub(crate) struct Graph {
    pub(crate) automaton: Automaton,
    pub(crate) layout: Layout,
    shards: Vec<Shard>,
    /// How many states each shard had when a level was complete.
    levels: Vec<[u32; SHARDS]>,
    pub(crate) stop: Option<Stop>,
    /// Whether there is a state with too many processes inside.
    pub(crate) crowded: bool,
    /// Runs that were cut at the ticket cap.
    pub(crate) cut: u64,
    pub(crate) initial: Id,
    /// Bytes the states and their index took.
    pub(crate) state_bytes: usize,
    /// Bytes held in all at the end of the search.
    pub(crate) most_bytes: usize,
}

impl Graph {
    /// Finds every state reachable. With `edges`, steps are kept too; without, the search ends at the first state with too
    /// many processes inside.
    pub(crate) fn explore(
        program: &dyn Program,
        registers: Vec<Register>,
        model: &Model,
        edges: bool,
    ) -> Result<Graph, Error> {
        let passages = model.passages.unwrap_or(UNLIMITED);
        let automaton = Automaton::new(program, registers, model.n, passages)?;
        let layout = Layout::of(&automaton);
        let mut graph = Graph {
            automaton,
            layout,
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            levels: Vec::new(),
            stop: None,
            crowded: false,
            cut: 0,
            initial: 0,
            state_bytes: 0,
            most_bytes: 0,
        };
        // Every field's first content has the id 0.
        let start = vec![0; graph.layout.words];
        let hash = graph.hash(&start);
        let shard = shard_of(hash);
        let (automaton, layout) = (&graph.automaton, &graph.layout);
        graph.shards[shard].insert(&start, hash, |state| hash_state(automaton, layout, state));
        graph.initial = id(shard, 0);
        graph.search(program, model, edges)?;
        graph.state_bytes = graph.shards.iter().map(Shard::state_bytes).sum();
        graph.shards.iter_mut().for_each(Shard::freeze);
        Ok(graph)
    }

    fn search(&mut self, program: &dyn Program, model: &Model, edges: bool) -> Result<(), Error> {
        let mut successors: Vec<Successors> = (0..SHARDS).map(|_| Successors::new()).collect();
        let mut inserted: Vec<Vec<Vec<u32>>> = vec![vec![Vec::new(); SHARDS]; SHARDS];
        let mut done = [0_u32; SHARDS];
        let mut level = self.lens();
        loop {
            let from = done;
            for (done, end) in std::iter::zip(&mut done, &level) {
                *done = (*done + BATCH).min(*end);
            }
            let size: u32 = std::iter::zip(&from, &done).map(|(from, to)| to - from).sum();
            if size == 0 {
                self.levels.push(level);
                level = self.lens();
                if level == done {
                    return Ok(());
                }
                continue;
            }
            let threads = if size < WORTH_SHARING { 1 } else { model.threads };
            self.expand(program, model, threads, &from, &done, &mut successors)?;
            self.cut += successors.iter().map(|successors| successors.cut).sum::<u64>();
            self.crowded |= successors.iter().any(|successors| successors.crowded);
            if self.crowded && !edges {
                self.stop = Some(Stop::Found);
                return Ok(());
            }
            self.insert(threads, &successors, &mut inserted);
            if edges {
                parallel::each(threads, self.shards.iter_mut().enumerate(), |(s, shard)| {
                    shard.link(s, from[s], &successors[s], |to| &inserted[to][s]);
                });
            }
            self.stop = self.must_stop(model, &successors);
            if self.stop.is_some() {
                return Ok(());
            }
        }
    }

    /// Steps the states of a batch. What the automaton does not know yet is learnt between tries, in the order of shards.
    fn expand(
        &mut self,
        program: &dyn Program,
        model: &Model,
        threads: usize,
        from: &[u32; SHARDS],
        to: &[u32; SHARDS],
        successors: &mut [Successors],
    ) -> Result<(), Error> {
        let mut again = [true; SHARDS];
        while again.contains(&true) {
            let work = successors.iter_mut().enumerate().filter(|(s, _)| again[*s]);
            parallel::each(threads, work, |(s, successors)| {
                let batch = Batch { graph: self, model, shard: s, from: from[s], to: to[s] };
                successors.clear();
                match self.layout.words {
                    1 => batch.expand::<1>(successors),
                    2 => batch.expand::<2>(successors),
                    3 => batch.expand::<3>(successors),
                    4 => batch.expand::<4>(successors),
                    5 | 6 => batch.expand::<6>(successors),
                    7 | 8 => batch.expand::<8>(successors),
                    _ => batch.expand::<16>(successors),
                }
            });
            for (again, successors) in std::iter::zip(&mut again, &mut *successors) {
                *again = !successors.missing.is_empty();
                for missing in successors.missing.drain(..) {
                    self.automaton.learn(program, missing)?;
                }
            }
            if !self.layout.holds(&self.automaton) {
                self.widen(model.threads)?;
                // Successors found so far are packed in the old way.
                again = [true; SHARDS];
            }
        }
        Ok(())
    }

    /// Packs every state anew. Hashes, and so shards and tables, do not depend on the packing.
    fn widen(&mut self, threads: usize) -> Result<(), Error> {
        let layout = Layout::of(&self.automaton);
        if layout.words > 16 {
            return Err(Error::Model("a state takes more than 16 words; lower -n".to_string()));
        }
        parallel::each(threads, self.shards.iter_mut(), |shard| {
            let mut states = Vec::with_capacity(shard.len as usize * layout.words);
            for state in shard.states.chunks_exact(self.layout.words) {
                self.layout.convert(&layout, state, &mut states);
            }
            shard.states = states;
        });
        self.layout = layout;
        Ok(())
    }

    fn insert(&mut self, threads: usize, successors: &[Successors], inserted: &mut [Vec<Vec<u32>>]) {
        let (automaton, layout) = (&self.automaton, &self.layout);
        let work = self.shards.iter_mut().zip(inserted).enumerate();
        parallel::each(threads, work, |(t, (shard, inserted))| {
            let rehash = |state: &[u64]| hash_state(automaton, layout, state);
            for (successors, inserted) in std::iter::zip(successors, inserted) {
                inserted.clear();
                let arrivals = successors.to[t].chunks_exact(layout.words + 1);
                inserted.extend(arrivals.map(|arrival| shard.insert(&arrival[1..], arrival[0], rehash)));
            }
        });
    }

    fn must_stop(&mut self, model: &Model, successors: &[Successors]) -> Option<Stop> {
        let states = self.states();
        let bytes = self.bytes() + successors.iter().map(Successors::bytes).sum::<usize>();
        self.most_bytes = bytes;
        if let Some(observer) = &model.observer {
            observer.progress(&Progress {
                phase: Phase::Searching,
                states,
                depth: self.levels.len() as u32,
                bytes: bytes as u64,
            });
        }
        // The largest growth of a shard between two looks: its tables double.
        let growth = bytes / 8;
        if model.cancelled() {
            Some(Stop::Cancelled)
        } else if model.max_states.is_some_and(|max| states >= max) {
            Some(Stop::States)
        } else if model.max_memory.is_some_and(|max| (bytes + growth) as u64 > max) {
            Some(Stop::Memory)
        } else if self.shards.iter().any(|shard| shard.len + BATCH * 256 > 1 << (ID_BITS - SHARD_BITS)) {
            Some(Stop::Ids)
        } else {
            None
        }
    }

    fn lens(&self) -> [u32; SHARDS] {
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
            self.shards.iter().map(|shard| 4 * (shard.offsets.capacity() + shard.edges.capacity())).sum();
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

    /// Every process' section, three bits each.
    pub(crate) fn sections(&self, id: Id) -> u32 {
        let state = self.state(id);
        (0..self.automaton.n()).fold(0, |sections, p| {
            let local = self.layout.fields[p].get(state);
            sections | (self.automaton.hot(p, local).section as u32) << (3 * p)
        })
    }

    /// A state field by field.
    pub(crate) fn contents(&self, id: Id) -> Vec<u32> {
        self.layout.fields.iter().map(|field| field.get(self.state(id))).collect()
    }

    fn hash(&self, state: &[u64]) -> u64 {
        hash_state(&self.automaton, &self.layout, state)
    }
}

impl Steps for Graph {
    fn ids(&self) -> usize {
        self.shards.iter().map(|shard| shard.len as usize).max().unwrap_or(0) * SHARDS
    }

    #[inline]
    fn steps_of(&self, id: Id) -> &[u32] {
        self.shards[id as usize % SHARDS].edges_of(id >> SHARD_BITS)
    }
}

/// An edge's process and target.
#[inline]
pub(crate) fn split(edge: u32) -> (usize, Id) {
    ((edge >> ID_BITS) as usize, edge & ID_MASK)
}

/// Not the bits that pick a slot in the table, nor those it keeps as a tag.
fn shard_of(hash: u64) -> usize {
    (hash >> 48) as usize % SHARDS
}

fn hash_state(automaton: &Automaton, layout: &Layout, state: &[u64]) -> u64 {
    let n = automaton.n();
    let contents = layout.fields.iter().enumerate().map(|(i, field)| (i, field.get(state)));
    contents
        .fold(0, |hash, (i, id)| hash ^ if i < n { automaton.hot(i, id).hash } else { automaton.value_hash(i - n, id) })
}

impl Shard {
    /// The index of a state, a new one if need be.
    #[inline]
    fn insert(&mut self, state: &[u64], hash: u64, rehash: impl Fn(&[u64]) -> u64) -> u32 {
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
    fn link<'a>(&mut self, s: usize, from: u32, successors: &Successors, inserted: impl Fn(usize) -> &'a Vec<u32>) {
        let mut arrivals: Vec<_> = (0..SHARDS).map(|to| inserted(to).iter()).collect();
        let mut edges = successors.edges.iter();
        grow(&mut self.edges, successors.edges.len());
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
    fn edges_of(&self, index: u32) -> &[u32] {
        let (start, end) = match index {
            unlinked if unlinked >= self.linked => (0, 0),
            _ if self.offsets.is_empty() => (index * self.degree, (index + 1) * self.degree),
            0 => (0, self.offsets[0]),
            _ => (self.offsets[index as usize - 1], self.offsets[index as usize]),
        };
        &self.edges[start as usize..end as usize]
    }

    /// No more states will come: gives back the index, and what growing took too much.
    fn freeze(&mut self) {
        self.index = HashTable::new();
        self.states.shrink_to_fit();
        self.offsets.shrink_to_fit();
        self.edges.shrink_to_fit();
    }

    fn state_bytes(&self) -> usize {
        self.states.capacity() * 8 + self.index.allocation_size()
    }
}

/// Makes room by a quarter at a time: doubling would waste up to half of the memory.
pub(crate) fn grow<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 4).max(16));
    }
}

impl Successors {
    fn new() -> Successors {
        Successors { to: vec![Vec::new(); SHARDS], ..Successors::default() }
    }

    fn clear(&mut self) {
        self.to.iter_mut().for_each(Vec::clear);
        self.edges.clear();
        self.degrees.clear();
        self.missing.clear();
        self.crowded = false;
        self.cut = 0;
    }

    fn bytes(&self) -> usize {
        self.to.iter().map(|to| to.capacity() * 8).sum::<usize>() + self.edges.capacity() * 2
    }
}

/// The states of one shard that are stepped together.
struct Batch<'a> {
    graph: &'a Graph,
    model: &'a Model,
    shard: usize,
    from: u32,
    to: u32,
}

/// A state being stepped: padded to a fixed number of words, which the compiler then keeps in machine registers.
#[derive(Clone, Copy)]
struct State<const W: usize> {
    words: [u64; W],
    hash: u64,
}

impl Batch<'_> {
    fn expand<const W: usize>(&self, out: &mut Successors) {
        let Graph { automaton, layout, shards, .. } = self.graph;
        let words = layout.words;
        let has_tickets = automaton.has_tickets();
        for index in self.from..self.to {
            let packed = &shards[self.shard].states[index as usize * words..][..words];
            let mut state = State { words: [0; W], hash: hash_state(automaton, layout, packed) };
            state.words[..words].copy_from_slice(packed);
            let edges = out.edges.len();
            let mut inside = 0;
            let mut tickets = None;
            for p in self.model.processes() {
                let field = layout.fields[p];
                let local = field.get(&state.words);
                let hot = automaton.hot(p, local);
                inside += usize::from(hot.section == Section::Critical);
                if hot.action == Action::None || (self.model.sequential && !self.is_alone(&state, p)) {
                    continue;
                }
                let reg = hot.reg as usize;
                let (register, value) = match hot.action {
                    Action::Silent => (None, 0),
                    _ => {
                        let register = layout.fields[automaton.n() + reg];
                        (Some(register), register.get(&state.words))
                    }
                };
                let Some((next, written)) = automaton.step(hot, value) else {
                    out.missing.push(Missing::Step { process: p as u32, local, value });
                    continue;
                };
                let mut after = state;
                if next != local {
                    field.set(&mut after.words, next);
                    after.hash ^= hot.hash ^ automaton.hot(p, next).hash;
                }
                if let Some(register) = register.filter(|_| written != value) {
                    register.set(&mut after.words, written);
                    after.hash ^= automaton.value_hash(reg, value) ^ automaton.value_hash(reg, written);
                }
                let moved = has_tickets
                    && (automaton.tickets(p, local) != automaton.tickets(p, next)
                        || (register.is_some()
                            && automaton.tickets(automaton.n() + reg, value)
                                != automaton.tickets(automaton.n() + reg, written)));
                if moved {
                    let before = *tickets.get_or_insert_with(|| self.tickets(&state));
                    self.arrive_renumbered(before, after, p, out);
                } else if after.words == state.words {
                    out.edges.push((p as u8, SELF));
                } else {
                    self.arrive(after, p, out);
                }
            }
            out.degrees.push((out.edges.len() - edges) as u16);
            out.crowded |= inside > self.model.k;
        }
    }

    #[inline]
    fn arrive<const W: usize>(&self, state: State<W>, p: usize, out: &mut Successors) {
        let shard = shard_of(state.hash);
        let to = &mut out.to[shard];
        to.push(state.hash);
        to.extend(state.words.iter().take(self.graph.layout.words));
        out.edges.push((p as u8, shard as u8));
    }

    /// Renumbers the tickets of a successor: one state, or several if a new ticket may or may not have room above it.
    fn arrive_renumbered<const W: usize>(&self, before: TicketSet, state: State<W>, p: usize, out: &mut Successors) {
        let tickets = self.tickets(&state);
        if let Some(cap) = self.model.ticket_cap {
            if tickets.largest() > cap {
                out.cut += 1;
            } else {
                self.arrive(state, p, out);
            }
            return;
        }
        for roomy in tickets.splits(before).subsets() {
            if roomy.is_empty() && tickets.is_normal() {
                self.arrive(state, p, out);
            } else {
                let closing = Closing::of(tickets, roomy);
                if let Some(renumbered) = self.renumber(&closing, state, out) {
                    self.arrive(renumbered, p, out);
                }
            }
        }
    }

    fn renumber<const W: usize>(
        &self,
        closing: &Closing,
        mut state: State<W>,
        out: &mut Successors,
    ) -> Option<State<W>> {
        let Graph { automaton, layout, .. } = self.graph;
        let mut known = true;
        for field in self.ticket_fields() {
            let id = layout.fields[field].get(&state.words);
            let tickets = automaton.tickets(field, id);
            let image = closing.image(tickets);
            if image == tickets {
                continue;
            }
            match automaton.renumbered(field as u32, id, image) {
                Some(renumbered) => layout.fields[field].set(&mut state.words, renumbered),
                None => {
                    out.missing.push(Missing::Renumbering { field: field as u32, id, image });
                    known = false;
                }
            }
        }
        known.then(|| State { hash: hash_state(automaton, layout, &state.words), ..state })
    }

    fn tickets<const W: usize>(&self, state: &State<W>) -> TicketSet {
        let Graph { automaton, layout, .. } = self.graph;
        self.ticket_fields().fold(TicketSet::EMPTY.with_zero(), |set, field| {
            set.union(automaton.tickets(field, layout.fields[field].get(&state.words)))
        })
    }

    fn ticket_fields(&self) -> impl Iterator<Item = usize> + '_ {
        let n = self.model.n;
        (0..n).chain(self.graph.automaton.ticketed().iter().map(move |&reg| n + reg as usize))
    }

    /// Whether no other process is in the middle of a call.
    fn is_alone<const W: usize>(&self, state: &State<W>, p: usize) -> bool {
        let Graph { automaton, layout, .. } = self.graph;
        self.model.processes().filter(|&q| q != p).all(|q| {
            let hot = automaton.hot(q, layout.fields[q].get(&state.words));
            matches!(hot.section, Section::Remainder | Section::Critical)
        })
    }
}
