//! Checking algorithms of the catalogue by name.
#![allow(dead_code, reason = "not every test file uses every function")]
use std::sync::LazyLock;

use doorway_algorithms::{About, Kind, registry};
pub(crate) use doorway_catalogue::bounded;
use doorway_catalogue::check;
use doorway_checker::{Error, Model, Report};

/// The catalogue's entry for an algorithm.
pub(crate) fn about(name: &str) -> &'static About {
    registry::find(name).expect("the algorithm is in the catalogue")
}

/// Checks an algorithm for `n` processes, in a model that `shape` may change.
pub(crate) fn report(name: &str, n: usize, shape: impl FnOnce(Model) -> Model) -> Report {
    report_k(name, n, None, shape)
}

/// As [`report`], with capacity `k`.
pub(crate) fn report_k(name: &str, n: usize, k: Option<usize>, shape: impl FnOnce(Model) -> Model) -> Report {
    try_report_k(name, n, k, shape).unwrap_or_else(|error| panic!("{name} n={n}: {error}"))
}

/// As [`report_k`], but returns an error if the algorithm cannot be checked.
pub(crate) fn try_report_k(
    name: &str,
    n: usize,
    k: Option<usize>,
    shape: impl FnOnce(Model) -> Model,
) -> Result<Report, Error> {
    let about = about(name);
    let size = about.size(Some(n), k).expect("the algorithm supports this size");
    check(about, size, &shape(Model::new(n).k(size.k)))
}

/// As [`try_report_k`], with the number of processes of a survey.
pub(crate) fn try_report(name: &str, shape: impl FnOnce(Model) -> Model) -> Result<Report, Error> {
    try_report_k(name, about(name).default_n, None, shape)
}

/// Checks an algorithm as a survey does.
pub(crate) fn surveyed(about: &'static About, shape: impl FnOnce(Model) -> Model) -> Report {
    report(about.name, about.default_n, |model| shape(bounded(about, model)))
}

/// The locks of the catalogue that a survey checks.
pub(crate) fn locks() -> impl Iterator<Item = &'static About> {
    registry::all().iter().copied().filter(|about| about.kind != Kind::Part && about.is_surveyed())
}

/// What a survey finds about every property of every lock, searched once for all tests.
pub(crate) fn all_surveyed() -> &'static [(&'static About, Report)] {
    static REPORTS: LazyLock<Vec<(&'static About, Report)>> =
        LazyLock::new(|| locks().map(|about| (about, surveyed(about, |model| model))).collect());
    &REPORTS
}
