//! Knobs of the checker that must not change a verdict, on every lock of the catalogue.
use doorway_algorithms::About;
use doorway_catalogue::{check, find, remote_references};
use doorway_checker::{Bypass, Cost, FailedCas, Finding, Model, Property, Report, Verdict};

use crate::common::{bounded, locks};

/// The most states that are merged in a test.
const MOST_MERGED: u64 = 20_000;

/// Visits the locks that a survey checks, each with its default number of processes or `most` if that is less.
fn each_lock(most: usize, mut each: impl FnMut(&'static About, &dyn Fn(&dyn Fn(Model) -> Model) -> Report)) {
    for about in locks() {
        let n = if about.size(Some(most), None).is_ok() { about.default_n.min(most) } else { about.default_n };
        let size = about.size(Some(n), None).expect("the algorithm supports this size");
        let model = bounded(about, Model::new(n).k(size.k));
        let report = |shape: &dyn Fn(Model) -> Model| {
            check(about, size, &shape(model.clone())).unwrap_or_else(|error| panic!("{}: {error}", about.name))
        };
        each(about, &report);
    }
}

/// The findings without the executions.
fn verdicts(report: &Report) -> Vec<(Property, Verdict, Option<Bypass>)> {
    report.findings.iter().map(|finding| (finding.property, finding.verdict, finding.bypass)).collect()
}

/// If memory is short, steps are computed again instead of being stored. Nothing in a report tells the difference.
#[test]
fn steps_that_are_computed_again_give_the_same_report() {
    let findings = |report: &Report| {
        let lines = report.findings.iter().map(|finding| {
            let execution = finding.execution.as_ref().map(ToString::to_string);
            (finding.property, finding.verdict, finding.bypass, finding.note.clone(), execution)
        });
        (report.states, report.transitions, report.depth, lines.collect::<Vec<_>>())
    };
    let shapes: [fn(Model) -> Model; 3] = [|model| model, |model| model.crashes(1), |model| model.tso().passages(1)];
    each_lock(2, |about, report| {
        for shape in shapes {
            let [stored, computed] = [report(&shape), report(&|model| shape(model).without_edges())];
            assert_eq!(findings(&stored), findings(&computed), "{}", about.name);
        }
    });
}

/// A search that forgets finds the same. Counterexamples are the same too, but for those with a cycle, of which not
/// always the shortest is found.
#[test]
fn forgetting_does_not_change_a_finding() {
    let shapes: [fn(Model) -> Model; 4] =
        [|model| model, |model| model.crashes(1), |model| model.passages(2), |model| model.tso().passages(1)];
    let mut fewer = 0;
    each_lock(2, |about, report| {
        for shape in shapes {
            let [forgetting, telling] = [report(&|model| shape(model).forget()), report(&shape)];
            assert_eq!(findings_but_cycles(&forgetting), findings_but_cycles(&telling), "{}", about.name);
            fewer += usize::from(forgetting.states < telling.states);
        }
    });
    assert!(fewer > 10, "{fewer}");
}

/// The findings, with the executions that have no cycle.
fn findings_but_cycles(report: &Report) -> Vec<(Property, Verdict, Option<Bypass>, Option<String>)> {
    let finding = |finding: &Finding| {
        let execution = finding.execution.as_ref().filter(|execution| execution.cycle_at.is_none());
        (finding.property, finding.verdict, finding.bypass, execution.map(ToString::to_string))
    };
    report.findings.iter().map(finding).collect()
}

/// So does one that merges states.
#[test]
fn merging_does_not_change_a_finding() {
    let shapes: [fn(Model) -> Model; 3] = [|model| model, |model| model.crashes(1), |model| model.passages(2)];
    let mut fewer = 0;
    each_lock(2, |about, report| {
        if report(&|model| model).states > MOST_MERGED {
            return;
        }
        for shape in shapes {
            let [merging, telling] = [report(&|model| shape(model).merge()), report(&shape)];
            assert_eq!(findings_but_cycles(&merging), findings_but_cycles(&telling), "{}", about.name);
            assert!(merging.states <= telling.states, "{}", about.name);
            fewer += usize::from(merging.states < telling.states);
        }
    });
    assert!(fewer > 10, "{fewer}");
}

/// Nor does it change how many remote memory references a passage makes at most, or that an execution attains that.
#[test]
fn forgetting_does_not_change_remote_memory_references() {
    for name in ["k-bakery", "ticket", "mcs", "yang-anderson", "anderson-moir-dsm-tree"] {
        let [less, all] = remote_references_despite_forgetting(find(name).expect("it is in the catalogue"));
        assert!(less <= all, "{name}: {less} of {all} states");
    }
}

#[test]
#[ignore = "6 minutes"]
fn forgetting_does_not_change_remote_memory_references_of_any_lock() {
    let fewer = locks().filter(|about| {
        let [less, all] = remote_references_despite_forgetting(about);
        less < all
    });
    assert!(fewer.count() > 10);
}

/// The numbers of states with and without forgetting, for two processes.
fn remote_references_despite_forgetting(about: &'static About) -> [u64; 2] {
    let n = if about.size(Some(2), None).is_ok() { 2 } else { about.default_n };
    let size = about.size(Some(n), None).expect("the algorithm supports this size");
    let model = bounded(about, Model::new(n).k(size.k));
    let mut states = [0; 2];
    for cost in [Cost::Cc(FailedCas::Counts), Cost::Cc(FailedCas::Free), Cost::Dsm] {
        let found = [model.clone().forget(), model.clone()]
            .map(|model| remote_references(about, size, &model, cost).expect("the algorithm keeps the rules"));
        let worst = found.each_ref().map(|found| {
            found.per_process.iter().map(|worst| (worst.bound, worst.execution.is_some())).collect::<Vec<_>>()
        });
        assert_eq!(worst[0], worst[1], "{}, {cost:?}", about.name);
        states.iter_mut().zip(&found).for_each(|(all, found)| *all += found.states);
    }
    states
}

/// Buffers that are emptied at once make no difference.
#[test]
fn a_fence_after_every_write_gives_the_verdicts_without_store_buffers() {
    each_lock(3, |about, report| {
        if ["yang-anderson", "black-white-bakery", "k-bakery", "danek-golab-simple"].contains(&about.name) {
            return; // below, for two processes
        }
        let [without, with] = [report(&|model| model), report(&Model::tso_with_fences_everywhere)];
        assert_eq!(verdicts(&without), verdicts(&with), "{}", about.name);
    });
    each_lock(2, |about, report| {
        let [without, with] = [report(&|model| model), report(&Model::tso_with_fences_everywhere)];
        assert_eq!(verdicts(&without), verdicts(&with), "{}", about.name);
    });
}

/// The search takes steps that no other process can observe before all others, and misses nothing.
#[test]
fn taking_unobservable_steps_first_does_not_change_verdicts() {
    each_lock(3, |about, report| {
        let too_many = ["yang-anderson", "black-white-bakery", "k-bakery", "danek-golab-simple", "kim-anderson"];
        if !too_many.contains(&about.name) {
            let [first, every] = [report(&Model::tso), report(&|model| model.tso().every_order())];
            // A property is undecided in one of the two searches if it finds a path first that no execution takes.
            for (first, every) in std::iter::zip(verdicts(&first), verdicts(&every)) {
                let undecided = [first.1, every.1].contains(&Verdict::Unknown);
                assert!(first == every || (undecided && first.2 == every.2), "{}: {first:?} {every:?}", about.name);
            }
            assert!(first.states <= every.states, "{}", about.name);
        }
    });
    // Without one of the fences, so that properties fail.
    each_lock(2, |about, report| {
        for site in report(&Model::tso).fences {
            if about.name.starts_with("danek-golab") || about.name == "kim-anderson" {
                continue;
            }
            let less = |model: Model| model.passages(2).tso_without_fence(site);
            let [first, every] = [report(&less), report(&|model| less(model).every_order())];
            assert_eq!(verdicts(&first), verdicts(&every), "{} without {site}", about.name);
        }
    });
}
