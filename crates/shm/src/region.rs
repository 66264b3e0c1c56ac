//! The layout of the file, and parking and waking across processes.
use std::iter;
use std::sync::{
    Arc,
    atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Relaxed, SeqCst},
        fence,
    },
};

use doorway_memory::Pid;

use crate::{
    Watch,
    map::{Map, Words},
    record::{self, Record},
};

/// The maximum number of slots of a file.
pub const MAX_SLOTS: usize = 1024;

/// A page and a cache line, in words.
const PAGE: usize = 4096 / 8;
const LINE: usize = 64 / 8;

/// The layout of a file with given numbers of slots and registers. Offsets are in words from the beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) slots: usize,
    registers: usize,
}

impl Layout {
    pub(crate) fn new(slots: usize, registers: usize) -> Layout {
        Layout { slots, registers }
    }

    const DOORBELLS: usize = PAGE;

    fn parked(self) -> usize {
        Layout::DOORBELLS + self.slots * LINE
    }

    fn records(self) -> usize {
        self.parked() + self.slots.div_ceil(64).next_multiple_of(LINE)
    }

    fn first_register(self) -> usize {
        (self.records() + self.slots * record::WORDS).next_multiple_of(PAGE)
    }

    pub(crate) fn bytes(self) -> usize {
        8 * (self.first_register() + self.registers).next_multiple_of(PAGE)
    }
}

/// The mapped file.
#[derive(Debug)]
pub(crate) struct Region {
    map: Arc<Map>,
    layout: Layout,
}

impl Region {
    pub(crate) fn new(map: Map, layout: Layout) -> Region {
        Region { map: Arc::new(map), layout }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn record(&self, slot: Pid) -> Record<'_> {
        assert!(slot < self.layout.slots, "slot {slot} of {}", self.layout.slots);
        Record::at(&self.map, self.layout.records() + slot * record::WORDS)
    }

    pub(crate) fn registers(&self) -> Words {
        Words::of(&self.map, self.layout.first_register(), self.layout.registers)
    }

    /// Resets everything but the header to its initial value. The caller must know that the file is unused.
    pub(crate) fn reset(&self, registers: impl Iterator<Item = u64>) {
        let others = self.layout.first_register() - Layout::DOORBELLS;
        for (value, word) in iter::repeat_n(0, others).chain(registers).zip(Layout::DOORBELLS..) {
            // Most words are unchanged, and a page that is only read need not be made writable.
            let word = self.map.word(word);
            if word.load(Relaxed) != value {
                word.store(value, Relaxed);
            }
        }
        // ORDERING: the next process that takes a slot locks the gate after this one unlocks it, which orders the reset
        // before everything that process does.
        fence(SeqCst);
    }

    fn doorbell(&self, slot: Pid) -> &AtomicU32 {
        self.map.half(Layout::DOORBELLS + slot * LINE)
    }

    /// A word of `parked` bits, one for each of 64 slots.
    fn parked(&self, word: usize) -> &AtomicU64 {
        self.map.word(self.layout.parked() + word)
    }
}

/// Parking and waking across processes.
///
/// # No lost wake-up
/// ```text
/// writer: 1 write registers    2 fence       3 read the parked bits
///         if the waiter's bit is set: 4 clear it, 5 increment the doorbell's count, 6 wake
/// waiter: a read the doorbell  b set its bit  c fence  d read the registers again  e park while the count is as in a
/// ```
/// By the fences, 3 sees b or d sees 1. If 3 sees b, then 5 comes after a; so either e finds another count and does not
/// park, or it parks and 6 wakes it: the kernel compares the count and parks in one step.
///
/// A waiter that could not make progress is not woken (`could_progress`, after 3). Its condition may depend on several
/// registers. Of their writers, the last one to pass its fence sees the writes of all of them, and wakes the waiter.
///
/// If a writer dies before 6, the waiter stays parked until its timeout.
impl Region {
    /// Steps a to c: announces that the owner of this slot parks. Returns the doorbell's count.
    #[cold]
    pub(crate) fn announce(&self, slot: Pid) -> u32 {
        let count = self.doorbell(slot).load(SeqCst);
        self.parked(slot / 64).fetch_or(1 << (slot % 64), SeqCst);
        fence(SeqCst);
        count
    }

    /// Step e, for `timeout` at most. Returns whether the doorbell's count is unchanged: then the slot is still
    /// announced.
    #[cold]
    pub(crate) fn park(&self, slot: Pid, count: u32, timeout: std::time::Duration) -> bool {
        use rustix::thread::futex::{Flags, wait};
        let doorbell = self.doorbell(slot);
        if let Ok(timeout) = timeout.try_into() {
            // Whatever it returns, the count tells whether the doorbell was rung. Not private: other processes ring it.
            let _ = wait(doorbell, Flags::empty(), count, Some(&timeout));
        }
        doorbell.load(SeqCst) == count
    }

    /// Retracts the announcement that the owner of this slot parks.
    #[cold]
    pub(crate) fn retract(&self, slot: Pid) {
        self.parked(slot / 64).fetch_and(!(1 << (slot % 64)), SeqCst);
    }

    /// Steps 3 to 6, for the slots that are marked and, as far as the watch knows, could make progress.
    #[inline(always)]
    pub(crate) fn wake_marked(&self, marks: &[bool], watch: Option<&dyn Watch>) {
        for (word, marks) in marks.chunks(64).enumerate() {
            let parked = self.parked(word).load(SeqCst);
            if parked != 0 {
                self.wake(word, parked, marks, watch);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self, word: usize, parked: u64, marks: &[bool], watch: Option<&dyn Watch>) {
        use rustix::thread::futex::{Flags, wake};
        for bit in (0..marks.len()).filter(|&bit| marks[bit] && parked & 1 << bit != 0) {
            if watch.is_some_and(|watch| !watch.could_progress(64 * word + bit)) {
                continue;
            }
            if self.parked(word).fetch_and(!(1 << bit), SeqCst) & 1 << bit != 0 {
                let doorbell = self.doorbell(64 * word + bit);
                doorbell.fetch_add(1, SeqCst);
                let _ = wake(doorbell, Flags::empty(), u32::MAX >> 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `docs/shared-file.md` has these numbers, for 64 slots and the registers of `k-bakery-fife`.
    #[test]
    fn the_layout_is_the_documented_one() {
        let layout = Layout::new(64, 64 + 2 * 64 * 63);
        let offsets = [Layout::DOORBELLS, layout.parked(), layout.records(), layout.first_register()];
        assert_eq!(offsets.map(|words| 8 * words), [4096, 8192, 8256, 28672]);
        assert_eq!(layout.bytes(), 94208);
    }
}
