//! The file with an algorithm's registers: taking, releasing and reaping its slots.
use std::{
    fs, io,
    os::fd::{AsFd, BorrowedFd},
    process,
    sync::{Mutex, MutexGuard, PoisonError},
};

use doorway_memory::Pid;
use rustix::{
    io::{FdFlags, fcntl_setfd},
    time::{ClockId, clock_gettime},
};

use crate::{
    Error, ForkDetector, Location, Mapping, Peek, Phase, Plan, Record, Shared, header::OTHER_ALGORITHM, locks,
};

/// The byte that a process locks while it takes a slot.
const GATE: usize = 0;

/// The byte that the owner of a slot keeps locked.
fn byte(slot: Pid) -> usize {
    slot + 1
}

/// The outcome of an attempt to take a slot.
///
/// See [`File::take`].
#[derive(Debug)]
pub enum Taken {
    /// The caller owns this slot now, until it [releases](File::release) it.
    Slot(Box<Shared>),
    /// Another process has locked the gate, which takes only a moment.
    GateIsBusy,
    /// All slots are in use.
    NoneIsFree,
    /// The path no longer leads to this file.
    FileIsGone,
}

/// A mapped file with the registers of an algorithm.
///
/// See [`Mapping`] and [`Shared`].
#[derive(Debug)]
pub struct File {
    mapping: Mapping,
    plan: Plan,
    /// Whether each slot is owned through this open file description. The kernel cannot tell: see [`locks`]. A thread
    /// that takes or reaps a slot holds this mutex.
    owned: Mutex<Vec<bool>>,
    fork_detector: ForkDetector,
    /// The start time of this process.
    started: u64,
}

impl File {
    /// A mapped file with these registers: those that the algorithm allocated for its capacity and number of slots.
    ///
    /// # Errors
    /// If the file has another number of registers, so that it is for another algorithm.
    ///
    /// See [`Mapping`].
    pub fn new(mapping: Mapping, plan: Plan) -> Result<File, Error> {
        if mapping.header.registers != plan.registers() {
            return Err(Error::Garbage { path: mapping.location.as_path().to_owned(), why: OTHER_ALGORITHM });
        }
        let fork_detector = ForkDetector::new().map_err(mapping.io("map"))?;
        let started = started().map_err(mapping.io("read the start time of this process for"))?;
        let owned = Mutex::new(vec![false; mapping.slots()]);
        Ok(File { mapping, plan, owned, fork_detector, started })
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
    /// let file = File::new(Mapping::open_or_create(&Location::path(&path), 1, 2, || 1)?, plan)?;
    /// file.forget()?;
    /// assert!(!path.exists());
    /// # Ok::<(), doorway_shm::Error>(())
    /// ```
    pub fn forget(self) -> Result<(), Error> {
        // A process that has locked the gate is about to use the file.
        if !locks::try_lock(&self.mapping.file, GATE).map_err(self.mapping.io("lock"))? || self.is_used()? {
            return Err(Error::InUse { path: self.location().as_path().to_owned() });
        }
        if self.is_current()? {
            // Processes that still have it open find out at the gate, and open the file that the path leads to then.
            fs::remove_file(self.location().as_path()).map_err(self.mapping.io("remove"))?;
        }
        Ok(()) // the gate is unlocked when the file is closed
    }

    /// The capacity: the maximum number of holders.
    #[must_use]
    pub fn k(&self) -> usize {
        self.mapping.header.k
    }

    /// The number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.mapping.header.slots
    }

