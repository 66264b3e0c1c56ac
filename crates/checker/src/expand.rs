//! Stepping a batch of states.
use doorway_memory::{FailedCas, Ticket, Value};

use crate::{
    automaton::{Action, Missing},
    graph::{Graph, SHARDS, hash_state, shard_of},
    layout::Field,
    model::{Cache, Model},
    program::Section,
    symmetry,
    tickets::{Closing, TicketSet},
};

/// The successor is the state itself.
pub(crate) const SELF: u8 = u8::MAX;

/// What a shard's states of the batch lead to.
#[derive(Default)]
pub(crate) struct Successors {
    /// For each shard: the successors that belong there, each with its hash in front.
    pub(crate) to: Vec<Vec<u64>>,
    /// For each edge: the process and the successor's shard, or [`SELF`].
    pub(crate) edges: Vec<(u8, u8)>,
    /// For each edge how the successor was sorted, if processes are all alike.
    pub(crate) shuffles: Vec<u8>,
    pub(crate) degrees: Vec<u16>,
    /// The successors by the present step of the present state, on safe registers.
    arrived: Vec<u64>,
    pub(crate) missing: Vec<Missing>,
    pub(crate) crowded: bool,
    pub(crate) cut: u64,
    /// Whether a write was held back by a full store buffer.
    pub(crate) full: bool,
}

impl Successors {
    pub(crate) fn new() -> Successors {
        Successors { to: vec![Vec::new(); SHARDS], ..Successors::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.to.iter_mut().for_each(Vec::clear);
        self.edges.clear();
        self.shuffles.clear();
        self.degrees.clear();
        self.missing.clear();
        self.crowded = false;
        self.cut = 0;
        self.full = false;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.to.iter().map(|to| to.len() * 8).sum::<usize>() + self.edges.len() * 2 + self.shuffles.len()
    }
}

/// The states of one shard that are stepped together.
pub(crate) struct Batch<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) model: &'a Model,
    pub(crate) shard: usize,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// A state being stepped: padded to a fixed number of words, which the compiler then keeps in machine registers.
#[derive(Clone, Copy)]
struct State<const W: usize> {
    words: [u64; W],
    hash: u64,
}

