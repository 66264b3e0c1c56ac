//! What is known of an algorithm.
use core::{error, fmt};

use doorway_memory::Property;

/// The most processes an algorithm can be checked for.
///
/// ```
/// assert_eq!(doorway_algorithms::MAX_PROCESSES, 10);
/// ```
pub const MAX_PROCESSES: usize = 10;

/// The most processes an algorithm can be simulated for.
///
/// ```
/// assert_eq!(doorway_algorithms::MAX_SIMULATED, 1024);
/// ```
pub const MAX_SIMULATED: usize = 1024;

/// What is known of an algorithm.
///
/// ```
/// use doorway_algorithms::mutex::peterson;
/// assert_eq!(peterson::ABOUT.name, "peterson");
/// assert_eq!(peterson::ABOUT.default_n, 2);
/// ```
#[derive(Debug)]
pub struct About {
    /// The name: of the file, of the module (with underscores), on the command line.
    pub name: &'static str,
    /// Other names it is found by.
    pub aliases: &'static [&'static str],
    /// The name in words.
    pub title: &'static str,
    /// Where it comes from, in short: `Herlihy & Shavit, Fig. 2.6`.
    pub source: &'static str,
    /// What it is for.
    pub kind: Kind,
    /// How many processes it is for.
    pub processes: Processes,
    /// How many processes, if nobody says.
    pub default_n: usize,
    /// What it asks of a memory: `read`, `write`, `fetch-and-add` …
    pub primitives: &'static [&'static str],
    /// Whether the source has calls follow one another: they must not overlap then.
    pub sequential: bool,
    /// How much of it a survey looks at.
    pub survey: Survey,
    /// Whether remote references are bounded, for `default_n` processes; nothing for a part, or if nobody asks.
    pub local_spin: Option<LocalSpin>,
    /// How many remote references a passage makes, as the source claims it; `None` if it claims nothing.
    pub remote: Option<Remote>,
    /// What is claimed of it, for `default_n` processes and more.
    pub claims: &'static [Claim],
    /// Where ours does something else than what is printed, in a line; empty if nowhere that matters.
    pub departures: &'static str,
    /// What else a user should know; often nothing.
    pub remark: &'static str,
}

impl About {
    /// What most locks have in common: an entry says what it has not.
    ///
    /// ```
    /// use doorway_algorithms::{About, Kind};
    /// let about = About { name: "mine", ..About::LOCK };
    /// assert_eq!(about.kind, Kind::Mutex);
    /// ```
    pub const LOCK: About = About {
        name: "",
        aliases: &[],
        title: "",
        source: "",
        kind: Kind::Mutex,
        processes: Processes::AtLeast(2),
        default_n: 3,
        primitives: &["read", "write"],
        sequential: false,
        survey: Survey::Whole,
        local_spin: None,
        remote: None,
        claims: &[],
        departures: "",
        remark: "",
    };

    /// The size to run at: what was asked for, or else the default.
    ///
    /// # Errors
    /// When the algorithm is not for that many processes, or not for that k.
    ///
    /// ```
    /// use doorway_algorithms::{Size, mutex::bakery};
    /// assert_eq!(bakery::ABOUT.size(None, None), Ok(Size { n: 3, k: 1 }));
    /// assert_eq!(
    ///     bakery::ABOUT.size(Some(1), None).unwrap_err().to_string(),
    ///     "`bakery` needs at least 2 processes, not 1; try -n 2",
    /// );
    /// ```
    pub fn size(&self, n: Option<usize>, k: Option<usize>) -> Result<Size, SizeError> {
        self.size_up_to(MAX_PROCESSES, n, k)
    }

    /// The size to simulate: as [`size`](About::size), for up to [`MAX_SIMULATED`] processes.
    ///
    /// # Errors
    /// When the algorithm is not for that many processes, or not for that k.
    ///
    /// ```
    /// use doorway_algorithms::{Size, mutex::bakery};
    /// assert_eq!(bakery::ABOUT.simulated_size(Some(512), None), Ok(Size { n: 512, k: 1 }));
    /// assert_eq!(
    ///     bakery::ABOUT.simulated_size(Some(2048), None).unwrap_err().to_string(),
    ///     "`bakery` can be simulated for at most 1024 processes, not 2048; try -n 1024",
    /// );
    /// ```
    pub fn simulated_size(&self, n: Option<usize>, k: Option<usize>) -> Result<Size, SizeError> {
        self.size_up_to(MAX_SIMULATED, n, k)
    }

