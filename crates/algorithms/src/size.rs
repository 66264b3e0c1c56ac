//! The sizes of an algorithm: the number of processes and the capacity.
use core::{error, fmt};

use doorway_memory::Queue;

use crate::{About, Kind, Processes};

/// The number of processes and the capacity.
///
/// ```
/// use doorway_algorithms::{Size, kexclusion::k_bakery};
/// assert_eq!(k_bakery::ABOUT.size(Some(4), Some(2)), Ok(Size { n: 4, k: 2 }));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// The number of processes.
    pub n: usize,
    /// The capacity; 1 for a mutex, and without meaning for a part.
    pub k: usize,
}

impl About {
    /// The size that is asked for, with defaults for what is not given, on a memory whose registers are words.
    ///
    /// # Errors
    /// If the algorithm does not support that number of processes, or that k.
    ///
    /// ```
    /// use doorway_algorithms::{Remedy, Size, mutex::bakery};
    /// assert_eq!(bakery::ABOUT.size(None, None), Ok(Size { n: 3, k: 1 }));
    /// let error = bakery::ABOUT.size(Some(1), None).unwrap_err();
    /// assert_eq!(error.to_string(), "`bakery` needs at least 2 processes, not 1");
    /// assert_eq!(error.remedy(), Remedy::N(2));
    /// ```
    pub fn size(&self, n: Option<usize>, k: Option<usize>) -> Result<Size, SizeError> {
        let n = n.unwrap_or(self.default_n);
        let wrong = |limit| Err(SizeError { name: self.name, limit });
        match self.processes {
            Processes::Exactly(only) if n != only => return wrong(Limit::Exactly { only, n }),
            Processes::AtLeast(least) | Processes::Between(least, _) | Processes::Queued(least) if n < least => {
                return wrong(Limit::AtLeast { least, n });
            }
            Processes::Between(_, most) if n > most => return wrong(Limit::AtMost { most, n }),
            Processes::Queued(_) if n > Queue::MOST => return wrong(Limit::AtMost { most: Queue::MOST, n }),
            _ => {}
        }
        match (self.kind, k) {
            (Kind::Part, Some(_)) => wrong(Limit::NoK),
            (Kind::Mutex, Some(k)) if k != 1 => wrong(Limit::CapacityOne { k }),
            (Kind::KExclusion, Some(k)) if k == 0 || k >= n => wrong(Limit::Capacity { most: n - 1, k }),
            (Kind::KExclusion, None) => Ok(Size { n, k: 2.min(n - 1) }),
            (_, k) => Ok(Size { n, k: k.unwrap_or(1) }),
        }
    }
}

/// The error for a size that an algorithm does not support.
///
/// ```
/// use doorway_algorithms::mutex::peterson;
/// let error = peterson::ABOUT.size(Some(3), None).unwrap_err();
/// assert_eq!(error.to_string(), "`peterson` is for 2 processes, not 3");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SizeError {
    name: &'static str,
    limit: Limit,
}

/// What to change about a size that an algorithm does not support.
///
/// See the [example of `About::size`](About::size).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// This number of processes.
    N(usize),
    /// This capacity.
    K(usize),
    /// Not to ask for a number of processes.
    DefaultN,
    /// Not to ask for a capacity.
    DefaultK,
    /// Another algorithm, for more processes.
    Another,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    Exactly { only: usize, n: usize },
    AtLeast { least: usize, n: usize },
    AtMost { most: usize, n: usize },
    CapacityOne { k: usize },
    Capacity { most: usize, k: usize },
    NoK,
}

impl SizeError {
    /// What to change.
    ///
    /// See the [example of `About::size`](About::size).
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        match self.limit {
            Limit::Exactly { only, n } if n > only => Remedy::Another,
            Limit::Exactly { .. } => Remedy::DefaultN,
            Limit::AtLeast { least: n, .. } | Limit::AtMost { most: n, .. } => Remedy::N(n),
            Limit::Capacity { most, .. } => Remedy::K(most),
            Limit::CapacityOne { .. } | Limit::NoK => Remedy::DefaultK,
        }
    }
}

impl error::Error for SizeError {}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ", self.name)?;
        match self.limit {
            Limit::Exactly { only, n } => write!(f, "is for {only} processes, not {n}"),
            Limit::AtLeast { least, n } => write!(f, "needs at least {least} processes, not {n}"),
            Limit::AtMost { most, n } => write!(f, "is for at most {most} processes, not {n}"),
            Limit::CapacityOne { k } => write!(f, "is mutual exclusion, so k is 1, not {k}"),
            Limit::Capacity { most, k } => write!(f, "needs a k from 1 to {most}, not {k}"),
            Limit::NoK => f.write_str("is a part and has no k"),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::{
        kexclusion::k_bakery,
        mutex::{bakery, peterson},
        parts::bouncer,
    };

    fn refusal(about: &About, n: Option<usize>, k: Option<usize>) -> (alloc::string::String, Remedy) {
        let error = about.size(n, k).unwrap_err();
        (error.to_string(), error.remedy())
    }

    #[test]
    fn supported_sizes_are_accepted_and_the_rest_defaults() {
        assert_eq!(peterson::ABOUT.size(None, Some(1)), Ok(Size { n: 2, k: 1 }));
        assert_eq!(bakery::ABOUT.size(Some(1024), None), Ok(Size { n: 1024, k: 1 }));
        assert_eq!(bouncer::ABOUT.size(None, None), Ok(Size { n: 3, k: 1 }));
        assert_eq!(k_bakery::ABOUT.size(None, None), Ok(Size { n: 3, k: 2 }));
    }

    #[test]
    fn unsupported_sizes_are_refused_with_a_remedy() {
        let is = |about: &About, n, k, message: &str, remedy| {
            assert_eq!(refusal(about, n, k), (message.to_string(), remedy));
        };
        is(&peterson::ABOUT, Some(1), None, "`peterson` is for 2 processes, not 1", Remedy::DefaultN);
        is(&peterson::ABOUT, Some(3), None, "`peterson` is for 2 processes, not 3", Remedy::Another);
        is(&bakery::ABOUT, Some(1), None, "`bakery` needs at least 2 processes, not 1", Remedy::N(2));
        is(&bakery::ABOUT, None, Some(2), "`bakery` is mutual exclusion, so k is 1, not 2", Remedy::DefaultK);
        is(&bouncer::ABOUT, None, Some(1), "`bouncer` is a part and has no k", Remedy::DefaultK);
        is(&k_bakery::ABOUT, None, Some(3), "`k-bakery` needs a k from 1 to 2, not 3", Remedy::K(2));
    }
}
