//! Knobs of the checker that must not change a verdict, on every lock of the catalogue.
use doorway_algorithms::{About, Survey};
use doorway_catalogue::check;
use doorway_checker::{Bypass, Error, Model, Property, Report, Verdict};

use crate::common::{all_surveyed, bounded};

/// A lock with more states than this is compared for two processes, where there are fewer.
const MAX_STATES: u64 = 20_000;

/// Checks a lock for `n` processes, with as many passages as in a survey, in a model that `shape` changes.
fn try_checked(about: &'static About, n: usize, shape: impl Fn(Model) -> Model) -> Result<Report, Error> {
    let size = about.size(Some(n), None).expect("the algorithm supports this size");
    check(about, size, &shape(bounded(about, Model::new(n).k(size.k))))
}

fn checked(about: &'static About, n: usize, shape: impl Fn(Model) -> Model) -> Report {
    try_checked(about, n, shape).unwrap_or_else(|error| panic!("{}: {error}", about.name))
}

/// Two processes, or the default if the lock does not support two.
fn two(about: &About) -> usize {
    if about.size(Some(2), None).is_ok() { 2 } else { about.default_n }
}

/// The findings without the executions.
fn verdicts(report: &Report) -> Vec<(Property, Verdict, Option<Bypass>)> {
    report.findings.iter().map(|finding| (finding.property, finding.verdict, finding.bypass)).collect()
}

/// Buffers that are emptied at once make no difference.
#[test]
fn a_fence_after_every_write_gives_the_verdicts_without_store_buffers() {
    for &(about, ref surveyed) in all_surveyed() {
        let n = if surveyed.states <= MAX_STATES { about.default_n } else { two(about) };
        let [without, with] = [checked(about, n, |model| model), checked(about, n, Model::tso_with_fences_everywhere)];
        assert_eq!(verdicts(&without), verdicts(&with), "{}", about.name);
    }
}

/// The search takes steps that no other process can observe before all others, and misses nothing.
#[test]
fn taking_unobservable_steps_first_does_not_change_verdicts() {
    for &(about, _) in all_surveyed().iter().filter(|(_, surveyed)| surveyed.states <= MAX_STATES) {
        let first = checked(about, about.default_n, Model::tso);
        let every = checked(about, about.default_n, |model| model.tso().every_order());
        // A property is undecided in one of the two searches if it finds a path first that no execution takes.
        for (first, every) in std::iter::zip(verdicts(&first), verdicts(&every)) {
            let undecided = [first.1, every.1].contains(&Verdict::Unknown);
            assert!(first == every || (undecided && first.2 == every.2), "{}: {first:?} {every:?}", about.name);
        }
        assert!(first.states <= every.states, "{}", about.name);
    }
}

/// The same without one of the fences, so that properties fail, or the algorithm panics at what it reads.
#[test]
fn taking_unobservable_steps_first_does_not_change_verdicts_without_a_fence() {
    let is_small = |about: &About, surveyed: &Report| {
        about.survey == Survey::Whole && (surveyed.states <= MAX_STATES || about.default_n > 2)
    };
    for &(about, _) in all_surveyed().iter().filter(|(about, surveyed)| is_small(about, surveyed)) {
        let n = two(about);
        for site in checked(about, n, Model::tso).fences {
            let less = |model: Model| model.passages(2).tso_without_fence(site);
            let first = try_checked(about, n, less);
            let every = try_checked(about, n, |model| less(model).every_order());
            match (&first, &every) {
                (Ok(first), Ok(every)) => {
                    assert_eq!(verdicts(first), verdicts(every), "{} without {site}", about.name);
                }
                (first, every) => assert!(first.is_err() && every.is_err(), "{} without {site}", about.name),
            }
        }
    }
}
