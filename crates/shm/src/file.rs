//! The file with an algorithm's registers: lives, and taking and releasing slots.
use std::{
    fs, io,
    os::fd::{AsFd, BorrowedFd},
    process,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::Ordering::{Acquire, Relaxed, Release, SeqCst},
    },
    time::Duration,
};

use doorway_memory::Pid;
use rustix::{
    io::{FdFlags, fcntl_setfd},
    time::{ClockId, clock_gettime},
};

use crate::{
    Error, ForkDetector, Location, Mapping, Plan, Process, Record, Shared, header::OTHER_ALGORITHM, locks,
    mapping::random, region::Region,
};

/// The byte whose lock shows that an open file description is open.
fn byte(life: u64) -> (u64, u64) {
    (life, 1)
}

/// A life's number is below this, so that the byte of that number can be locked.
const LIVES: u64 = 1 << 62;

/// The outcome of an attempt to take a slot.
///
/// See [`File::take`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// The caller owns the slot of its memory now, until it [releases](File::release) it. The last owner completed its
    /// passage.
    Free,
    /// As before, but the last owner died: the caller must reap it before its own passage.
    FromTheDead,
    /// All slots are in use.
    NoneIsFree,
    /// Another process removes the file just now.
    Busy,
    /// The path no longer leads to this file.
    FileIsGone,
}

/// A mapped file with the registers of an algorithm.
///
/// See [`Mapping`] and [`Shared`].
#[derive(Debug)]
pub struct File {
    location: Location,
    identity: (u64, u64),
    id: u64,
    region: Arc<Region>,
    plan: Plan,
    /// The number of the byte that this open file description has locked, once it takes a slot.
    life: OnceLock<u64>,
    /// Held by a thread that begins the life.
    begins: Mutex<()>,
    fork_detector: ForkDetector,
    /// The start time of this process; 0 if it is not known.
    started: OnceLock<u64>,
}

impl File {
    /// A mapped file with these registers: those that the algorithm allocated for its capacity and number of slots.
    ///
    /// # Errors
    /// If the file has another number of registers, so that it is for another algorithm.
    ///
    /// See [`Mapping`].
    pub fn new(mapping: Mapping, plan: Plan) -> Result<File, Error> {
        if !mapping.header.fits(&plan) {
            return Err(Error::Garbage { path: mapping.location.as_path().to_owned(), why: OTHER_ALGORITHM });
        }
        let fork_detector = ForkDetector::new().map_err(mapping.io("allocate memory for"))?;
        let Mapping { location, identity, header, region } = mapping;
        let (life, started) = (OnceLock::new(), OnceLock::new());
        Ok(File {
            location,
            identity,
            id: header.id,
            region,
            plan,
            life,
            begins: Mutex::new(()),
            fork_detector,
            started,
        })
    }

    /// Removes the file unless it is in use.
    ///
    /// # Errors
    /// If the file is in use, or cannot be removed.
    ///
    /// ```
    /// use doorway_memory::Space;
    /// use doorway_shm::{File, Location, Mapping, Plan};
    ///
    /// let mut plan = Plan::new();
    /// plan.shared("x", false);
    /// let path = std::env::temp_dir().join(format!("doorway-forget-{}", std::process::id()));
    /// let file = File::new(Mapping::open_or_create(&Location::path(&path)?, 1, 2, || plan.clone())?, plan)?;
    /// file.forget()?;
    /// assert!(!path.exists());
    /// # Ok::<(), doorway_shm::Error>(())
    /// ```
    pub fn forget(self) -> Result<(), Error> {
        if !locks::try_lock(&self.region.file, locks::ALL).map_err(self.io("lock"))? {
            return Err(Error::InUse { path: self.location.as_path().to_owned() });
        }
        if self.is_current()? {
            // Processes that still have it open find out when they begin their life, and open the file that the path
            // leads to then.
            fs::remove_file(self.location.target()).map_err(self.io("remove"))?;
        }
        Ok(()) // everything is unlocked when the file is closed
    }

