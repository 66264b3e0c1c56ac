//! Fits a curve to a growing quantity, and finds its shape.
use std::fmt;

/// The variable on which a measured quantity depends.
///
/// ```
/// assert_eq!(doorway_simulator::Variable::N.to_string(), "N");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variable {
    /// The number of processes.
    N,
    /// The capacity.
    K,
    /// The contention: the number of processes that take part.
    C,
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Variable::N => "N",
            Variable::K => "k",
            Variable::C => "c",
        })
    }
}

/// The shape of a curve; simpler shapes come first.
///
/// ```
/// use doorway_simulator::{Shape, Variable};
/// assert_eq!(Shape::Logarithmic.text(Variable::K), "log k");
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// 1.
    Constant,
    /// log x.
    Logarithmic,
    /// min(x, limit), with limit log N: for quantities that grow with the contention up to log N.
    Limited(f64),
    /// x.
    Linear,
    /// x log x.
    Linearithmic,
    /// x².
    Quadratic,
}

impl Shape {
    /// The shape as a term in `variable`.
    ///
    /// ```
    /// use doorway_simulator::{Shape, Variable};
    /// assert_eq!(Shape::Linearithmic.text(Variable::N), "N log N");
    /// ```
    #[must_use]
    pub fn text(self, variable: Variable) -> String {
        match self {
            Shape::Constant => "1".to_string(),
            Shape::Logarithmic => format!("log {variable}"),
            Shape::Limited(_) => format!("min({variable}, log N)"),
            Shape::Linear => format!("{variable}"),
            Shape::Linearithmic => format!("{variable} log {variable}"),
            Shape::Quadratic => format!("{variable}²"),
        }
    }

    /// The value of the shape at `x`; logarithms are to base 2.
    ///
    /// ```
    /// assert_eq!(doorway_simulator::Shape::Linearithmic.at(8.0), 24.0);
    /// ```
    #[must_use]
    pub fn at(self, x: f64) -> f64 {
        match self {
            Shape::Constant => 1.0,
            Shape::Logarithmic => x.log2(),
            Shape::Limited(limit) => x.min(limit),
            Shape::Linear => x,
            Shape::Linearithmic => x * x.log2(),
            Shape::Quadratic => x * x,
        }
    }
}

/// A curve `a + b · shape`, fitted to points.
///
/// See the [example of `of`](Fit::of).
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Fit {
    /// The shape.
    pub shape: Shape,
    /// The constant term.
    pub a: f64,
    /// The coefficient of the shape; 0 for a constant.
    pub b: f64,
    /// The relative error of the curve: the root mean square over the points.
    pub residual: f64,
}

/// A simpler shape is preferred if its residual is at most this factor times the best one ...
const PREFERENCE_FACTOR: f64 = 1.2;
/// ... plus this margin.
const PREFERENCE_MARGIN: f64 = 0.01;
/// Growth by less than this fraction over all points counts as constant; every growing shape grows more in ten
/// doublings.
const NEGLIGIBLE_GROWTH: f64 = 0.05;
/// So does growth by less than this fraction over the second half of the points.
const SETTLED_GROWTH: f64 = 0.02;

impl Fit {
    /// Fits the simplest adequate shape to the points (x, y), which are sorted by x.
    ///
    /// `limit` is log N if x is the contention, otherwise none. The fit minimizes the squares of the relative errors.
    ///
    /// ```
    /// use doorway_simulator::{Fit, Shape};
    /// let points: Vec<_> = [2, 4, 8, 16, 32, 64].map(|n| (f64::from(n), f64::from(4 * (n - 1)))).to_vec();
    /// let fit = Fit::of(&points, None);
    /// assert_eq!(fit.shape, Shape::Linear);
    /// assert!((fit.b - 4.0).abs() < 1e-9 && fit.residual < 1e-9);
    /// ```
    #[must_use]
    pub fn of(points: &[(f64, f64)], limit: Option<f64>) -> Fit {
        let constant = with_shape(points, Shape::Constant);
        let growth = |points: &[(f64, f64)]| {
            let (least, most) = range(points);
            if most > 0.0 { (most - least) / most } else { 0.0 }
        };
        let second_half = &points[points.len() / 2..];
        let is_settled = limit.is_none() && second_half.len() >= 3 && growth(second_half) <= SETTLED_GROWTH;
        if growth(points) <= NEGLIGIBLE_GROWTH || is_settled {
            return constant;
        }
        let shapes = [Shape::Logarithmic].into_iter().chain(limit.map(Shape::Limited)).chain([
            Shape::Linear,
            Shape::Linearithmic,
            Shape::Quadratic,
        ]);
        let fits =
            [constant].into_iter().chain(shapes.map(|shape| with_shape(points, shape)).filter(|fit| fit.b > 0.0));
        let fits: Vec<Fit> = fits.collect();
        let best = fits.iter().map(|fit| fit.residual).fold(f64::INFINITY, f64::min);
        *fits
            .iter()
            .find(|fit| fit.residual <= best * PREFERENCE_FACTOR + PREFERENCE_MARGIN)
            .expect("the best fit qualifies")
    }

