//! `starvation-freedom`: in a fair execution, every process that starts the doorway eventually enters, and every
//! process that starts the exit section completes it. With deaths: in executions with finitely many deaths, every live
//! process.
use super::{Evidence, Violation, waits::with_few_deaths};
use crate::{execution::Path, program::Section, real::Finder};

pub(super) fn check(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    let judge = &evidence.judge;
    if let Some(alike) = &evidence.alike {
        return alike.starvation(judge).map(Violation::of_one_alike);
    }
    let round = |path: Path, p| {
        let start = judge.end(&path);
        let (few_deaths, returns) = (with_few_deaths(judge, p), judge.returning(p, start));
        let keep = |from, actor, to| few_deaths(from, actor, to) && returns(actor, to);
        judge.lasso(path, |state| judge.section(state, p) == judge.section(start, p), keep, None)
    };
    let processes = evidence.processes(|waits| waits.can_starve(judge));
    let (path, p) = find.find_bad(judge, &processes, |p, state| evidence.waits[p].is_starving(judge, state), round)?;
    let note = match judge.section(judge.end(&path), p) {
        Section::Exit => format!("process {p} never completes its exit section"),
        Section::Abort => format!("process {p} never completes its abort"),
        Section::Reap => format!("process {p} is dead, and never completely reaped"),
        _ => format!("process {p} never enters"),
    };
    Some(Violation { path, processes, note })
}

#[cfg(test)]
mod tests {
    use doorway_algorithms::kexclusion::k_bakery::KBakery;

    use crate::{Model, Property, check};

    /// Why starvation-freedom is about executions with finitely many deaths: process 1 announces itself with its old
    /// ticket, which is smaller, and dies before it has taken a new one; so does the next process with its number.
    #[test]
    fn endless_deaths_in_the_doorway_can_starve_a_waiter() {
        let model = Model::new(2).deaths().only([Property::StarvationFreedom]);
        let k_bakery = |space: &mut _| KBakery::new(space, 2, 1);
        assert!(check(&model, k_bakery).unwrap().holds(Property::StarvationFreedom));
        let report = check(&Model { endless_deaths: true, ..model }, k_bakery).unwrap();
        let finding = report.finding(Property::StarvationFreedom);
        let execution = finding.execution.as_ref().expect("it fails");
        let lines: Vec<String> = execution.to_string().lines().map(str::to_string).collect();
        assert_eq!(
            lines[execution.cycle_at.expect("it goes on for ever")..].join("\n"),
            "\
\x20 then for ever
\x20  7  p1  14  Ticket[1] = 0
\x20  8  p1  14  Want[1][0] := 0
\x20  9  p0  21  Want[1][0] = 0
\x20 10  p1      dies
\x20 11  p1  25  Want[1][0] := ∞ by another  -> reaped"
        );
    }
}
