//! What a model assumes of processes and memory.
use crate::model::{Fences, Model};

/// What a [`Model`] assumes of processes and memory.
///
/// See the [example of `Model::assumptions`](Model::assumptions).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assumptions {
    /// The number of processes.
    pub n: usize,
    /// The capacity.
    pub k: usize,
    /// The number of processes that may crash.
    pub crashes: usize,
    /// Whether processes may die and be reaped.
    pub deaths: bool,
    /// Whether waiters may abort.
    pub aborts: bool,
    /// Whether live processes may be taken for dead.
    pub expiries: bool,
    /// Whether a read that overlaps a write returns any value.
    pub safe_registers: bool,
    /// Whether writes pass through store buffers.
    pub tso: bool,
    /// Whether every fence waits for its store buffer; without meaning if there are none.
    pub fenced: bool,
}

impl Model {
    /// What the model assumes of processes and memory.
    ///
    /// ```
    /// let assumed = doorway_checker::Model::new(3).k(2).crashes(1).tso().assumptions();
    /// assert_eq!((assumed.n, assumed.k, assumed.crashes), (3, 2, 1));
    /// assert!(assumed.tso && assumed.fenced && !assumed.deaths);
    /// ```
    #[must_use]
    pub fn assumptions(&self) -> Assumptions {
        Assumptions {
            n: self.n,
            k: self.k,
            crashes: self.crashes,
            deaths: self.deaths,
            aborts: self.aborts,
            expiries: self.expiries,
            safe_registers: self.safe_registers,
            tso: self.store_buffers,
            fenced: matches!(self.fences, Fences::All | Fences::Everywhere),
        }
    }
}
