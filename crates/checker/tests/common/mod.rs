//! Checking algorithms of the catalogue by name.
#![allow(dead_code, reason = "each test file uses what it needs")]
use doorway_algorithms::{
    About, Size,
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
    let about = about(name);
    let size = about.size(Some(n), None).expect("it is for that many processes");
    let report = registry::visit(about, size, Checking(shape(Model::new(n).k(size.k))));
    report.unwrap_or_else(|error| panic!("{name} n={n}: {error}"))
}
