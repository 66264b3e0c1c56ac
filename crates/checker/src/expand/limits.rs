//! Limited executions: passages one after the other, or a limited number of them.
use doorway_memory::Pid;

use super::{Expansion, State, Successors};
use crate::{automaton::StepInfo, graph::Graph, layout::Field, program::Section};

impl Expansion<'_> {
    /// Whether the model allows the step.
    #[inline(always)]
    pub(super) fn is_allowed<const W: usize>(
        &self,
        state: &State<W>,
        p: Pid,
        info: &StepInfo,
        out: &mut Successors,
    ) -> bool {
        if self.model.sequential && !self.is_alone(state, p) {
            return false;
        }
        let Some(limit) = self.model.passages_in_all else { return true };
        let is_over = info.section.begins(self.graph.automaton.is_part) && self.begun().get(&state.words) == limit;
        out.cut += u64::from(is_over);
        !is_over
    }

    /// Counts a passage, if the step begins one and the model limits the passages in all.
    #[inline(always)]
    pub(super) fn count_passage<const W: usize>(&self, state: &mut State<W>, info: &StepInfo) {
        let automaton = &self.graph.automaton;
        if self.model.passages_in_all.is_some() && info.section.begins(automaton.is_part) {
            let (counter, begun) = (automaton.registers.len() - 1, self.begun().get(&state.words));
            self.begun().set(&mut state.words, begun + 1);
            state.hash ^= automaton.value_hash(counter, begun) ^ automaton.value_hash(counter, begun + 1);
        }
    }

    /// The field in which the passages begun are counted.
    fn begun(&self) -> Field {
        let Graph { automaton, layout, .. } = self.graph;
        layout.fields[automaton.n() + automaton.registers.len() - 1]
    }

    /// Whether every other process is between two calls.
    pub(super) fn is_alone<const W: usize>(&self, state: &State<W>, p: Pid) -> bool {
        let Graph { automaton, layout, .. } = self.graph;
        self.model.processes().filter(|&q| q != p).all(|q| {
            let info = automaton.step_info(q, layout.fields[q].get(&state.words));
            matches!(info.section, Section::Remainder | Section::Critical)
        })
    }
}
