//! `fcfs`: processes enter in the order in which they complete the doorway. If p completes it before q starts it, q
//! does not enter before p.
use doorway_memory::Pid;

use super::{Evidence, Violation};
use crate::{actor::Actor, execution::Path, program::Section, real::Finder};

pub(super) fn check(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    let processes = || evidence.judge.model.processes();
    let possible = |&(p, q): &(Pid, Pid)| p != q && evidence.entries.as_ref().is_none_or(|all| all[p].late[q] > 0);
    let mut pairs: Vec<(Pid, Pid)> =
        processes().flat_map(|p| processes().map(move |q| (p, q))).filter(possible).collect();
    // A process that overtakes without bound also does so once. These pairs come first; for the others only shorter
    // executions are searched.
    pairs.sort_by_key(|&(p, q)| evidence.waits[p].overtakers(&evidence.judge) >> q & 1 == 0);
    let mut best: Option<(Path, Pid, Pid)> = None;
    for (p, q) in pairs {
        let limit = best.as_ref().map(|(path, ..)| path.steps.len());
        if let Some(path) = overtaking(evidence, find, p, q, limit) {
            best = Some((path, p, q));
        }
    }
    let (path, p, q) = best?;
    let note = format!("process {q} starts the doorway after process {p} has completed it, and enters first");
    Some(Violation { path, processes: vec![p], note })
}

/// The shortest path on which `q` starts the doorway after `p` has completed it, and enters before `p`; none if it is
/// not shorter than `limit`.
fn overtaking(evidence: &Evidence<'_>, find: &impl Finder, p: Pid, q: Pid, limit: Option<usize>) -> Option<Path> {
    const LATE: usize = 1;
    const AHEAD: usize = 2;
    let judge = &evidence.judge;
    let watch = |watching, from, actor, to| {
        let waits = judge.section(from, p) == Section::Wait;
        let starts = actor == Actor::Process(q) && judge.section(from, q) == Section::Remainder;
        Some(match watching {
            _ if !waits => 0,
            0 if !starts => 0,
            _ if judge.process_enters(from, q, to) => AHEAD,
            _ => LATE,
        })
    };
    find.find(limit, 3, watch, |watching, _| watching == AHEAD, Some)
}
