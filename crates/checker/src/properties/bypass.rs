//! How often one who came later can enter first.
use super::{Entries, Evidence, Violation, waits::any};
use crate::{
    judge::Need,
    program::Section,
    real::Finder,
    report::{Bound, Bypass},
};

impl Evidence<'_> {
    /// Over all pairs of processes: how often the one can get inside while the other waits.
    pub(super) fn bypass(&self) -> Bypass {
        let most = |entries: fn(&Entries) -> &Vec<u32>| match &self.entries {
            Some(pairs) => Bound::AtMost(pairs.iter().flat_map(entries).max().copied().unwrap_or(0)),
            None => Bound::Unbounded,
        };
        Bypass { late: most(|entries| &entries.late), in_all: most(|entries| &entries.in_all) }
    }

    pub(super) fn endless_overtaking(&self, find: &impl Finder) -> Option<Violation> {
        let judge = &self.judge;
        let round = |path, p| {
            let there = |state| judge.section(state, p) == Section::Wait;
            judge.lasso(path, there, any, Some(vec![Need::EntryOfAnother(p)]))
        };
        let (path, p) = find.find_bad(judge, |p| &self.waits[p].overtaken, round)?;
        let processes = self.processes(|waits| !waits.overtaken.is_empty());
        Some(Violation { path, processes, note: format!("process {p} can be passed again and again") })
    }
}