    fn size_up_to(&self, most: usize, n: Option<usize>, k: Option<usize>) -> Result<Size, SizeError> {
        let n = n.unwrap_or(self.default_n);
        let wrong = |limit| Err(SizeError { name: self.name, limit });
        match self.processes {
            Processes::Exactly(only) if n != only => return wrong(Limit::Exactly { only, n }),
            Processes::AtLeast(least) | Processes::Between(least, _) if n < least => {
                return wrong(Limit::AtLeast { least, n });
            }
            Processes::Between(_, most) if n > most => return wrong(Limit::AtMost { most, n }),
            _ if n > MAX_SIMULATED && most == MAX_SIMULATED => return wrong(Limit::Simulated { n }),
            _ if n > most => return wrong(Limit::Checked { n, try_n: self.default_n.max(4) }),
            _ => {}
        }
        match (self.kind, k) {
            (Kind::Part, Some(_)) => wrong(Limit::NoK),
            (Kind::Mutex, Some(k)) if k != 1 => wrong(Limit::OneInside { k }),
            (Kind::KExclusion, Some(k)) if k == 0 || k >= n => wrong(Limit::Inside { most: n - 1, k }),
            (Kind::KExclusion, None) => Ok(Size { n, k: 2.min(n - 1) }),
            (_, k) => Ok(Size { n, k: k.unwrap_or(1) }),
        }
    }

    /// Whether the property is claimed to hold.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson;
    /// use doorway_memory::Property;
    /// assert!(peterson::ABOUT.holds(Property::Fcfs));
    /// ```
    #[must_use]
    pub fn holds(&self, property: Property) -> bool {
        self.claims.contains(&Claim::Holds(property))
    }

    /// Whether it gives names to those inside, good ones or not.
    ///
    /// ```
    /// use doorway_algorithms::kexclusion::{danek_lee, k_bakery};
    /// assert!(danek_lee::ABOUT.assigns() && !k_bakery::ABOUT.assigns());
    /// ```
    #[must_use]
    pub fn assigns(&self) -> bool {
        self.holds(Property::Assignment) || self.fails(Property::Assignment)
    }

    /// How many crashes it is claimed to survive, when k may be inside.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson;
    /// assert_eq!(peterson::ABOUT.crashes(1), 0);
    /// ```
    #[must_use]
    pub fn crashes(&self, k: usize) -> usize {
        if self.claims.contains(&Claim::Crashes) { k - 1 } else { 0 }
    }

    /// Whether a survey looks at it, or would take too long.
    ///
    /// ```
    /// use doorway_algorithms::mutex::{danek_golab, peterson};
    /// assert!(peterson::ABOUT.is_surveyed() && !danek_golab::ABOUT.is_surveyed());
    /// ```
    #[must_use]
    pub fn is_surveyed(&self) -> bool {
        self.survey != Survey::LeftOut
    }

    /// Whether the property is claimed to fail.
    ///
    /// ```
    /// use doorway_algorithms::broken::lock_one;
    /// use doorway_memory::Property;
    /// assert!(lock_one::ABOUT.fails(Property::DeadlockFreedom));
    /// ```
    #[must_use]
    pub fn fails(&self, property: Property) -> bool {
        self.claims.contains(&Claim::Fails(property))
    }
}

/// What an algorithm is for.
///
/// ```
/// assert_eq!(doorway_algorithms::Kind::KExclusion.to_string(), "k-exclusion");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One process inside at a time.
    Mutex,
    /// Up to k processes inside at a time.
    KExclusion,
    /// A piece that papers share.
    Part,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Mutex => "mutex",
            Kind::KExclusion => "k-exclusion",
            Kind::Part => "part",
        })
    }
}

/// Where an algorithm spins locally: the remote references of a passage are bounded there.
///
/// ```
/// use doorway_algorithms::{LocalSpin, mutex::mcs};
/// assert_eq!(mcs::ABOUT.local_spin, Some(LocalSpin::BOTH));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalSpin {
    /// With coherent caches.
    pub cc: bool,
    /// In distributed shared memory.
    pub dsm: bool,
}

impl LocalSpin {
    /// In both.
    ///
    /// ```
    /// # use doorway_algorithms::LocalSpin;
    /// assert!(LocalSpin::BOTH.dsm);
    /// ```
    pub const BOTH: LocalSpin = LocalSpin { cc: true, dsm: true };
    /// With caches only.
    ///
    /// ```
    /// # use doorway_algorithms::LocalSpin;
    /// assert!(LocalSpin::CACHED.cc && !LocalSpin::CACHED.dsm);
    /// ```
    pub const CACHED: LocalSpin = LocalSpin { cc: true, dsm: false };
    /// In neither.
    ///
    /// ```
    /// # use doorway_algorithms::LocalSpin;
    /// assert!(!LocalSpin::NEITHER.cc);
    /// ```
    pub const NEITHER: LocalSpin = LocalSpin { cc: false, dsm: false };
}

