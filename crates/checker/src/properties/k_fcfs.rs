//! If k processes are through the doorway before another starts it, one of the k enters before it.
use doorway_memory::Pid;

use super::{Evidence, Violation};
use crate::{
    components::Steps,
    graph::{Id, split},
    judge::StateSet,
    program::Section,
    real::Finder,
    run::Path,
};

impl Evidence<'_> {
    pub(super) fn k_overtaking(&self, find: &impl Finder) -> Option<Violation> {
        let model = self.judge.model;
        let mut best: Option<(Path, Pid, u32)> = None;
        for q in model.processes() {
            let sets = (0..1_u32 << model.n).filter(|set| set >> q & 1 == 0 && set.count_ones() as usize == model.k);
            for passed in sets {
                // With a run at hand others are only of interest if they are shorter; without, asking first is cheaper.
                if best.is_none() && !self.all_can_be_passed(passed, q) {
                    continue;
                }
                let limit = best.as_ref().map(|(path, ..)| path.steps.len());
                if let Some(path) = self.passes_all(find, passed, q, limit) {
                    best = Some((path, q, passed));
                }
            }
        }
        let (path, q, passed) = best?;
        let processes: Vec<Pid> = model.processes().filter(|p| passed >> p & 1 == 1).collect();
        let list: Vec<String> = processes.iter().map(ToString::to_string).collect();
        let note = format!(
            "process {q} starts after process {} {} through the doorway, and enters first",
            list.join(", "),
            if list.len() == 1 { "is" } else { "are" }
        );
        Some(Violation { path, processes, note })
    }

    /// Whether all of a set are through the doorway and not yet inside.
    fn all_wait(&self, set: u32, state: Id) -> bool {
        self.judge.model.processes().filter(|p| set >> p & 1 == 1).all(|p| self.judge.section(state, p).is_waiting())
    }

    /// Whether `q` can start when all of a set wait, and get inside while they still do.
    fn all_can_be_passed(&self, set: u32, q: Pid) -> bool {
        let judge = &self.judge;
        let starts = |state: Id| judge.section(state, q) == Section::Remainder && self.all_wait(set, state);
        let mut seen = StateSet::default();
        let mut left: Vec<Id> = Vec::new();
        for state in (0..judge.graph.ids() as Id).filter(|&state| judge.graph.exists(state) && starts(state)) {
            let first = judge.graph.steps(state).filter(|&(process, _)| process == q).map(|(_, target)| target);
            left.extend(first.filter(|&target| seen.insert(target)));
        }
        while let Some(state) = left.pop() {
            if !self.all_wait(set, state) {
                continue;
            }
            if judge.section(state, q) == Section::Critical {
                return true;
            }
            let next = judge.graph.steps_of(state).iter().map(|&edge| split(edge).1);
            left.extend(next.filter(|&target| seen.insert(target)));
        }
        false
    }

    /// The shortest run in which it does.
    fn passes_all(&self, find: &impl Finder, set: u32, q: Pid, limit: Option<usize>) -> Option<Path> {
        const LATE: usize = 1;
        const AHEAD: usize = 2;
        let judge = &self.judge;
        let watch = |watching, from, process: Pid, to| {
            let starts = process == q && judge.section(from, q) == Section::Remainder;
            Some(match watching {
                _ if !self.all_wait(set, from) => 0,
                0 if !starts => 0,
                _ if judge.enters(from, q, to) => AHEAD,
                _ => LATE,
            })
        };
        find.find(limit, 3, watch, |watching, _| watching == AHEAD, Some)
    }
}
