//! The checks that mutants are put to, and that tests can use too: a table, and nothing else.
//!
//! A check is an algorithm, a size, and the runs and properties to look at. Each says how much it costs, which decides
//! when it is used.
use core::fmt;

use doorway_memory::Property;

pub use crate::table_of_checks::CHECKS;

/// When a check is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// Seconds at most; together these are a test suite that can run on every change.
    Quick,
    /// Used for mutants that every quick check leaves standing.
    Slow,
    /// Minutes; used with `--long`, on mutants that every other check leaves standing and that are not argued equivalent.
    Long,
}

/// What the registers are like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registers {
    /// Sequentially consistent.
    Atomic,
    /// A read that overlaps a write returns anything.
    Safe,
    /// With store buffers: the only ones for which a fence matters.
    Tso,
}

/// Where remote memory references are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// With coherent caches.
    Cc,
    /// In distributed shared memory.
    Dsm,
}

/// One check of one algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Check {
    /// The algorithm's name in the catalogue.
    pub algorithm: &'static str,
    /// How many processes.
    pub n: usize,
    /// The capacity; 1 for a mutex or a part.
    pub k: usize,
    /// The most passages of each process.
    pub passages: Option<u32>,
    /// The most passages of all processes together.
    pub in_all: Option<u32>,
    /// How many processes may crash.
    pub crashes: usize,
    /// Whether processes die and are reaped.
    pub deaths: bool,
    /// Whether waiters abort.
    pub abandons: bool,
    /// Whether a passage starts only while every other process is in the remainder.
    pub uncontended: bool,
    /// Whether states that differ only in who is who count as one.
    pub symmetric: bool,
    /// What the registers are like.
    pub registers: Registers,
    /// The most states to search. The original is not decided then; a mutant that fails is refuted all the same.
    pub max_states: Option<u64>,
    /// The properties to decide; all that are claimed if none is named.
    pub only: &'static [Property],
    /// Counts remote memory references of a passage instead of deciding properties.
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
            abandons: false,
            uncontended: false,
            symmetric: false,
            max_states: None,
            registers: Registers::Atomic,
            only: &[],
            counting: None,
            tier: Tier::Quick,
        }
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
    pub const fn abandons(self) -> Check {
        Check { abandons: true, ..self }
    }

    /// With one passage after the other. Counting remote memory references, this shows whether a fast path is taken.
    #[must_use]
    pub const fn uncontended(self) -> Check {
        Check { uncontended: true, ..self }
    }

    /// With processes that are not told apart. The algorithm must be symmetric.
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

    /// Searches the first `states` states only.
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

    /// Only for mutants that quick checks leave standing.
    #[must_use]
    pub const fn slow(self) -> Check {
        Check { tier: Tier::Slow, ..self }
    }

    /// Only if asked for.
    #[must_use]
    pub const fn long(self) -> Check {
        Check { tier: Tier::Long, ..self }
    }

    /// The check in words, without the algorithm's name.
    #[must_use]
    pub fn shape(&self) -> String {
        let mut words = vec![format!("n={}", self.n)];
        words.extend((self.k > 1).then(|| format!("k={}", self.k)));
        words.extend(self.passages.map(|passages| format!("passages={passages}")));
        words.extend(self.in_all.map(|passages| format!("passages-in-all={passages}")));
        words.extend((self.crashes > 0).then(|| format!("crashes={}", self.crashes)));
        words.extend(self.deaths.then(|| "deaths".to_string()));
        words.extend(self.abandons.then(|| "aborts".to_string()));
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
