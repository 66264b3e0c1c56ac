//! The mapped file: made, opened, and shared out in slots.
use std::{
    collections::hash_map::RandomState,
    fs,
    hash::{BuildHasher, Hasher},
    io::{self, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::{FileExt, MetadataExt},
    },
    path::Path,
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use doorway_memory::Pid;
use rustix::{
    fs::{FallocateFlags, fallocate},
    io::{Errno, FdFlags, fcntl_setfd},
    time::{ClockId, clock_gettime},
};

use crate::{
    Error, Location, MOST_SLOTS, Peek, Phase, Plan, Record, Shared, locks,
    map::{Map, Ours},
    region::{Layout, Region},
};

/// "doorway", and a byte that no text has.
const MAGIC: u64 = u64::from_le_bytes(*b"doorway\xdb");
const VERSION: u64 = 1;

/// The header's words that do not change, and their checksum.
const HEADER: usize = 7;

/// The byte that is locked by who takes a slot.
const GATE: usize = 0;

/// The byte that is locked by the owner of a slot.
fn byte(slot: Pid) -> usize {
    slot + 1
}

#[derive(Clone, Copy, Debug)]
struct Header {
    k: usize,
    slots: usize,
    registers: usize,
    /// Random: no two files have the same.
    id: u64,
}

impl Header {
    fn words(&self) -> [u64; HEADER] {
        let mut words = [MAGIC, VERSION, self.k as u64, self.slots as u64, self.registers as u64, self.id, 0];
        words[HEADER - 1] = checksum(&words[..HEADER - 1]);
        words
    }

    fn read(file: &fs::File, path: &Path) -> Result<Header, Error> {
        let garbage = |why| Error::Garbage { path: path.to_owned(), why };
        let mut bytes = [0; 8 * HEADER];
        match file.read_exact_at(&mut bytes, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(garbage("is too short to be a semaphore"));
            }
            read => read.map_err(|source| Error::Io { path: path.to_owned(), doing: "read", source })?,
        }
        let mut words = [0; HEADER];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
        let [magic, version, k, slots, registers, id, sum] = words;
        if magic != MAGIC {
            return Err(garbage("is something else than a semaphore"));
        }
        if version != VERSION {
            return Err(Error::Version { path: path.to_owned(), file: version, ours: VERSION });
        }
        if sum != checksum(&words[..HEADER - 1]) {
            return Err(garbage("is damaged: its checksum is wrong"));
        }
        if !(1..slots).contains(&k) || slots > MOST_SLOTS as u64 {
            return Err(garbage("is damaged: its numbers are not plausible"));
        }
        Ok(Header { k: k as usize, slots: slots as usize, registers: registers as usize, id })
    }
}

/// The hash of Fowler, Noll and Vo.
fn checksum(words: &[u64]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What became of an attempt to take a slot.
///
/// See [`File::take`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// It is ours.
    Slot(Pid),
    /// Someone else is at the gate; it is soon free.
    GateIsBusy,
    /// All slots are in use.
    NoneIsFree,
    /// The path no longer leads to this file.
    FileIsGone,
}

/// The mapped file.
///
/// See [`Shared`].
#[derive(Debug)]
pub struct File {
    location: Location,
    /// The open file whose locks are ours.
    file: fs::File,
    /// Its device and inode.
    identity: (u64, u64),
    header: Header,
    region: Arc<Region>,
    plan: Plan,
    /// Whether each slot is owned by this open file. The kernel cannot be asked for that: see [`locks`]. Who takes or finishes a
    /// slot has this locked.
    owned: Mutex<Vec<bool>>,
    ours: Ours,
    /// When this process began.
    started: u64,
}

impl File {
    /// Opens the file, or creates one for `k` at a time. `plan` is asked for the registers of so many slots.
    ///
    /// # Errors
    /// If what is there is something else, or for another k, or nothing can be created. Nothing is ever overwritten.
    ///
    /// See [`Shared`].
    pub fn open_or_create(
        location: &Location,
        k: usize,
        slots: usize,
        plan: impl Fn(usize) -> Plan,
    ) -> Result<File, Error> {
        if !(1..slots).contains(&k) || slots > MOST_SLOTS {
            return Err(Error::Size { k, slots });
        }
        loop {
            match File::open(location, &|_, slots| plan(slots)) {
                Err(Error::Missing { .. }) => create(location, k, slots, plan(slots).registers())?,
                Ok(file) if file.k() != k => {
                    return Err(Error::OtherK { path: location.as_path().to_owned(), file: file.k(), asked: k });
                }
                opened => return opened,
            }
        }
    }

