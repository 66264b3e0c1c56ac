//! Everyone who tries to enter or to leave eventually has.
use super::{Evidence, Violation, waits::any};
use crate::program::Section;

impl Evidence<'_> {
    pub(super) fn starvation(&self) -> Option<Violation> {
        let judge = &self.judge;
        let (path, p) = judge.shortest_to(|p| &self.waits[p].starving)?;
        let section = judge.section(judge.end(&path), p);
        let there = |state| judge.section(state, p) == section;
        let path = judge.lasso(path, there, any, None)?;
        let note = match section {
            Section::Exit => format!("process {p} never gets out of its exit"),
            _ => format!("process {p} never gets inside"),
        };
        let processes = self.processes(|waits| !waits.starving.is_empty());
        Some(Violation { path, processes, note })
    }
}