    /// The number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.region.layout().slots
    }

    /// A random number that identifies the file.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The location at which the file was opened.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The descriptor to which the slots taken through this handle belong. A child that inherits it keeps them.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.region.file.as_fd()
    }

    /// Lets children inherit the descriptor from now on; otherwise it is closed when they execute another program.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn keep_in_children(&self) -> Result<(), Error> {
        fcntl_setfd(&self.region.file, FdFlags::empty()).map_err(|error| self.io("keep open")(error.into()))
    }

    /// Whether the current process opened the file, rather than inherited it by a fork. Takes no system call.
    #[must_use]
    #[inline(always)]
    pub fn is_original_process(&self) -> bool {
        self.fork_detector.is_original_process()
    }

    /// Whether the path still leads to this file. If not, processes that open the path now use another file.
    ///
    /// # Errors
    /// If the metadata of the path cannot be read.
    pub fn is_current(&self) -> Result<bool, Error> {
        match self.location.identity() {
            Ok(found) => Ok(found == self.identity),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.io("read the metadata of")(error)),
        }
    }

    /// The record of a slot's owner, if the file has room for that slot.
    #[must_use]
    pub fn record(&self, slot: Pid) -> Option<Record<'_>> {
        self.region.has_room(slot).then(|| self.region.record(slot))
    }

    /// The memory from the point of view of the owner of this slot.
    ///
    /// Only the owner may write to it.
    #[must_use]
    pub fn memory(&self, slot: Pid) -> Shared {
        Shared::new(self.region.clone(), slot)
    }

    /// Announces that the owner of this slot, which is this process, parks. Returns the doorbell's count.
    ///
    /// To be followed by another look at what is waited for, and by [`park`](File::park) or [`retract`](File::retract).
    /// [`Shared`] does all of this for an owner that waits by itself.
    #[must_use]
    pub fn announce(&self, slot: Pid) -> u32 {
        self.region.announce(slot)
    }

    /// Parks until another process [wakes](File::wake) the owner of this slot, for `timeout` at most. Returns whether none
    /// has done so, and the announcement is still there.
    #[must_use]
    pub fn park(&self, slot: Pid, count: u32, timeout: Duration) -> bool {
        self.region.park(slot, count, timeout)
    }

    /// Takes the announcement back that the owner of this slot parks.
    pub fn retract(&self, slot: Pid) {
        self.region.retract(slot);
    }

    /// Wakes the owner of this slot if it is parked.
    pub fn wake(&self, slot: Pid) {
        if self.region.has_room(slot) {
            self.region.wake(slot);
        }
    }

    /// Makes `memory` that of a free slot, which the caller owns from now on; if possible, of the same slot as before.
    ///
    /// # Errors
    /// If the file cannot be locked, or was [opened before a fork](File::is_original_process).
    #[inline(always)]
    pub fn take(&self, memory: &mut Shared) -> Result<Taken, Error> {
        if memory.has_room()
            && let Some(&life) = self.life.get()
            && self.region.owner(memory.slot()).compare_exchange(0, life, SeqCst, Relaxed).is_ok()
        {
            return Ok(Taken::Free);
        }
        self.take_another(memory)
    }

    #[cold]
    fn take_another(&self, memory: &mut Shared) -> Result<Taken, Error> {
        if !self.is_original_process() {
            return Err(Error::Forked { path: self.location.as_path().to_owned() });
        }
        let life = match self.begin_life()? {
            Ok(life) => life,
            Err(why) => return Ok(why),
        };
        let take = |slot: Pid, from: u64| self.region.owner(slot).compare_exchange(from, life, SeqCst, Relaxed).is_ok();
        // A free slot; or if there is none, one whose owner died.
        for slot in 0..self.slots() {
            if self.region.owner(slot).load(Relaxed) == 0 && take(slot, 0) {
                return self.taken(memory, slot, Taken::Free);
            }
        }
        for slot in 0..self.slots() {
            let owner = self.region.owner(slot).load(SeqCst);
            if !self.is_life(owner) && take(slot, owner) {
                return self.taken(memory, slot, Taken::FromTheDead);
            }
        }
        Ok(Taken::NoneIsFree)
    }

    fn taken(&self, memory: &mut Shared, slot: Pid, taken: Taken) -> Result<Taken, Error> {
        if let Err(error) = self.region.grow(slot) {
            self.region.owner(slot).store(0, Release);
            return Err(match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    let bytes = self.region.layout().bytes(slot + 1);
                    Error::Full { path: self.location.as_path().to_owned(), bytes, source: error }
                }
                _ => self.io("extend")(error),
            });
        }
        self.region.retract(slot); // the last owner may have died while it was parked
        memory.move_to(slot);
        Ok(taken)
    }

    /// Releases the slot of this memory, whose owner has completed its passage.
    #[inline(always)]
    pub fn release(&self, memory: &Shared) {
        // In a forked child the slot still belongs to the parent.
        if self.is_original_process() {
            // ORDERING: Release. Pairs with: the exchange in `take`; the next owner finds the passage completed.
            self.region.owner(memory.slot()).store(0, Release);
        }
    }

    /// Records the owner of the memory's slot, which is this process, and its description.
    ///
    /// `version` is to differ for descriptions that differ.
    #[inline(always)]
    pub fn describe(&self, memory: &Shared, version: u64, description: &str) {
        let tag = self.life.get().copied().unwrap_or(0).wrapping_add(version);
        if !memory.record().is_of(tag) {
            let started = *self.started.get_or_init(|| Process::of(process::id()).map_or(0, |process| process.started));
            memory.record().set_owner(tag, process::id(), started, description);
        }
    }

    /// Whether the slot's owner, or a child that inherited its descriptor, is alive. A free slot has no living owner.
    #[must_use]
    pub fn is_alive(&self, slot: Pid) -> bool {
        slot < self.slots() && self.is_life(self.region.owner(slot).load(Acquire))
    }

    /// The number of the life that owns the slot, or 0, if the owner is not [alive](File::is_alive).
    ///
    /// See [`free`](File::free).
    #[must_use]
    pub fn dead_owner(&self, slot: Pid) -> Option<u64> {
        let owner = if slot < self.slots() { self.region.owner(slot).load(Acquire) } else { 0 };
        (!self.is_life(owner)).then_some(owner)
    }

    /// Frees a slot whose [owner died](File::dead_owner) and is reaped, unless another process has taken it since.
    pub fn free(&self, slot: Pid, dead: u64) {
        if dead != 0 {
            let _ = self.region.owner(slot).compare_exchange(dead, 0, SeqCst, Relaxed);
        }
    }

    /// Whether the slot is owned through this handle.
    #[must_use]
    pub fn is_own(&self, slot: Pid) -> bool {
        self.life.get().is_some_and(|&life| self.region.owner(slot).load(Relaxed) == life)
    }

    /// Whether no other process uses the file. Then sets all registers to their initial values.
    ///
    /// # Errors
    /// If the file cannot be locked.
    pub fn reset_if_unused(&self) -> Result<bool, Error> {
        let Some(&life) = self.life.get() else { return Ok(false) };
        let others = [(0, life), (life + 1, 0)];
        let lock = |bytes| locks::try_lock(&self.region.file, bytes).map_err(self.io("lock"));
        let is_unused = lock(others[0])? && lock(others[1])?;
        if is_unused {
            self.region.reset(self.plan.initial_values());
        }
        for bytes in others {
            locks::unlock(&self.region.file, bytes).map_err(self.io("unlock"))?;
        }
        Ok(is_unused)
    }

    /// The number of the byte that this open file description has locked. The kernel unlocks it when the last descriptor
    /// is closed: when the process has died, and every child that inherited it too.
    fn begin_life(&self) -> Result<Result<u64, Taken>, Error> {
        let _begins = self.begins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&life) = self.life.get() {
            return Ok(Ok(life));
        }
        let life = 1 + random() % (LIVES - 1);
        if !locks::try_lock(&self.region.file, byte(life)).map_err(self.io("lock"))? {
            return Ok(Err(Taken::Busy));
        }
        // From here on the file cannot be removed by `forget`; but it may have been before.
        if !self.is_current()? {
            return Ok(Err(Taken::FileIsGone));
        }
        Ok(Ok(*self.life.get_or_init(|| life)))
    }

    /// Whether this is the number of an open file description that is open.
    fn is_life(&self, life: u64) -> bool {
        // An error says nothing about the owner, which may be alive.
        (1..LIVES).contains(&life)
            && (self.life.get() == Some(&life) || locks::is_locked(&self.region.file, byte(life)).unwrap_or(true))
    }

    /// The error of a system call on the file.
    fn io(&self, doing: &'static str) -> impl Fn(io::Error) -> Error {
        let path = self.location.as_path().to_owned();
        move |source| Error::Io { path: path.clone(), doing, source }
    }

    /// The time in nanoseconds since 1970, with a resolution of a few milliseconds. Takes no system call.
    #[must_use]
    #[inline(always)]
    pub fn now() -> u64 {
        let now = clock_gettime(ClockId::RealtimeCoarse);
        (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
    }
}