impl Batch<'_> {
    pub(crate) fn expand<const W: usize>(&self, out: &mut Successors) {
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
            let first = self.may_go_first(&state, out);
            for p in self.model.processes() {
                let field = layout.fields[p];
                let local = field.get(&state.words);
                let hot = automaton.hot(p, local);
                inside += usize::from(hot.section.is_inside());
                if first.is_some_and(|first| first != p) {
                    continue;
                }
                if hot.action == Action::None || (self.model.sequential && !self.is_alone(&state, p)) {
                    continue;
                }
                let buffer = self.buffer(p);
                let buffered = buffer.map_or(0, |buffer| buffer.get(&state.words));
                let waits_for = |q: usize| self.buffer(q).is_some_and(|buffer| buffer.get(&state.words) != 0);
                if hot.drains && buffered != 0 || hot.drains_all && self.model.processes().any(waits_for) {
                    continue;
                }
                if let Some(limit) = self.model.passages_in_all
                    && hot.section.begins(automaton.is_part)
                    && self.begun().get(&state.words) == limit
                {
                    out.cut += 1;
                    continue;
                }
                let reg = hot.reg as usize;
                let (register, value) = match hot.action {
                    Action::Silent => (None, 0),
                    _ => {
                        let register = layout.fields[automaton.n() + reg];
                        let own = buffer.and_then(|_| automaton.buffers(p).newest(buffered, hot.reg));
                        (Some(register), own.unwrap_or_else(|| register.get(&state.words)))
                    }
                };
                if self.model.safe_registers
                    && let Some(register) = register
                {
                    let before = *tickets.get_or_insert_with(|| self.tickets(&state));
                    let start = out.edges.len();
                    out.arrived.clear();
                    match (hot.action, automaton.writer(reg, value)) {
                        (Action::Blind, None) => self.begin_to_write(before, state, p, register, out),
                        (Action::Blind, Some(writer)) if writer != p => {
                            out.missing.push(Missing::Overlap { process: p as u32, local, reg: hot.reg });
                            continue;
                        }
                        (Action::Seeing, Some(_)) => self.see_anything(before, state, p, out),
                        _ => {}
                    }
                    if out.edges.len() > start || !out.missing.is_empty() {
                        continue;
                    }
                }
                out.arrived.clear();
                let Some((next, written)) = automaton.step(hot, value) else {
                    out.missing.push(Missing::Step { process: p as u32, local, value });
                    continue;
                };
                let mut after = state;
                if next != local {
                    field.set(&mut after.words, next);
                    after.hash ^= hot.hash ^ automaton.hot(p, next).hash;
                }
                // A write goes into the store buffer, if there is one; a register of which we saw what is there stays as it is.
                let mut longer = buffered;
                if let Some(buffer) = buffer.filter(|_| hot.action == Action::Blind) {
                    if automaton.buffers(p).is_full(buffered) {
                        out.full = true;
                        continue;
                    }
                    let write = (hot.reg, written);
                    let Some(with) = automaton.buffers(p).with(buffered, write) else {
                        out.missing.push(Missing::Buffer { process: p as u32, buffer: buffered, write });
                        continue;
                    };
                    longer = with;
                    buffer.set(&mut after.words, longer);
                    after.hash ^= automaton.buffers(p).hash(buffered) ^ automaton.buffers(p).hash(longer);
                } else if let Some(register) = register.filter(|_| written != value) {
                    register.set(&mut after.words, written);
                    after.hash ^= automaton.value_hash(reg, value) ^ automaton.value_hash(reg, written);
                }
                if self.model.passages_in_all.is_some() && hot.section.begins(automaton.is_part) {
                    let (counter, begun) = (automaton.registers.len() - 1, self.begun().get(&state.words));
                    self.begun().set(&mut after.words, begun + 1);
                    after.hash ^= automaton.value_hash(counter, begun) ^ automaton.value_hash(counter, begun + 1);
                }
                if let Some(cache) = self.model.cache {
                    self.touch(cache, p, local, value, &mut after);
                }
                let moved = has_tickets
                    && (automaton.tickets(p, local) != automaton.tickets(p, next)
                        || (longer != buffered
                            && automaton.buffers(p).tickets(longer) != automaton.buffers(p).tickets(buffered))
                        || (register.is_some()
                            && automaton.tickets(automaton.n() + reg, value)
                                != automaton.tickets(automaton.n() + reg, written)));
                if moved {
                    let before = *tickets.get_or_insert_with(|| self.tickets(&state));
                    self.arrive_renumbered(before, after, p, out);
                } else if after.words == state.words {
                    out.edges.push((p as u8, SELF));
                    if self.model.symmetric {
                        out.shuffles.push(0);
                    }
                } else {
                    self.arrive(after, p, out);
                }
            }
            if automaton.has_buffers() && first.is_none() {
                for p in self.model.processes() {
                    self.become_visible(&mut tickets, state, p, out);
                }
            }
            if self.model.has_interruptions() {
                for p in self.model.processes() {
                    self.interrupt(&mut tickets, state, p, out);
                }
            }
            out.degrees.push((out.edges.len() - edges) as u16);
            out.crowded |= inside > self.model.k;
        }
    }

    /// With store buffers: a process that may take its step before everyone else without anything being missed, because the
    /// step concerns nobody else. That is a write, which only goes into the process' own buffer, or a fence when that is
    /// empty; and the process stays in its section, so that no property sees the difference. Whatever the others do, they can
    /// do as well afterwards, and whoever has not crashed takes its step some time. No cycle consists of such steps: writes
    /// fill the buffer, and fences count only if they lead to a local state of a larger number.
    fn may_go_first<const W: usize>(&self, state: &State<W>, out: &mut Successors) -> Option<usize> {
        if !self.model.reduces() {
            return None;
        }
        let Graph { automaton, layout, .. } = self.graph;
        self.model.processes().find(|&p| {
            let local = layout.fields[p].get(&state.words);
            let hot = automaton.hot(p, local);
            let buffered = self.buffer(p).map_or(0, |buffer| buffer.get(&state.words));
            let concerns_nobody = match hot.action {
                Action::Blind => !automaton.buffers(p).is_full(buffered),
                Action::Silent => hot.drains && buffered == 0,
                Action::None | Action::Seeing => false,
            };
            let on_the_way = matches!(hot.section, Section::Doorway | Section::Wait | Section::Exit);
            if !on_the_way || !concerns_nobody || (self.model.sequential && !self.is_alone(state, p)) {
                return false;
            }
            let Some((next, _)) = automaton.step(hot, 0) else {
                // Once it is known, this state is looked at again.
                out.missing.push(Missing::Step { process: p as u32, local, value: 0 });
                return false;
            };
            automaton.hot(p, next).section == hot.section && (hot.action == Action::Blind || next > local)
        })
    }

    /// The oldest write in the store buffer of process `p`, if there is one, reaches the memory.
    fn become_visible<const W: usize>(
        &self,
        tickets: &mut Option<TicketSet>,
        state: State<W>,
        p: usize,
        out: &mut Successors,
    ) {
        let Graph { automaton, layout, .. } = self.graph;
        let (Some(buffer), buffers) = (self.buffer(p), automaton.buffers(p)) else { return };
        let buffered = buffer.get(&state.words);
        let Some(((reg, written), rest)) = buffers.oldest(buffered) else { return };
        let reg = reg as usize;
        let register = layout.fields[automaton.n() + reg];
        let value = register.get(&state.words);
        let mut after = state;
        register.set(&mut after.words, written);
        buffer.set(&mut after.words, rest);
        after.hash ^= automaton.value_hash(reg, value) ^ automaton.value_hash(reg, written);
        after.hash ^= buffers.hash(buffered) ^ buffers.hash(rest);
        out.arrived.clear();
        let moved = automaton.has_tickets()
            && (buffers.tickets(buffered) != buffers.tickets(rest)
                || automaton.tickets(automaton.n() + reg, value) != automaton.tickets(automaton.n() + reg, written));
        if moved {
            let before = *tickets.get_or_insert_with(|| self.tickets(&state));
            self.arrive_renumbered(before, after, Model::memory_of(p), out);
        } else {
            self.arrive(after, Model::memory_of(p), out);
        }
    }

    /// Process `p` dies, or gives up. Its registers stay as they are.
    fn interrupt<const W: usize>(
        &self,
        tickets: &mut Option<TicketSet>,
        state: State<W>,
        p: usize,
        out: &mut Successors,
    ) {
        let Graph { automaton, layout, .. } = self.graph;
        let local = layout.fields[p].get(&state.words);
        let interrupted = automaton.interrupted(p, local);
        for next in [interrupted.gone, interrupted.dead].into_iter().flatten() {
            let mut after = state;
            layout.fields[p].set(&mut after.words, next);
            after.hash ^= automaton.hot(p, local).hash ^ automaton.hot(p, next).hash;
            if automaton.has_tickets() && automaton.tickets(p, local) != automaton.tickets(p, next) {
                let before = *tickets.get_or_insert_with(|| self.tickets(&state));
                self.arrive_renumbered(before, after, self.model.interruption_of(p), out);
            } else {
                self.arrive(after, self.model.interruption_of(p), out);
            }
        }
    }

    /// A write to a safe register begins: what it held is gone.
    fn begin_to_write<const W: usize>(
        &self,
        before: TicketSet,
        mut state: State<W>,
        p: usize,
        register: Field,
        out: &mut Successors,
    ) {
        let Graph { automaton, layout, .. } = self.graph;
        let local = layout.fields[p].get(&state.words);
        let hot = automaton.hot(p, local);
        let Some((_, written)) = automaton.step(hot, 0) else {
            out.missing.push(Missing::Step { process: p as u32, local, value: 0 });
            return;
        };
        let reg = hot.reg as usize;
        let writing = automaton.known_value(reg, automaton.word(reg, written), Some(p));
        register.set(&mut state.words, writing.expect("it was learnt with the step"));
        layout.fields[p].set(&mut state.words, automaton.begun(p, local));
        state.hash = hash_state(automaton, layout, &state.words);
        self.arrive_renumbered(before, state, p, out);
    }

    /// A read of a safe register that is being written.
    fn see_anything<const W: usize>(&self, before: TicketSet, state: State<W>, p: usize, out: &mut Successors) {
        let Graph { automaton, layout, .. } = self.graph;
        let local = layout.fields[p].get(&state.words);
        let reg = automaton.hot(p, local).reg;
        let domain = automaton.registers[reg as usize].kind.domain;
        let Some(without_tickets) = domain(&[]) else {
            out.missing.push(Missing::Domain { process: p as u32, local, reg });
            return;
        };
        for word in without_tickets {
            self.see(before, state, p, word, out);
        }
        for (opening, number) in Closing::around_any(before, automaton.wide) {
            let ticket = Ticket::of_word(u64::from(number));
            let words = domain(&[ticket]).unwrap_or_default();
            for word in words.into_iter().filter(|word| !domain(&[]).is_some_and(|others| others.contains(word))) {
                if let Some(opened) = self.renumber(&opening, state, out) {
                    self.see(opening.image(before).with(number), opened, p, word, out);
                }
            }
        }
    }

    /// A read that sees this word, whatever the register holds.
    fn see<const W: usize>(&self, before: TicketSet, mut state: State<W>, p: usize, word: u64, out: &mut Successors) {
        let Graph { automaton, layout, .. } = self.graph;
        let local = layout.fields[p].get(&state.words);
        let hot = automaton.hot(p, local);
        let Some(value) = automaton.known_value(hot.reg as usize, word, None) else {
            out.missing.push(Missing::Value { reg: hot.reg, word });
            return;
        };
        let Some((next, _)) = automaton.step(hot, value) else {
            out.missing.push(Missing::Step { process: p as u32, local, value });
            return;
        };
        layout.fields[p].set(&mut state.words, next);
        state.hash = hash_state(automaton, layout, &state.words);
        self.arrive_renumbered(before, state, p, out);
    }

    /// What the access of process `p` does to the cache: its owner's brings the register in, another's write throws it out.
    fn touch<const W: usize>(&self, cache: Cache, p: usize, local: u32, value: u32, state: &mut State<W>) {
        let Graph { automaton, layout, .. } = self.graph;
        let Some(access) = automaton.local(p, local).access else { return };
        let reg = access.reg as usize;
        let field = layout.fields[automaton.n() + automaton.registers.len() + reg];
        let before = field.get(&state.words);
        let failed_counts = access.can_fail() && cache.failed_cas == FailedCas::Counts;
        let after = match () {
            () if p == cache.of => 1,
            () if failed_counts || access.writes(automaton.word(reg, value)) => 0,
            () => before,
        };
        if after != before {
            field.set(&mut state.words, after);
            state.hash ^= automaton.cache_hash(reg, before) ^ automaton.cache_hash(reg, after);
        }
    }

    #[inline]
    fn arrive<const W: usize>(&self, mut state: State<W>, p: usize, out: &mut Successors) {
        if self.model.safe_registers {
            // A read that may return anything leads to the same few states again and again.
            let words = self.graph.layout.words;
            if out.arrived.chunks_exact(words).any(|known| *known == state.words[..words]) {
                return;
            }
            out.arrived.extend_from_slice(&state.words[..words]);
        }
        if self.model.symmetric {
            let Graph { automaton, layout, .. } = self.graph;
            let shuffle = symmetry::sort(&layout.fields[..automaton.n()], &mut state.words).number();
            out.shuffles.push(shuffle);
            if shuffle != 0 {
                state.hash = hash_state(automaton, layout, &state.words);
            }
        }
        let shard = shard_of(state.hash);
        let to = &mut out.to[shard];
        to.push(state.hash);
        to.extend(state.words.iter().take(self.graph.layout.words));
        out.edges.push((p as u8, shard as u8));
    }

    /// Renumbers the tickets of a successor: one state, or several if a new ticket may or may not have room above it.
    fn arrive_renumbered<const W: usize>(&self, before: TicketSet, state: State<W>, p: usize, out: &mut Successors) {
        let tickets = self.tickets(&state);
        if self.model.has_real_tickets() {
            if self.model.ticket_cap.is_some_and(|cap| tickets.largest() > cap) {
                out.cut += 1;
            } else {
                self.arrive(state, p, out);
            }
            return;
        }
        let wide = self.graph.automaton.wide;
        for roomy in tickets.splits(before, wide).subsets() {
            if roomy.is_empty() && tickets.is_normal(wide) {
                self.arrive(state, p, out);
            } else {
                let closing = Closing::of(tickets, roomy, wide);
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

    /// Where the store buffer of process `p` is, if there are any.
    #[inline]
    fn buffer(&self, p: usize) -> Option<Field> {
        let Graph { automaton, layout, .. } = self.graph;
        automaton.buffer_field(p).map(|field| layout.fields[field])
    }

    /// Where the passages begun are counted.
    fn begun(&self) -> Field {
        let Graph { automaton, layout, .. } = self.graph;
        layout.fields[automaton.n() + automaton.registers.len() - 1]
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
