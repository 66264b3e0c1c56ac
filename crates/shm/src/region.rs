//! The layout of the file, its growth, and parking and waking across processes.
use std::{
    fs, io,
    os::unix::fs::FileExt,
    sync::atomic::{
        AtomicU32, AtomicU64, AtomicUsize,
        Ordering::{Acquire, Relaxed, SeqCst},
        fence,
    },
    time::Duration,
};

use doorway_memory::Pid;
use rustix::{
    fs::{FallocateFlags, fallocate},
    io::Errno,
    process::{Resource, getrlimit},
};

use crate::{
    map::Map,
    record::{self, Record},
};

/// The maximum number of slots of a file: of holders and waiters at once.
pub const MAX_SLOTS: usize = 2048;

/// A page and a cache line, in words.
const PAGE: usize = 4096 / 8;
const LINE: usize = 64 / 8;

/// The layout of a file. Offsets are in words from the beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) slots: usize,
    /// The number of registers that are at home at no slot, and at each slot.
    pub(crate) shared: usize,
    pub(crate) per_slot: usize,
}

impl Layout {
    /// The number of slots that the file has room for.
    const ROOM: usize = PAGE;
    /// How many owners are parked, at least.
    const PARKED_COUNT: usize = PAGE + LINE;
    /// A bit for each slot.
    const PARKED: usize = PAGE + 2 * LINE;
    /// The registers at home at no slot.
    const SHARED: usize = Layout::PARKED + MAX_SLOTS / 64;

    fn owners(self) -> usize {
        (Layout::SHARED + self.shared).next_multiple_of(LINE)
    }

    /// The first area: a doorbell, a record and the registers of a slot.
    fn areas(self) -> usize {
        (self.owners() + self.slots).next_multiple_of(PAGE)
    }

    /// The size of an area. Its last word is not used.
    fn area(self) -> usize {
        (LINE + record::WORDS + self.per_slot + 1).next_multiple_of(LINE)
    }

    /// The number of bytes of a file with room for this number of slots.
    pub(crate) fn bytes(self, slots: usize) -> usize {
        8 * (self.areas() + slots * self.area())
    }

    /// The number of slots that a file of this length has room for; `None` if it is too short for a file at all.
    fn room(self, bytes: u64) -> Option<usize> {
        let areas = (bytes / 8).checked_sub(self.areas() as u64)?;
        Some((areas / self.area() as u64) as usize)
    }
}

/// The mapped file.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) file: fs::File,
    map: Map,
    layout: Layout,
    /// How many slots the file has room for, as far as is known here.
    known_room: AtomicUsize,
}

impl Region {
    /// Maps a file with room for all slots, though it may be shorter yet.
    pub(crate) fn new(file: fs::File, layout: Layout, is_writable: bool) -> io::Result<Region> {
        let map = Map::of_file(&file, layout.bytes(layout.slots), is_writable)?;
        Ok(Region { file, map, layout, known_room: AtomicUsize::new(0) })
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Whether the file has room for this slot. If not, nothing of the slot's area may be accessed.
    pub(crate) fn has_room(&self, slot: Pid) -> bool {
        slot < self.known_room.load(Relaxed) || self.room().is_ok_and(|room| slot < room)
    }

    /// The number of slots that the file has room for.
    pub(crate) fn room(&self) -> io::Result<usize> {
        let noted = self.map.word(Layout::ROOM).load(Acquire) as usize;
        // The word may be damaged.
        let found = self.layout.room(self.file.metadata()?.len()).unwrap_or(0);
        let room = noted.min(found).min(self.layout.slots);
        self.known_room.fetch_max(room, Relaxed);
        Ok(room)
    }

    /// Makes room for the slots up to this one.
    pub(crate) fn grow(&self, slot: Pid) -> io::Result<()> {
        if self.has_room(slot) {
            return Ok(());
        }
        let room = self.room()?;
        if slot < room {
            return Ok(()); // another process has made room since
        }
        let (from, to) = (self.layout.bytes(room) as u64, self.layout.bytes(slot + 1) as u64);
        allocate(&self.file, from, to)?;
        self.map.word(Layout::ROOM).fetch_max(slot as u64 + 1, SeqCst);
        Ok(())
    }

    /// The life to which a slot belongs; 0 if it is free.
    #[inline(always)]
    pub(crate) fn owner(&self, slot: Pid) -> &AtomicU64 {
        assert!(slot < self.layout.slots, "slot {slot} of {}", self.layout.slots);
        self.map.word(self.layout.owners() + slot)
    }

    /// The record of a slot for which there is room.
    pub(crate) fn record(&self, slot: Pid) -> Record<'_> {
        assert!(slot < self.layout.slots, "slot {slot} of {}", self.layout.slots);
        Record::at(&self.map, self.layout.areas() + slot * self.layout.area() + LINE)
    }

    #[inline(always)]
    pub(crate) fn shared_register(&self, index: u32) -> &AtomicU64 {
        assert!((index as usize) < self.layout.shared, "the register belongs to another memory");
        self.map.word(Layout::SHARED + index as usize)
    }

    /// A register at home at a slot for which there is room.
    #[inline(always)]
    pub(crate) fn register(&self, slot: usize, index: u32) -> &AtomicU64 {
        assert!((index as usize) < self.layout.per_slot, "the register belongs to another memory");
        self.map.word(self.layout.areas() + slot * self.layout.area() + LINE + record::WORDS + index as usize)
    }

