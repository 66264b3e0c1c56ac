//! The cache of one process, for remote memory references.
use doorway_memory::{FailedCas, Pid};

use super::{Expansion, State};
use crate::{graph::Graph, model::Cache};

impl Expansion<'_> {
    /// Updates the cache after an access of process `p`: its owner's accesses load the register, writes of others
    /// invalidate it.
    pub(super) fn touch<const W: usize>(&self, cache: Cache, p: Pid, local: u32, value: u32, state: &mut State<W>) {
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
}
