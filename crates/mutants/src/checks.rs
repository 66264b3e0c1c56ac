//! The checks that are run on mutants, and on the originals in tests.
//!
//! A check is an algorithm, a size, a set of executions and properties. Its tier says how much it costs, which decides
//! when it is used.
use std::{fmt, sync::LazyLock};

use doorway_algorithms::{About, Condition, Extent, Finds, Pinned, Status, registry};
use doorway_memory::Property;

use crate::table_of_checks::CHECKS;

/// Every check: those of the table, and of a correct algorithm that is not in the table, those pinned in its file.
#[must_use]
pub fn checks() -> &'static [Check] {
    static ALL: LazyLock<Vec<Check>> = LazyLock::new(|| {
        let is_listed = |about: &About| CHECKS.iter().any(|check| check.algorithm == about.name);
        let others = registry::all().iter().filter(|about| about.status() == Status::Correct && !is_listed(about));
        let pinned = others.flat_map(|about| about.pinned.iter().filter_map(|pinned| Check::pinned(about, pinned)));
        CHECKS.iter().copied().chain(pinned).collect()
    });
    &ALL
}

/// When a check is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// Seconds at most; together the quick checks are a test suite for every change.
    Quick,
    /// Used on mutants that no quick check refutes.
    Slow,
    /// Minutes; used with `--long`, on mutants that no other check refutes and that are not argued equivalent.
    Long,
}

/// The memory model of the registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registers {
    /// Sequentially consistent.
    Atomic,
    /// A read that overlaps a write returns any value.
    Safe,
    /// Total store order, with store buffers: the only model in which a fence matters.
    Tso,
}

/// The model in which remote memory references are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// The CC model, with coherent caches.
    Cc,
    /// The DSM model, with distributed shared memory.
    Dsm,
}

/// One check of one algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Check {
    /// The algorithm's name in the catalogue.
    pub algorithm: &'static str,
    /// The number of processes.
    pub n: usize,
    /// The capacity; 1 for a mutex or a part.
    pub k: usize,
    /// The most passages of each process.
    pub passages: Option<u32>,
    /// The most passages of all processes together.
    pub in_all: Option<u32>,
    /// The number of processes that may crash.
    pub crashes: usize,
    /// Whether processes die and are reaped.
    pub deaths: bool,
    /// Whether waiters abort.
    pub aborts: bool,
    /// Whether processes die, and live ones are taken for dead.
    pub expiries: bool,
    /// Whether a passage starts only while every other process is in the remainder.
    pub uncontended: bool,
    /// Whether states that differ by a permutation of processes are counted as one.
    pub symmetric: bool,
    /// The memory model of the registers.
    pub registers: Registers,
    /// The most states to search. This does not decide the original, but a failure still refutes a mutant.
    pub max_states: Option<u64>,
    /// The properties to decide; if empty, all that are claimed.
    pub only: &'static [Property],
    /// The model in which remote memory references of a passage are counted, instead of deciding properties.
    pub counting: Option<Counting>,
    /// When the check is used.
    pub tier: Tier,
}

impl Check {
    /// A quick check of every claim, for all executions of `n` processes with capacity 1.
    #[must_use]
    pub const fn new(algorithm: &'static str, n: usize) -> Check {
        Check {
            algorithm,
            n,
            k: 1,
            passages: None,
            in_all: None,
            crashes: 0,
            deaths: false,
            aborts: false,
            expiries: false,
            uncontended: false,
            symmetric: false,
            max_states: None,
            registers: Registers::Atomic,
            only: &[],
            counting: None,
            tier: Tier::Quick,
        }
    }

    /// A check that is pinned in an algorithm's file; `None` if it finds something else than states, or takes long.
    fn pinned(about: &About, pinned: &Pinned) -> Option<Check> {
        let finds_states = matches!(pinned.finds, Finds::States(_) | Finds::Fenced(..));
        if !finds_states || pinned.is_long() {
            return None;
        }
        let has = |condition| pinned.under.contains(&condition);
        let (passages, in_all) = match pinned.extent {
            Extent::Surveyed => (about.survey.passages(), None),
            Extent::Whole => (None, None),
            Extent::Passages(passages) => (Some(passages), None),
            Extent::InAll(passages) => (None, Some(passages)),
        };
        Some(Check {
            k: about.size(Some(pinned.n), pinned.k).ok()?.k,
            passages,
            in_all,
            crashes: pinned.crashes,
            deaths: has(Condition::Deaths),
            aborts: has(Condition::Aborts),
            expiries: has(Condition::Expiries),
            symmetric: pinned.symmetric,
            registers: match () {
                () if has(Condition::SafeRegisters) => Registers::Safe,
                () if has(Condition::Tso) => Registers::Tso,
                () => Registers::Atomic,
            },
            ..Check::new(about.name, pinned.n)
        })
    }

