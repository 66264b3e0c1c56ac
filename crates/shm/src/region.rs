//! Where things are in the file.
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

/// So many slots a file has at most.
pub const MOST_SLOTS: usize = 1024;

const PAGE: usize = 4096 / 8;
const LINE: usize = 64 / 8;

/// In words from the beginning: what lies where for so many slots and registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) slots: usize,
    registers: usize,
}

impl Layout {
    pub(crate) fn new(slots: usize, registers: usize) -> Layout {
        Layout { slots, registers }
    }

    const BELLS: usize = PAGE;

    fn asleep(self) -> usize {
        Layout::BELLS + self.slots * LINE
    }

    fn records(self) -> usize {
        self.asleep() + self.slots.div_ceil(64).next_multiple_of(LINE)
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

    /// Makes everything as it is when nobody has used it yet. Only for one who knows that nobody uses it.
    pub(crate) fn reset(&self, registers: impl Iterator<Item = u64>) {
        let others = self.layout.first_register() - Layout::BELLS;
        for (value, word) in iter::repeat_n(0, others).chain(registers).zip(Layout::BELLS..) {
            // Most are as they were: a page that is only read need not be made ours.
            let word = self.map.word(word);
            if word.load(Relaxed) != value {
                word.store(value, Relaxed);
            }
        }
        // ORDERING: who takes a slot next locks the gate after we unlock it, which orders this for them.
        fence(SeqCst);
    }

    fn bell(&self, slot: Pid) -> &AtomicU32 {
        self.map.half(Layout::BELLS + slot * LINE)
    }

    fn asleep(&self, word: usize) -> &AtomicU64 {
        self.map.word(self.layout.asleep() + word)
    }
}

/// Sleeping and waking across processes.
///
/// # No lost wake-up
/// ```text
/// writer:  1 write registers   2 fence   3 read asleep     if the sleeper's bit is set: 4 clear it, 5 count the bell up, 6 wake
/// sleeper: a read the bell   b set the bit   c fence   d one more turn: read the registers   e sleep while the bell is as in a
/// ```
/// The fences make that 3 sees b, or d sees 1. If 3 sees b, then 5 comes after a; so either e finds another count and does not
/// sleep, or it sleeps and 6 wakes it: the kernel compares and goes to sleep in one step.
///
/// Who would not go on is not woken (`would_go_on`, after 3). What it waits for may consist of several registers. Of their
/// writers the last one to pass its fence sees what all of them have written, and wakes it.
///
/// A writer that dies before 6 leaves the sleeper asleep until its nap is over.
impl Region {
    /// Steps a to c. Returns the bell's count.
    #[cold]
    pub(crate) fn announce(&self, slot: Pid) -> u32 {
        let heard = self.bell(slot).load(SeqCst);
        self.asleep(slot / 64).fetch_or(1 << (slot % 64), SeqCst);
        fence(SeqCst);
        heard
    }

    /// Step e, no longer than `nap`. Says whether the bell still is as it was: then we are still announced.
    #[cold]
    pub(crate) fn sleep(&self, slot: Pid, heard: u32, nap: std::time::Duration) -> bool {
        use rustix::thread::futex::{Flags, wait};
        let bell = self.bell(slot);
        if let Ok(nap) = nap.try_into() {
            // Whatever it returns, the bell says whether it has rung. Not private: other processes ring it.
            let _ = wait(bell, Flags::empty(), heard, Some(&nap));
        }
        bell.load(SeqCst) == heard
    }

    /// We sleep no longer.
    #[cold]
    pub(crate) fn rise(&self, slot: Pid) {
        self.asleep(slot / 64).fetch_and(!(1 << (slot % 64)), SeqCst);
    }

    /// Step 3 and those after it, for those slots that are marked and, as far as the watch knows, would go on.
    #[inline(always)]
    pub(crate) fn ring(&self, marks: &[bool], watch: Option<&dyn Watch>) {
        for (word, marks) in marks.chunks(64).enumerate() {
            let sleepers = self.asleep(word).load(SeqCst);
            if sleepers != 0 {
                self.wake(word, sleepers, marks, watch);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self, word: usize, sleepers: u64, marks: &[bool], watch: Option<&dyn Watch>) {
        use rustix::thread::futex::{Flags, wake};
        for bit in (0..marks.len()).filter(|&bit| marks[bit] && sleepers & 1 << bit != 0) {
            if watch.is_some_and(|watch| !watch.would_go_on(64 * word + bit)) {
                continue;
            }
            if self.asleep(word).fetch_and(!(1 << bit), SeqCst) & 1 << bit != 0 {
                let bell = self.bell(64 * word + bit);
                bell.fetch_add(1, SeqCst);
                let _ = wake(bell, Flags::empty(), u32::MAX >> 1);
            }
        }
    }
}
