//! `bypass`: how many times other processes enter between the end of a process's doorway and its entry.
use super::{Entries, Evidence, Violation, waits::any};
use crate::{
    judge::Need,
    program::Section,
    real::Finder,
    report::{Bound, Bypass},
};

/// A process can be overtaken without bound.
pub(super) fn check(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    let judge = &evidence.judge;
    let round = |path, p| {
        let waits = |state| judge.section(state, p) == Section::Wait;
        judge.lasso(path, waits, any, Some(vec![Need::EntryOfAnother(p)]))
    };
    let processes = evidence.processes(|waits| waits.can_be_overtaken(judge));
    let (path, p) = find.find_bad(judge, &processes, |p, state| evidence.waits[p].is_overtaken(judge, state), round)?;
    Some(Violation { path, processes, note: format!("process {p} can be overtaken without bound") })
}

/// The bypass bounds: the largest over all pairs of processes.
pub(super) fn bounds(evidence: &Evidence<'_>) -> Bypass {
    let most = |entries: fn(&Entries) -> &Vec<u32>| match &evidence.entries {
        Some(pairs) => Bound::AtMost(pairs.iter().flat_map(entries).max().copied().unwrap_or(0)),
        None => Bound::Unbounded,
    };
    Bypass { late: most(|entries| &entries.late), in_all: most(|entries| &entries.in_all) }
}
