//! How a search reports its progress, and is cancelled.
use doorway_memory::Name;

/// Watches a search, and can end it.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering::Relaxed}};
///
/// use doorway_algorithms::mutex::peterson::Peterson;
/// use doorway_checker::{Model, Observer, Progress, check};
///
/// #[derive(Default)]
/// struct Latest(AtomicU64);
///
/// impl Observer for Latest {
///     fn progress(&self, progress: &Progress) {
///         self.0.store(progress.states, Relaxed);
///     }
/// }
///
/// let latest = Arc::new(Latest::default());
/// let report = check(&Model::new(2).observer(latest.clone()), Peterson::new)?;
/// assert_eq!(latest.0.load(Relaxed), report.states);
/// # Ok::<(), doorway_checker::Error>(())
/// ```
pub trait Observer: Send + Sync {
    /// Called from time to time during the search, and once before the properties are checked.
    fn progress(&self, _: &Progress) {}

    /// Whether to stop. Called from time to time, from any thread; once it has returned true it must go on to do so.
    fn cancelled(&self) -> bool {
        false
    }
}

/// The progress of a search.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// What the check is doing.
    pub phase: Phase,
    /// States found so far.
    pub states: u64,
    /// The length of the executions being extended.
    pub depth: u32,
    /// Bytes in use.
    pub bytes: u64,
    /// A register that has held more than 1,000 values, and how many. If it is a number that grows for ever, the search
    /// does not end.
    pub growing: Option<(Name, usize)>,
}

/// What a check is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Finding out which states no step can tell apart; the states counted are classes of such states.
    Merging,
    /// Finding states.
    Searching,
    /// Checking the properties.
    Judging,
}
