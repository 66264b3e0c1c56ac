//! The growth of remote memory references with n, k or c.
use crate::{
    fit::{Fit, Variable},
    measure::{Measured, Unbounded},
};

/// The number of points that is enough to fit a curve without those of truncated executions.
const MIN_POINTS: usize = 5;

/// The growth of the remote memory references of a passage.
///
/// See the [example of `of`](Growth::of).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Growth {
    /// The variable that grows.
    pub variable: Variable,
    /// The measurements, by increasing values of the variable.
    pub points: Vec<(usize, Measured)>,
    /// Whether the curves omit sizes with truncated executions, whose numbers are too small.
    pub omits_truncated: bool,
    /// The curve fitted to the worst passages.
    pub worst: Fit,
    /// The curve fitted to the means.
    pub mean: Fit,
}

impl Growth {
    /// Measures each of `values`, which increase, until a measurement is cancelled.
    ///
    /// If the variable is the contention, `n` is the number of processes. Returns `None` if no measurement was
    /// completed.
    ///
    /// ```
    /// use doorway_algorithms::mutex::yang_anderson::YangAnderson;
    /// use doorway_memory::Cost;
    /// use doorway_simulator::{Growth, Plan, Variable, measure};
    ///
    /// let growth = Growth::of(Variable::N, [2, 4, 8, 16, 32], None, |n| {
    ///     measure(&Plan::new(n, Cost::Dsm), |space| YangAnderson::new(space, n))
    /// });
    /// assert_eq!(growth.unwrap().class(), "O(log N)");
    /// ```
    pub fn of(
        variable: Variable,
        values: impl IntoIterator<Item = usize>,
        n: Option<usize>,
        mut measure: impl FnMut(usize) -> Measured,
    ) -> Option<Growth> {
        let mut points = Vec::new();
        for value in values {
            let measured = measure(value);
            if measured.cancelled {
                break;
            }
            points.push((value, measured));
        }
        let limit = n.filter(|_| variable == Variable::C).map(|n| (n as f64).log2());
        let whole = points.iter().filter(|(_, measured)| !measured.truncated).count();
        let omits_truncated = (MIN_POINTS..points.len()).contains(&whole);
        let curve = |y: fn(&Measured) -> f64| {
            let fitted = points.iter().filter(|(_, measured)| !(omits_truncated && measured.truncated));
            let points: Vec<(f64, f64)> = fitted.map(|(x, measured)| (*x as f64, y(measured))).collect();
            Fit::of(&points, limit)
        };
        let [worst, mean] = [curve(|measured| measured.worst as f64), curve(|measured| measured.mean)];
        (!points.is_empty()).then_some(Growth { variable, points, omits_truncated, worst, mean })
    }

    /// Why the remote memory references are unbounded, if they are.
    ///
    /// ```
    /// use doorway_algorithms::mutex::bakery::Bakery;
    /// use doorway_memory::Cost;
    /// use doorway_simulator::{Growth, Plan, Unbounded, Variable, measure};
    ///
    /// let growth = Growth::of(Variable::N, [2, 4, 8], None, |n| {
    ///     measure(&Plan::new(n, Cost::Dsm), |space| Bakery::new(space, n))
    /// });
    /// assert_eq!(growth.unwrap().unbounded(), Some(Unbounded::BusyWait));
    /// ```
    #[must_use]
    pub fn unbounded(&self) -> Option<Unbounded> {
        let found = || self.points.iter().filter_map(|(_, measured)| measured.unbounded);
        found().find(|&why| why == Unbounded::BusyWait).or_else(|| found().next())
    }

    /// The class of the worst case: `O(log N)`, or `unbounded`.
    ///
    /// See the [example of `of`](Growth::of).
    #[must_use]
    pub fn class(&self) -> String {
        match self.unbounded() {
            Some(_) => "unbounded".to_string(),
            None => class(&self.worst, self.variable),
        }
    }

    /// The class of the mean, also if the worst case is unbounded.
    ///
    /// ```
    /// use doorway_algorithms::mutex::mcs::Mcs;
    /// use doorway_memory::Cost;
    /// use doorway_simulator::{Growth, Plan, Variable, measure};
    ///
    /// let growth = Growth::of(Variable::N, [2, 4, 8, 16, 32], None, |n| {
    ///     measure(&Plan::new(n, Cost::Dsm), |space| Mcs::new(space, n))
    /// });
    /// assert_eq!(growth.unwrap().mean_class(), "O(1)");
    /// ```
    #[must_use]
    pub fn mean_class(&self) -> String {
        class(&self.mean, self.variable)
    }
}

fn class(fit: &Fit, variable: Variable) -> String {
    format!("O({})", fit.shape.text(variable))
}
