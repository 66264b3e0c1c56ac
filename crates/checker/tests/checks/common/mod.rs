//! Checking algorithms of the catalogue by name.
#![allow(dead_code, reason = "each test file uses what it needs")]
use doorway_algorithms::{
    About, Kind, Size,
    registry::{self, Visitor},
};
use doorway_checker::{Error, Model, Registers, Report, View, check, check_part};
use doorway_memory::{Exclusion, Part};

struct Checking(Model);

impl Visitor for Checking {
    type Space = Registers;
    type Output = Result<Report, Error>;

    fn exclusion<A: Exclusion<View>>(
        self,
        _: &'static About,
        _: Size,
        make: impl Fn(&mut Registers) -> A,
    ) -> Self::Output {
        check(&self.0, make)
    }

    fn part<A: Part<View>>(self, about: &'static About, _: Size, make: impl Fn(&mut Registers) -> A) -> Self::Output {
        let model = if about.sequential { self.0.sequential() } else { self.0 };
        check_part(&model, make)
    }
}

/// What is known of an algorithm of the catalogue.
pub(crate) fn about(name: &str) -> &'static About {
    registry::find(name).expect("it is in the catalogue")
}

/// Checks an algorithm for `n` processes, in a model that `shape` may change.
pub(crate) fn report(name: &str, n: usize, shape: impl FnOnce(Model) -> Model) -> Report {
    report_k(name, n, None, shape)
}

/// As [`report`], with `k` inside.
pub(crate) fn report_k(name: &str, n: usize, k: Option<usize>, shape: impl FnOnce(Model) -> Model) -> Report {
    try_report_k(name, n, k, shape).unwrap_or_else(|error| panic!("{name} n={n}: {error}"))
}

/// As [`report_k`], if it can be checked.
pub(crate) fn try_report_k(
    name: &str,
    n: usize,
    k: Option<usize>,
    shape: impl FnOnce(Model) -> Model,
) -> Result<Report, Error> {
    let about = about(name);
    let size = about.size(Some(n), k).expect("it is for that many processes");
    registry::visit(about, size, Checking(shape(Model::new(n).k(size.k))))
}

/// As [`report`], for as many processes as a survey has, if it can be checked.
pub(crate) fn try_report(name: &str, shape: impl FnOnce(Model) -> Model) -> Result<Report, Error> {
    try_report_k(name, about(name).default_n, None, shape)
}

/// Checks an algorithm as a survey does.
pub(crate) fn surveyed(about: &'static About, shape: impl FnOnce(Model) -> Model) -> Report {
    report(about.name, about.default_n, |model| shape(bounded(about, model)))
}

/// A model with as many passages as a survey looks at.
pub(crate) fn bounded(about: &About, model: Model) -> Model {
    match about.survey.passages() {
        Some(passages) => model.passages(passages),
        None => model,
    }
}

/// The locks of the catalogue that a survey looks at.
pub(crate) fn locks() -> impl Iterator<Item = &'static About> {
    registry::all().iter().copied().filter(|about| about.kind != Kind::Part && about.is_surveyed())
}
