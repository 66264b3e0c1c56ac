//! How remote memory references grow: series of simulated sizes.
use std::{error, fmt, sync::Arc};

use doorway_algorithms::{About, Kind, Processes, Size, SizeError};
use doorway_checker::Cost;
use doorway_memory::Queue;
use doorway_simulator::{Growth, MAX_PROCESSES, Plan, Variable};

use crate::measure;

/// Values from `from` to `to`, each twice the one before, and `to`.
///
/// ```
/// use doorway_catalogue::Range;
/// assert_eq!(Range::new(3, 20).unwrap().values(), [3, 6, 12, 20]);
/// assert_eq!(Range::new(8, 2), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    from: usize,
    to: usize,
}

impl Range {
    /// The range, if it rises from 1 or more.
    ///
    /// See the [type's example](Range).
    #[must_use]
    pub fn new(from: usize, to: usize) -> Option<Range> {
        (from > 0 && from < to).then_some(Range { from, to })
    }

    /// The values.
    ///
    /// See the [type's example](Range).
    #[must_use]
    pub fn values(self) -> Vec<usize> {
        let doubled = std::iter::successors(Some(self.from), |value| Some(2 * value));
        let mut values: Vec<usize> = doubled.take_while(|&value| value < self.to).collect();
        values.push(self.to);
        values
    }
}

/// Sizes of a lock that are measured one after the other, while one variable grows.
///
/// ```
/// use doorway_catalogue::{Range, Series, find};
/// use doorway_checker::Cost;
///
/// let k_bakery = find("k-bakery")?;
/// let series = Series::of_n(k_bakery, Range::new(4, 16).unwrap(), None, None)?;
/// let growth = series.measure(Cost::Dsm, |plan, _| plan).unwrap();
/// assert_eq!(growth.class(), "O(N)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Series {
    /// What grows.
    pub variable: Variable,
    /// The value of the variable, the size, and the number of processes that take part, of each measurement.
    pub points: Vec<(usize, Size, usize)>,
    about: Entry,
}

/// An entry, compared by name.
#[derive(Clone, Copy)]
struct Entry(&'static About);

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Entry {}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// Why there is no such series.
///
/// ```
/// use doorway_catalogue::{Range, Series, find};
/// let error = Series::of_k(find("bakery").unwrap(), Range::new(1, 4).unwrap(), None, None).unwrap_err();
/// assert_eq!(error.to_string(), "`bakery` is mutual exclusion, so k is 1; let n or c grow");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SeriesError {
    /// The algorithm does not support one of the sizes.
    Size(SizeError),
    /// More processes than can be simulated.
    TooManyProcesses {
        /// The algorithm.
        name: &'static str,
        /// The number of processes.
        n: usize,
    },
    /// k cannot grow.
    MutualExclusion {
        /// The algorithm.
        name: &'static str,
    },
    /// k is not below n.
    TooLargeK {
        /// The largest k.
        k: usize,
        /// The number of processes.
        n: usize,
    },
    /// More processes are to take part than there are.
    TooMuchContention {
        /// The number of processes.
        n: usize,
        /// The number that are to take part.
        contention: usize,
    },
    /// Fewer than two of the sizes are above k.
    TooFewSizes {
        /// The algorithm.
        name: &'static str,
        /// The capacity.
        k: usize,
    },
}

impl error::Error for SeriesError {}

impl From<SizeError> for SeriesError {
    fn from(error: SizeError) -> SeriesError {
        SeriesError::Size(error)
    }
}

impl fmt::Display for SeriesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeriesError::Size(error) => write!(f, "{error}"),
            SeriesError::TooManyProcesses { name, n } => {
                write!(f, "`{name}` can be simulated for at most {MAX_PROCESSES} processes, not {n}")
            }
            SeriesError::MutualExclusion { name } => {
                write!(f, "`{name}` is mutual exclusion, so k is 1; let n or c grow")
            }
            SeriesError::TooLargeK { k, n } => {
                write!(f, "k is less than n, and {k} is not less than {n}; take more processes")
            }
            SeriesError::TooMuchContention { n, contention } => {
                write!(f, "at most {n} of {n} processes can take part, not {contention}; take more processes")
            }
            SeriesError::TooFewSizes { name, k } => {
                write!(f, "`{name}` with k={k} is for more than {k} processes; raise the range")
            }
        }
    }
}

impl Series {
    /// The number of processes grows. All of them take part, or `contention` of them.
    ///
    /// See the [type's example](Series).
    ///
    /// # Errors
    /// If the algorithm or the simulator does not support the sizes.
    pub fn of_n(
        about: &'static About,
        range: Range,
        k: Option<usize>,
        contention: Option<usize>,
    ) -> Result<Series, SeriesError> {
        let k = fixed_k(about, k);
        size(about, range.to, k)?;
        let sizes = range.values().into_iter().filter_map(|n| size(about, n, k).ok());
        let points: Vec<_> = sizes.map(|size| (size.n, size, contention.unwrap_or(size.n))).collect();
        if points.len() < 2 {
            return Err(SeriesError::TooFewSizes { name: about.name, k: k.unwrap_or(1) });
        }
        Series::new(about, Variable::N, points)
    }

