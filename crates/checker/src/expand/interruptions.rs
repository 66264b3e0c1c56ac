//! Deaths, aborts and expiries.
use doorway_memory::Pid;

use super::{Expansion, Origin, Successors};
use crate::{actor::Actor, automaton::RegisterSet, graph::Graph};

impl Expansion<'_> {
    /// Process `p` dies, aborts, or is taken for dead. Its registers keep their values.
    pub(super) fn interrupt<const W: usize>(&self, origin: &mut Origin<W>, p: Pid, out: &mut Successors) {
        let Graph { automaton, layout, .. } = self.graph;
        let state = origin.state;
        let local = layout.fields[p].get(&state.words);
        let interrupted = automaton.interrupted(p, local);
        for next in [interrupted.aborted, interrupted.dead, interrupted.expired].into_iter().flatten() {
            let mut after = state;
            layout.fields[p].set(&mut after.words, next);
            after.hash ^= automaton.step_info(p, local).hash ^ automaton.step_info(p, next).hash;
            let moved = self.clear(&state, &mut after, p, RegisterSet::default()) || self.is_unsettled(&state);
            if moved || self.moves_tickets(p, local, next) {
                self.arrive_renumbered(self.tickets_of(origin), after, Actor::Interruption(p), out);
            } else {
                self.arrive(after, Actor::Interruption(p), out);
            }
        }
    }
}
