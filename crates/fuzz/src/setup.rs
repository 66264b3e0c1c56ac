//! Setups: the processes, memory, failures and limits of a program, the same for the checker and for the explorer.
use std::fmt;

use doorway_checker::Model;

/// The memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mem {
    /// Sequential consistency.
    Sc,
    /// Safe registers.
    Safe,
    /// Store buffers, with every fence.
    Tso,
    /// Store buffers, without fences.
    TsoNoFences,
    /// Store buffers, with a fence after every write too.
    TsoFencesEverywhere,
}

impl Mem {
    /// Whether there are store buffers.
    pub fn is_tso(self) -> bool {
        matches!(self, Mem::Tso | Mem::TsoNoFences | Mem::TsoFencesEverywhere)
    }
}

/// What a program is checked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Setup {
    /// How many processes.
    pub n: usize,
    /// The capacity.
    pub k: usize,
    /// How many processes may crash.
    pub crashes: usize,
    /// Whether processes die and are reaped.
    pub deaths: bool,
    /// Whether waiters abort.
    pub aborts: bool,
    /// Whether live processes are taken for dead, too. There are deaths then.
    pub expiries: bool,
    /// The memory.
    pub mem: Mem,
    /// At most this many passages of each process.
    pub passages: Option<u32>,
    /// At most this many passages of all processes together.
    pub passages_in_all: Option<u32>,
    /// Whether a part's calls do not overlap.
    pub sequential: bool,
    /// The checker stops at this many states.
    pub max_states: u64,
    /// Whether the checker computes steps again instead of storing them.
    pub recomputes: bool,
    /// Whether the checker forgets values that no step depends on.
    pub forgets: bool,
    /// Whether the checker merges states that no step can tell apart.
    pub merges: bool,
}

impl Setup {
    /// `n` processes, one holder, nothing else.
    pub fn new(n: usize) -> Setup {
        Setup {
            n,
            k: 1,
            crashes: 0,
            deaths: false,
            aborts: false,
            expiries: false,
            mem: Mem::Sc,
            passages: None,
            passages_in_all: None,
            sequential: false,
            max_states: 8_000,
            recomputes: false,
            forgets: false,
            merges: false,
        }
    }

    /// The checker's model.
    pub fn model(&self) -> Model {
        let mut model = Model::new(self.n).k(self.k).crashes(self.crashes).threads(1).max_states(self.max_states);
        model = match self.mem {
            Mem::Sc => model,
            Mem::Safe => model.safe_registers(),
            Mem::Tso => model.tso(),
            Mem::TsoNoFences => model.tso_without_fences(),
            Mem::TsoFencesEverywhere => model.tso_with_fences_everywhere(),
        };
        if self.deaths {
            model = model.deaths();
        }
        if self.aborts {
            model = model.aborts();
        }
        if self.expiries {
            model = model.expiries();
        }
        if let Some(passages) = self.passages {
            model = model.passages(passages);
        }
        if let Some(passages) = self.passages_in_all {
            model = model.passages_in_all(passages);
        }
        if self.sequential {
            model = model.sequential();
        }
        if self.recomputes {
            model = model.without_edges();
        }
        if self.forgets {
            model = model.forget();
        }
        if self.merges {
            model = model.merge();
        }
        model
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n = {}, k = {}, {:?}", self.n, self.k, self.mem)?;
        if self.crashes > 0 {
            write!(f, ", up to {} crashes", self.crashes)?;
        }
        for (on, what) in [
            (self.deaths, "deaths"),
            (self.aborts, "aborts"),
            (self.expiries, "expiries"),
            (self.sequential, "sequential"),
            (self.recomputes, "without edges"),
            (self.forgets, "forgetting"),
            (self.merges, "merging"),
        ] {
            if on {
                write!(f, ", {what}")?;
            }
        }
        if let Some(passages) = self.passages {
            write!(f, ", at most {passages} passages each")?;
        }
        if let Some(passages) = self.passages_in_all {
            write!(f, ", at most {passages} passages in all")?;
        }
        write!(f, ", max-states {}", self.max_states)
    }
}
