//! Locations of files: names and paths.
use std::{
    env,
    ffi::OsString,
    fs, io,
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::{FlockOperation, flock};

use crate::Error;

/// The environment variable that names the directory of names.
const DIRECTORY: &str = "DOORWAY_DIR";

/// The path of a file, and whether it is in the user's private directory.
///
/// ```
/// use doorway_shm::Location;
/// assert_eq!(Location::path("/srv/lock".as_ref())?.as_path(), "/srv/lock");
/// # Ok::<(), doorway_shm::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Location {
    path: PathBuf,
    /// The user's directory, if the file is in it: then it is created for this user alone, and symbolic links are not
    /// followed.
    directory: Option<Arc<fs::File>>,
}

impl Location {
    /// The location at this path. A relative path is one from the directory in which the process is now, also if it goes
    /// elsewhere later.
    ///
    /// # Errors
    /// If the path is empty or relative, and the current directory cannot be determined.
    ///
    /// See [`Location`].
    pub fn path(path: &Path) -> Result<Location, Error> {
        let absolute = std::path::absolute(path);
        let path =
            absolute.map_err(|source| Error::Io { path: path.to_owned(), doing: "find the directory of", source })?;
        Ok(Location { path, directory: None })
    }

    /// The path.
    ///
    /// See [`Location`].
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.path
    }

    /// The path of the file itself, at the end of any symbolic links, whether it exists or not.
    pub(crate) fn target(&self) -> PathBuf {
        /// As in the kernel.
        const MAX_LINKS: usize = 40;
        let mut target = self.path.clone();
        for _ in 0..MAX_LINKS {
            match fs::read_link(&target) {
                Ok(next) if self.directory.is_none() => {
                    target = target.parent().map_or_else(|| next.clone(), |parent| parent.join(&next));
                }
                _ => break,
            }
        }
        target
    }

    /// The options with which to open the file.
    pub(crate) fn options(&self) -> Options {
        Options { private: self.directory.is_some(), flags: 0, options: fs::OpenOptions::new() }
    }

    /// Device and inode of the file that the path leads to now.
    pub(crate) fn identity(&self) -> io::Result<(u64, u64)> {
        let found = if self.directory.is_some() { self.path.symlink_metadata() } else { self.path.metadata() }?;
        Ok((found.dev(), found.ino()))
    }
}

/// Options with which to open a file at a location.
pub(crate) struct Options {
    private: bool,
    flags: libc::c_int,
    options: fs::OpenOptions,
}

impl Options {
    pub(crate) fn write(mut self, write: bool) -> Options {
        self.options.write(write);
        self
    }

    pub(crate) fn create_new(mut self, create_new: bool) -> Options {
        self.options.create_new(create_new);
        self
    }

    /// Adds flags of `open`.
    pub(crate) fn custom_flags_and(mut self, flags: libc::c_int) -> Options {
        self.flags |= flags;
        self
    }

    pub(crate) fn open(mut self, path: &Path) -> io::Result<fs::File> {
        // Without waiting: opening a pipe waits for its other end.
        let mut flags = self.flags | libc::O_NONBLOCK;
        if self.private {
            flags |= libc::O_NOFOLLOW;
            self.options.mode(0o600);
        }
        self.options.read(true).custom_flags(flags).open(path)
    }
}

/// The location of a name.
///
/// A name with a `/` in it is a path. Any other name is a file in the user's own directory, `/tmp/doorway-UID` or the
/// one that the environment variable `DOORWAY_DIR` names, which is created if it does not exist.
///
/// # Errors
/// If the name is not valid, or the directory is not private to the user.
///
/// ```
/// use doorway_shm::locate;
/// assert!(locate("./gpu".as_ref())?.as_path().ends_with("gpu"));
/// assert!(locate("gpu".as_ref())?.as_path().is_absolute());
/// assert!(locate("..".as_ref()).is_err());
/// # Ok::<(), doorway_shm::Error>(())
/// ```
pub fn locate(name: &Path) -> Result<Location, Error> {
    const MAX_LENGTH: usize = 200;
    let bytes = name.as_os_str().as_bytes();
    let invalid = |why| Err(Error::Name { name: name.to_owned(), why });
    if bytes.is_empty() {
        return invalid("is empty");
    }
    if bytes.contains(&0) {
        return invalid("contains a null character");
    }
    if bytes.ends_with(b"/") {
        return invalid("is a directory");
    }
    if bytes.contains(&b'/') {
        return Location::path(name);
    }
    if bytes.len() > MAX_LENGTH {
        return invalid("has more than 200 bytes");
    }
    if bytes.starts_with(b".") {
        return invalid("begins with a dot");
    }
    let (path, directory) = directory()?;
    // A program that cleans /tmp, such as systemd-tmpfiles, leaves a locked directory alone.
    let _ = flock(&directory, FlockOperation::NonBlockingLockShared);
    Ok(Location { path: path.join(name), directory: Some(Arc::new(directory)) })
}

/// The names in the user's directory, in alphabetical order.
///
/// # Errors
/// If the directory is not private to the user, or cannot be read.
///
/// ```
/// assert!(doorway_shm::names()?.iter().all(|name| !name.is_empty()));
/// # Ok::<(), doorway_shm::Error>(())
/// ```
pub fn names() -> Result<Vec<OsString>, Error> {
    let (path, _) = directory()?;
    let read = || fs::read_dir(&path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>();
    let mut names = read().map_err(|source| Error::Io { path: path.clone(), doing: "read", source })?;
    // A file that is still being created has a name that begins with a dot.
    names.retain(|name| !name.as_bytes().starts_with(b"."));
    names.sort();
    Ok(names)
}

/// The user's directory, created if it does not exist.
///
/// It does not depend on `XDG_RUNTIME_DIR`, which a job of cron or of a service does not have: two jobs of one user that
/// use one name must meet.
fn directory() -> Result<(PathBuf, fs::File), Error> {
    let user = rustix::process::geteuid().as_raw();
    let path = match env::var_os(DIRECTORY).map(PathBuf::from) {
        Some(path) if path.is_absolute() => path,
        Some(path) => {
            return Err(Error::Directory { path, why: "is not an absolute path, but the value of DOORWAY_DIR" });
        }
        None => PathBuf::from(format!("/tmp/doorway-{user}")),
    };
    let io = |doing| {
        let path = path.clone();
        move |source| Error::Io { path, doing, source }
    };
    match fs::DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(io("create")(error)),
        _ => {}
    }
    // An existing directory may have been put there by another user as a trap. The checks below are made on the opened
    // directory, not on its path, which may lead elsewhere a moment later.
    let opened = fs::OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_DIRECTORY).open(&path);
    let opened = match opened {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENOTDIR)) => {
            return Err(Error::Directory { path, why: "is not a directory" });
        }
        opened => opened.map_err(io("open"))?,
    };
    let found = opened.metadata().map_err(io("read the metadata of"))?;
    match () {
        () if found.uid() != user => Err(Error::Directory { path, why: "belongs to another user" }),
        () if found.mode() & 0o077 != 0 => Err(Error::Directory { path, why: "is accessible to other users" }),
        () => Ok((path, opened)),
    }
}
