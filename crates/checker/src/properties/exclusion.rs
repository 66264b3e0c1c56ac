//! At most k processes are inside at once.
use super::{Evidence, Violation};
use crate::program::Section;

impl Evidence<'_> {
    pub(super) fn crowding(&self) -> Option<Violation> {
        let judge = &self.judge;
        if !judge.graph.crowded {
            return None;
        }
        let crowded = |_, state| judge.those_in(state, Section::Critical).count_ones() as usize > judge.model.k;
        let path = judge.shortest(1, |_, _, _, _| Some(0), crowded)?;
        let &(_, state) = path.steps.last()?;
        let inside = judge.those_in(state, Section::Critical);
        let processes = judge.model.processes().filter(|p| inside >> p & 1 == 1).collect();
        Some(Violation { path, processes, note: String::new() })
    }
}