    /// Opens the file that is there. `plan` is asked for the registers for k and so many slots.
    ///
    /// # Errors
    /// If there is none, or something else.
    ///
    /// ```
    /// use doorway_shm::{File, Location, Plan};
    /// let nowhere = Location::path("/nowhere/at/all".as_ref());
    /// assert!(File::open(&nowhere, &|_, _| Plan::new()).is_err());
    /// ```
    pub fn open(location: &Location, plan: &dyn Fn(usize, usize) -> Plan) -> Result<File, Error> {
        let path = location.as_path();
        let io = |doing| move |source| Error::Io { path: path.to_owned(), doing, source };
        let garbage = |why| Error::Garbage { path: path.to_owned(), why };
        let file = match location.options().open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Missing { path: path.to_owned() });
            }
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                return Err(garbage("is a link, which is not followed here"));
            }
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => return Err(garbage("is a directory")),
            opened => opened.map_err(io("open"))?,
        };
        let found = file.metadata().map_err(io("look at"))?;
        if !found.is_file() {
            return Err(garbage("is not a regular file"));
        }
        let header = Header::read(&file, path)?;
        let plan = plan(header.k, header.slots);
        let layout = Layout::new(header.slots, plan.registers());
        if header.registers != plan.registers() {
            return Err(garbage("is for another algorithm"));
        }
        if found.len() != layout.bytes() as u64 {
            return Err(garbage("is damaged: it has been truncated or extended"));
        }
        let map = Map::of_file(&file, layout.bytes()).map_err(io("map"))?;
        Ok(File {
            location: location.clone(),
            file,
            identity: (found.dev(), found.ino()),
            header,
            region: Arc::new(Region::new(map, layout)),
            plan,
            owned: Mutex::new(vec![false; header.slots]),
            ours: Ours::new().map_err(io("map"))?,
            started: started().map_err(io("ask when we began, for"))?,
        })
    }

    /// Removes the file if nobody uses it.
    ///
    /// # Errors
    /// If somebody does, or there is none, or it is something else.
    ///
    /// ```
    /// use doorway_shm::{File, Location, Plan};
    /// let nowhere = Location::path("/nowhere/at/all".as_ref());
    /// assert!(File::forget(&nowhere, &|_, _| Plan::new()).is_err());
    /// ```
    pub fn forget(location: &Location, plan: &dyn Fn(usize, usize) -> Plan) -> Result<(), Error> {
        let file = File::open(location, plan)?;
        let in_use = || Error::InUse { path: location.as_path().to_owned() };
        // Who is at the gate is about to use it.
        if !locks::try_lock(&file.file, GATE).map_err(file.io("lock"))? || file.is_used()? {
            return Err(in_use());
        }
        if file.is_current()? {
            // Those who have it open see that it is gone when they are at the gate, and open what is there then.
            fs::remove_file(location.as_path()).map_err(file.io("remove"))?;
        }
        Ok(()) // the gate opens as the file is closed
    }

    /// How many may be inside.
    #[must_use]
    pub fn k(&self) -> usize {
        self.header.k
    }

    /// How many slots there are.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.header.slots
    }

    /// A random number that no other file has.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.header.id
    }

    /// Where it was opened.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The descriptor to which our slots belong. Whoever inherits it keeps them.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Lets children inherit the descriptor, from now on; without this it is closed when they run another program.
    ///
    /// # Errors
    /// If the system says no.
    pub fn keep_in_children(&self) -> Result<(), Error> {
        fcntl_setfd(&self.file, FdFlags::empty()).map_err(|error| self.io("keep open")(error.into()))
    }

    /// Whether this process has opened it, and not one that has forked us since. Takes no system call.
    #[must_use]
    #[inline(always)]
    pub fn is_ours(&self) -> bool {
        self.ours.is_true()
    }

    /// Whether the path still leads to this file. If not, those who come now use another one.
    ///
    /// # Errors
    /// If the path cannot be looked at.
    pub fn is_current(&self) -> Result<bool, Error> {
        match self.location.identity() {
            Ok(found) => Ok(found == self.identity),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.io("look at")(error)),
        }
    }

    /// The record of a slot's owner.
    ///
    /// # Panics
    /// If there is no such slot.
    #[must_use]
    pub fn record(&self, slot: Pid) -> Record<'_> {
        self.region.record(slot)
    }

    /// The memory, as the owner of this slot sees it. Who writes to it must be the owner, or have it from [`reap`](File::reap).
    #[must_use]
    pub fn memory(&self, slot: Pid) -> Shared {
        Shared::new(self.region.clone(), slot)
    }

    /// The memory, as one sees it who only looks.
    #[must_use]
    pub fn peek(&self) -> Peek {
        Peek::new(self.region.registers())
    }

    /// Gives every register its first value. Only while nobody else uses the file.
    pub fn reset(&self) {
        self.region.reset(self.plan.begin());
    }

    /// Tries to take a slot. If nobody uses the file, everything in it is made anew first. `finish` is called to finish the
    /// passage of the slot's last owner, who may have died in the midst of it.
    ///
    /// # Errors
    /// If the file cannot be locked, or is not [ours](File::is_ours).
    pub fn take(&self, finish: &dyn Fn(&mut Shared)) -> Result<Taken, Error> {
        if !self.is_ours() {
            return Err(Error::Forked { path: self.location.as_path().to_owned() });
        }
        let mut owned = self.owned();
        if !locks::try_lock(&self.file, GATE).map_err(self.io("lock"))? {
            return Ok(Taken::GateIsBusy);
        }
        let taken = self.take_at_gate(&mut owned, finish);
        locks::unlock(&self.file, GATE).map_err(self.io("unlock"))?;
        taken
    }

    fn take_at_gate(&self, owned: &mut [bool], finish: &dyn Fn(&mut Shared)) -> Result<Taken, Error> {
        if !self.is_current()? {
            return Ok(Taken::FileIsGone);
        }
        if !owned.contains(&true) && !self.is_used()? {
            self.reset();
        }
        for slot in (0..self.slots()).filter(|&slot| !owned[slot]).collect::<Vec<Pid>>() {
            if locks::try_lock(&self.file, byte(slot)).map_err(self.io("lock"))? {
                // Whatever its last owner has left: it is finished if it was not, and nothing happens if it was.
                self.finish(slot, finish);
                owned[slot] = true;
                self.record(slot).set_owner(process::id(), self.started);
                return Ok(Taken::Slot(slot));
            }
        }
        Ok(Taken::NoneIsFree)
    }

    /// Gives a slot back, whose owner has ended its passage.
    pub fn release(&self, slot: Pid) {
        // After a fork the descriptor is the parent's too, and so is the slot.
        if self.is_ours() {
            let mut owned = self.owned();
            self.record(slot).clear();
            owned[slot] = false;
            // It is unlocked when the file is closed, if it cannot be now.
            let _ = locks::unlock(&self.file, byte(slot));
        }
    }

    /// Finishes the passages of those who have died, as far as `concerns` says that they concern us; says how many there were.
    pub fn reap(&self, concerns: &dyn Fn(Record<'_>) -> bool, finish: &dyn Fn(&mut Shared)) -> usize {
        let owned = self.owned();
        let is_another = |slot: &Pid| !owned[*slot] && concerns(self.record(*slot));
        (0..self.slots()).filter(is_another).filter(|&slot| self.reap_slot(slot, finish)).count()
    }

    /// With `owned` locked, and not for a slot of ours.
    fn reap_slot(&self, slot: Pid, finish: &dyn Fn(&mut Shared)) -> bool {
        if !matches!(locks::try_lock(&self.file, byte(slot)), Ok(true)) {
            return false;
        }
        // Nobody owned it. Now we do, and nobody else writes its registers.
        let was_left = self.record(slot).phase() != Phase::Free;
        self.finish(slot, finish);
        let _ = locks::unlock(&self.file, byte(slot));
        was_left
    }

    /// Finishes the passage of a slot whose byte we have locked.
    fn finish(&self, slot: Pid, finish: &dyn Fn(&mut Shared)) {
        let mut memory = self.memory(slot);
        self.leaves(slot);
        finish(&mut memory);
        self.region.rise(slot);
        // Not before its registers are as they should be: if we die before, somebody does this again.
        self.record(slot).clear();
        memory.flush();
    }

    /// Whether the slot's owner, or a child that has inherited the slot from it, is alive.
    pub fn is_alive(&self, slot: Pid) -> bool {
        let owned = self.owned();
        owned[slot] || locks::is_locked(&self.file, byte(slot), 1).unwrap_or(true)
    }

    /// Whether anyone with another open file owns a slot.
    fn is_used(&self) -> Result<bool, Error> {
        locks::is_locked(&self.file, byte(0), self.slots()).map_err(self.io("ask for the locks of"))
    }

    /// Locked for the time of some system calls, never while anyone waits.
    fn owned(&self) -> MutexGuard<'_, Vec<bool>> {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn io(&self, doing: &'static str) -> impl Fn(io::Error) -> Error {
        let path = self.location.as_path().to_owned();
        move |source| Error::Io { path: path.clone(), doing, source }
    }
}

