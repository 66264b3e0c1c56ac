//! Everyone who tries to enter or to leave eventually has.
use super::{Evidence, Violation, waits::stays};
use crate::program::Section;

impl Evidence<'_> {
    pub(super) fn starvation(&self) -> Option<Violation> {
        let judge = &self.judge;
        let (path, p) = judge.shortest_to(|p| &self.waits[p].starving)?;
        let fairly = judge.fairness(judge.end(&path));
        let path = judge.lasso(path, stays(judge, p), fairly)?;
        let note = match judge.section(judge.end(&path), p) {
            Section::Exit => format!("process {p} never gets out of its exit"),
            _ => format!("process {p} never gets inside"),
        };
        let processes = self.processes(|waits| !waits.starving.is_empty());
        Some(Violation { path, processes, note })
    }
}
