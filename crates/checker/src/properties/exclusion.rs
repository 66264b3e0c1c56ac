//! At most k processes are inside at once.
use super::{Evidence, Violation};

impl Evidence<'_> {
    pub(super) fn crowding(&self) -> Option<Violation> {
        let judge = &self.judge;
        if !judge.graph.crowded {
            return None;
        }
        let crowded = |_, state| judge.inside(state) > judge.model.k;
        let path = judge.shortest(1, |_, _, _, _| Some(0), crowded)?;
        let state = judge.end(&path);
        let processes = judge.model.processes().filter(|&p| judge.section(state, p).is_inside()).collect();
        Some(Violation { path, processes, note: String::new() })
    }
}
