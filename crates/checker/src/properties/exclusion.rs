//! At most k processes are inside at once.
use super::{Evidence, Violation};
use crate::real::Finder;

impl Evidence<'_> {
    pub(super) fn crowding(&self, find: &impl Finder) -> Option<Violation> {
        let judge = &self.judge;
        if !judge.graph.crowded {
            return None;
        }
        let crowded = |_, state| judge.inside(state) > judge.model.k;
        let path = find.find(None, 1, |_, _, _, _| Some(0), crowded, Some)?;
        let state = judge.end(&path);
        let processes = judge.model.processes().filter(|&p| judge.section(state, p).is_inside()).collect();
        Some(Violation { path, processes, note: String::new() })
    }
}
