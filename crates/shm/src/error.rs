//! The errors of this crate.
use std::{error, fmt, io, path::PathBuf};

/// An error. Its message says what to do about it.
///
/// ```
/// use std::path::PathBuf;
///
/// use doorway_shm::Error;
/// let error = Error::OtherK { path: PathBuf::from("gpu"), file: 2, asked: 3 };
/// assert_eq!(error.to_string(), "`gpu` has capacity 2, not 3; ask for 2, or change it with `resize`");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The name cannot be that of a file.
    Name {
        /// The name as given.
        name: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The capacity is out of range.
    Size {
        /// The capacity asked for.
        k: usize,
        /// The largest possible one.
        max: usize,
    },
    /// The user's directory is not private to the user.
    Directory {
        /// The path of the directory.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The file does not exist.
    Missing {
        /// The path where it was expected.
        path: PathBuf,
    },
    /// The disk is full, or the file would be larger than the process may make it.
    Full {
        /// The path of the file to be created.
        path: PathBuf,
        /// Its size in bytes.
        bytes: usize,
        /// The error of the system call.
        source: io::Error,
    },
    /// The file is not a semaphore, or was damaged.
    Garbage {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The file was created by a version of this crate that uses another format.
    Version {
        /// The path of the file.
        path: PathBuf,
        /// The format version of the file.
        file: u64,
        /// The format version that this crate supports.
        supported: u64,
    },
    /// The file has another capacity.
    OtherK {
        /// The path of the file.
        path: PathBuf,
        /// The capacity of the file.
        file: usize,
        /// The capacity asked for.
        asked: usize,
    },
    /// A register holds a value that no algorithm has written.
    Damaged {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file is in use.
    InUse {
        /// The path of the file.
        path: PathBuf,
    },
    /// The handle was opened by a parent of this process, before the fork.
    Forked {
        /// The path of the file.
        path: PathBuf,
    },
    /// A system call failed.
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The operation that failed.
        doing: &'static str,
        /// The error of the system call.
        source: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Name { name, why } => {
                write!(
                    f,
                    "{name:?} {why}; give a name without `/` that does not begin with a dot and has at most 200 bytes, or \
                     a path"
                )
            }
            Error::Size { k, max } => write!(f, "capacity {k} is out of range; it must be from 1 to {max}"),
            Error::Directory { path, why } => {
                write!(
                    f,
                    "`{}` {why}; make it a directory that you own, with mode 0700, name another one in DOORWAY_DIR, or give a path \
                     with a `/` instead of a name",
                    path.display()
                )
            }
            Error::Missing { path } => {
                write!(f, "`{}` does not exist; the first process to acquire it creates it", path.display())
            }
            Error::Full { path, bytes, source } if source.kind() == io::ErrorKind::FileTooLarge => {
                write!(
                    f,
                    "`{}` takes {bytes} bytes, more than this process may write to a file; raise the limit (`ulimit -f`)",
                    path.display()
                )
            }
            Error::Full { path, bytes, .. } => {
                write!(
                    f,
                    "no space left for `{}`, which takes {bytes} bytes; free some space, or give another path",
                    path.display()
                )
            }
            Error::Garbage { path, why } => {
                write!(
                    f,
                    "`{}` {why}; nothing was changed. Give another name, or remove the file if it is not needed",
                    path.display()
                )
            }
            Error::Version { path, file, supported } => write!(
                f,
                "`{}` has format {file}, but this program supports format {supported}; use programs of one version, or \
                 remove the file while it is not in use",
                path.display()
            ),
            Error::OtherK { path, file, asked } => write!(
                f,
                "`{}` has capacity {file}, not {asked}; ask for {file}, or change it with `resize`",
                path.display()
            ),
            Error::Damaged { path } => write!(
                f,
                "`{}` was damaged while in use; it is reset when every process that uses it has ended",
                path.display()
            ),
            Error::InUse { path } => write!(f, "`{}` is in use; wait until no process uses it", path.display()),
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
            Error::Io { source, .. } | Error::Full { source, .. } => Some(source),
            _ => None,
        }
    }
}
