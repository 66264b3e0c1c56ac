//! Registers that no process may read any more.
use doorway_memory::Pid;

use super::{Expansion, State};
use crate::{automaton::RegisterSet, graph::Graph};

impl Expansion<'_> {
    /// Gives registers their initial values that were live for process `p` before a step, or that it has written, and that no
    /// process may read after it. Returns whether tickets changed.
    pub(super) fn clear<const W: usize>(
        &self,
        before: &State<W>,
        state: &mut State<W>,
        p: Pid,
        written: RegisterSet,
    ) -> bool {
        let Graph { automaton, layout, .. } = self.graph;
        if !automaton.forgets_registers() {
            return false;
        }
        let live = |state: &State<W>, q: Pid| automaton.live(q, layout.fields[q].get(&state.words));
        let mut dead = live(before, p).union(written);
        if self.is_unsettled(before) {
            dead = RegisterSet::ALL;
        }
        dead = dead.without(live(state, p));
        if dead.is_empty() {
            return false;
        }
        self.model.processes().for_each(|q| dead = dead.without(live(state, q)));
        let mut moved = false;
        let mut forgotten = RegisterSet::default();
        for reg in dead.registers().filter(|&reg| reg < automaton.registers.len() && automaton.can_be_cleared(reg)) {
            let field = automaton.n() + reg;
            let value = layout.fields[field].get(&state.words);
            if !automaton.is_clear(reg, value) {
                let cleared = automaton.cleared(reg);
                forgotten = forgotten.union(RegisterSet::of(reg));
                layout.fields[field].set(&mut state.words, cleared);
                state.hash ^= automaton.value_hash(reg, value) ^ automaton.value_hash(reg, cleared);
                moved |=
                    automaton.has_tickets() && automaton.tickets(field, value) != automaton.tickets(field, cleared);
            }
        }
        if !forgotten.is_empty() {
            self.model.processes().for_each(|q| {
                automaton.note_forgotten(q, layout.fields[q].get(&state.words), forgotten);
            });
        }
        moved
    }

    /// Whether this is the initial state of a search that raises the initial tickets. Nothing is forgotten in it yet.
    #[inline]
    pub(super) fn is_unsettled<const W: usize>(&self, state: &State<W>) -> bool {
        self.graph.automaton.raised() > 0 && state.words == [0; W]
    }
}
