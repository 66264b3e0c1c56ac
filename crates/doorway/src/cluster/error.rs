//! What can go wrong.
use std::{error, fmt};

/// Why an operation on a semaphore of a cluster failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// What etcd, or the way to it, has against it.
    Etcd(doorway_etcd::Error),
    /// The semaphore exists with another capacity.
    OtherK {
        /// Its name.
        name: String,
        /// The capacity that it has.
        found: usize,
        /// The capacity that was asked for.
        asked: usize,
    },
    /// There is no such semaphore.
    Missing {
        /// Its name.
        name: String,
    },
    /// The semaphore has holders or waiters.
    InUse {
        /// Its name.
        name: String,
    },
    /// The capacity is out of range.
    Size {
        /// The capacity.
        k: usize,
        /// The largest one.
        max: usize,
    },
}

impl From<doorway_etcd::Error> for Error {
    fn from(error: doorway_etcd::Error) -> Error {
        Error::Etcd(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Etcd(error) => error.fmt(f),
            Error::OtherK { name, found, asked } => {
                write!(
                    f,
                    "`{name}` has capacity {found}, not {asked}; ask for {found}, or forget it while no process uses it"
                )
            }
            Error::Missing { name } => write!(f, "there is no semaphore `{name}` on etcd"),
            Error::InUse { name } => write!(f, "`{name}` is in use; wait until it has no holders and waiters"),
            Error::Size { k, max } => write!(f, "a capacity is from 1 to {max}, not {k}"),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::Etcd(error) => Some(error),
            _ => None,
        }
    }
}
