//! Claims: what the sources say about an algorithm, and under which conditions.
use core::fmt;

use doorway_memory::Property;

/// A circumstance in which an algorithm may or may not keep its properties; see [`Claim`].
///
/// Every condition adds executions: a property that fails without it fails with it.
///
/// ```
/// use doorway_algorithms::Condition;
/// assert_eq!(Condition::SafeRegisters.to_string(), "on safe registers");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Condition {
    /// Fewer than k processes crash.
    Crashes,
    /// Processes die, and others [reap](doorway_memory::Reap) them.
    Deaths,
    /// Waiters [abort](doorway_memory::Abort).
    Aborts,
    /// Processes die, and live ones are taken for dead and go on for a while.
    Expiries,
    /// A read that overlaps a write returns any value.
    SafeRegisters,
    /// Writes pass through store buffers, as on x86 (total store order), and the algorithm has its fences.
    Tso,
}

impl Condition {
    /// Every condition.
    ///
    /// ```
    /// use doorway_algorithms::Condition;
    /// assert!(Condition::ALL.contains(&Condition::Tso));
    /// ```
    pub const ALL: [Condition; 6] = [
        Condition::Crashes,
        Condition::Deaths,
        Condition::Aborts,
        Condition::Expiries,
        Condition::SafeRegisters,
        Condition::Tso,
    ];

    /// The name, as in JSON.
    ///
    /// ```
    /// use doorway_algorithms::Condition;
    /// assert_eq!(Condition::Crashes.name(), "crashes");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Condition::Crashes => "crashes",
            Condition::Deaths => "deaths",
            Condition::Aborts => "aborts",
            Condition::Expiries => "expiries",
            Condition::SafeRegisters => "safe-registers",
            Condition::Tso => "tso",
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Condition::Crashes => "with fewer than k crashes",
            Condition::Deaths => "with deaths",
            Condition::Aborts => "with aborts",
            Condition::Expiries => "with expiries",
            Condition::SafeRegisters => "on safe registers",
            Condition::Tso => "on tso",
        })
    }
}

/// A claim: a property, what is claimed of it, and the conditions.
///
/// ```
/// use doorway_algorithms::claim::{Condition, bypass, entries, fails, holds, lacks};
/// use doorway_memory::Property;
/// assert_eq!(holds(Property::Exclusion).to_string(), "exclusion");
/// assert_eq!(lacks(Property::Fcfs).to_string(), "not fcfs");
/// assert_eq!(bypass(Some(1)).to_string(), "bypass 1");
/// assert_eq!(entries(None).to_string(), "entries unbounded");
/// let fails = fails(Property::Exclusion).under(&[Condition::Deaths]);
/// assert_eq!(fails.to_string(), "not exclusion with deaths");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The property that the claim is about.
    pub property: Property,
    /// What is claimed of it.
    pub claimed: Claimed,
    /// The conditions under which it is claimed; empty for none.
    ///
    /// A claim without conditions also extends to those that the algorithm [tolerates](crate::About::tolerates).
    pub under: &'static [Condition],
    /// The least n and k at which a failure shows; `None` for the default number of processes.
    pub from: Option<(usize, usize)>,
}

/// What a [`Claim`] says about its property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claimed {
    /// It holds.
    Holds,
    /// It does not hold, and the algorithm is not meant to have it.
    Lacks,
    /// It does not hold although the algorithm is meant to have it: the algorithm is broken.
    Fails,
    /// The exact bypass bound: how many times processes that start the doorway after p has completed it can enter
    /// before p. `None` if there is no bound; 0 is first-come-first-served.
    Bypass(Option<u32>),
    /// The exact number of times that other processes, whenever they arrived, can enter while p waits. `None` if
    /// there is no bound.
    Entries(Option<u32>),
}

impl Claimed {
    /// The name in JSON.
    ///
    /// ```
    /// assert_eq!(doorway_algorithms::Claimed::Bypass(None).name(), "bypass");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Claimed::Holds => "holds",
            Claimed::Lacks => "lacks",
            Claimed::Fails => "fails",
            Claimed::Bypass(_) => "bypass",
            Claimed::Entries(_) => "entries",
        }
    }

    /// The bound, if a bound is claimed; `None` inside if that is that there is none.
    ///
    /// ```
    /// use doorway_algorithms::Claimed;
    /// assert_eq!([Claimed::Holds.bound(), Claimed::Entries(Some(2)).bound()], [None, Some(Some(2))]);
    /// ```
    #[must_use]
    pub const fn bound(self) -> Option<Option<u32>> {
        match self {
            Claimed::Holds | Claimed::Lacks | Claimed::Fails => None,
            Claimed::Bypass(bound) | Claimed::Entries(bound) => Some(bound),
        }
    }
}

