//! Registry entries: what the source says of an algorithm.
use core::fmt;

use doorway_memory::{Property, Queue};

use crate::{
    claim::{Claim, Claimed, Condition, Status},
    pinned::Pinned,
};

/// The registry entry of an algorithm: its name, source, sizes and claims.
///
/// ```
/// use doorway_algorithms::mutex::peterson;
/// assert_eq!(peterson::ABOUT.name, "peterson");
/// assert_eq!(peterson::ABOUT.default_n, 2);
/// ```
#[derive(Debug)]
pub struct About {
    /// The name: that of the file, of the module (with underscores), and on the command line.
    pub name: &'static str,
    /// Other names by which it is found.
    pub aliases: &'static [&'static str],
    /// The descriptive name.
    pub title: &'static str,
    /// The source, abbreviated: `Herlihy & Shavit, Fig. 2.6`.
    pub source: &'static str,
    /// The problem it solves.
    pub kind: Kind,
    /// The supported numbers of processes.
    pub processes: Processes,
    /// The default number of processes.
    pub default_n: usize,
    /// The operations it requires of a memory: `read`, `write`, `fetch-and-add` …
    pub primitives: &'static [&'static str],
    /// Whether the source requires that calls do not overlap.
    pub sequential: bool,
    /// How much of it a survey checks.
    pub survey: Survey,
    /// Whether remote memory references are bounded, for `default_n` processes; `None` for a part, or if not specified.
    pub local_spin: Option<LocalSpin>,
    /// The number of remote memory references of a passage, as the source claims it; `None` if it claims nothing.
    pub remote: Option<Remote>,
    /// The claims, for `default_n` processes and more.
    pub claims: &'static [Claim],
    /// The conditions under which the claims without conditions hold too.
    pub tolerates: &'static [Condition],
    /// Why the algorithm is broken, in one line; empty if it is correct.
    pub defect: &'static str,
    /// Checks and what they find; tests run them again.
    pub pinned: &'static [Pinned],
    /// Where the code differs from the printed algorithm, in one line; empty if no difference matters.
    pub departures: &'static str,
    /// Anything else that a user should know; often empty.
    pub remark: &'static str,
}

impl About {
    /// The defaults of a lock, to be completed by an entry.
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
        tolerates: &[Condition::Tso],
        defect: "",
        pinned: &[],
        departures: "",
        remark: "",
    };

    /// The defaults of a part, to be completed by an entry.
    ///
    /// ```
    /// use doorway_algorithms::{About, Kind};
    /// let about = About { name: "mine", ..About::PART };
    /// assert_eq!(about.kind, Kind::Part);
    /// ```
    pub const PART: About = About { kind: Kind::Part, tolerates: &[], ..About::LOCK };

    /// Whether the property is claimed to hold.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson;
    /// use doorway_memory::Property;
    /// assert!(peterson::ABOUT.holds(Property::Fcfs));
    /// ```
    #[must_use]
    pub fn holds(&self, property: Property) -> bool {
        self.claims
            .iter()
            .any(|claim| claim.property == property && claim.claimed == Claimed::Holds && claim.under.is_empty())
    }

    /// Whether the property is claimed not to hold, without any condition.
    ///
    /// ```
    /// use doorway_algorithms::{broken::lock_one, mutex::dijkstra};
    /// use doorway_memory::Property;
    /// assert!(lock_one::ABOUT.lacks(Property::DeadlockFreedom));
    /// assert!(dijkstra::ABOUT.lacks(Property::StarvationFreedom));
    /// ```
    #[must_use]
    pub fn lacks(&self, property: Property) -> bool {
        self.claims.iter().any(|claim| {
            claim.property == property
                && matches!(claim.claimed, Claimed::Lacks | Claimed::Fails)
                && claim.under.is_empty()
        })
    }

    /// Whether the algorithm is correct, or why it is broken.
    ///
    /// See the [example of `Status`](Status).
    #[must_use]
    pub fn status(&self) -> Status {
        let is_broken = self.claims.iter().any(|claim| claim.claimed == Claimed::Fails);
        if is_broken { Status::Broken(self.defect) } else { Status::Correct }
    }

    /// Whether the claims without conditions hold under this condition too.
    ///
    /// ```
    /// use doorway_algorithms::{Condition, mutex::bakery};
    /// assert!(bakery::ABOUT.tolerates(Condition::SafeRegisters) && !bakery::ABOUT.tolerates(Condition::Deaths));
    /// ```
    #[must_use]
    pub fn tolerates(&self, condition: Condition) -> bool {
        self.tolerates.contains(&condition)
    }

    /// Whether it gives names to its holders, correctly or not.
    ///
    /// ```
    /// use doorway_algorithms::kexclusion::{danek_lee, k_bakery};
    /// assert!(danek_lee::ABOUT.assigns() && !k_bakery::ABOUT.assigns());
    /// ```
    #[must_use]
    pub fn assigns(&self) -> bool {
        self.holds(Property::Assignment) || self.lacks(Property::Assignment)
    }

    /// The number of crashes that it is claimed to tolerate, for a given k.
    ///
    /// ```
    /// use doorway_algorithms::{kexclusion::k_bakery, mutex::peterson};
    /// assert_eq!((peterson::ABOUT.crashes(1), k_bakery::ABOUT.crashes(3)), (0, 2));
    /// ```
    #[must_use]
    pub fn crashes(&self, k: usize) -> usize {
        if self.tolerates(Condition::Crashes) { k - 1 } else { 0 }
    }

    /// Whether a survey includes it; some algorithms would take too long.
    ///
    /// ```
    /// use doorway_algorithms::mutex::{danek_golab, peterson};
    /// assert!(peterson::ABOUT.is_surveyed() && !danek_golab::ABOUT.is_surveyed());
    /// ```
    #[must_use]
    pub fn is_surveyed(&self) -> bool {
        self.survey != Survey::LeftOut
    }
}