    /// A random number that identifies the file.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.mapping.header.id
    }

    /// The location at which the file was opened.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.mapping.location
    }

    /// The descriptor to which the slots taken through this handle belong. A child that inherits it keeps them.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.mapping.file.as_fd()
    }

    /// Lets children inherit the descriptor from now on; otherwise it is closed when they execute another program.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn keep_in_children(&self) -> Result<(), Error> {
        fcntl_setfd(&self.mapping.file, FdFlags::empty()).map_err(|error| self.mapping.io("keep open")(error.into()))
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
        match self.mapping.location.identity() {
            Ok(found) => Ok(found == self.mapping.identity),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.mapping.io("read the metadata of")(error)),
        }
    }

    /// The record of a slot's owner.
    ///
    /// # Panics
    /// If there is no such slot.
    #[must_use]
    pub fn record(&self, slot: Pid) -> Record<'_> {
        self.mapping.region.record(slot)
    }

    /// The memory from the point of view of the owner of this slot.
    ///
    /// Only the owner may write to it, or a process that reaps the slot and was given the memory by
    /// [`reap`](File::reap).
    #[must_use]
    pub fn memory(&self, slot: Pid) -> Shared {
        Shared::new(self.mapping.region.clone(), slot)
    }

    /// A read-only view of the memory.
    #[must_use]
    pub fn peek(&self) -> Peek {
        Peek::new(self.mapping.region.registers())
    }

    /// Sets every register to its initial value. No other process may use the file meanwhile.
    pub fn reset(&self) {
        self.mapping.region.reset(self.plan.initial_values());
    }

    /// Tries to take a slot, and resets the file first if it is unused.
    ///
    /// `reap` completes the passage of the slot's last owner, which may have died during it.
    ///
    /// # Errors
    /// If the file cannot be locked, or was [opened before a fork](File::is_original_process).
    pub fn take(&self, reap: &dyn Fn(&mut Shared)) -> Result<Taken, Error> {
        if !self.is_original_process() {
            return Err(Error::Forked { path: self.mapping.location.as_path().to_owned() });
        }
        let mut owned = self.owned();
        if !locks::try_lock(&self.mapping.file, GATE).map_err(self.mapping.io("lock"))? {
            return Ok(Taken::GateIsBusy);
        }
        let taken = self.take_at_gate(&mut owned, reap);
        locks::unlock(&self.mapping.file, GATE).map_err(self.mapping.io("unlock"))?;
        taken
    }

    /// Tries to take a slot, with the gate locked.
    fn take_at_gate(&self, owned: &mut [bool], reap: &dyn Fn(&mut Shared)) -> Result<Taken, Error> {
        if !self.is_current()? {
            return Ok(Taken::FileIsGone);
        }
        if !owned.contains(&true) && !self.is_used()? {
            self.reset();
        }
        for slot in (0..self.slots()).filter(|&slot| !owned[slot]).collect::<Vec<Pid>>() {
            if locks::try_lock(&self.mapping.file, byte(slot)).map_err(self.mapping.io("lock"))? {
                // Completes the last owner's passage if it died; has no effect if it completed the passage itself.
                let memory = self.reap_locked_slot(slot, reap);
                owned[slot] = true;
                memory.record().set_owner(process::id(), self.started);
                return Ok(Taken::Slot(Box::new(memory)));
            }
        }
        Ok(Taken::NoneIsFree)
    }

    /// Releases a slot that was taken through this handle and whose owner has completed its passage.
    pub fn release(&self, slot: &Shared) {
        // In a forked child the descriptor, and so the slot, still belongs to the parent.
        if self.is_original_process() {
            let mut owned = self.owned();
            slot.record().clear();
            owned[slot.slot()] = false;
            // If this fails, the byte is unlocked when the file is closed.
            let _ = locks::unlock(&self.mapping.file, byte(slot.slot()));
        }
    }

    /// Reaps the dead processes whose records `selects` accepts; returns how many died during a passage.
    ///
    /// `reap` completes the passage of one of them.
    pub fn reap(&self, selects: &dyn Fn(Record<'_>) -> bool, reap: &dyn Fn(&mut Shared)) -> usize {
        let owned = self.owned();
        let is_candidate = |slot: &Pid| !owned[*slot] && selects(self.record(*slot));
        (0..self.slots()).filter(is_candidate).filter(|&slot| self.reap_slot(slot, reap)).count()
    }

    /// Reaps the slot if its owner is dead; returns whether the owner died during a passage.
    ///
    /// The caller holds `owned`, and the slot is not owned through this handle.
    fn reap_slot(&self, slot: Pid, reap: &dyn Fn(&mut Shared)) -> bool {
        if !matches!(locks::try_lock(&self.mapping.file, byte(slot)), Ok(true)) {
            return false;
        }
        // The slot had no owner. With its byte locked, no other process writes its registers.
        let died_in_passage = self.record(slot).phase() != Phase::Free;
        self.reap_locked_slot(slot, reap);
        let _ = locks::unlock(&self.mapping.file, byte(slot));
        died_in_passage
    }

    /// Completes the passage of a slot whose byte the caller has locked. Returns the memory of the slot.
    fn reap_locked_slot(&self, slot: Pid, reap: &dyn Fn(&mut Shared)) -> Shared {
        let mut memory = self.memory(slot);
        memory.set_leaving();
        reap(&mut memory);
        self.mapping.region.retract(slot);
        // Only after its registers are reset: if this process dies before, another one reaps the slot again.
        memory.record().clear();
        memory.flush();
        memory
    }

    /// Whether the slot's owner, or a child that inherited the slot, is alive.
    pub fn is_alive(&self, slot: Pid) -> bool {
        let owned = self.owned();
        owned[slot] || locks::is_locked(&self.mapping.file, byte(slot), 1).unwrap_or(true)
    }

    /// Whether a slot is owned through another open file description.
    fn is_used(&self) -> Result<bool, Error> {
        locks::is_locked(&self.mapping.file, byte(0), self.slots()).map_err(self.mapping.io("query the locks of"))
    }

    /// Locks `owned`. It is held for a few system calls at a time, never while a thread waits for the semaphore.
    fn owned(&self) -> MutexGuard<'_, Vec<bool>> {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time in nanoseconds since 1970, with a resolution of a few milliseconds. Takes no system call.
    #[must_use]
    #[inline(always)]
    pub fn now() -> u64 {
        let now = clock_gettime(ClockId::RealtimeCoarse);
        (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
    }
}

/// The start time of this process, in clock ticks since boot: field 22 of `/proc/self/stat`.
fn started() -> io::Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // Field 2 is the command in parentheses, which may itself contain spaces and parentheses.
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    after.split_whitespace().nth(19).and_then(|field| field.parse().ok()).ok_or(io::ErrorKind::InvalidData.into())
}