    /// With capacity `k`.
    #[must_use]
    pub const fn k(self, k: usize) -> Check {
        Check { k, ..self }
    }

    /// With at most `passages` passages of each process.
    #[must_use]
    pub const fn passages(self, passages: u32) -> Check {
        Check { passages: Some(passages), ..self }
    }

    /// With at most `passages` passages of all processes together.
    #[must_use]
    pub const fn in_all(self, passages: u32) -> Check {
        Check { in_all: Some(passages), ..self }
    }

    /// With up to `crashes` crashes.
    #[must_use]
    pub const fn crashes(self, crashes: usize) -> Check {
        Check { crashes, ..self }
    }

    /// With deaths.
    #[must_use]
    pub const fn deaths(self) -> Check {
        Check { deaths: true, ..self }
    }

    /// With aborts.
    #[must_use]
    pub const fn aborts(self) -> Check {
        Check { aborts: true, ..self }
    }

    /// With passages that do not overlap. Counting remote memory references then shows whether a fast path is taken.
    #[must_use]
    pub const fn uncontended(self) -> Check {
        Check { uncontended: true, ..self }
    }

    /// With states that differ by a permutation of processes counted as one. The algorithm must be symmetric.
    #[must_use]
    pub const fn symmetric(self) -> Check {
        Check { symmetric: true, ..self }
    }

    /// On safe registers.
    #[must_use]
    pub const fn safe(self) -> Check {
        Check { registers: Registers::Safe, ..self }
    }

    /// With store buffers.
    #[must_use]
    pub const fn tso(self) -> Check {
        Check { registers: Registers::Tso, ..self }
    }

    /// Among the first `states` states only.
    #[must_use]
    pub const fn among(self, states: u64) -> Check {
        Check { max_states: Some(states), ..self }
    }

    /// Decides only these properties.
    #[must_use]
    pub const fn only(self, only: &'static [Property]) -> Check {
        Check { only, ..self }
    }

    /// Counts remote memory references with coherent caches.
    #[must_use]
    pub const fn cc(self) -> Check {
        Check { counting: Some(Counting::Cc), ..self }
    }

    /// Counts remote memory references in distributed shared memory.
    #[must_use]
    pub const fn dsm(self) -> Check {
        Check { counting: Some(Counting::Dsm), ..self }
    }

    /// Only for mutants that no quick check refutes.
    #[must_use]
    pub const fn slow(self) -> Check {
        Check { tier: Tier::Slow, ..self }
    }

    /// Only with `--long`.
    #[must_use]
    pub const fn long(self) -> Check {
        Check { tier: Tier::Long, ..self }
    }

    /// The check as text, without the algorithm's name.
    #[must_use]
    pub fn shape(&self) -> String {
        let mut words = vec![format!("n={}", self.n)];
        words.extend((self.k > 1).then(|| format!("k={}", self.k)));
        words.extend(self.passages.map(|passages| format!("passages={passages}")));
        words.extend(self.in_all.map(|passages| format!("passages-in-all={passages}")));
        words.extend((self.crashes > 0).then(|| format!("crashes={}", self.crashes)));
        words.extend(self.deaths.then(|| "deaths".to_string()));
        words.extend(self.aborts.then(|| "aborts".to_string()));
        words.extend(self.expiries.then(|| "expiries".to_string()));
        words.extend(self.uncontended.then(|| "uncontended".to_string()));
        words.extend(self.symmetric.then(|| "symmetric".to_string()));
        words.extend(match self.registers {
            Registers::Atomic => None,
            Registers::Safe => Some("safe".to_string()),
            Registers::Tso => Some("tso".to_string()),
        });
        words.extend(self.counting.map(|counting| match counting {
            Counting::Cc => "rmr-cc".to_string(),
            Counting::Dsm => "rmr-dsm".to_string(),
        }));
        words.extend(self.only.iter().map(ToString::to_string));
        words.extend(self.max_states.map(|states| format!("max-states={states}")));
        words.join(" ")
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.algorithm, self.shape())
    }
}