    /// The capacity grows; `n` is twice its end by default.
    ///
    /// ```
    /// use doorway_catalogue::{Range, Series, find};
    /// let series = Series::of_k(find("k-bakery")?, Range::new(1, 4).unwrap(), None, None)?;
    /// assert_eq!(series.points.iter().map(|(k, size, _)| (*k, size.n)).collect::<Vec<_>>(), [(1, 8), (2, 8), (4, 8)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the algorithm or the simulator does not support the sizes.
    pub fn of_k(
        about: &'static About,
        range: Range,
        n: Option<usize>,
        contention: Option<usize>,
    ) -> Result<Series, SeriesError> {
        if about.kind == Kind::Mutex {
            return Err(SeriesError::MutualExclusion { name: about.name });
        }
        let n = n.unwrap_or((2 * range.to).min(MAX_PROCESSES));
        if range.to >= n {
            return Err(SeriesError::TooLargeK { k: range.to, n });
        }
        let sizes = range.values().into_iter().map(|k| size(about, n, Some(k)));
        let sizes: Vec<Size> = sizes.collect::<Result<_, _>>()?;
        let points = sizes.into_iter().map(|size| (size.k, size, contention.unwrap_or(n))).collect();
        Series::new(about, Variable::K, points)
    }

    /// The number of processes that take part grows, of `n`, by default 64 or more.
    ///
    /// ```
    /// use doorway_catalogue::{Range, Series, find};
    /// let series = Series::of_contention(find("mcs")?, Range::new(1, 4).unwrap(), Some(8), None)?;
    /// assert_eq!(series.points.last().map(|(c, size, _)| (*c, size.n)), Some((4, 8)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the algorithm or the simulator does not support the size.
    pub fn of_contention(
        about: &'static About,
        range: Range,
        n: Option<usize>,
        k: Option<usize>,
    ) -> Result<Series, SeriesError> {
        let size = size(about, n.unwrap_or(range.to.max(64)), fixed_k(about, k))?;
        let points = range.values().into_iter().map(|c| (c, size, c)).collect();
        Series::new(about, Variable::C, points)
    }

    fn new(
        about: &'static About,
        variable: Variable,
        points: Vec<(usize, Size, usize)>,
    ) -> Result<Series, SeriesError> {
        let n = points.iter().map(|(_, size, _)| size.n).max().unwrap_or(0);
        match points.iter().find(|&&(_, _, c)| c > n) {
            Some(&(_, _, contention)) => Err(SeriesError::TooMuchContention { n, contention }),
            None => Ok(Series { variable, points, about: Entry(about) }),
        }
    }

    /// Measures every size with a plan that `shape` may change; `None` if it was cancelled before the first was done.
    ///
    /// See the [type's example](Series).
    #[must_use]
    pub fn measure(&self, cost: Cost, shape: impl Fn(Plan, Size) -> Plan) -> Option<Growth> {
        let n = (self.variable == Variable::C).then(|| self.points[0].1.n);
        let values = self.points.iter().map(|&(value, ..)| value);
        let mut points = self.points.iter();
        Growth::of(self.variable, values, n, |_| {
            let &(_, size, contention) = points.next().expect("there are as many points as values");
            measure(self.about.0, size, &shape(Plan::new(size.n, cost).contention(contention), size))
        })
    }
}

/// A k that is the same for all n.
fn fixed_k(about: &About, k: Option<usize>) -> Option<usize> {
    k.or((about.kind == Kind::KExclusion).then_some(2))
}

fn size(about: &'static About, n: usize, k: Option<usize>) -> Result<Size, SeriesError> {
    let size = about.size(Some(n), k)?;
    if n > MAX_PROCESSES {
        return Err(SeriesError::TooManyProcesses { name: about.name, n });
    }
    Ok(size)
}

/// The number of processes up to which a [`glance`] measures: enough to tell a class.
const GLANCE: usize = 64;

/// The number of accesses of each schedule of a [`glance`].
const GLANCE_ACCESSES: u64 = 700_000;

/// The largest number of processes that a lock supports, if it is too small for a class.
///
/// ```
/// use doorway_catalogue::{find, glance_limit};
/// assert_eq!(glance_limit(find("fischer-queue").unwrap()), Some(15));
/// assert_eq!(glance_limit(find("bakery").unwrap()), None);
/// ```
#[must_use]
pub fn glance_limit(about: &About) -> Option<usize> {
    match about.processes {
        Processes::Between(_, most) if most < GLANCE => Some(most),
        Processes::Queued(_) => Some(Queue::MOST),
        _ => None,
    }
}

/// How a lock's remote memory references grow with n up to 64, or for 64 processes with k or the contention.
///
/// It takes less than a second. `None` if the lock does not support the sizes, or if it was cancelled.
///
/// ```
/// use std::sync::Arc;
///
/// use doorway_catalogue::{find, glance};
/// use doorway_checker::Cost;
/// use doorway_simulator::Variable;
///
/// let growth = glance(find("k-bakery").unwrap(), Cost::Dsm, Variable::N, Arc::new(|| false));
/// assert_eq!(growth.unwrap().class(), "O(N)");
/// ```
#[must_use]
pub fn glance(
    about: &'static About,
    cost: Cost,
    variable: Variable,
    cancelled: Arc<dyn Fn() -> bool>,
) -> Option<Growth> {
    let most = glance_limit(about).unwrap_or(GLANCE);
    let range = |from, to| Range::new(from, to);
    let series = match variable {
        Variable::N => Series::of_n(about, range(2, most)?, None, None),
        Variable::K => Series::of_k(about, range(1, most / 2)?, Some(most), None),
        Variable::C => Series::of_contention(about, range(1, most)?, Some(most), None),
    };
    series.ok()?.measure(cost, |plan, _| plan.accesses(GLANCE_ACCESSES).cancelled(cancelled.clone()))
}