/// What the owner of a slot says of itself.
impl File {
    /// It begins a passage, now.
    #[inline(always)]
    pub fn arrives(&self, slot: Pid, now: u64) {
        let record = self.record(slot);
        record.set_ticket(0);
        record.set_since(now);
        record.set_phase(Phase::Arriving);
    }

    /// It has a ticket, and waits or tries with it.
    #[inline(always)]
    pub fn has_ticket(&self, slot: Pid, ticket: u64, phase: Phase) {
        let record = self.record(slot);
        record.set_ticket(ticket);
        record.set_phase(phase);
    }

    /// It is inside.
    #[inline(always)]
    pub fn is_inside(&self, slot: Pid) {
        self.record(slot).set_phase(Phase::Inside);
    }

    /// It is inside now, having waited.
    pub fn is_inside_since(&self, slot: Pid, now: u64) {
        self.record(slot).set_since(now);
        self.is_inside(slot);
    }

    /// It is about to end its passage.
    #[inline(always)]
    pub fn leaves(&self, slot: Pid) {
        self.record(slot).set_phase(Phase::Leaving);
    }

    /// Its passage has ended.
    #[inline(always)]
    pub fn has_left(&self, slot: Pid) {
        self.record(slot).set_phase(Phase::Free);
    }

    /// What it is about.
    pub fn describe(&self, slot: Pid, what: &str) {
        self.record(slot).set_what(what);
    }

