//! The record of a slot's owner: its process, phase, ticket and description.
use std::{
    sync::atomic::{
        AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
    time::{Duration, SystemTime},
};

use crate::map::Map;

/// The size of a record in words.
pub(crate) const WORDS: usize = 32;

const PHASE: usize = 0;
const TICKET: usize = 1;
const SINCE: usize = 2;
const PID: usize = 3;
const STARTED: usize = 4;
const LENGTH: usize = 5;
const TEXT: usize = 6;

/// The phase of a slot's owner.
///
/// An owner sets it before it begins a passage and after it has completed it, so a slot that is [`Free`](Phase::Free)
/// needs no reap.
///
/// ```
/// use doorway_memory::Space;
/// use doorway_shm::{File, Location, Mapping, Phase, Plan, Taken};
///
/// let mut plan = Plan::new();
/// plan.shared("x", false);
/// let path = std::env::temp_dir().join(format!("doorway-phase-{}", std::process::id()));
/// let mapping = Mapping::open_or_create(&Location::path(&path), 1, 2, || plan.registers())?;
/// let file = File::new(mapping, plan)?;
/// let Taken::Slot(slot) = file.take(&|_| ())? else { panic!("every slot was free") };
/// assert_eq!(file.record(slot.slot()).phase(), Phase::Free);
/// slot.set_arriving(File::now());
/// assert_eq!(file.record(slot.slot()).phase(), Phase::Arriving);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), doorway_shm::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// In the remainder.
    Free,
    /// In the doorway, without a ticket yet.
    Arriving,
    /// In the waiting section.
    Waiting,
    /// In the waiting section of a `try_acquire`: aborts if it cannot enter at once.
    Trying,
    /// In the critical section.
    Inside,
    /// In the exit section: its successor may be a holder already.
    Leaving,
}

impl Phase {
    fn of(word: u64) -> Phase {
        match word {
            1 => Phase::Arriving,
            2 => Phase::Waiting,
            3 => Phase::Trying,
            4 => Phase::Inside,
            5 => Phase::Leaving,
            _ => Phase::Free,
        }
    }
}

/// The record of a slot's owner. Only the owner writes it; other processes may read it at the same time.
///
/// See [`File::record`](crate::File::record).
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    map: &'a Map,
    first: usize,
}

impl<'a> Record<'a> {
    pub(crate) fn at(map: &'a Map, first: usize) -> Record<'a> {
        Record { map, first }
    }

    // ORDERING: Relaxed, for all words but the phase. Pairs with: the phase, written after them and read before them.
    // There is no weaker ordering, and nothing fails if a word is older than the phase: these words are displayed,
    // and say which slots to check and which waiters to wake. If a parked waiter's ticket is read too old, then the
    // waiter has announced itself since, and has checked its condition itself.
    #[inline(always)]
    fn word(&self, index: usize) -> &'a AtomicU64 {
        self.map.word(self.first + index)
    }

    /// The phase of the owner.
    #[must_use]
    pub fn phase(&self) -> Phase {
        // ORDERING: Acquire. Pairs with: the Release in `set_phase`; a reader that sees a phase sees the phase's
        // ticket.
        Phase::of(self.word(PHASE).load(Acquire))
    }

    /// The owner's ticket; 0 while it has none.
    #[must_use]
    pub fn ticket(&self) -> u64 {
        self.word(TICKET).load(Relaxed)
    }

    /// The time at which the owner arrived or, after waiting, entered; to a few milliseconds, the resolution of a
    /// cheap clock.
    #[must_use]
    pub fn since(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(self.word(SINCE).load(Relaxed))
    }

    /// The owner's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.word(PID).load(Relaxed) as u32
    }

    /// The start time of the owner's process, in clock ticks since boot: a pid may be reused, a pair of both is not.
    #[must_use]
    pub fn started(&self) -> u64 {
        self.word(STARTED).load(Relaxed)
    }

    /// The owner's description of itself, cut off after [`MAX_DESCRIPTION`](Record::MAX_DESCRIPTION) bytes.
    #[must_use]
    pub fn description(&self) -> String {
        let length = self.word(LENGTH).load(Relaxed).min(Record::MAX_DESCRIPTION as u64) as usize;
        let words = (TEXT..WORDS).flat_map(|index| self.word(index).load(Relaxed).to_le_bytes());
        let bytes: Vec<u8> = words.take(length).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The maximum length of a [`description`](Record::description) in bytes.
    pub const MAX_DESCRIPTION: usize = 8 * (WORDS - TEXT);

    #[inline(always)]
    pub(crate) fn set_phase(&self, phase: Phase) {
        // ORDERING: Release, after everything the owner did before. Pairs with: the Acquire in `phase`; for a process
        // that finds the owner dead, the kernel's unlocking of the owner's byte orders it too.
        self.word(PHASE).store(phase as u64, Release);
    }

    #[inline(always)]
    pub(crate) fn set_ticket(&self, ticket: u64) {
        self.word(TICKET).store(ticket, Relaxed);
    }

    #[inline(always)]
    pub(crate) fn set_since(&self, nanoseconds: u64) {
        self.word(SINCE).store(nanoseconds, Relaxed);
    }

    pub(crate) fn set_owner(&self, pid: u32, started: u64) {
        self.word(PID).store(u64::from(pid), Relaxed);
        self.word(STARTED).store(started, Relaxed);
    }

    pub(crate) fn set_description(&self, description: &str) {
        let mut end = description.len().min(Record::MAX_DESCRIPTION);
        while !description.is_char_boundary(end) {
            end -= 1;
        }
        self.word(LENGTH).store(0, Relaxed);
        for (index, bytes) in (TEXT..).zip(description.as_bytes()[..end].chunks(8)) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.word(index).store(u64::from_le_bytes(word), Relaxed);
        }
        self.word(LENGTH).store(end as u64, Release);
    }

    /// Records that the slot has no owner.
    pub(crate) fn clear(&self) {
        self.set_phase(Phase::Free);
        (TICKET..=LENGTH).for_each(|index| self.word(index).store(0, Relaxed));
    }
}
