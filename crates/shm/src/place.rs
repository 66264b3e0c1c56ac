//! Names and paths.
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

/// Where a file is, and how much its directory is to be trusted.
///
/// ```
/// use doorway_shm::Location;
/// assert_eq!(Location::path("/srv/lock".as_ref()).as_path(), "/srv/lock");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    path: PathBuf,
    /// In our runtime directory: for us alone, and no link is followed.
    private: bool,
}

impl Location {
    /// A path as it is.
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

    /// How to open it.
    pub(crate) fn options(&self) -> fs::OpenOptions {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true);
        if self.private {
            options.custom_flags(libc::O_NOFOLLOW).mode(0o600);
        }
        options
    }

    /// Device and inode of what the path names now.
    pub(crate) fn identity(&self) -> io::Result<(u64, u64)> {
        let found = if self.private { self.path.symlink_metadata() } else { self.path.metadata() }?;
        Ok((found.dev(), found.ino()))
    }
}

/// Where a name is: with a `/` in it a path as it is, else in the runtime directory of the user, which is made if need be:
/// `$XDG_RUNTIME_DIR/doorway`, or `/tmp/doorway-UID`.
///
/// # Errors
/// If it is no name, or the directory is not ours alone.
///
/// ```
/// use doorway_shm::locate;
/// assert_eq!(locate("./gpu".as_ref())?.as_path(), "./gpu");
/// assert!(locate("gpu".as_ref())?.as_path().is_absolute());
/// assert!(locate("..".as_ref()).is_err());
/// # Ok::<(), doorway_shm::Error>(())
/// ```
pub fn locate(name: &Path) -> Result<Location, Error> {
    const LONGEST: usize = 200;
    let bytes = name.as_os_str().as_bytes();
    if bytes.contains(&b'/') && !bytes.ends_with(b"/") {
        return Ok(Location::path(name));
    }
    if bytes.is_empty()
        || bytes.len() > LONGEST
        || bytes.starts_with(b".")
        || bytes.contains(&0)
        || bytes.contains(&b'/')
    {
        return Err(Error::Name { name: name.to_owned() });
    }
    Ok(Location { path: directory()?.join(name), private: true })
}

/// The names in the runtime directory of the user, in alphabetical order.
///
/// # Errors
/// If the directory is not ours alone, or cannot be read.
///
/// ```
/// assert!(doorway_shm::names()?.iter().all(|name| !name.is_empty()));
/// # Ok::<(), doorway_shm::Error>(())
/// ```
pub fn names() -> Result<Vec<OsString>, Error> {
    let path = directory()?;
    let read = || fs::read_dir(&path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>();
    let mut names = read().map_err(|source| Error::Io { path: path.clone(), doing: "read", source })?;
    // What is being made has a name that begins with a dot.
    names.retain(|name| !name.as_bytes().starts_with(b"."));
    names.sort();
    Ok(names)
}

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
    // What is there may be another's, put there to mislead us: asked is what we have opened, not what a name leads to.
    let opened = fs::OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_DIRECTORY).open(&path);
    let found = match opened {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENOTDIR)) => {
            return Err(Error::Directory { path, why: "is not a directory" });
        }
        opened => opened.and_then(|directory| directory.metadata()).map_err(io("open"))?,
    };
    match () {
        () if found.uid() != user => Err(Error::Directory { path, why: "belongs to someone else" }),
        () if found.mode() & 0o077 != 0 => Err(Error::Directory { path, why: "is open to others" }),
        () => Ok(path),
    }
}
