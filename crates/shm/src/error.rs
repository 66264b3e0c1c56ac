//! What can go wrong.
use std::{error, fmt, io, path::PathBuf};

/// What can go wrong, and the way out.
///
/// ```
/// use std::path::PathBuf;
///
/// use doorway_shm::Error;
/// let error = Error::OtherK { path: PathBuf::from("gpu"), file: 2, asked: 3 };
/// assert_eq!(error.to_string(), "`gpu` lets 2 in at a time, not 3; ask for 2, or forget it when nobody uses it");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A name that cannot be a file's.
    Name {
        /// As given.
        name: PathBuf,
    },
    /// A number of places or slots that is not possible.
    Size {
        /// How many may be inside.
        k: usize,
        /// How many may be inside or in line.
        slots: usize,
    },
    /// The runtime directory is not ours alone.
    Directory {
        /// Which it is.
        path: PathBuf,
        /// What is the matter with it.
        why: &'static str,
    },
    /// There is no such file.
    Missing {
        /// Where it would be.
        path: PathBuf,
    },
    /// The disk is full.
    Full {
        /// What was to be created.
        path: PathBuf,
        /// How many bytes it takes.
        bytes: usize,
    },
    /// The file is something else, or was damaged.
    Garbage {
        /// Which file.
        path: PathBuf,
        /// What is the matter with it.
        why: &'static str,
    },
    /// The file was made by a version that keeps it otherwise.
    Version {
        /// Which file.
        path: PathBuf,
        /// Its version.
        file: u64,
        /// The version we know.
        ours: u64,
    },
    /// The file is for another number of places.
    OtherK {
        /// Which file.
        path: PathBuf,
        /// How many the file lets in.
        file: usize,
        /// How many were asked for.
        asked: usize,
    },
    /// The registers hold what no algorithm has written.
    Damaged {
        /// Which file.
        path: PathBuf,
    },
    /// Someone uses the file.
    InUse {
        /// Which file.
        path: PathBuf,
    },
    /// The handle belongs to the process that has forked us.
    Forked {
        /// Which file.
        path: PathBuf,
    },
    /// The system says no.
    Io {
        /// Which file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Name { name } => {
                write!(
                    f,
                    "`{}` is no name; give a name without `/` that does not begin with a dot, or a path",
                    name.display()
                )
            }
            Error::Size { k, slots } => write!(
                f,
                "{k} at a time with {slots} slots is not possible; there must be 1 at least, and more slots than that, up to {}",
                crate::MOST_SLOTS
            ),
            Error::Directory { path, why } => {
                write!(
                    f,
                    "`{}` {why}; make it a directory of yours with mode 0700, or give a path with a `/`",
                    path.display()
                )
            }
            Error::Missing { path } => {
                write!(f, "`{}` does not exist; whoever acquires it first creates it", path.display())
            }
            Error::Full { path, bytes } => {
                write!(
                    f,
                    "no space left for `{}`, which takes {bytes} bytes; free some, or give another path",
                    path.display()
                )
            }
            Error::Garbage { path, why } => {
                write!(
                    f,
                    "`{}` {why}; nothing was changed. Give another name, or remove it if it is not needed",
                    path.display()
                )
            }
            Error::Version { path, file, ours } => write!(
                f,
                "`{}` has format {file}, and this program knows {ours}; use programs of one version, or remove it when nobody uses it",
                path.display()
            ),
            Error::OtherK { path, file, asked } => write!(
                f,
                "`{}` lets {file} in at a time, not {asked}; ask for {file}, or forget it when nobody uses it",
                path.display()
            ),
            Error::Damaged { path } => write!(
                f,
                "`{}` was damaged while in use; let everyone who uses it end, then it mends itself",
                path.display()
            ),
            Error::InUse { path } => write!(f, "`{}` is in use; wait until nobody uses it", path.display()),
            Error::Forked { path } => {
                write!(f, "`{}` was opened before this process was forked; open it again here", path.display())
            }
            Error::Io { path, doing, source } => write!(f, "cannot {doing} `{}`: {source}", path.display()),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
