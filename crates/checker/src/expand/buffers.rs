//! Store buffers: TSO.
use doorway_memory::Pid;

use super::{Expansion, Origin, State, Successors};
use crate::{
    actor::Actor,
    automaton::{Action, Missing, RegisterSet, StepInfo},
    buffers::Write,
    graph::Graph,
    layout::Field,
    program::Section,
};

impl Expansion<'_> {
    /// Whether a step has to wait for store buffers to become empty.
    #[inline(always)]
    pub(super) fn must_drain<const W: usize>(&self, state: &State<W>, p: Pid, info: &StepInfo) -> bool {
        let is_empty = |q: Pid| self.buffer(q).is_none_or(|buffer| buffer.get(&state.words) == 0);
        info.drains && !is_empty(p) || info.drains_all && !self.model.processes().all(is_empty)
    }

    /// The value that process `p` reads from a register: its own latest write, if that is still in its store buffer.
    #[inline(always)]
    pub(super) fn seen<const W: usize>(&self, state: &State<W>, p: Pid, reg: u32) -> u32 {
        let Graph { automaton, layout, .. } = self.graph;
        let own = self.buffer(p).and_then(|buffer| automaton.buffers(p).newest(buffer.get(&state.words), reg));
        own.unwrap_or_else(|| layout.fields[automaton.n() + reg as usize].get(&state.words))
    }

    /// Puts a write into the store buffer of process `p`, and returns whether the buffer's tickets changed. None if the
    /// buffer is full, or its new content not known yet.
    pub(super) fn buffer_write<const W: usize>(
        &self,
        state: &mut State<W>,
        p: Pid,
        write: Write,
        out: &mut Successors,
    ) -> Option<bool> {
        let buffers = self.graph.automaton.buffers(p);
        let buffer = self.buffer(p)?;
        let buffered = buffer.get(&state.words);
        if buffers.is_full(buffered) {
            out.full = true;
            return None;
        }
        let Some(longer) = buffers.with(buffered, write) else {
            out.missing.push(Missing::Buffer { process: p as u32, buffer: buffered, write });
            return None;
        };
        buffer.set(&mut state.words, longer);
        state.hash ^= buffers.hash(buffered) ^ buffers.hash(longer);
        Some(buffers.tickets(longer) != buffers.tickets(buffered))
    }

    /// With store buffers: a process whose next step no other process can observe, so that it is enough to take this
    /// step alone.
    ///
    /// Such a step is a write, which only goes into the process's own buffer, or a fence when that buffer is empty; and
    /// the process stays in its section, so that no property depends on when the step is taken. The other processes can
    /// take the same steps after it, and every process that has not crashed takes its step eventually. No cycle
    /// consists of such steps only: writes fill the buffer, and a fence must lead to a local state of a larger number.
    pub(super) fn may_go_first<const W: usize>(&self, state: &State<W>, out: &mut Successors) -> Option<usize> {
        if !self.model.reduces() {
            return None;
        }
        let Graph { automaton, layout, .. } = self.graph;
        self.model.processes().find(|&p| {
            let local = layout.fields[p].get(&state.words);
            let info = automaton.step_info(p, local);
            let buffered = self.buffer(p).map_or(0, |buffer| buffer.get(&state.words));
            let is_unobservable = match info.action {
                Action::Write => !automaton.buffers(p).is_full(buffered),
                Action::Silent => info.drains && buffered == 0,
                Action::None | Action::ReadsValue => false,
            };
            let can_step = matches!(info.section, Section::Doorway | Section::Wait | Section::Exit);
            if !can_step || !is_unobservable || (self.model.sequential && !self.is_alone(state, p)) {
                return false;
            }
            let Some((next, _)) = automaton.step(info, 0) else {
                // Once it is known, this state is expanded again.
                out.missing.push(Missing::Step { process: p as u32, local, value: 0 });
                return false;
            };
            automaton.step_info(p, next).section == info.section && (info.action == Action::Write || next > local)
        })
    }

    /// The oldest write in the store buffer of process `p`, if there is one, reaches the memory.
    pub(super) fn become_visible<const W: usize>(&self, origin: &mut Origin<W>, p: Pid, out: &mut Successors) {
        let Graph { automaton, layout, .. } = self.graph;
        let state = origin.state;
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
        let cleared = self.clear(&state, &mut after, p, RegisterSet::of(reg));
        let moved = cleared
            || automaton.has_tickets()
                && (buffers.tickets(buffered) != buffers.tickets(rest)
                    || automaton.tickets(automaton.n() + reg, value)
                        != automaton.tickets(automaton.n() + reg, written));
        if moved {
            self.arrive_renumbered(self.tickets_of(origin), after, Actor::Buffer(p), out);
        } else {
            self.arrive(after, Actor::Buffer(p), out);
        }
    }

    /// The field of the store buffer of process `p`, if the model has store buffers.
    #[inline]
    fn buffer(&self, p: usize) -> Option<Field> {
        let Graph { automaton, layout, .. } = self.graph;
        automaton.buffer_field(p).map(|field| layout.fields[field])
    }
}
