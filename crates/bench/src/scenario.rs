//! What locks are put through.
use std::{fmt, time::Duration};

/// What locks are put through: so many threads, so many of which may be inside, and what they do there.
///
/// ```
/// let alone = doorway_bench::Scenario::all()[0];
/// assert_eq!(alone.to_string(), "alone, k = 1");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Scenario {
    /// What the threads do.
    pub kind: Kind,
    /// How many threads.
    pub threads: usize,
    /// How many may be inside.
    pub k: usize,
}

/// What threads do.
///
/// ```
/// assert_eq!(doorway_bench::Kind::Sleeping.name(), "sleeping");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// One thread goes in and out, and there is nothing to do inside.
    Alone,
    /// Work inside and more of it outside.
    Busy,
    /// Who is inside sleeps there; nobody does anything outside.
    Sleeping,
}

impl Kind {
    /// All of them.
    ///
    /// See [`Kind`].
    pub const ALL: [Kind; 3] = [Kind::Alone, Kind::Busy, Kind::Sleeping];

    /// In one word.
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

/// Work inside and outside, and sleep inside.
pub(crate) const INSIDE: Duration = Duration::from_nanos(50);
pub(crate) const OUTSIDE: Duration = Duration::from_nanos(200);
pub(crate) const SLEEP: Duration = Duration::from_millis(1);

impl Scenario {
    /// One of your own. Who is alone is one thread, however many are asked for.
    ///
    /// ```
    /// use doorway_bench::{Kind, Scenario};
    /// let crowd = Scenario::new(Kind::Busy, 32, 16);
    /// assert_eq!(crowd.to_string(), "32 threads, k = 16, 50 ns inside, 200 ns outside");
    /// ```
    #[must_use]
    pub const fn new(kind: Kind, threads: usize, k: usize) -> Scenario {
        Scenario { kind, threads: if matches!(kind, Kind::Alone) { 1 } else { threads }, k }
    }

    /// Those that are measured as a rule, in the order tables show them.
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

    /// In how many turns its time of a round is spent. Two virtual processors may be two cores or two halves of one, which can change
    /// within a second, and with it what two threads can do; so they take many short turns, and each lock has its share of both.
    pub(crate) const fn turns(self) -> u32 {
        if matches!(self.kind, Kind::Busy) && self.threads <= 2 { 20 } else { 1 }
    }

    /// How much of the time it gets. If there are more threads than processors, who runs is decided every few milliseconds,
    /// and to tell how equally they share it takes hundreds of these; who sleeps enters a thousand times less often.
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
            Kind::Alone => write!(f, "alone, k = {k}"),
            Kind::Busy => write!(
                f,
                "{threads} threads, k = {k}, {} ns inside, {} ns outside",
                INSIDE.as_nanos(),
                OUTSIDE.as_nanos()
            ),
            Kind::Sleeping => write!(f, "{threads} threads, k = {k}, {} ms asleep inside", SLEEP.as_millis()),
        }
    }
}
