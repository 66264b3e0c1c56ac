//! What a part's calls return obeys the part's rule.
use rustc_hash::FxHashMap;

use super::{Evidence, Violation};
use crate::{program::Program, search::Id};

impl Evidence<'_> {
    pub(super) fn breach(&self, program: &dyn Program) -> Option<Violation> {
        let judge = &self.judge;
        // Many states share their processes' local states; ask once for each combination.
        let mut known: FxHashMap<Vec<u32>, Option<String>> = FxHashMap::default();
        let mut bad: FxHashMap<Id, String> = FxHashMap::default();
        for state in judge.states() {
            let locals = self.locals(state);
            let verdict = known.entry(locals).or_insert_with_key(|locals| self.complaint(program, locals));
            if let Some(complaint) = verdict {
                bad.insert(state, complaint.clone());
            }
        }
        let path = judge.shortest(1, |_, _, _, _| Some(0), |_, state| bad.contains_key(&state))?;
        let note = path.steps.last().and_then(|(_, state)| bad.remove(state)).unwrap_or_default();
        Some(Violation { path, processes: Vec::new(), note })
    }

    fn locals(&self, state: Id) -> Vec<u32> {
        let graph = self.judge.graph;
        let packed = graph.state(state);
        self.judge.model.processes().map(|p| graph.layout.fields[p].get(packed)).collect()
    }

    fn complaint(&self, program: &dyn Program, locals: &[u32]) -> Option<String> {
        let local = |(p, &id)| {
            let local = self.judge.graph.automaton.local(p, id);
            (local.section, &*local.history)
        };
        program.rule(&locals.iter().enumerate().map(local).collect::<Vec<_>>()).err()
    }
}