    /// The value of the curve at `x`.
    ///
    /// ```
    /// let fit = doorway_simulator::Fit::of(&[(2.0, 8.0), (4.0, 8.0)], None);
    /// assert_eq!(fit.at(1024.0), 8.0);
    /// ```
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.a + self.b * self.shape.at(x)
    }

    /// The curve as a formula, such as `1.5 + 7 log N`.
    ///
    /// ```
    /// use doorway_simulator::{Fit, Variable};
    /// let fit = Fit::of(&[(2.0, 5.0), (4.0, 9.0), (8.0, 17.0), (16.0, 33.0)], None);
    /// assert_eq!(fit.formula(Variable::N), "1 + 2 N");
    /// ```
    #[must_use]
    pub fn formula(&self, variable: Variable) -> String {
        let short = |number: f64| {
            let rounded = (number * 100.0).round() / 100.0;
            format!("{}", rounded + 0.0) // no -0
        };
        if self.shape == Shape::Constant {
            return short(self.a);
        }
        let grows = format!("{} {}", short(self.b), self.shape.text(variable));
        match short(self.a).as_str() {
            "0" => grows,
            a => match a.strip_prefix('-') {
                Some(a) => format!("{grows} - {a}"),
                None => format!("{a} + {grows}"),
            },
        }
    }
}

/// The smallest and the largest y.
fn range(points: &[(f64, f64)]) -> (f64, f64) {
    points.iter().fold((f64::INFINITY, 0.0), |(least, most), &(_, y)| (least.min(y), most.max(y)))
}

/// Fits a + b f by weighted least squares, so that the relative error of each point has the same weight.
fn with_shape(points: &[(f64, f64)], shape: Shape) -> Fit {
    let terms = || points.iter().map(|&(x, y)| (shape.at(x), y, 1.0 / y.max(1.0).powi(2)));
    let sum = |term: fn(f64, f64) -> f64| terms().map(|(f, y, w)| w * term(f, y)).sum::<f64>();
    let (w, f, y) = (sum(|_, _| 1.0), sum(|f, _| f), sum(|_, y| y));
    let (ff, fy) = (sum(|f, _| f * f), sum(|f, y| f * y));
    let spread = w * ff - f * f;
    let (a, b) = if shape == Shape::Constant || spread <= 1e-12 * w * ff {
        (y / w, 0.0)
    } else {
        let b = (w * fy - f * y) / spread;
        ((y - b * f) / w, b)
    };
    let off = terms().map(|(f, y, w)| w * (y - a - b * f).powi(2)).sum::<f64>();
    Fit { shape, a, b, residual: (off / points.len().max(1) as f64).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [f64; 10] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

    fn shape(limit: Option<f64>, y: impl Fn(f64) -> f64) -> Shape {
        let points: Vec<(f64, f64)> = SIZES.iter().map(|&x| (x, y(x))).collect();
        Fit::of(&points, limit).shape
    }

    #[test]
    fn each_shape_is_recognized() {
        assert_eq!(shape(None, |_| 8.0), Shape::Constant);
        assert_eq!(shape(None, |x| 3.0 + 11.0 * x.log2()), Shape::Logarithmic);
        assert_eq!(shape(None, |x| 50.0 + x.log2()), Shape::Logarithmic);
        assert_eq!(shape(None, |x| 4.0 * (x - 1.0)), Shape::Linear);
        assert_eq!(shape(None, |x| 30.0 + x), Shape::Linear);
        assert_eq!(shape(None, |x| 1.0 + 2.0 * x * x.log2()), Shape::Linearithmic);
        assert_eq!(shape(None, |x| 5.0 + 3.0 * x + x * x), Shape::Quadratic);
    }

    #[test]
    fn four_percent_of_noise_does_not_change_the_shape() {
        let noise = |x: f64| 1.0 + 0.04 * (x * 7.13).sin();
        assert_eq!(shape(None, |x| ((3.0 + 11.0 * x.log2()) * noise(x)).round()), Shape::Logarithmic);
        assert_eq!(shape(None, |x| (7.0 * x * noise(x)).round()), Shape::Linear);
        assert_eq!(shape(None, |x| (x * x.log2() * noise(x)).round()), Shape::Linearithmic);
        assert_eq!(shape(None, |x| (x * x * noise(x)).round()), Shape::Quadratic);
    }

    /// The numbers measured for `tournament` and `filter`, whose lower-order terms hide the growth while n is small.
    #[test]
    fn lower_order_terms_do_not_hide_fast_growth() {
        let fitted =
            |worst: &[f64]| Fit::of(&SIZES.into_iter().zip(worst.iter().copied()).collect::<Vec<_>>(), None).shape;
        assert_eq!(fitted(&[6.0, 13.0, 22.0, 37.0, 59.0, 101.0]), Shape::Linear);
        assert_eq!(fitted(&[6.0, 23.0, 76.0, 245.0, 912.0, 3507.0]), Shape::Quadratic);
    }

    #[test]
    fn settled_and_falling_curves_are_constant() {
        assert_eq!(shape(None, |x| if x < 8.0 { 5.0 } else { 8.0 }), Shape::Constant);
        assert_eq!(shape(None, |x| 1000.0 - x / 2.0), Shape::Constant);
        assert_eq!(shape(None, |_| 0.0), Shape::Constant);
    }

    #[test]
    fn limited_growth_is_distinguished_from_unlimited_growth() {
        let limit = Some(10.0);
        assert_eq!(shape(limit, |c| 20.0 + 30.0 * c.min(10.0)), Shape::Limited(10.0));
        assert_eq!(shape(limit, |c| 20.0 + 30.0 * c), Shape::Linear);
        assert_eq!(shape(limit, |c| 20.0 + 30.0 * c.log2()), Shape::Logarithmic);
        assert_eq!(shape(limit, |_| 20.0), Shape::Constant);
    }

    #[test]
    fn formulas_have_no_plus_minus_and_no_zero_terms() {
        let points: Vec<(f64, f64)> = SIZES.iter().map(|&x| (x, 4.0 * (x - 1.0))).collect();
        assert_eq!(Fit::of(&points, None).formula(Variable::N), "4 N - 4");
        assert_eq!(Fit::of(&[(1.0, 0.0)], None).formula(Variable::N), "0");
    }
}
