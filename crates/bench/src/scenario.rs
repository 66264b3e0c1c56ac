//! The scenarios in which locks are measured.
use std::{fmt, time::Duration};

/// A scenario in which locks are measured: a number of threads, the capacity, and what the threads do.
///
/// ```
/// let uncontended = doorway_bench::Scenario::all()[0];
/// assert_eq!(uncontended.to_string(), "uncontended, k = 1");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Scenario {
    /// What the threads do.
    pub kind: Kind,
    /// The number of threads.
    pub threads: usize,
    /// The capacity.
    pub k: usize,
}

/// What the threads of a scenario do.
///
/// ```
/// assert_eq!(doorway_bench::Kind::Sleeping.name(), "sleeping");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// One thread makes uncontended passages with an empty critical section.
    Alone,
    /// Threads work in the critical section, and longer in the remainder.
    Busy,
    /// Holders sleep in the critical section; the remainder is empty.
    Sleeping,
}

impl Kind {
    /// All kinds.
    ///
    /// See [`Kind`].
    pub const ALL: [Kind; 3] = [Kind::Alone, Kind::Busy, Kind::Sleeping];

    /// The name, as in `doorway bench --scenario`.
    ///
    /// See [`Kind`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Alone => "alone",
            Kind::Busy => "busy",
            Kind::Sleeping => "sleeping",
        }
    }
}

/// How long threads work in the critical section and in the remainder, and how long holders sleep.
pub(crate) const CRITICAL_SECTION: Duration = Duration::from_nanos(50);
pub(crate) const REMAINDER: Duration = Duration::from_nanos(200);
pub(crate) const SLEEP: Duration = Duration::from_millis(1);

impl Scenario {
    /// Creates a scenario. [`Kind::Alone`] always has one thread.
    ///
    /// ```
    /// use doorway_bench::{Kind, Scenario};
    /// let scenario = Scenario::new(Kind::Busy, 32, 16);
    /// assert_eq!(scenario.to_string(), "32 threads, k = 16, 50 ns in the critical section, 200 ns in the remainder");
    /// assert_eq!(Scenario::new(Kind::Alone, 32, 16).threads, 1);
    /// ```
    #[must_use]
    pub const fn new(kind: Kind, threads: usize, k: usize) -> Scenario {
        Scenario { kind, threads: if matches!(kind, Kind::Alone) { 1 } else { threads }, k }
    }

    /// The default scenarios, in the order of the tables.
    ///
    /// See the [example](Scenario).
    #[must_use]
    pub const fn all() -> [Scenario; 8] {
        [
            Scenario::new(Kind::Alone, 1, 1),
            Scenario::new(Kind::Busy, 2, 1),
            Scenario::new(Kind::Busy, 8, 1),
            Scenario::new(Kind::Sleeping, 16, 1),
            Scenario::new(Kind::Alone, 1, 4),
            Scenario::new(Kind::Busy, 2, 4),
            Scenario::new(Kind::Busy, 8, 4),
            Scenario::new(Kind::Sleeping, 16, 4),
        ]
    }

    /// The number of slices into which the scenario's time in a round is divided.
    ///
    /// Two virtual processors may be two cores or two halves of one. This can change within a second, and with it the
    /// speed of two threads; so their time is divided into many short slices, and each lock gets a share of both.
    pub(crate) const fn slices(self) -> u32 {
        if matches!(self.kind, Kind::Busy) && self.threads <= 2 { 20 } else { 1 }
    }

    /// The scenario's share of the time.
    ///
    /// With more threads than processors, the scheduler decides every few milliseconds which threads run, and
    /// measuring fairness takes hundreds of such decisions. With sleeping holders there are a thousand times fewer
    /// entries.
    pub(crate) const fn weight(self) -> u32 {
        match self.kind {
            Kind::Alone => 1,
            Kind::Busy if self.threads > 2 => 48,
            Kind::Busy => 30,
            Kind::Sleeping => 8,
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Scenario { kind, threads, k } = self;
        match kind {
            Kind::Alone => write!(f, "uncontended, k = {k}"),
            Kind::Busy => write!(
                f,
                "{threads} threads, k = {k}, {} ns in the critical section, {} ns in the remainder",
                CRITICAL_SECTION.as_nanos(),
                REMAINDER.as_nanos()
            ),
            Kind::Sleeping => write!(f, "{threads} threads, k = {k}, holders sleep for {} ms", SLEEP.as_millis()),
        }
    }
}
