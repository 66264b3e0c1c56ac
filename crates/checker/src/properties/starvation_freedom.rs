//! Everyone who tries to enter or to leave eventually has; everyone alive, if processes can die, once there are no more deaths.
use super::{Evidence, Violation, waits::with_few_deaths};
use crate::{program::Section, real::Finder, run::Path};

impl Evidence<'_> {
    pub(super) fn starvation(&self, find: &impl Finder) -> Option<Violation> {
        let judge = &self.judge;
        let round = |path: Path, p| {
            let section = judge.section(judge.end(&path), p);
            judge.lasso(path, |state| judge.section(state, p) == section, with_few_deaths(judge, p), None)
        };
        let (path, p) = find.find_bad(judge, |p| &self.waits[p].starving, round)?;
        let note = match judge.section(judge.end(&path), p) {
            Section::Exit => format!("process {p} never gets out of its exit"),
            Section::Abandon => format!("process {p} never gets done with giving up"),
            Section::Reap => format!("process {p} is dead, and never done with"),
            _ => format!("process {p} never gets inside"),
        };
        let processes = self.processes(|waits| !waits.starving.is_empty());
        Some(Violation { path, processes, note })
    }
}

#[cfg(test)]
mod tests {
    use doorway_algorithms::kexclusion::k_bakery::KBakery;

    use crate::{Model, Property, check};

    /// Why starvation-freedom is about runs with finitely many deaths: process 1 announces itself with its old ticket, which
    /// is smaller, and dies before it has taken another; so does whoever has its number next.
    #[test]
    fn one_who_dies_in_the_doorway_for_ever_can_be_in_everyones_way() {
        let model = Model::new(2).deaths().only([Property::StarvationFreedom]);
        let k_bakery = |space: &mut _| KBakery::new(space, 2, 1);
        assert!(check(&model, k_bakery).unwrap().holds(Property::StarvationFreedom));
        let report = check(&Model { endless_deaths: true, ..model }, k_bakery).unwrap();
        let finding = report.finding(Property::StarvationFreedom);
        let run = finding.run.as_ref().expect("it fails");
        let lines: Vec<String> = run.to_string().lines().map(str::to_string).collect();
        assert_eq!(
            lines[run.cycle_at.expect("it goes on for ever")..].join("\n"),
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
