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
};

use crate::Error;

/// The path of a file, and whether it is in the user's private directory.
///
/// ```
/// use doorway_shm::Location;
/// assert_eq!(Location::path("/srv/lock".as_ref()).as_path(), "/srv/lock");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    path: PathBuf,
    /// In the user's runtime directory: created for this user alone, and symbolic links are not followed.
    private: bool,
}

impl Location {
    /// The location at this path, which is used unchanged.
    ///
    /// See [`Location`].
    #[must_use]
    pub fn path(path: &Path) -> Location {
        Location { path: path.to_owned(), private: false }
    }

    /// The path.
    ///
    /// See [`Location`].
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.path
    }

    /// The options with which to open the file.
    pub(crate) fn options(&self) -> fs::OpenOptions {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true);
        if self.private {
            options.custom_flags(libc::O_NOFOLLOW).mode(0o600);
        }
        options
    }

    /// Device and inode of the file that the path leads to now.
    pub(crate) fn identity(&self) -> io::Result<(u64, u64)> {
        let found = if self.private { self.path.symlink_metadata() } else { self.path.metadata() }?;
        Ok((found.dev(), found.ino()))
    }
}

/// The location of a name.
///
/// A name with a `/` in it is a path, used unchanged. Any other name is a file in the user's runtime directory,
/// `$XDG_RUNTIME_DIR/doorway` or `/tmp/doorway-UID`, which is created if it does not exist.
///
/// # Errors
/// If the name is not valid, or the directory is not private to the user.
///
/// ```
/// use doorway_shm::locate;
/// assert_eq!(locate("./gpu".as_ref())?.as_path(), "./gpu");
/// assert!(locate("gpu".as_ref())?.as_path().is_absolute());
/// assert!(locate("..".as_ref()).is_err());
/// # Ok::<(), doorway_shm::Error>(())
/// ```
pub fn locate(name: &Path) -> Result<Location, Error> {
    const MAX_LENGTH: usize = 200;
    let bytes = name.as_os_str().as_bytes();
    if bytes.contains(&b'/') && !bytes.ends_with(b"/") {
        return Ok(Location::path(name));
    }
    if bytes.is_empty()
        || bytes.len() > MAX_LENGTH
        || bytes.starts_with(b".")
        || bytes.contains(&0)
        || bytes.contains(&b'/')
    {
        return Err(Error::Name { name: name.to_owned() });
    }
    Ok(Location { path: directory()?.join(name), private: true })
}

/// The names in the user's runtime directory, in alphabetical order.
///
/// # Errors
/// If the directory is not private to the user, or cannot be read.
///
/// ```
/// assert!(doorway_shm::names()?.iter().all(|name| !name.is_empty()));
/// # Ok::<(), doorway_shm::Error>(())
/// ```
pub fn names() -> Result<Vec<OsString>, Error> {
    let path = directory()?;
    let read = || fs::read_dir(&path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>();
    let mut names = read().map_err(|source| Error::Io { path: path.clone(), doing: "read", source })?;
    // A file that is still being created has a name that begins with a dot.
    names.retain(|name| !name.as_bytes().starts_with(b"."));
    names.sort();
    Ok(names)
}

/// The user's runtime directory, created if it does not exist.
fn directory() -> Result<PathBuf, Error> {
    let user = rustix::process::geteuid().as_raw();
    let given = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let path = match given.filter(|path| path.is_absolute() && path.is_dir()) {
        Some(runtime) => runtime.join("doorway"),
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
    let found = match opened {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENOTDIR)) => {
            return Err(Error::Directory { path, why: "is not a directory" });
        }
        opened => opened.and_then(|directory| directory.metadata()).map_err(io("open"))?,
    };
    match () {
        () if found.uid() != user => Err(Error::Directory { path, why: "belongs to another user" }),
        () if found.mode() & 0o077 != 0 => Err(Error::Directory { path, why: "is accessible to other users" }),
        () => Ok(path),
    }
}