/// The problem that an algorithm solves.
///
/// ```
/// assert_eq!(doorway_algorithms::Kind::KExclusion.to_string(), "k-exclusion");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Mutual exclusion: at most one holder.
    Mutex,
    /// k-exclusion: at most k holders.
    KExclusion,
    /// A building block that several algorithms use.
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

/// The memory models in which an algorithm is local-spin: the remote memory references of a passage are bounded.
///
/// ```
/// use doorway_algorithms::{LocalSpin, mutex::mcs};
/// assert_eq!(mcs::ABOUT.local_spin, Some(LocalSpin::BOTH));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalSpin {
    /// In the CC model, with coherent caches.
    pub cc: bool,
    /// In the DSM model, with distributed shared memory.
    pub dsm: bool,
}

impl LocalSpin {
    /// Local-spin in both models.
    ///
    /// ```
    /// # use doorway_algorithms::LocalSpin;
    /// assert!(LocalSpin::BOTH.dsm);
    /// ```
    pub const BOTH: LocalSpin = LocalSpin { cc: true, dsm: true };
    /// Local-spin with caches only.
    ///
    /// ```
    /// # use doorway_algorithms::LocalSpin;
    /// assert!(LocalSpin::CACHED.cc && !LocalSpin::CACHED.dsm);
    /// ```
    pub const CACHED: LocalSpin = LocalSpin { cc: true, dsm: false };
    /// Local-spin in neither model.
    ///
    /// ```
    /// # use doorway_algorithms::LocalSpin;
    /// assert!(!LocalSpin::NEITHER.cc);
    /// ```
    pub const NEITHER: LocalSpin = LocalSpin { cc: false, dsm: false };
}

/// The number of remote memory references of a passage, in the notation of the source.
///
/// ```
/// use doorway_algorithms::kexclusion::k_bakery;
/// assert_eq!(k_bakery::ABOUT.remote.unwrap().dsm, "Θ(N)");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remote {
    /// In the CC model, with coherent caches.
    pub cc: &'static str,
    /// In the DSM model, with distributed shared memory.
    pub dsm: &'static str,
}

impl Remote {
    /// The same number in both models.
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

/// How much of an algorithm a survey checks.
///
/// ```
/// use doorway_algorithms::{Survey, mutex};
/// assert_eq!(mutex::bakery::ABOUT.survey, Survey::Whole);
/// assert_eq!(mutex::kim_anderson::ABOUT.survey.passages(), Some(1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Survey {
    /// Everything, with any number of passages.
    Whole,
    /// This number of passages of each process, because an unbounded number would take too long.
    Passages(u32),
    /// Nothing, because even one passage of each process would take too long.
    LeftOut,
}

impl Survey {
    /// The number of passages of each process, if it is limited.
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

/// The numbers of processes that an algorithm supports.
///
/// ```
/// use doorway_algorithms::{Processes, mutex};
/// assert_eq!(mutex::peterson::ABOUT.processes, Processes::Exactly(2));
/// assert_eq!(mutex::bakery::ABOUT.processes, Processes::AtLeast(2));
/// assert_eq!(mutex::bakery::ABOUT.processes.to_string(), "2 or more");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Processes {
    /// This number only.
    Exactly(usize),
    /// This number and more.
    AtLeast(usize),
    /// From the first number to the second: for more, a register would not fit in a word, or there would be too many.
    Between(usize, usize),
    /// This number and more, if the memory has room for a [`Queue`] of them; a word holds [`Queue::MOST`].
    Queued(usize),
}

impl fmt::Display for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Processes::Exactly(n) => write!(f, "{n}"),
            Processes::AtLeast(n) => write!(f, "{n} or more"),
            Processes::Between(least, most) => write!(f, "{least} to {most}"),
            Processes::Queued(least) => write!(f, "{least} or more, {} in a word", Queue::MOST),
        }
    }
}
