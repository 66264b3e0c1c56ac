//! Sections that take a bounded number of the process's own steps, whatever others do.
use doorway_memory::Pid;

use super::{Evidence, Violation, waits::unless_reaped_anew};
use crate::{actor::Actor, judge::Need, program::Section, real::Finder};

/// A process can take steps in `section` for ever.
pub(super) fn unbounded(evidence: &Evidence<'_>, find: &impl Finder, section: Section) -> Option<Violation> {
    let judge = &evidence.judge;
    if let Some(alike) = &evidence.alike {
        return alike.endless(judge, section).map(Violation::of_one_alike);
    }
    let round = |path, p| {
        let in_section = |state| judge.section(state, p) == section;
        judge.lasso(path, in_section, unless_reaped_anew(judge, p), Some(vec![Need::Step(Actor::Process(p))]))
    };
    let processes = evidence.processes(|waits| waits.can_be_endless(judge, section));
    let is_endless = |p: Pid, state| evidence.waits[p].is_endless(judge, section, state);
    let (path, p) = find.find_bad(judge, &processes, is_endless, round)?;
    Some(Violation { path, processes, note: format!("process {p} can take steps in `{section}` for ever") })
}
