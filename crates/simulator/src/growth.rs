//! How remote references grow with one of n, k and c.
use crate::{
    fit::{Fit, Variable},
    measure::{Measured, Unbounded},
};

/// So many points are enough for a curve.
const ENOUGH: usize = 5;

/// How the remote references of a passage grow.
///
/// See the [example of `of`](Growth::of).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Growth {
    /// With what.
    pub variable: Variable,
    /// What was measured, for rising values of it.
    pub points: Vec<(usize, Measured)>,
    /// Whether the curves leave out sizes whose runs were cut: what was seen of those is too little.
    pub leaves_out: bool,
    /// The curve of the worst.
    pub worst: Fit,
    /// The curve of the mean.
    pub mean: Fit,
}

impl Growth {
    /// Measures each of `values`, which rise; as long as `measure` is not told to stop. If it is how many take part that
    /// grows, `n` is how many there are. None if nothing was measured to the end.
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
        let whole = points.iter().filter(|(_, measured)| !measured.cut).count();
        let leaves_out = (ENOUGH..points.len()).contains(&whole);
        let curve = |y: fn(&Measured) -> f64| {
            let fitted = points.iter().filter(|(_, measured)| !(leaves_out && measured.cut));
            let points: Vec<(f64, f64)> = fitted.map(|(x, measured)| (*x as f64, y(measured))).collect();
            Fit::of(&points, limit)
        };
        let [worst, mean] = [curve(|measured| measured.worst as f64), curve(|measured| measured.mean)];
        (!points.is_empty()).then_some(Growth { variable, points, leaves_out, worst, mean })
    }

    /// Why there is no bound, if there is none.
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

    /// The class of the mean.
    ///
    /// ```
    /// fn differ(growth: &doorway_simulator::Growth) -> bool { growth.class() != growth.mean_class() }
    /// ```
    #[must_use]
    pub fn mean_class(&self) -> String {
        class(&self.mean, self.variable)
    }
}

fn class(fit: &Fit, variable: Variable) -> String {
    format!("O({})", fit.shape.text(variable))
}
