//! The cache of one process, for remote memory references.
use doorway_memory::{FailedCas, Pid};

use super::{Expansion, State};
use crate::{automaton::RegisterSet, graph::Graph, model::Cache};

impl Expansion<'_> {
    /// Updates the cache after an access of process `p`: its owner's accesses load the register, writes of others
    /// invalidate it. Copies that are of no use are dropped.
    pub(super) fn touch<const W: usize>(&self, cache: Cache, p: Pid, local: u32, value: u32, state: &mut State<W>) {
        let Graph { automaton, layout, .. } = self.graph;
        let access = automaton.local(p, local).access.filter(|access| access.register().is_some());
        if p != cache.of {
            let invalidates = access.filter(|access| {
                let failed_counts = access.can_fail() && cache.failed_cas == FailedCas::Counts;
                failed_counts || access.writes(automaton.word(access.reg as usize, value))
            });
            invalidates.into_iter().for_each(|access| self.set_copy(state, access.reg as usize, false));
            return;
        }
        access.into_iter().for_each(|access| self.set_copy(state, access.reg as usize, true));
        let next = layout.fields[p].get(&state.words);
        let accessed = access.map_or(RegisterSet::default(), |access| RegisterSet::of(access.reg as usize));
        let useless =
            automaton.has_use_for_copies(p, local).union(accessed).without(automaton.has_use_for_copies(p, next));
        useless
            .registers()
            .filter(|&reg| reg < automaton.registers.len())
            .for_each(|reg| self.set_copy(state, reg, false));
    }

    fn set_copy<const W: usize>(&self, state: &mut State<W>, reg: usize, is_cached: bool) {
        let Graph { automaton, layout, .. } = self.graph;
        let field = layout.fields[automaton.n() + automaton.registers.len() + reg];
        let (before, after) = (field.get(&state.words), u32::from(is_cached));
        if after != before {
            field.set(&mut state.words, after);
            state.hash ^= automaton.cache_hash(reg, before) ^ automaton.cache_hash(reg, after);
        }
    }
}
