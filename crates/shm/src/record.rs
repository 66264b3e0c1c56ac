//! Who owns a slot, and what it is about.
use std::{
    sync::atomic::{
        AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
    time::{Duration, SystemTime},
};

use crate::map::Map;

/// A record takes so many words.
pub(crate) const WORDS: usize = 32;

const PHASE: usize = 0;
const TICKET: usize = 1;
const SINCE: usize = 2;
const PID: usize = 3;
const STARTED: usize = 4;
const LENGTH: usize = 5;
const TEXT: usize = 6;

/// Where the owner of a slot is. It says so before it begins a passage and after it has ended it, so that a slot that is
/// [`Free`](Phase::Free) has nothing to finish.
///
/// ```
/// use doorway_shm::Phase;
/// assert_ne!(Phase::Waiting, Phase::Inside);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Neither inside nor in line.
    Free,
    /// In the doorway: it has no ticket yet.
    Arriving,
    /// In line.
    Waiting,
    /// Looks whether it may enter at once, and gives up if not.
    Trying,
    /// Inside.
    Inside,
    /// On the way out: others may be inside in its place already.
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

/// What is known of a slot's owner; only the owner writes it, and others may read while it does.
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

    // ORDERING: Relaxed, for all words but the phase. Pairs with: the phase, written after them and read before.
    // Weaker does not exist; and nothing fails if one is older than the phase: they are shown to people, and say where to
    // look and whom to wake. A sleeper whose ticket is seen too old has announced itself since, and has looked itself.
    #[inline(always)]
    fn word(&self, index: usize) -> &'a AtomicU64 {
        self.map.word(self.first + index)
    }

    /// Where the owner is.
    #[must_use]
    pub fn phase(&self) -> Phase {
        // ORDERING: Acquire. Pairs with: the Release in `set_phase`; who sees a phase sees its ticket.
        Phase::of(self.word(PHASE).load(Acquire))
    }

    /// The number of its ticket; 0 while it has none.
    #[must_use]
    pub fn ticket(&self) -> u64 {
        self.word(TICKET).load(Relaxed)
    }

    /// Since when it is in its phase; clocks that are cheap to read tell it to a few milliseconds.
    #[must_use]
    pub fn since(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(self.word(SINCE).load(Relaxed))
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.word(PID).load(Relaxed) as u32
    }

    /// When that process began, in clock ticks since the machine did: a pid may be used again, a pair of both is not.
    #[must_use]
    pub fn started(&self) -> u64 {
        self.word(STARTED).load(Relaxed)
    }

    /// What for: the beginning of what the owner said of itself.
    #[must_use]
    pub fn what(&self) -> String {
        let length = self.word(LENGTH).load(Relaxed).min(Record::LONGEST as u64) as usize;
        let words = (TEXT..WORDS).flat_map(|index| self.word(index).load(Relaxed).to_le_bytes());
        let bytes: Vec<u8> = words.take(length).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// So many bytes of [`what`](Record::what) are kept.
    pub const LONGEST: usize = 8 * (WORDS - TEXT);

    #[inline(always)]
    pub(crate) fn set_phase(&self, phase: Phase) {
        // ORDERING: Release, behind all that was done before. Pairs with: the Acquire in `phase`; and for who finds us dead, the
        // kernel's unlocking of our byte.
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

    pub(crate) fn set_what(&self, what: &str) {
        let mut end = what.len().min(Record::LONGEST);
        while !what.is_char_boundary(end) {
            end -= 1;
        }
        self.word(LENGTH).store(0, Relaxed);
        for (index, bytes) in (TEXT..).zip(what.as_bytes()[..end].chunks(8)) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.word(index).store(u64::from_le_bytes(word), Relaxed);
        }
        self.word(LENGTH).store(end as u64, Release);
    }

    /// The slot is nobody's.
    pub(crate) fn clear(&self) {
        self.set_phase(Phase::Free);
        (TICKET..=LENGTH).for_each(|index| self.word(index).store(0, Relaxed));
    }
}
