//! Opening and creating the file: its header is read first, then the file is mapped.
use std::{
    collections::hash_map::RandomState,
    fs,
    hash::{BuildHasher, Hasher},
    io,
    os::{
        fd::AsRawFd,
        unix::fs::{FileExt, MetadataExt},
    },
    path::{Path, PathBuf},
    process,
    sync::Arc,
    time::SystemTime,
};

use rustix::fs::{AtFlags, CWD, linkat};

use crate::{
    Error, Location, MAX_SLOTS, Plan,
    header::Header,
    region::{Region, allocate},
};

/// How often a file that is missing is created, and a file that another process removed meanwhile is opened again.
const MAX_ATTEMPTS: usize = 100;

/// A mapped file on whose registers no algorithm has been built yet.
///
/// Its header says for which capacity and how many slots to build the algorithm. With the algorithm's registers, it
/// becomes a [`File`](crate::File).
///
/// ```
/// use doorway_memory::Space;
/// use doorway_shm::{File, Location, Mapping, Plan};
///
/// let path = std::env::temp_dir().join(format!("doorway-mapping-{}", std::process::id()));
/// let location = Location::path(&path)?;
/// let mut plan = Plan::new();
/// let flags = plan.per_process("flag", 4, false);
/// let created = Mapping::open_or_create(&location, 1, 4, || plan.clone())?;
///
/// let mapping = Mapping::open(&location)?;
/// assert_eq!((mapping.k(), mapping.slots()), (1, 4));
/// let file = File::new(mapping, plan)?;
///
/// let error = File::new(created, Plan::new()).unwrap_err().to_string();
/// assert!(error.contains("is for another algorithm"), "{error}");
/// # file.forget()?;
/// # Ok::<(), doorway_shm::Error>(())
/// ```
#[derive(Debug)]
pub struct Mapping {
    pub(crate) location: Location,
    /// Device and inode of the file.
    pub(crate) identity: (u64, u64),
    pub(crate) header: Header,
    pub(crate) region: Arc<Region>,
}

impl Mapping {
    /// Opens an existing file.
    ///
    /// # Errors
    /// If the file does not exist, or is not a semaphore.
    ///
    /// ```
    /// use doorway_shm::{Error, Location, Mapping};
    /// let nowhere = Location::path("/nowhere/at/all".as_ref())?;
    /// assert!(matches!(Mapping::open(&nowhere), Err(Error::Missing { .. })));
    /// # Ok::<(), doorway_shm::Error>(())
    /// ```
    pub fn open(location: &Location) -> Result<Mapping, Error> {
        Mapping::open_with(location, true)
    }

    /// Opens an existing file only to read it, which takes no permission to write. Writing to it ends the process.
    ///
    /// # Errors
    /// As [`open`](Mapping::open).
    pub fn open_to_read(location: &Location) -> Result<Mapping, Error> {
        Mapping::open_with(location, false)
    }

