//! If someone is trying to enter or to leave, then eventually someone enters or has left.
use super::{Evidence, Violation};
use crate::{components::Subgraph, graph::Id, judge::StateSet, program::Section};

impl Evidence<'_> {
    pub(super) fn deadlock(&self) -> Option<Violation> {
        let judge = &self.judge;
        if self.waits.iter().all(|waits| waits.starving.is_empty()) {
            return None; // Who cannot starve cannot be part of a deadlock.
        }
        let starving = |state| self.waits.iter().any(|waits| waits.starving.contains(state));
        let no_progress = |from: Id, p, to: Id| {
            let left = p < judge.model.n
                && judge.section(from, p) == Section::Exit
                && judge.section(to, p) == Section::Remainder;
            !judge.enters(from, p, to) && !left
        };
        let everyone = (1_u32 << judge.model.n) - 1;
        let mut stuck = StateSet::default();
        let there = Subgraph { graph: judge.graph, inside: starving, keep: no_progress };
        there.components(
            || judge.model.cancelled(),
            |_, p, _| 1 << p,
            |members, stepping, _| {
                // Nobody changes section on such a cycle, so one state speaks for all.
                let crashed = everyone & !(stepping | judge.resting(members[0]));
                if stepping != 0 && judge.may_crash(crashed) && judge.memory_is_fair(members[0], stepping) {
                    for &state in members {
                        stuck.insert(state);
                    }
                }
            },
        );
        let (path, _) = judge.shortest_to(|_| &stuck)?;
        let path = judge.lasso(path, starving, no_progress, None)?;
        let (at, crashed) = (judge.end(&path), path.crashed());
        let trying = |&p: &usize| !judge.section(at, p).may_rest() && crashed >> p & 1 == 0;
        let processes = judge.model.processes().filter(trying).collect();
        Some(Violation { path, processes, note: String::new() })
    }
}
