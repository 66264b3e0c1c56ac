//! The successors of states.
//!
//! `mod.rs` has the step of a process on atomic registers. What the models add is in a file each: `buffers.rs` (TSO),
//! `safe.rs` (safe registers), `cache.rs` (remote memory references with caches), `interruptions.rs` (deaths,
//! aborts and expiries), `limits.rs` (limited executions), `registers.rs` (registers that no process may
//! read any more), `rotation.rs` (cyclic numbers) and `tickets.rs` (renumbering).
mod buffers;
mod cache;
mod interruptions;
mod limits;
mod registers;
mod rotation;
mod safe;
mod tickets;

use doorway_memory::Pid;

use crate::{
    actor::Actor,
    automaton::{Action, Missing, RegisterSet},
    error::Fault,
    graph::{Graph, SHARDS, hash_state, shard_of},
    layout::MAX_WORDS,
    model::Model,
    symmetry,
    tickets::TicketSet,
};

/// The successor is the state itself.
pub(crate) const SELF: u8 = u8::MAX;

/// The successors of one shard's states of a batch.
#[derive(Default)]
pub(crate) struct Successors {
    /// For each shard the successors that belong there, or one list of all of them; each with its hash in front.
    pub(crate) to: Vec<Vec<u64>>,
    /// For each edge: the packed actor and the successor's shard, or [`SELF`].
    pub(crate) edges: Vec<(u8, u8)>,
    /// For each edge, how the processes of the successor were sorted, if they are all alike.
    pub(crate) shuffles: Vec<u8>,
    /// How many edges each state has.
    pub(crate) degrees: Vec<u16>,
    /// On safe registers, the successors by the present step of the present state.
    arrived: Vec<u64>,
    pub(crate) missing: Vec<Missing>,
    pub(crate) refused: Vec<Refusal>,
    /// Whether one of the states has more than k holders.
    pub(crate) crowded: bool,
    /// How many steps were not taken because of a limit on tickets or passages.
    pub(crate) cut: u64,
    /// Whether a write was held back by a full store buffer.
    pub(crate) full: bool,
    /// Whether a state with forgotten tickets has a new one that cannot be compared with them.
    pub(crate) lost_floor: bool,
    /// Whether states are merged, and one is in no class.
    pub(crate) lost_class: bool,
}

impl Successors {
    /// In a list for each shard.
    pub(crate) fn by_shard() -> Successors {
        Successors { to: vec![Vec::new(); SHARDS], ..Successors::default() }
    }

    /// In one list, in the order of the edges.
    pub(crate) fn in_one_list() -> Successors {
        Successors { to: vec![Vec::new()], ..Successors::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.to.iter_mut().for_each(Vec::clear);
        self.edges.clear();
        self.shuffles.clear();
        self.degrees.clear();
        self.missing.clear();
        self.refused.clear();
        self.crowded = false;
        self.cut = 0;
        self.full = false;
        self.lost_floor = false;
        self.lost_class = false;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.to.iter().map(|to| to.len() * 8).sum::<usize>() + self.edges.len() * 2 + self.shuffles.len()
    }
}

/// A step that the model does not allow: the search ends with it.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) process: Pid,
    pub(crate) local: u32,
    pub(crate) fault: Fault,
}

/// The steps of a graph's states.
pub(crate) struct Expansion<'a> {
    pub(crate) graph: &'a Graph,
    model: &'a Model,
}

/// A state, padded to a fixed number of words so that the compiler keeps it in machine registers.
#[derive(Clone, Copy)]
struct State<const W: usize> {
    words: [u64; W],
    hash: u64,
}

/// The state from which steps are taken.
struct Origin<const W: usize> {
    state: State<W>,
    /// Its tickets, if a step has asked for them.
    tickets: Option<TicketSet>,
}

