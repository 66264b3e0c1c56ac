//! `k-fcfs`: if k processes have completed the doorway and not entered when q starts it, one of them enters before q.
use doorway_memory::Pid;

use super::{Evidence, Violation, fcfs};
use crate::{actor::Actor, execution::Path, graph::Id, judge::StateSet, program::Section, real::Finder};

pub(super) fn check(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    let model = evidence.judge.model;
    if model.k == 1 {
        return fcfs::check(evidence, find);
    }
    let mut best: Option<(Path, Pid, u32)> = None;
    for q in model.processes() {
        let sets = (0..1_u32 << model.n).filter(|set| set >> q & 1 == 0 && set.count_ones() as usize == model.k);
        for overtaken in sets {
            // Until a path is found, a reachability test is cheaper than the search for a shortest path; after that,
            // the search ends at the length of the best path.
            if best.is_none() && !can_overtake_all(evidence, overtaken, q) {
                continue;
            }
            let limit = best.as_ref().map(|(path, ..)| path.steps.len());
            if let Some(path) = overtaking_all(evidence, find, overtaken, q, limit) {
                best = Some((path, q, overtaken));
            }
        }
    }
    let (path, q, overtaken) = best?;
    let processes: Vec<Pid> = model.processes().filter(|p| overtaken >> p & 1 == 1).collect();
    let list: Vec<String> = processes.iter().map(ToString::to_string).collect();
    let list = list.join(", ");
    let note = format!("process {q} starts the doorway after processes {list} have completed it, and enters first");
    Some(Violation { path, processes, note })
}

/// Whether all of a set of processes have completed the doorway and not entered.
fn all_wait(evidence: &Evidence<'_>, set: u32, state: Id) -> bool {
    let judge = &evidence.judge;
    judge.model.processes().filter(|p| set >> p & 1 == 1).all(|p| judge.section(state, p).is_waiting())
}

/// Whether `q` can start the doorway when all of a set wait, and enter while they still do.
fn can_overtake_all(evidence: &Evidence<'_>, set: u32, q: Pid) -> bool {
    let judge = &evidence.judge;
    let starts = |state: Id| judge.section(state, q) == Section::Remainder && all_wait(evidence, set, state);
    let mut seen = StateSet::default();
    let mut left: Vec<Id> = Vec::new();
    for state in (0..judge.graph.ids() as Id).filter(|&state| judge.graph.exists(state) && starts(state)) {
        let first = judge.graph.steps(state).filter(|&(actor, _)| actor == Actor::Process(q)).map(|(_, target)| target);
        left.extend(first.filter(|&target| seen.insert(target)));
    }
    while let Some(state) = left.pop() {
        if !all_wait(evidence, set, state) {
            continue;
        }
        if judge.section(state, q) == Section::Critical {
            return true;
        }
        let next = judge.graph.steps(state).map(|(_, target)| target);
        left.extend(next.filter(|&target| seen.insert(target)));
    }
    false
}

/// The shortest path on which `q` overtakes all of a set; none if it is not shorter than `limit`.
fn overtaking_all(evidence: &Evidence<'_>, find: &impl Finder, set: u32, q: Pid, limit: Option<usize>) -> Option<Path> {
    const LATE: usize = 1;
    const AHEAD: usize = 2;
    let judge = &evidence.judge;
    let watch = |watching, from, actor, to| {
        let starts = actor == Actor::Process(q) && judge.section(from, q) == Section::Remainder;
        Some(match watching {
            _ if !all_wait(evidence, set, from) => 0,
            0 if !starts => 0,
            _ if judge.process_enters(from, q, to) => AHEAD,
            _ => LATE,
        })
    };
    find.find(limit, 3, watch, |watching, _| watching == AHEAD, Some)
}
