//! How often one who came later can enter first.
use super::{Entries, Evidence, Violation, waits::any};
use crate::{
    judge::Need,
    program::Section,
    report::{Bound, Bypass},
};

impl Evidence<'_> {
    /// Over all pairs of processes: how often the one can get inside while the other waits.
    pub(super) fn bypass(&self) -> Bypass {
        let most = |entries: fn(&Entries) -> &Vec<u8>| match &self.entries {
            Some(pairs) => Bound::AtMost(pairs.iter().flat_map(entries).max().copied().unwrap_or(0).into()),
            None => Bound::Unbounded,
        };
        Bypass { late: most(|entries| &entries.late), in_all: most(|entries| &entries.in_all) }
    }

    pub(super) fn endless_overtaking(&self) -> Option<Violation> {
        let judge = &self.judge;
        let (path, p) = judge.shortest_to(|p| &self.waits[p].overtaken)?;
        let there = |state| judge.section(state, p) == Section::Wait;
        let path = judge.lasso(path, there, any, Some(vec![Need::EntryOfAnother(p)]))?;
        let processes = self.processes(|waits| !waits.overtaken.is_empty());
        Some(Violation { path, processes, note: format!("process {p} can be passed again and again") })
    }
}
