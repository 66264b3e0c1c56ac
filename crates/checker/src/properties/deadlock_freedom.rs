//! `deadlock-freedom`: in a fair execution, if a process is in its doorway, waiting or exit section, then eventually
//! some process enters or completes its exit section. An abort is no such progress; nor is a process that aborts again
//! and again deadlocked.
use super::{Evidence, Violation, waits::Waits};
use crate::{
    actor::{Actor, ActorSet},
    components::Subgraph,
    graph::Id,
    judge::StateSet,
    program::Section,
    real::Finder,
};

pub(super) fn check(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    let judge = &evidence.judge;
    if let Some(alike) = &evidence.alike {
        return alike.deadlock(judge).map(Violation::of_one_alike);
    }
    if !judge.model.aborts {
        return deadlock_of(evidence, find, (1 << judge.model.n) - 1);
    }
    // If others abort again and again, one process must stay in its section for the whole cycle.
    let each = judge.model.processes().filter_map(|p| deadlock_of(evidence, find, 1 << p));
    each.min_by_key(|violation| violation.path.steps.len())
}

/// A deadlock with a cycle in every state of which one of these processes starves; a set, as bits.
fn deadlock_of(evidence: &Evidence<'_>, find: &impl Finder, among: u32) -> Option<Violation> {
    let judge = &evidence.judge;
    let waits: Vec<&Waits> =
        judge.model.processes().filter(|p| among >> p & 1 == 1).map(|p| &evidence.waits[p]).collect();
    if !waits.iter().any(|waits| waits.can_starve(judge)) {
        return None; // a process that cannot starve is in no deadlock
    }
    // A process that takes steps on a cycle without progress stays in one section, and starves if the cycle is fair. So it makes
    // no difference if there are more states than those in which one starves; and if none can crash or abort, every process
    // starves that does not rest.
    let all_starve = !judge.model.has_interruptions() && judge.model.crashes == 0;
    let may_starve = |p: usize, state| evidence.waits[p].may_starve(judge, state);
    let starving = |state| {
        waits.iter().any(|waits| waits.may_starve(judge, state))
            && (!all_starve
                || judge.model.processes().all(|p| judge.section(state, p).may_rest() || may_starve(p, state)))
    };
    let no_progress = |from: Id, actor, to: Id| {
        let has_left = |p| judge.section(from, p) == Section::Exit && judge.section(to, p) == Section::Remainder;
        let leaves = matches!(actor, Actor::Process(p) if has_left(p));
        !judge.enters(from, actor, to) && !leaves && !judge.dies(actor, to)
    };
    let everyone = (1_u32 << judge.model.n) - 1;
    let mut stuck = StateSet::default();
    let without_progress = Subgraph { graph: judge.graph, inside: starving, keep: no_progress };
    without_progress.components(
        || judge.model.cancelled(),
        |_, actor, _| ActorSet::of(actor).0,
        |members, stepping, _| {
            let stepping = ActorSet(stepping);
            // A process without a step on such a cycle does not change its section either, so any state of the
            // component tells which processes rest.
            let crashed = everyone & !(stepping.processes() | judge.resting(members[0]));
            if stepping.processes() & among != 0
                && judge.may_crash(crashed)
                && judge.memory_is_fair(members[0], stepping)
            {
                for &state in members {
                    stuck.insert(state);
                }
            }
        },
    );
    if stuck.is_empty() {
        return None;
    }
    let round = |path, _| judge.lasso(path, starving, no_progress, None);
    let (path, _) = find.find_bad(judge, &[0], |_, state| stuck.contains(state), round)?;
    let (at, actors) = (judge.end(&path), path.actors());
    let trying = |&p: &usize| !judge.section(at, p).may_rest() && !actors.contains(Actor::Crash(p));
    let processes = judge.model.processes().filter(trying).collect();
    Some(Violation { path, processes, note: String::new() })
}
