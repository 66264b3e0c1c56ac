//! If someone is trying to enter or to leave, then eventually someone enters or has left. Giving up does not count: neither as
//! leaving, nor as trying for ever.
use super::{Evidence, Violation, waits::Waits};
use crate::{components::Subgraph, graph::Id, judge::StateSet, program::Section, real::Finder};

impl Evidence<'_> {
    pub(super) fn deadlock(&self, find: &impl Finder) -> Option<Violation> {
        let judge = &self.judge;
        if !judge.model.abandons {
            return self.deadlock_of(find, (1 << judge.model.n) - 1);
        }
        // If others give up again and again, someone must be in line all the time.
        let each = judge.model.processes().filter_map(|p| self.deadlock_of(find, 1 << p));
        each.min_by_key(|violation| violation.path.steps.len())
    }

    /// A deadlock in which, all the time, one of these starves; a set, as bits.
    fn deadlock_of(&self, find: &impl Finder, among: u32) -> Option<Violation> {
        let judge = &self.judge;
        let waits: Vec<&Waits> =
            judge.model.processes().filter(|p| among >> p & 1 == 1).map(|p| &self.waits[p]).collect();
        if waits.iter().all(|waits| waits.starving.is_empty()) {
            return None; // Who cannot starve cannot be part of a deadlock.
        }
        let starving = |state| waits.iter().any(|waits| waits.starving.contains(state));
        let no_progress = |from: Id, p, to: Id| {
            let left = p < judge.model.n
                && judge.section(from, p) == Section::Exit
                && judge.section(to, p) == Section::Remainder;
            !judge.enters(from, p, to) && !left && !judge.dies(p, to)
        };
        let everyone = (1_u32 << judge.model.n) - 1;
        let mut stuck = StateSet::default();
        let there = Subgraph { graph: judge.graph, inside: starving, keep: no_progress };
        there.components(
            || judge.model.cancelled(),
            |_, p, _| 1 << p,
            |members, stepping, _| {
                // Who does not step on such a cycle does not change section either, so one state speaks for all.
                let crashed = everyone & !(stepping | judge.resting(members[0]));
                if stepping & among != 0 && judge.may_crash(crashed) && judge.memory_is_fair(members[0], stepping) {
                    for &state in members {
                        stuck.insert(state);
                    }
                }
            },
        );
        let round = |path, _| judge.lasso(path, starving, no_progress, None);
        let (path, _) = find.find_bad(judge, |_| &stuck, round)?;
        let (at, crashed) = (judge.end(&path), path.crashed());
        let trying = |&p: &usize| !judge.section(at, p).may_rest() && crashed >> p & 1 == 0;
        let processes = judge.model.processes().filter(trying).collect();
        Some(Violation { path, processes, note: String::new() })
    }
}
