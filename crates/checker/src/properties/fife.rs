//! `fife`: if p completes the doorway before q starts it, and q enters before p, then p can enter within a bounded
//! number of its own steps, whatever others do.
use doorway_memory::Pid;

use super::{Evidence, Violation, waits::any};
use crate::{
    actor::Actor,
    execution::Path,
    graph::Id,
    judge::{Need, StateSet},
    program::Section,
    real::Finder,
};

pub(super) fn check(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    let processes = || evidence.judge.model.processes();
    let pairs = || processes().flat_map(|p| processes().map(move |q| (p, q))).filter(|(p, q)| p != q);
    // Until a path is found, a reachability test is cheaper than the search for a shortest path. It is soon done for a process
    // that overtakes without bound.
    let overtakes = |&(p, q): &(Pid, Pid)| evidence.waits[p].overtakers(&evidence.judge) >> q & 1 == 1;
    let mut likely: Vec<(Pid, Pid)> = pairs().collect();
    likely.sort_by_key(|pair| !overtakes(pair));
    let (p, q) = likely.into_iter().find(|&(p, q)| can_wait_on(evidence, p, q))?;
    // After that, a search ends at the length of the best path. Of the shortest, that of the first pair is chosen.
    let mut limit = overtaken_and_waiting(evidence, find, p, q, None).map(|path| path.stem() + 1);
    let mut best: Option<(Path, Pid, Pid)> = None;
    for (p, q) in pairs() {
        if limit.is_none() && !can_wait_on(evidence, p, q) {
            continue;
        }
        if let Some(path) = overtaken_and_waiting(evidence, find, p, q, limit) {
            limit = Some(path.stem());
            best = Some((path, p, q));
        }
    }
    let (path, p, q) = best?;
    let note = format!(
        "process {q} starts the doorway after process {p} has completed it and enters first, \
         and process {p} still waits"
    );
    Some(Violation { path, processes: vec![p], note })
}

/// Whether `p` can take steps in the waiting section for ever after `q` has overtaken it.
fn can_wait_on(evidence: &Evidence<'_>, p: Pid, q: Pid) -> bool {
    let judge = &evidence.judge;
    if !evidence.waits[p].can_be_endless(judge, Section::Wait) {
        return false;
    }
    let waits = |state| judge.section(state, p) == Section::Wait;
    // For states met before q is ahead, and after.
    let mut seen = [StateSet::default(), StateSet::default()];
    let mut left: Vec<(Id, bool)> = Vec::new();
    for state in (0..judge.graph.ids() as Id).filter(|&state| judge.graph.exists(state) && waits(state)) {
        if judge.section(state, q) == Section::Remainder {
            let starts = judge.graph.steps(state).filter(|&(actor, _)| actor == Actor::Process(q));
            let met = starts.map(|(_, target)| (target, judge.process_enters(state, q, target)));
            left.extend(met.filter(|&(target, is_ahead)| seen[usize::from(is_ahead)].insert(target)));
        }
    }
    while let Some((state, is_ahead)) = left.pop() {
        if !waits(state) {
            continue;
        }
        if is_ahead && evidence.waits[p].is_endless(judge, Section::Wait, state) {
            return true;
        }
        let steps = judge.graph.steps(state).map(|(_, target)| target);
        let met = steps.map(|target| (target, is_ahead || judge.process_enters(state, q, target)));
        left.extend(met.filter(|&(target, is_ahead)| seen[usize::from(is_ahead)].insert(target)));
    }
    false
}

/// The shortest path on which `q` overtakes `p`, followed by a cycle with a step of `p`, which still waits.
fn overtaken_and_waiting(
    evidence: &Evidence<'_>,
    find: &impl Finder,
    p: Pid,
    q: Pid,
    limit: Option<usize>,
) -> Option<Path> {
    const LATE: usize = 1;
    const AHEAD: usize = 2;
    let judge = &evidence.judge;
    let watch = |watching, from, actor, to| {
        let waits = judge.section(from, p) == Section::Wait && judge.section(to, p) == Section::Wait;
        let starts = actor == Actor::Process(q) && judge.section(from, q) == Section::Remainder;
        Some(match watching {
            _ if !waits => 0,
            AHEAD => AHEAD,
            0 if !starts => 0,
            _ if judge.process_enters(from, q, to) => AHEAD,
            _ => LATE,
        })
    };
    let goal = |watching, state| watching == AHEAD && evidence.waits[p].is_endless(judge, Section::Wait, state);
    let waits = |state| judge.section(state, p) == Section::Wait;
    let round = |path| judge.lasso(path, waits, any, Some(vec![Need::Step(Actor::Process(p))]));
    find.find(limit, 3, watch, goal, round)
}
