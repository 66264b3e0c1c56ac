//! The catalogue: the algorithms checked, measured and surveyed by name, and their claims compared with what is found.
//!
//! The terms are those of the [glossary](doorway_memory::glossary).
//!
//! | | |
//! |---|---|
//! | [`check`], [`remote_references`], [`covering`] | the checker, applied to an algorithm |
//! | [`measure`], [`Series`] | the simulator, applied to a lock: one size, or a growing one |
//! | [`claims`], [`compare`] | what is claimed in a model, and whether that is what was found |
//! | [`Surveyor`], [`Row`] | everything about an algorithm: the rows of the papers' tables |
//! | [`pinned`] | the checks whose results stand beside the claims |
//!
//! ```
//! use doorway_catalogue::{Agreement, check, claims, compare, find};
//! use doorway_checker::Model;
//!
//! let bakery = find("bakery")?;
//! let size = bakery.size(Some(2), None)?;
//! let model = Model::new(size.n);
//! let report = check(bakery, size, &model)?;
//! assert_eq!(compare(&claims(bakery, &model), &report).overall(), Agreement::Agrees);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod compare;
mod growth;
pub mod pinned;
mod survey;
pub mod table_1;

use doorway_algorithms::registry::{self, Visitor};
use doorway_checker::{Cost, Covering, Error, Model, Registers, RemoteReferences, Report, Subject, View};
use doorway_memory::{Exclusion, Part};
use doorway_simulator::{Machine, Measured, Plan};

pub use compare::{Agreement, Comparison, claims, compare};
pub use doorway_algorithms::{
    About, Kind, Size,
    registry::{all, find},
};
pub use growth::{Range, Series, SeriesError, glance, glance_limit};
pub use survey::{Grown, Kept, Row, Surveyor, class, classes};

/// An algorithm of some size, ready for the checker.
///
/// ```
/// use doorway_catalogue::{find, subject};
/// let k_bakery = find("k-bakery")?;
/// assert!(subject(k_bakery, k_bakery.size(None, None)?).is_reapable());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn subject(about: &'static About, size: Size) -> Subject {
    registry::visit(about, size, Make)
}

/// The one place where the checker meets an algorithm whose name is known at run time.
struct Make;

impl Visitor for Make {
    type Space = Registers;
    type Output = Subject;

    fn lock<A: Exclusion<View> + 'static>(
        self,
        _: &'static About,
        _: Size,
        make: impl Fn(&mut Registers) -> A,
    ) -> Subject {
        Subject::lock(make)
    }

    fn part<A: Part<View> + 'static>(self, _: &'static About, _: Size, make: impl Fn(&mut Registers) -> A) -> Subject {
        Subject::part(make)
    }
}

/// The model, limited to the executions that a [survey](doorway_algorithms::Survey) of the algorithm looks at.
///
/// ```
/// use doorway_catalogue::{bounded, check, find};
/// use doorway_checker::Model;
/// let afek = find("afek")?;
/// let report = check(afek, afek.size(Some(2), None)?, &bounded(afek, Model::new(2)))?;
/// assert_eq!(report.incomplete.as_deref(), Some("each process makes at most 1 passage"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn bounded(about: &About, model: Model) -> Model {
    match about.survey.passages() {
        Some(passages) => model.passages(passages),
        None => model,
    }
}

/// Checks an algorithm; calls of a part do not overlap if its source requires that.
///
/// See the [crate's example](crate).
///
/// # Errors
/// As [`doorway_checker::check`].
pub fn check(about: &'static About, size: Size, model: &Model) -> Result<Report, Error> {
    let subject = subject(about, size);
    if about.sequential { subject.check(&model.clone().sequential()) } else { subject.check(model) }
}

/// Computes the worst-case remote memory references of a lock.
///
/// ```
/// use doorway_catalogue::{find, remote_references};
/// use doorway_checker::{Bound, Cost, Model};
/// let mcs = find("mcs")?;
/// let found = remote_references(mcs, mcs.size(Some(2), None)?, &Model::new(2), Cost::Dsm)?;
/// assert_eq!(found.worst(), Bound::AtMost(4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`doorway_checker::remote_references`], and if it is a part.
pub fn remote_references(
    about: &'static About,
    size: Size,
    model: &Model,
    cost: Cost,
) -> Result<RemoteReferences, Error> {
    subject(about, size).remote_references(model, cost)
}

/// Applies the covering argument to a lock.
///
/// ```
/// use doorway_catalogue::{covering, find};
/// use doorway_checker::{Model, Outcome};
/// let lock = find("one-register")?;
/// assert_eq!(covering(lock, lock.size(Some(2), None)?, &Model::new(2))?.outcome, Outcome::TwoInside);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`doorway_checker::covering`], and if it is a part.
pub fn covering(about: &'static About, size: Size, model: &Model) -> Result<Covering, Error> {
    subject(about, size).covering(model)
}

/// Measures a lock in simulated executions.
///
/// ```
/// use doorway_catalogue::{find, measure};
/// use doorway_checker::Cost;
/// use doorway_simulator::Plan;
/// let k_bakery = find("k-bakery")?;
/// let found = measure(k_bakery, k_bakery.size(Some(32), Some(2))?, &Plan::new(32, Cost::Dsm));
/// assert_eq!(found.worst, 4 * 31);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If it is a part, which has no passages.
#[must_use]
pub fn measure(about: &'static About, size: Size, plan: &Plan) -> Measured {
    registry::visit(about, size, Simulate(plan))
}

struct Simulate<'a>(&'a Plan);

impl Visitor for Simulate<'_> {
    type Space = Machine;
    type Output = Measured;

    fn lock<A: Exclusion<Machine>>(self, _: &'static About, _: Size, make: impl Fn(&mut Machine) -> A) -> Measured {
        doorway_simulator::measure(self.0, make)
    }

    fn part<A: Part<Machine>>(self, about: &'static About, _: Size, _: impl Fn(&mut Machine) -> A) -> Measured {
        panic!("`{}` is a part and has no passages", about.name)
    }
}