    /// Sets everything but the header and the areas to its initial value. The caller must know that the file is unused.
    pub(crate) fn reset(&self, shared: &[u64]) {
        (0..self.layout.slots).for_each(|slot| self.owner(slot).store(0, Relaxed));
        (0..MAX_SLOTS / 64).for_each(|word| self.parked(word).store(0, Relaxed));
        self.parked_count().store(0, Relaxed);
        for (index, &value) in shared.iter().enumerate() {
            self.shared_register(index as u32).store(value, Relaxed);
        }
        // ORDERING: a process that uses the file afterwards locks a byte that the caller unlocks after this, which orders
        // the reset before everything that process does.
        fence(SeqCst);
    }

    fn doorbell(&self, slot: Pid) -> &AtomicU32 {
        self.map.half(self.layout.areas() + slot * self.layout.area())
    }

    /// A word of `parked` bits, one for each of 64 slots.
    fn parked(&self, word: usize) -> &AtomicU64 {
        self.map.word(Layout::PARKED + word)
    }

    /// The number of parked owners, or more: a death between two steps leaves it too large.
    fn parked_count(&self) -> &AtomicU64 {
        self.map.word(Layout::PARKED_COUNT)
    }
}

/// Allocates the blocks from one byte to another, and extends the file to them: a full disk is an error now, rather than
/// a SIGBUS later.
pub(crate) fn allocate(file: &fs::File, from: u64, to: u64) -> io::Result<()> {
    // Beyond the limit the kernel would end the process with SIGXFSZ.
    if getrlimit(Resource::Fsize).current.is_some_and(|limit| limit < to) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    match fallocate(file, FallocateFlags::empty(), from, to - from) {
        // The last word of an area is not used, so nothing is overwritten if another process has extended the file too.
        Err(Errno::OPNOTSUPP) => file.write_all_at(&[0], to - 1),
        allocated => Ok(allocated?),
    }
}

/// Parking and waking across processes.
///
/// # No lost wake-up
/// ```text
/// writer: 1 write registers    2 fence       3 read the count of parked owners, and their bits
///         if the waiter's bit is set: 4 clear it, 5 increment the doorbell's count, 6 wake
/// waiter: a read the doorbell  b increment the count, set its bit  c fence  d read the registers again
///         e park while the doorbell's count is as in a
/// ```
/// By the fences, 3 sees b or d sees 1. If 3 sees b, then 5 comes after a; so either e finds another count and does not
/// park, or it parks and 6 wakes it: the kernel compares the count and parks in one step.
///
/// If a writer dies before 6, the waiter stays parked until its timeout, or until the next writer wakes it.
impl Region {
    /// Steps a to c: announces that the owner of this slot parks. Returns the doorbell's count.
    #[cold]
    pub(crate) fn announce(&self, slot: Pid) -> u32 {
        let count = self.doorbell(slot).load(SeqCst);
        // In this order, so that the count of parked owners is never too small.
        self.parked_count().fetch_add(1, SeqCst);
        self.parked(slot / 64).fetch_or(1 << (slot % 64), SeqCst);
        fence(SeqCst);
        count
    }

    /// Step e, for `timeout` at most. Returns whether the doorbell's count is unchanged: then the slot is still
    /// announced.
    #[cold]
    pub(crate) fn park(&self, slot: Pid, count: u32, timeout: Duration) -> bool {
        use rustix::thread::futex::{Flags, wait};
        let doorbell = self.doorbell(slot);
        if let Ok(timeout) = timeout.try_into() {
            // Whatever it returns, the count tells whether the doorbell was rung. Not private: other processes ring it.
            let _ = wait(doorbell, Flags::empty(), count, Some(&timeout));
        }
        doorbell.load(SeqCst) == count
    }

    /// Retracts the announcement that the owner of this slot parks; returns whether there was one.
    #[cold]
    pub(crate) fn retract(&self, slot: Pid) -> bool {
        let bit = 1 << (slot % 64);
        let was_parked = self.parked(slot / 64).fetch_and(!bit, SeqCst) & bit != 0;
        if was_parked {
            self.parked_count().fetch_sub(1, SeqCst);
        }
        was_parked
    }

    /// Step 3, its first half: whether an owner may be parked.
    #[inline(always)]
    pub(crate) fn is_any_parked(&self) -> bool {
        self.parked_count().load(SeqCst) != 0
    }

    /// Steps 3 to 6 for one slot, for which there is room.
    #[cold]
    pub(crate) fn wake(&self, slot: Pid) {
        use rustix::thread::futex::{Flags, wake};
        if self.retract(slot) {
            let doorbell = self.doorbell(slot);
            doorbell.fetch_add(1, SeqCst);
            let _ = wake(doorbell, Flags::empty(), u32::MAX >> 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `docs/shared-file.md` has these numbers, for the registers of `fischer-queue-copied`.
    #[test]
    fn the_layout_is_the_documented_one() {
        let layout = Layout { slots: MAX_SLOTS, shared: 1, per_slot: 2 * (1 + MAX_SLOTS / 2) };
        let offsets = [Layout::ROOM, Layout::PARKED, Layout::SHARED, layout.owners(), layout.areas()];
        assert_eq!(offsets.map(|words| 8 * words), [4096, 4224, 4480, 4544, 24576]);
        assert_eq!((8 * layout.area(), layout.bytes(1)), (16768, 41344));
        assert_eq!((layout.room(41344), layout.room(41343), layout.room(24575)), (Some(1), Some(0), None));
    }

    #[test]
    fn processes_may_make_room_at_once() {
        let layout = Layout { slots: 500, shared: 1, per_slot: 1 };
        let path = std::env::temp_dir().join(format!("doorway-room-{}", std::process::id()));
        let open = || fs::File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
        allocate(&open(), 0, layout.bytes(0) as u64).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let region = Region::new(open(), layout, true).unwrap();
                scope.spawn(move || (0..layout.slots).for_each(|slot| region.grow(slot).unwrap()));
            }
        });
        let room = Region::new(open(), layout, true).unwrap().room().unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(room, layout.slots);
    }
}
