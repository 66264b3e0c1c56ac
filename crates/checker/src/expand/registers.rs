//! Registers that no process may read any more.
use doorway_memory::Pid;

use super::{Expansion, State};
use crate::{automaton::RegisterSet, graph::Graph};

impl Expansion<'_> {
    /// Gives registers their initial values that were live before a step of process `p`, from local state `before`, or that it
    /// has written, and that no process may read after it. Returns whether tickets changed.
    #[inline]
    pub(super) fn clear<const W: usize>(
        &self,
        state: &mut State<W>,
        p: Pid,
        before: u32,
        written: RegisterSet,
    ) -> bool {
        let Graph { automaton, layout, .. } = self.graph;
        if !automaton.forgets_registers() {
            return false;
        }
        let live = |q: Pid| automaton.live(q, layout.fields[q].get(&state.words));
        let mut dead = automaton.live(p, before).union(written).without(live(p));
        if dead.is_empty() {
            return false;
        }
        self.model.processes().for_each(|q| dead = dead.without(live(q)));
        let mut moved = false;
        for reg in dead.registers().filter(|&reg| automaton.can_be_cleared(reg)) {
            let field = automaton.n() + reg;
            let value = layout.fields[field].get(&state.words);
            if !automaton.is_clear(reg, value) {
                layout.fields[field].set(&mut state.words, 0);
                state.hash ^= automaton.value_hash(reg, value) ^ automaton.value_hash(reg, 0);
                moved |= automaton.has_tickets() && automaton.tickets(field, value) != automaton.tickets(field, 0);
            }
        }
        moved
    }
}
