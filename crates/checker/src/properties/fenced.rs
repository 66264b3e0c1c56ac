//! `fenced`: the resource of a name refuses no holder of that name, although it refuses every token that is not larger
//! than those it has seen.
use doorway_memory::Pid;

use super::{Evidence, Violation};
use crate::{graph::Id, judge::Judge, program::Program, real::Finder};

pub(super) fn check(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    let Evidence { judge, refused, .. } = evidence;
    if refused.iter().flatten().all(|&is_refused| !is_refused) {
        return None;
    }
    let refused_in = |state: Id| {
        let local = |p: Pid| judge.graph.layout.fields[p].get(&judge.graph.state(state)) as usize;
        judge.model.processes().find(|&p| refused[p][local(p)])
    };
    let path = find.find(None, 1, |_, _, _, _| Some(0), |_, state| refused_in(state).is_some(), Some)?;
    let p = refused_in(judge.end(&path))?;
    Some(Violation { path, processes: vec![p], note: complaint(p) })
}

/// For each process, in which local states a resource has refused it.
pub(super) fn refused(judge: &Judge<'_>, program: &dyn Program) -> Vec<Vec<bool>> {
    let automaton = &judge.graph.automaton;
    let is_refused = |p: Pid, local: usize| {
        let local = automaton.local(p, local as u32);
        program.is_refused(local.section, &local.history)
    };
    let of_process = |p: Pid| (0..automaton.contents(p)).map(|local| is_refused(p, local)).collect();
    judge.model.processes().map(of_process).collect()
}

/// What is wrong, in words.
pub(crate) fn complaint(p: Pid) -> String {
    format!("process {p} is a holder, and its token is not larger than one that the resource has seen")
}
