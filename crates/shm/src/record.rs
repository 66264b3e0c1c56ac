//! The record of a slot's owner: its process, the time of its arrival or entry, and its description.
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

const TAG: usize = 0;
const SINCE: usize = 1;
const PID: usize = 2;
const STARTED: usize = 3;
const WATCHES: usize = 4;
const COMMAND: usize = 5;
const LENGTH: usize = 6;
const TEXT: usize = 7;

/// The record of a slot's owner. Only the owner writes it; other processes may read it at the same time.
///
/// Nothing depends on it but what is displayed, and which processes a waiter watches.
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

    // ORDERING: Relaxed, for all words but the tag and the length. There is no weaker ordering, and nothing fails if a
    // word is older than another: see the type.
    #[inline(always)]
    fn word(&self, index: usize) -> &'a AtomicU64 {
        self.map.word(self.first + index)
    }

    /// The time at which the owner arrived or, after waiting, entered; to a few milliseconds, the resolution of a
    /// cheap clock.
    #[must_use]
    pub fn since(&self) -> SystemTime {
        // A damaged word may be a time that the type cannot represent.
        let since = Duration::from_nanos(self.word(SINCE).load(Relaxed));
        SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
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

    /// The process id of the command that the owner runs, which keeps the slot if the owner dies; 0 if there is none.
    #[must_use]
    pub fn command(&self) -> u32 {
        self.word(COMMAND).load(Relaxed) as u32
    }

    /// Whether the owner, a waiter, checks often for dead processes ahead of it.
    #[must_use]
    pub fn watches(&self) -> bool {
        self.word(WATCHES).load(Relaxed) != 0
    }

    /// The owner's description of itself, cut off after [`MAX_DESCRIPTION`](Record::MAX_DESCRIPTION) bytes.
    #[must_use]
    pub fn description(&self) -> String {
        // ORDERING: Acquire. Pairs with: the Release in `set_owner`; a reader that sees the length sees the text.
        let length = self.word(LENGTH).load(Acquire).min(Record::MAX_DESCRIPTION as u64) as usize;
        let words = (TEXT..WORDS).flat_map(|index| self.word(index).load(Relaxed).to_le_bytes());
        let bytes: Vec<u8> = words.take(length).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The maximum length of a [`description`](Record::description) in bytes.
    pub const MAX_DESCRIPTION: usize = 8 * (WORDS - TEXT);

    /// Records that the owner begins a passage at time `now`.
    #[inline(always)]
    pub fn arrive(&self, now: u64) {
        self.word(SINCE).store(now, Relaxed);
        self.word(WATCHES).store(0, Relaxed);
        self.word(COMMAND).store(0, Relaxed);
    }

    /// Records that the owner runs a command with this process id.
    pub fn run(&self, pid: u32) {
        self.word(COMMAND).store(u64::from(pid), Relaxed);
    }

    /// Records that the owner has become a holder at time `now`, after waiting.
    pub fn enter(&self, now: u64) {
        self.word(SINCE).store(now, Relaxed);
    }

    /// Records that the owner, a waiter, checks often for dead processes ahead of it.
    pub fn watch(&self) {
        self.word(WATCHES).store(1, Relaxed);
    }

    /// Whether the record is that of this owner, with this description: both are told apart by `tag`.
    #[inline(always)]
    pub(crate) fn is_of(&self, tag: u64) -> bool {
        self.word(TAG).load(Relaxed) == tag
    }

    /// Records the owner's process and its description.
    pub(crate) fn set_owner(&self, tag: u64, pid: u32, started: u64, description: &str) {
        self.word(PID).store(u64::from(pid), Relaxed);
        self.word(STARTED).store(started, Relaxed);
        self.describe(description);
        self.word(TAG).store(tag, Release);
    }

    /// Sets the owner's description of itself, for this passage.
    pub fn describe(&self, description: &str) {
        let mut end = description.len().min(Record::MAX_DESCRIPTION);
        while !description.is_char_boundary(end) {
            end -= 1;
        }
        self.word(TAG).store(0, Relaxed);
        self.word(LENGTH).store(0, Relaxed);
        for (index, bytes) in (TEXT..).zip(description.as_bytes()[..end].chunks(8)) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.word(index).store(u64::from_le_bytes(word), Relaxed);
        }
        self.word(LENGTH).store(end as u64, Release);
    }
}
