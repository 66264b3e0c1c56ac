//! The tape of a process: what it has read in its section, so that it can be run again up to where it stopped.
use doorway_memory::{Sink, Value};

/// The record of what a process has read in its section, and its cost.
#[derive(Default, Debug)]
pub(crate) struct Tape {
    /// The results of its accesses. A loop that has ended is replaced by [`ENDED`] and its result; a loop that has not
    /// begins with the [`Header`] and the state of its current iteration.
    pub(super) words: Vec<u64>,
    /// The registers it has read since its last write.
    pub(super) log: Vec<u32>,
    /// The length of the log up to and including the last read that a later read of the same register found overtaken: an
    /// iteration with both has seen two values of one register.
    pub(super) overtaken: u32,
    /// The number of its writes: separates the part of the log that belongs to an iteration from the part before it.
    pub(super) writes: u32,
    /// The remote memory references of this passage.
    pub(crate) remote: u64,
    /// Whether it busy-waited on a register that is remote to it: then the passage has no bound.
    pub(crate) spins_remotely: bool,
}

impl Tape {
    /// Clears the tape for the next section.
    pub(crate) fn rewind(&mut self) {
        self.words.clear();
        self.log.clear();
        self.overtaken = 0;
        self.writes = 0;
    }

    /// The header of an iteration that starts now.
    pub(super) fn header(&self) -> Header {
        Header { writes: self.writes, log: self.log.len() as u32 }
    }
}

/// Marks a loop that has ended. The word of a header is never 0.
pub(super) const ENDED: u64 = 0;

/// The number of writes, and the length of the log, at the start of an iteration.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub(super) writes: u32,
    pub(super) log: u32,
}

impl Header {
    /// The word that stands for the header on the tape.
    pub(super) fn word(self) -> u64 {
        u64::from(self.writes) << 32 | u64::from(self.log) << 1 | 1
    }

    /// The header that this word stands for.
    pub(super) fn of_word(word: u64) -> Header {
        Header { writes: (word >> 32) as u32, log: (word as u32) >> 1 }
    }
}

/// Saves the state or the result of a loop on a tape.
pub(super) struct Words<'a>(pub(super) &'a mut Vec<u64>);

impl Sink for Words<'_> {
    #[inline]
    fn put<T: Value>(&mut self, value: T) {
        self.0.push(value.to_word());
    }
}