/// How many remote references a passage makes, in the words of the source.
///
/// ```
/// use doorway_algorithms::kexclusion::k_bakery;
/// assert_eq!(k_bakery::ABOUT.remote.unwrap().dsm, "Θ(N)");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remote {
    /// With coherent caches.
    pub cc: &'static str,
    /// In distributed shared memory.
    pub dsm: &'static str,
}

impl Remote {
    /// The same in both.
    ///
    /// ```
    /// use doorway_algorithms::Remote;
    /// assert_eq!(Remote::both("O(log N)"), Remote { cc: "O(log N)", dsm: "O(log N)" });
    /// ```
    #[must_use]
    pub const fn both(class: &'static str) -> Remote {
        Remote { cc: class, dsm: class }
    }
}

/// How much of an algorithm a survey looks at.
///
/// ```
/// use doorway_algorithms::{Survey, mutex};
/// assert_eq!(mutex::bakery::ABOUT.survey, Survey::Whole);
/// assert_eq!(mutex::kim_anderson::ABOUT.survey.passages(), Some(1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Survey {
    /// All of it.
    Whole,
    /// So many passages of each process: all would be too many.
    Passages(u32),
    /// Nothing: even one passage of each takes too long.
    LeftOut,
}

impl Survey {
    /// How many passages of each process, if not all.
    ///
    /// See the [type's example](Survey).
    #[must_use]
    pub fn passages(self) -> Option<u32> {
        match self {
            Survey::Passages(passages) => Some(passages),
            Survey::Whole | Survey::LeftOut => None,
        }
    }
}

/// How many processes an algorithm is for.
///
/// ```
/// use doorway_algorithms::{Processes, mutex};
/// assert_eq!(mutex::peterson::ABOUT.processes, Processes::Exactly(2));
/// assert_eq!(mutex::bakery::ABOUT.processes, Processes::AtLeast(2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Processes {
    /// For this number only.
    Exactly(usize),
    /// For this number and more.
    AtLeast(usize),
    /// From this number to that: for more, what it keeps in one register would not fit in a word.
    Between(usize, usize),
}

/// What is claimed of an algorithm.
///
/// ```
/// use doorway_algorithms::Claim;
/// use doorway_memory::Property;
/// assert_eq!(Claim::Holds(Property::Exclusion).to_string(), "exclusion");
/// assert_eq!(Claim::Fails(Property::Exclusion).to_string(), "not exclusion");
/// assert_eq!(Claim::Bypass(Some(1)).to_string(), "bypass 1");
/// assert_eq!(Claim::Bypass(None).to_string(), "bypass unbounded");
/// assert_eq!(Claim::Entries(Some(1)).to_string(), "entries 1");
/// assert_eq!(Claim::Crashes.to_string(), "fewer than k crashes");
/// assert_eq!(Claim::SafeRegisters.to_string(), "safe registers");
/// assert_eq!(Claim::Deaths.to_string(), "deaths");
/// assert_eq!(Claim::FailsWithDeaths(Property::Exclusion).to_string(), "not exclusion with deaths");
/// assert_eq!(Claim::Abandons.to_string(), "abandons");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// The property holds.
    Holds(Property),
    /// The property fails.
    Fails(Property),
    /// How often, exactly, one who started after me can enter before me; `None` if there is no bound. 0 is
    /// first-come-first-served.
    Bypass(Option<u32>),
    /// How often, exactly, another can enter while I wait, whoever came first; `None` if there is no bound.
    Entries(Option<u32>),
    /// All this is so even if fewer than k processes stop for ever.
    Crashes,
    /// All this is so even if registers are only safe: a read that overlaps a write may return anything.
    SafeRegisters,
    /// All this is so even if processes die and others [reap](doorway_memory::Exclusion::reap) them.
    Deaths,
    /// The property fails if processes die and others reap them.
    FailsWithDeaths(Property),
    /// All this is so even if processes [give up](doorway_memory::Exclusion::abandon) while they wait.
    Abandons,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claim::Holds(property) => write!(f, "{property}"),
            Claim::Fails(property) => write!(f, "not {property}"),
            Claim::Bypass(Some(bound)) => write!(f, "bypass {bound}"),
            Claim::Bypass(None) => f.write_str("bypass unbounded"),
            Claim::Entries(Some(bound)) => write!(f, "entries {bound}"),
            Claim::Entries(None) => f.write_str("entries unbounded"),
            Claim::Crashes => f.write_str("fewer than k crashes"),
            Claim::SafeRegisters => f.write_str("safe registers"),
            Claim::Deaths => f.write_str("deaths"),
            Claim::FailsWithDeaths(property) => write!(f, "not {property} with deaths"),
            Claim::Abandons => f.write_str("abandons"),
        }
    }
}

