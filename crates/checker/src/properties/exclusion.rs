//! `exclusion`: at most k processes are in the critical section at once.
use super::{Evidence, Violation};
use crate::{real::Finder, symmetry};

pub(super) fn check(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    let judge = &evidence.judge;
    if !judge.graph.crowded {
        return None;
    }
    let crowded = |_, state| judge.holders(state) > judge.model.k;
    let path = find.find(None, 1, |_, _, _, _| Some(0), crowded, Some)?;
    if judge.model.symmetric {
        let (path, _) = symmetry::named(judge, &path);
        return Some(Violation { path, processes: Vec::new(), note: String::new() });
    }
    let state = judge.end(&path);
    let processes = judge.model.processes().filter(|&p| judge.section(state, p).is_critical()).collect();
    Some(Violation { path, processes, note: String::new() })
}