    /// The time, to a few milliseconds, in nanoseconds since 1970. Takes no system call.
    #[must_use]
    #[inline(always)]
    pub fn now() -> u64 {
        let now = clock_gettime(ClockId::RealtimeCoarse);
        (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
    }
}

/// Creates a file that is complete when its name appears, and replaces nothing.
fn create(location: &Location, k: usize, slots: usize, registers: usize) -> Result<(), Error> {
    let path = location.as_path();
    let io = |doing| move |source| Error::Io { path: path.to_owned(), doing, source };
    let id = RandomState::new().build_hasher().finish();
    let name = path.file_name().ok_or_else(|| Error::Name { name: path.to_owned() })?;
    let draft = path.with_file_name(format!(".{}.{id:x}.new", name.to_string_lossy()));
    let bytes = Layout::new(slots, registers).bytes();
    let full = |error: io::Error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::Full { path: path.to_owned(), bytes },
        _ => io("create")(error),
    };
    let write = || {
        let mut file = location.options().create_new(true).open(&draft).map_err(io("create"))?;
        // Every block is there before anyone maps it: a full disk is an error now, and not a signal later.
        match fallocate(&file, FallocateFlags::empty(), 0, bytes as u64) {
            Err(Errno::OPNOTSUPP) => file.write_all(&vec![0; bytes]).map_err(full)?,
            allocated => allocated.map_err(|error| full(error.into()))?,
        }
        let header: Vec<u8> =
            Header { k, slots, registers, id }.words().iter().flat_map(|word| word.to_le_bytes()).collect();
        file.write_all_at(&header, 0).map_err(full)?;
        match fs::hard_link(&draft, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()), // another was faster
            linked => linked.map_err(full),
        }
    };
    let written = write();
    let _ = fs::remove_file(&draft);
    written
}

/// When this process began, in clock ticks since the machine did: field 22 of its `stat`.
fn started() -> io::Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // Field 2 is the command in parentheses, which may hold anything, parentheses too.
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    after.split_whitespace().nth(19).and_then(|field| field.parse().ok()).ok_or(io::ErrorKind::InvalidData.into())
}
