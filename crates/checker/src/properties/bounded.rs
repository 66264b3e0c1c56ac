//! A section takes a bounded number of one's own steps, whatever others do.
use super::{Evidence, Violation, waits::unless_reaped_anew};
use crate::{judge::Need, program::Section, real::Finder};

impl Evidence<'_> {
    pub(super) fn endless(&self, find: &impl Finder, section: Section) -> Option<Violation> {
        let judge = &self.judge;
        let round = |path, p| {
            let there = |state| judge.section(state, p) == section;
            judge.lasso(path, there, unless_reaped_anew(judge, p), Some(vec![Need::Step(p)]))
        };
        let (path, p) = find.find_bad(judge, |p| &self.waits[p].endless[section as usize], round)?;
        let processes = self.processes(|waits| !waits.endless[section as usize].is_empty());
        Some(Violation { path, processes, note: format!("process {p} can be kept in `{section}`") })
    }
}