impl<'a> Expansion<'a> {
    pub(crate) fn of(graph: &'a Graph) -> Expansion<'a> {
        Expansion { graph, model: &graph.model }
    }

    /// Adds the successors of these states.
    pub(crate) fn expand(&self, states: &[u64], out: &mut Successors) {
        match self.graph.layout.words {
            1 => self.expand_padded::<1>(states, out),
            2 => self.expand_padded::<2>(states, out),
            3 => self.expand_padded::<3>(states, out),
            4 => self.expand_padded::<4>(states, out),
            5 | 6 => self.expand_padded::<6>(states, out),
            7 | 8 => self.expand_padded::<8>(states, out),
            _ => self.expand_padded::<MAX_WORDS>(states, out),
        }
    }

    fn expand_padded<const W: usize>(&self, states: &[u64], out: &mut Successors) {
        let Graph { automaton, layout, .. } = self.graph;
        for packed in states.chunks_exact(layout.words) {
            let mut state = State { words: [0; W], hash: hash_state(automaton, layout, packed) };
            state.words[..layout.words].copy_from_slice(packed);
            let mut origin = Origin { state, tickets: None };
            let edges = out.edges.len();
            let mut holders = 0;
            let first = self.may_go_first(&state, out);
            for p in self.model.processes() {
                let local = layout.fields[p].get(&state.words);
                holders += usize::from(automaton.step_info(p, local).section.is_critical());
                if first.is_none_or(|first| first == p) {
                    self.step(&mut origin, p, local, out);
                }
            }
            if automaton.has_buffers() && first.is_none() {
                self.model.processes().for_each(|p| self.become_visible(&mut origin, p, out));
            }
            if self.model.has_interruptions() {
                self.model.processes().for_each(|p| self.interrupt(&mut origin, p, out));
            }
            out.degrees.push((out.edges.len() - edges) as u16);
            out.crowded |= holders > self.model.k;
        }
    }

    /// The step of process `p`, if it can take one.
    #[inline(always)]
    fn step<const W: usize>(&self, origin: &mut Origin<W>, p: Pid, local: u32, out: &mut Successors) {
        let Graph { automaton, layout, .. } = self.graph;
        let state = origin.state;
        let info = automaton.step_info(p, local);
        if info.action == Action::None || !self.is_allowed(&state, p, info, out) || self.must_drain(&state, p, info) {
            return;
        }
        out.arrived.clear();
        if self.model.safe_registers && self.step_on_safe_register(origin, p, local, out) {
            return;
        }
        let reg = info.reg as usize;
        let accesses = info.action != Action::Silent;
        let value = if accesses { self.seen(&state, p, info.reg) } else { 0 };
        let Some((next, written)) = automaton.step(info, value) else {
            out.missing.push(Missing::Step { process: p as u32, local, value });
            return;
        };
        let mut after = state;
        if next != local {
            layout.fields[p].set(&mut after.words, next);
            after.hash ^= info.hash ^ automaton.step_info(p, next).hash;
        }
        let mut moved = self.moves_tickets(p, local, next) || self.is_unsettled(&state);
        if automaton.has_buffers() && info.action == Action::Write {
            match self.buffer_write(&mut after, p, (info.reg, written), out) {
                Some(moved_too) => moved |= moved_too,
                None => return,
            }
        } else if accesses && written != value {
            layout.fields[automaton.n() + reg].set(&mut after.words, written);
            after.hash ^= automaton.value_hash(reg, value) ^ automaton.value_hash(reg, written);
            let field = automaton.n() + reg;
            moved |= automaton.has_tickets() && automaton.tickets(field, value) != automaton.tickets(field, written);
        }
        let rotated_by = if accesses && written != value { automaton.rotation_after(reg, written) } else { 0 };
        if rotated_by > 0 {
            let Some(rotated) = self.rotate(&after, rotated_by, out) else { return };
            after = rotated;
        }
        if automaton.forgets_registers() {
            let touched = match accesses {
                _ if rotated_by > 0 => RegisterSet::ALL,
                true => RegisterSet::of(reg),
                false => RegisterSet::default(),
            };
            moved |= self.clear(&state, &mut after, p, touched);
        }
        self.count_passage(&mut after, info);
        if let Some(cache) = self.model.cache {
            self.touch(cache, p, local, value, &mut after);
        }
        if moved {
            self.arrive_renumbered(self.tickets_of(origin), after, Actor::Process(p), out);
        } else if after.words == state.words {
            out.edges.push((self.graph.packing.pack(Actor::Process(p)), SELF));
            if self.model.symmetric {
                out.shuffles.push(0);
            }
        } else {
            self.arrive(after, Actor::Process(p), out);
        }
    }

    /// Adds a successor.
    #[inline]
    fn arrive<const W: usize>(&self, mut state: State<W>, actor: Actor, out: &mut Successors) {
        if self.model.safe_registers {
            // The many values that a read may return lead to few different states.
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
        // There are as many lists as shards, or one.
        let list = shard & (out.to.len() - 1);
        let to = &mut out.to[list];
        to.push(state.hash);
        to.extend(state.words.iter().take(self.graph.layout.words));
        out.edges.push((self.graph.packing.pack(actor), shard as u8));
    }
}
