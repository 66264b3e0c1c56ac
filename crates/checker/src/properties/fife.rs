//! If one who started after I was through the doorway enters before me, I can enter in a bounded number of my own steps.
use doorway_memory::Pid;

use super::{Evidence, Violation, waits::any};
use crate::{
    components::Steps,
    graph::{Id, split},
    judge::{Need, StateSet},
    program::Section,
    real::Finder,
    run::Path,
};

impl Evidence<'_> {
    pub(super) fn held_back(&self, find: &impl Finder) -> Option<Violation> {
        let judge = &self.judge;
        let mut best: Option<(Path, Pid, Pid)> = None;
        let everyone = || judge.model.processes();
        for (p, q) in everyone().flat_map(|p| everyone().map(move |q| (p, q))).filter(|(p, q)| p != q) {
            // With a run at hand others are only of interest if they are shorter; without, asking first is cheaper.
            if best.is_none() && !self.can_hold_back(p, q) {
                continue;
            }
            let limit = best.as_ref().map(|(path, ..)| path.stem());
            if let Some(path) = self.overtakes_and_holds(find, p, q, limit) {
                best = Some((path, p, q));
            }
        }
        let (path, p, q) = best?;
        let note = format!(
            "process {q} starts after process {p} is through the doorway and enters first, and process {p} still waits"
        );
        Some(Violation { path, processes: vec![p], note })
    }

    /// Whether `p` can be made to wait on after `q` has overtaken it.
    fn can_hold_back(&self, p: Pid, q: Pid) -> bool {
        let judge = &self.judge;
        let endless = &self.waits[p].endless[Section::Wait as usize];
        if endless.is_empty() {
            return false;
        }
        let waits = |state| judge.section(state, p) == Section::Wait;
        // For states met before q is ahead, and after.
        let mut seen = [StateSet::default(), StateSet::default()];
        let mut left: Vec<(Id, bool)> = Vec::new();
        for state in (0..judge.graph.ids() as Id).filter(|&state| judge.graph.exists(state) && waits(state)) {
            if judge.section(state, q) == Section::Remainder {
                let starts = judge.graph.steps(state).filter(|&(process, _)| process == q);
                let met = starts.map(|(_, target)| (target, judge.enters(state, q, target)));
                left.extend(met.filter(|&(target, is_ahead)| seen[usize::from(is_ahead)].insert(target)));
            }
        }
        while let Some((state, is_ahead)) = left.pop() {
            if !waits(state) {
                continue;
            }
            if is_ahead && endless.contains(state) {
                return true;
            }
            let steps = judge.graph.steps_of(state).iter().map(|&edge| split(edge).1);
            let met = steps.map(|target| (target, is_ahead || judge.enters(state, q, target)));
            left.extend(met.filter(|&(target, is_ahead)| seen[usize::from(is_ahead)].insert(target)));
        }
        false
    }

    /// The shortest run in which `q` overtakes `p` and then `p` is on a cycle of its own steps.
    fn overtakes_and_holds(&self, find: &impl Finder, p: Pid, q: Pid, limit: Option<usize>) -> Option<Path> {
        const LATE: usize = 1;
        const AHEAD: usize = 2;
        let judge = &self.judge;
        let endless = &self.waits[p].endless[Section::Wait as usize];
        let watch = |watching, from, process: Pid, to| {
            let waits = judge.section(from, p) == Section::Wait && judge.section(to, p) == Section::Wait;
            let starts = process == q && judge.section(from, q) == Section::Remainder;
            Some(match watching {
                _ if !waits => 0,
                AHEAD => AHEAD,
                0 if !starts => 0,
                _ if judge.enters(from, q, to) => AHEAD,
                _ => LATE,
            })
        };
        let goal = |watching, state| watching == AHEAD && endless.contains(state);
        let there = |state| judge.section(state, p) == Section::Wait;
        let round = |path| judge.lasso(path, there, any, Some(vec![Need::Step(p)]));
        find.find(limit, 3, watch, goal, round)
    }
}
