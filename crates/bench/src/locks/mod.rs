//! The locks that can be measured, one file for each group.
mod catalogue;
mod ours;
#[cfg(feature = "peers")]
mod peers;
mod standard;

use std::{error, fmt, sync::atomic::AtomicU64, sync::atomic::Ordering::SeqCst};

use crossbeam_utils::CachePadded;

use crate::job::{AnyLock, Job, Lock, Tally};

/// A lock that can be measured.
///
/// ```
/// let lock = &doorway_bench::candidates()[0];
/// assert_eq!((lock.name, lock.group.name()), ("doorway-mutex", "ours"));
/// ```
#[non_exhaustive]
pub struct Candidate {
    /// The name of the lock in results.
    pub name: &'static str,
    /// The origin of the lock.
    pub group: Group,
    /// The order in which the lock admits threads.
    pub order: &'static str,
    /// Whether its waiters neither yield nor park, so that with more threads than processors they hinder the holder.
    pub(crate) only_spins: bool,
    /// Makes the lock, if it supports the capacity and the number of threads.
    pub(crate) make: Make,
}

/// A function of k and of the number of threads.
type Make = Box<dyn Fn(usize, usize) -> Option<Box<dyn AnyLock>>>;

/// The origin of a lock.
///
/// ```
/// assert_eq!(doorway_bench::Group::Standard.name(), "std");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Group {
    /// The crate `doorway`.
    Ours,
    /// The standard library.
    Standard,
    /// Other crates, and the C library.
    Peers,
    /// The algorithms of the catalogue, without wrappers: thread p is process p.
    Catalogue,
}

impl Group {
    /// The name, as in `doorway bench --only`.
    ///
    /// See [`Group`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Group::Ours => "ours",
            Group::Standard => "std",
            Group::Peers => "peers",
            Group::Catalogue => "catalogue",
        }
    }
}

/// Threads enter in the order in which they complete the doorway.
pub(crate) const FIFO: &str = "fifo";
/// Threads enter in no particular order.
pub(crate) const NONE: &str = "none";

impl Candidate {
    fn new(
        group: Group,
        name: &'static str,
        order: &'static str,
        make: impl Fn(usize, usize) -> Option<Box<dyn AnyLock>> + 'static,
    ) -> Candidate {
        Candidate { name, group, order, only_spins: false, make: Box::new(make) }
    }

    /// The same lock, whose waiters neither yield nor park.
    #[cfg(feature = "peers")]
    fn only_spinning(self) -> Candidate {
        Candidate { only_spins: true, ..self }
    }

    /// A lock with capacity 1.
    fn mutex<L: Lock + 'static>(group: Group, name: &'static str, order: &'static str, make: fn() -> L) -> Candidate {
        Candidate::new(group, name, order, move |k, _| {
            (k == 1).then(|| Box::new(CachePadded::new(make())) as Box<dyn AnyLock>)
        })
    }

    /// A lock with any capacity.
    fn semaphore<L: Lock + 'static>(
        group: Group,
        name: &'static str,
        order: &'static str,
        make: fn(usize) -> L,
    ) -> Candidate {
        Candidate::new(group, name, order, move |k, _| Some(Box::new(CachePadded::new(make(k)))))
    }
}

/// A lock in cache lines of its own, so that its neighbours in memory do not affect the measurement.
impl<L: Lock> AnyLock for CachePadded<L> {
    fn work(&self, p: usize, job: &Job<'_>) -> Tally {
        L::work(self, p, job)
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate").field("name", &self.name).field("order", &self.order).finish_non_exhaustive()
    }
}

/// Every lock that can be measured: those of `doorway`, the standard library, the feature `peers`, and the catalogue.
///
/// See [`Candidate`].
#[must_use]
pub fn candidates() -> Vec<Candidate> {
    let mut all = ours::locks();
    all.extend(standard::locks());
    #[cfg(feature = "peers")]
    all.extend(peers::locks());
    all.extend(catalogue::locks());
    all
}

/// The locks with these names or in these groups, in the order of [`candidates`]. Without names, all locks but the
/// catalogue's.
///
/// # Errors
/// If no lock and no group has one of the names.
///
/// ```
/// use doorway_bench::choose;
/// assert_eq!(choose(&["std-mutex", "bakery"])?.len(), 2);
/// assert!(choose(&["ours"])?.len() >= 2);
/// assert_eq!(
///     choose(&["futex"]).unwrap_err().to_string(),
///     "no lock is called `futex`; try `ours`, `std`, `peers`, `catalogue` or a name of `doorway bench --list`",
/// );
/// # Ok::<(), doorway_bench::Unknown>(())
/// ```
pub fn choose(names: &[impl AsRef<str>]) -> Result<Vec<Candidate>, Unknown> {
    let all = candidates();
    let matches = |lock: &Candidate, name: &str| lock.name == name || lock.group.name() == name;
    for name in names.iter().map(AsRef::as_ref) {
        if !all.iter().any(|lock| matches(lock, name)) {
            return Err(Unknown { name: name.to_string() });
        }
    }
    let is_chosen = |lock: &Candidate| match names {
        [] => lock.group != Group::Catalogue,
        _ => names.iter().any(|name| matches(lock, name.as_ref())),
    };
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// The error for a name that no lock has.
///
/// See [`choose`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    name: String,
}

impl error::Error for Unknown {}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.as_str() {
            "peers" => f.write_str(
                "`peers` are not part of this build; `cargo run --release --features peers -- bench` has them",
            ),
            name => write!(
                f,
                "no lock is called `{name}`; try `ours`, `std`, `peers`, `catalogue` or a name of `doorway bench --list`"
            ),
        }
    }
}

/// No lock: measures the work by itself. Not among the candidates, since it does not exclude.
pub(crate) fn no_lock() -> Candidate {
    Candidate::new(Group::Standard, "no lock", NONE, |_, _| Some(Box::new(NoLock)))
}

struct NoLock;

impl Lock for NoLock {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        critical_section();
    }
}

/// One atomic addition: the cost of the simplest possible lock.
#[derive(Default)]
pub(crate) struct FetchAdd(AtomicU64);

impl Lock for FetchAdd {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        self.0.fetch_add(1, SeqCst);
        critical_section();
    }
}