    fn open_with(location: &Location, is_writable: bool) -> Result<Mapping, Error> {
        let path = location.as_path();
        let io = |doing| move |source| Error::Io { path: path.to_owned(), doing, source };
        let garbage = |why| Error::Garbage { path: path.to_owned(), why };
        let file = match location.options().write(is_writable).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Missing { path: path.to_owned() });
            }
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                return Err(garbage("is a link, and links are not followed here"));
            }
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => return Err(garbage("is a directory")),
            opened => opened.map_err(io("open"))?,
        };
        let found = file.metadata().map_err(io("read the metadata of"))?;
        if found.is_dir() {
            return Err(garbage("is a directory"));
        }
        if !found.is_file() {
            return Err(garbage("is not a regular file"));
        }
        let header = Header::read(&file, path)?;
        let layout = header.layout();
        if found.len() < layout.bytes(1) as u64 {
            return Err(garbage("is damaged: it has been truncated"));
        }
        let identity = (found.dev(), found.ino());
        let region = Region::new(file, layout, is_writable).map_err(io("map"))?;
        Ok(Mapping { location: location.clone(), identity, header, region: Arc::new(region) })
    }

    /// Opens the file, or creates one with this capacity and number of slots.
    ///
    /// `plan` returns the registers of the algorithm. It is called only if the file is created. An existing file may
    /// have another capacity, and another number of slots.
    ///
    /// # Errors
    /// If the path leads to anything but a semaphore, or the file cannot be created. An existing file is never
    /// overwritten.
    ///
    /// See [`Mapping`].
    pub fn open_or_create(
        location: &Location,
        k: usize,
        slots: usize,
        plan: impl Fn() -> Plan,
    ) -> Result<Mapping, Error> {
        if !(1..slots.min(MAX_SLOTS + 1)).contains(&k) {
            return Err(Error::Size { k, max: slots.min(MAX_SLOTS) - 1 });
        }
        for _ in 0..MAX_ATTEMPTS {
            match Mapping::open(location) {
                Err(Error::Missing { .. }) => create(location, k, slots, &plan())?,
                opened => return opened,
            }
        }
        Err(Error::Missing { path: location.as_path().to_owned() })
    }

    /// The capacity with which the file was created.
    ///
    /// See [`Mapping`].
    #[must_use]
    pub fn k(&self) -> usize {
        self.header.k
    }

    /// The number of slots.
    ///
    /// See [`Mapping`].
    #[must_use]
    pub fn slots(&self) -> usize {
        self.header.slots
    }

    /// The error of a system call on the file.
    pub(crate) fn io(&self, doing: &'static str) -> impl Fn(io::Error) -> Error {
        let path = self.location.as_path().to_owned();
        move |source| Error::Io { path: path.clone(), doing, source }
    }
}

/// Creates a file that is complete when its name appears; an existing file is not replaced.
fn create(location: &Location, k: usize, slots: usize, plan: &Plan) -> Result<(), Error> {
    let path = location.target();
    let io = |doing| {
        let path = path.clone();
        move |source| Error::Io { path, doing, source }
    };
    let id = random();
    let header = Header { k, slots, shared: plan.initial_values().len(), per_slot: plan.per_slot(), id };
    let bytes = header.layout().bytes(1);
    let full = |error: io::Error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Error::Full { path: path.clone(), bytes, source: error }
        }
        _ => io("create")(error),
    };
    let draft = Draft::new(location, &path, id).map_err(io("create"))?;
    allocate(&draft.file, 0, bytes as u64).map_err(full)?;
    draft.file.write_all_at(&header.bytes(), 0).map_err(full)?;
    let file = draft.file.try_clone().map_err(io("create"))?;
    let region = Region::new(file, header.layout(), true).map_err(io("map"))?;
    region.reset(plan.initial_values());
    region.grow(0).map_err(full)?;
    match draft.publish(&path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()), // another process was faster
        published => published.map_err(full),
    }
}

/// A number that another process is unlikely to choose.
pub(crate) fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    // A forked child has the keys of its parent, so those alone would give both the same number.
    hasher.write_u32(process::id());
    hasher.write_u128(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos());
    hasher.finish()
}

/// A file that has no name yet, or a temporary one if the system has no nameless files.
struct Draft {
    file: fs::File,
    name: Option<PathBuf>,
}

impl Draft {
    fn new(location: &Location, path: &Path, id: u64) -> io::Result<Draft> {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A nameless file is gone if this process is killed. It gets its name by way of /proc.
        if Path::new("/proc/self/fd").exists()
            && let Ok(file) = location.options().write(true).custom_flags_and(libc::O_TMPFILE).open(directory)
        {
            return Ok(Draft { file, name: None });
        }
        let name = directory.join(format!(".doorway-{id:x}.new"));
        let file = location.options().write(true).create_new(true).open(&name)?;
        Ok(Draft { file, name: Some(name) })
    }

    /// Gives the file its name, unless there is a file of that name.
    fn publish(&self, path: &Path) -> io::Result<()> {
        match &self.name {
            Some(name) => fs::hard_link(name, path),
            None => {
                let link = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                Ok(linkat(CWD, link, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
            }
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = fs::remove_file(name);
        }
    }
}