/// How many processes, and how many may be inside.
///
/// ```
/// let size = doorway_algorithms::Size { n: 3, k: 1 };
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// How many processes.
    pub n: usize,
    /// How many may be inside; 1 for a mutex, and without meaning for a part.
    pub k: usize,
}

/// A size an algorithm is not for.
///
/// ```
/// use doorway_algorithms::mutex::peterson;
/// let error = peterson::ABOUT.size(Some(3), None).unwrap_err();
/// assert_eq!(error.to_string(), "`peterson` is for 2 processes, not 3; for more try `filter` or `bakery`");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SizeError {
    name: &'static str,
    limit: Limit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    Exactly { only: usize, n: usize },
    AtLeast { least: usize, n: usize },
    AtMost { most: usize, n: usize },
    Checked { n: usize, try_n: usize },
    Simulated { n: usize },
    OneInside { k: usize },
    Inside { most: usize, k: usize },
    NoK,
}

impl error::Error for SizeError {}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ", self.name)?;
        match self.limit {
            Limit::Exactly { only, n } if n > only => {
                write!(f, "is for {only} processes, not {n}; for more try `filter` or `bakery`")
            }
            Limit::Exactly { only, n } => write!(f, "is for {only} processes, not {n}; leave out -n"),
            Limit::AtLeast { least, n } => write!(f, "needs at least {least} processes, not {n}; try -n {least}"),
            Limit::AtMost { most, n } => {
                write!(
                    f,
                    "keeps all it knows in one word, so it is for at most {most} processes, not {n}; try -n {most}"
                )
            }
            Limit::Checked { n, try_n } => {
                write!(f, "can be checked for at most {MAX_PROCESSES} processes, not {n}; try -n {try_n}")
            }
            Limit::Simulated { n } => {
                write!(f, "can be simulated for at most {MAX_SIMULATED} processes, not {n}; try -n {MAX_SIMULATED}")
            }
            Limit::OneInside { k } => write!(f, "is mutual exclusion, so k is 1, not {k}; leave out -k"),
            Limit::Inside { most, k } => write!(f, "needs a k from 1 to {most}, not {k}; try -k {most}"),
            Limit::NoK => f.write_str("is a part and has no k; leave out -k"),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::{
        mutex::{bakery, peterson},
        parts::bouncer,
    };

    fn refusal(about: &About, n: Option<usize>, k: Option<usize>) -> alloc::string::String {
        about.size(n, k).unwrap_err().to_string()
    }

    #[test]
    fn a_size_that_fits_is_taken_and_the_rest_defaults() {
        assert_eq!(peterson::ABOUT.size(None, Some(1)), Ok(Size { n: 2, k: 1 }));
        assert_eq!(bakery::ABOUT.size(Some(MAX_PROCESSES), None), Ok(Size { n: MAX_PROCESSES, k: 1 }));
        assert_eq!(bouncer::ABOUT.size(None, None), Ok(Size { n: 3, k: 1 }));
    }

    #[test]
    fn a_size_that_does_not_fit_is_refused_with_the_way_out() {
        assert_eq!(refusal(&peterson::ABOUT, Some(1), None), "`peterson` is for 2 processes, not 1; leave out -n");
        assert_eq!(
            refusal(&bakery::ABOUT, Some(11), None),
            "`bakery` can be checked for at most 10 processes, not 11; try -n 4"
        );
        assert_eq!(
            refusal(&bakery::ABOUT, None, Some(2)),
            "`bakery` is mutual exclusion, so k is 1, not 2; leave out -k"
        );
        assert_eq!(refusal(&bouncer::ABOUT, None, Some(1)), "`bouncer` is a part and has no k; leave out -k");
    }

    #[test]
    fn k_exclusion_wants_a_k_below_n() {
        let about = About { name: "k-bakery", kind: Kind::KExclusion, ..bakery::ABOUT };
        assert_eq!(about.size(None, None), Ok(Size { n: 3, k: 2 }));
        assert_eq!(refusal(&about, None, Some(3)), "`k-bakery` needs a k from 1 to 2, not 3; try -k 2");
    }
}
