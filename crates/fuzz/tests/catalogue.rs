//! The transcribed algorithms have the verdicts of the catalogue's, and the explorer agrees with both.
use doorway_algorithms::{
    broken::lock_one::LockOne,
    kexclusion::gottlieb::Gottlieb,
    mutex::{
        bakery::Bakery, bakery_labels::BakeryLabels, dijkstra::Dijkstra, filter::Filter, lamport_fast::LamportFast,
        mcs::Mcs, one_bit::OneBit, peterson::Peterson, ticket::Ticket,
    },
};
use doorway_checker::{Bypass, Error, Model, Property, Report, Verdict, check};
use doorway_fuzz::{
    catalogue::{k_locks, locks},
    compare::{Job, compare, report},
    setup::Setup,
};

/// The part of a report that must be the same for both: verdicts, lengths of counterexamples, bounds.
fn answers(report: &Report) -> Vec<(Property, Verdict, Option<usize>, Option<Bypass>)> {
    let about = |finding: &doorway_checker::Finding| {
        let length = finding
            .execution
            .as_ref()
            .filter(|execution| execution.cycle_at.is_none())
            .map(|execution| execution.steps.len());
        (finding.property, finding.verdict, length, finding.bypass)
    };
    report.findings.iter().map(about).collect()
}

fn same(name: &str, setup: &Setup, original: Result<Report, Error>) {
    let mut all = locks(setup.n);
    all.extend(k_locks(setup.n, setup.k));
    let (_, program) = all.into_iter().find(|(named, _)| *named == name).expect("it is transcribed");
    let transcribed = report(&program, setup, Job::Check).expect("it keeps the rules");
    let original = original.expect("it keeps the rules");
    assert_eq!(answers(&transcribed), answers(&original), "{name}");
    println!("{name}: {} states, the original has {}", transcribed.states, original.states);
    let outcome = compare(&program, setup, Job::Check);
    assert!(outcome.mismatches.is_empty(), "{name}: {:?}", outcome.mismatches);
}

#[test]
fn transcriptions_have_the_verdicts_of_the_catalogue() {
    let setup = Setup::new(2);
    let model = Model::new(2).threads(1);
    same("peterson", &setup, check(&model, Peterson::new));
    same("lock-one", &setup, check(&model, LockOne::new));
    same("bakery", &setup, check(&model, |space| Bakery::new(space, 2)));
    same("bakery-labels", &setup, check(&model, |space| BakeryLabels::new(space, 2)));
    same("one-bit", &setup, check(&model, |space| OneBit::new(space, 2)));
    same("dijkstra", &setup, check(&model, |space| Dijkstra::new(space, 2)));
    same("lamport-fast", &setup, check(&model, |space| LamportFast::new(space, 2)));
    same("ticket", &setup, check(&model, Ticket::new));
    same("mcs", &setup, check(&model, |space| Mcs::new(space, 2)));
    same("filter", &setup, check(&model, |space| Filter::new(space, 2)));
    same("gottlieb", &setup, check(&model, |space| Gottlieb::new(space, 1)));
}

#[test]
fn transcriptions_for_three_processes_have_the_verdicts_of_the_catalogue() {
    let setup = Setup { k: 2, ..Setup::new(3) };
    let model = Model::new(3).k(2).threads(1);
    same("gottlieb", &setup, check(&model, |space| Gottlieb::new(space, 2)));
}
