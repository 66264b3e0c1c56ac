//! Opening and creating the file: its header is read first, then the file is mapped.
use std::{
    collections::hash_map::RandomState,
    fs,
    hash::{BuildHasher, Hasher},
    io::{self, Write},
    os::unix::fs::{FileExt, MetadataExt},
    sync::Arc,
};

use rustix::{
    fs::{FallocateFlags, fallocate},
    io::Errno,
};

use crate::{Error, Location, MAX_SLOTS, header::Header, map::Map, region::Region};

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
/// let location = Location::path(&path);
/// let created = Mapping::open_or_create(&location, 1, 4, || 4)?;
///
/// let mapping = Mapping::open(&location)?;
/// assert_eq!((mapping.k(), mapping.slots()), (1, 4));
/// let mut plan = Plan::new();
/// let flags = plan.per_process("flag", mapping.slots(), false);
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
    /// The open file description to which the locks of this handle belong.
    pub(crate) file: fs::File,
    /// Its device and inode.
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
    /// let nowhere = Location::path("/nowhere/at/all".as_ref());
    /// assert!(matches!(Mapping::open(&nowhere), Err(Error::Missing { .. })));
    /// ```
    pub fn open(location: &Location) -> Result<Mapping, Error> {
        let path = location.as_path();
        let io = |doing| move |source| Error::Io { path: path.to_owned(), doing, source };
        let garbage = |why| Error::Garbage { path: path.to_owned(), why };
        let file = match location.options().open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Missing { path: path.to_owned() });
            }
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                return Err(garbage("is a link, and links are not followed in this directory"));
            }
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => return Err(garbage("is a directory")),
            opened => opened.map_err(io("open"))?,
        };
        let found = file.metadata().map_err(io("read the metadata of"))?;
        if !found.is_file() {
            return Err(garbage("is not a regular file"));
        }
        let header = Header::read(&file, path)?;
        let layout = header.layout();
        if found.len() != layout.bytes() as u64 {
            return Err(garbage("is damaged: it has been truncated or extended"));
        }
        let map = Map::of_file(&file, layout.bytes()).map_err(io("map"))?;
        Ok(Mapping {
            location: location.clone(),
            file,
            identity: (found.dev(), found.ino()),
            header,
            region: Arc::new(Region::new(map, layout)),
        })
    }

    /// Opens the file, or creates one with this capacity and number of slots.
    ///
    /// `registers` returns the number of registers of the algorithm. It is called only if the file is created. An
    /// existing file may have another number of slots.
    ///
    /// # Errors
    /// If the path leads to anything but a semaphore of capacity `k`, or the file cannot be created. An existing file
    /// is never overwritten.
    ///
    /// See [`Mapping`].
    pub fn open_or_create(
        location: &Location,
        k: usize,
        slots: usize,
        registers: impl Fn() -> usize,
    ) -> Result<Mapping, Error> {
        if !(1..slots).contains(&k) || slots > MAX_SLOTS {
            return Err(Error::Size { k, slots });
        }
        loop {
            match Mapping::open(location) {
                Err(Error::Missing { .. }) => create(location, k, slots, registers())?,
                Ok(mapping) if mapping.k() != k => {
                    return Err(Error::OtherK { path: location.as_path().to_owned(), file: mapping.k(), asked: k });
                }
                opened => return opened,
            }
        }
    }

    /// The capacity: the maximum number of holders.
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
fn create(location: &Location, k: usize, slots: usize, registers: usize) -> Result<(), Error> {
    let path = location.as_path();
    let io = |doing| move |source| Error::Io { path: path.to_owned(), doing, source };
    let id = RandomState::new().build_hasher().finish();
    let name = path.file_name().ok_or_else(|| Error::Name { name: path.to_owned() })?;
    let draft = path.with_file_name(format!(".{}.{id:x}.new", name.to_string_lossy()));
    let header = Header { k, slots, registers, id };
    let bytes = header.layout().bytes();
    let full = |error: io::Error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::Full { path: path.to_owned(), bytes },
        _ => io("create")(error),
    };
    let write = || {
        let mut file = location.options().create_new(true).open(&draft).map_err(io("create"))?;
        // Allocates every block before the file is mapped: a full disk is an error now, rather than a SIGBUS later.
        match fallocate(&file, FallocateFlags::empty(), 0, bytes as u64) {
            Err(Errno::OPNOTSUPP) => file.write_all(&vec![0; bytes]).map_err(full)?,
            allocated => allocated.map_err(|error| full(error.into()))?,
        }
        file.write_all_at(&header.bytes(), 0).map_err(full)?;
        match fs::hard_link(&draft, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()), // another process was faster
            linked => linked.map_err(full),
        }
    };
    let written = write();
    let _ = fs::remove_file(&draft);
    written
}