impl Claim {
    const fn new(property: Property, claimed: Claimed) -> Claim {
        Claim { property, claimed, under: &[], from: None }
    }

    /// The same claim, under conditions.
    ///
    /// See the [type's example](Claim).
    #[must_use]
    pub const fn under(self, under: &'static [Condition]) -> Claim {
        Claim { under, ..self }
    }

    /// The same claim, for sizes from `n` processes and capacity `k` on.
    ///
    /// ```
    /// use doorway_algorithms::{Condition, claim::fails};
    /// use doorway_memory::Property;
    /// let late = fails(Property::StarvationFreedom).under(&[Condition::Crashes]).from(4, 3);
    /// assert_eq!(late.from, Some((4, 3)));
    /// ```
    #[must_use]
    pub const fn from(self, n: usize, k: usize) -> Claim {
        Claim { from: Some((n, k)), ..self }
    }
}

/// Claims that a property holds.
///
/// See the [example of `Claim`](Claim).
#[must_use]
pub const fn holds(property: Property) -> Claim {
    Claim::new(property, Claimed::Holds)
}

/// Claims that an algorithm does not have a property, and is not meant to.
///
/// See the [example of `Claim`](Claim).
#[must_use]
pub const fn lacks(property: Property) -> Claim {
    Claim::new(property, Claimed::Lacks)
}

/// Claims that an algorithm is broken: it does not have a property that it is meant to have.
///
/// See the [example of `Claim`](Claim).
#[must_use]
pub const fn fails(property: Property) -> Claim {
    Claim::new(property, Claimed::Fails)
}

/// Claims an exact bypass bound.
///
/// See the [example of `Claim`](Claim).
#[must_use]
pub const fn bypass(bound: Option<u32>) -> Claim {
    Claim::new(Property::Bypass, Claimed::Bypass(bound))
}

/// Claims an exact number of entries of other processes while one waits.
///
/// See the [example of `Claim`](Claim).
#[must_use]
pub const fn entries(bound: Option<u32>) -> Claim {
    Claim::new(Property::Bypass, Claimed::Entries(bound))
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |f: &mut fmt::Formatter<'_>, what: &str, bound: Option<u32>| match bound {
            Some(bound) => write!(f, "{what} {bound}"),
            None => write!(f, "{what} unbounded"),
        };
        match self.claimed {
            Claimed::Holds => write!(f, "{}", self.property)?,
            Claimed::Lacks | Claimed::Fails => write!(f, "not {}", self.property)?,
            Claimed::Bypass(most) => bound(f, "bypass", most)?,
            Claimed::Entries(most) => bound(f, "entries", most)?,
        }
        self.under.iter().try_for_each(|condition| write!(f, " {condition}"))
    }
}

/// Whether an algorithm is correct, as its claims say.
///
/// ```
/// use doorway_algorithms::{Status, broken::lock_one, mutex::bakery};
/// assert_eq!(bakery::ABOUT.status(), Status::Correct);
/// let status = lock_one::ABOUT.status();
/// assert_eq!(status.to_string(), "broken: it deadlocks if both processes compete");
/// assert_eq!((status.name(), status.why()), ("broken", Some("it deadlocks if both processes compete")));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It has every property that it is meant to have.
    Correct,
    /// It lacks one, and why.
    Broken(&'static str),
}

impl Status {
    /// The name in JSON.
    ///
    /// See the [type's example](Status).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Status::Correct => "correct",
            Status::Broken(_) => "broken",
        }
    }

    /// Why it is broken, if it is.
    ///
    /// See the [type's example](Status).
    #[must_use]
    pub const fn why(self) -> Option<&'static str> {
        match self {
            Status::Correct => None,
            Status::Broken(why) => Some(why),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Correct => f.pad("correct"),
            Status::Broken(why) => write!(f, "broken: {why}"),
        }
    }
}
