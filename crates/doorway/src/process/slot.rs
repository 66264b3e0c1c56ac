//! A slot that this process owns, and the passages that it makes there.
use std::{sync::Arc, time::Instant};

use doorway_memory::{Abort, Exclusion, Pid, Ticket, Value};
use doorway_shm::{Error, Halt, Phase, Shared};

use super::queue::FileQueue;

/// The largest ticket that can have been drawn; a larger one means that the file is damaged.
const MAX_TICKET: u64 = 1 << 62;

/// How a caller enters.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    /// Waits in the queue, until the deadline if there is one.
    Wait(Option<Instant>),
    /// Waits only for other callers in this mode, until the deadline at most.
    Try(Instant),
}

impl Mode {
    /// The time at which the caller aborts.
    pub(super) fn deadline(self) -> Option<Instant> {
        match self {
            Mode::Wait(deadline) => deadline,
            Mode::Try(deadline) => Some(deadline),
        }
    }
}

/// A slot that this process owns: its number, its record, its memory, and the queue in which it makes its passages.
///
/// Dropping it releases the slot.
pub(super) struct Slot {
    /// In a box, since it is large, and the slot moves from the idle slots to a permit and back.
    pub(super) memory: Box<Shared>,
    pub(super) queue: Arc<FileQueue>,
}

impl Slot {
    /// A slot that was just taken from the queue's file, which handed out its memory.
    pub(super) fn new(queue: Arc<FileQueue>, taken: Shared) -> Slot {
        let memory = taken.with_max_value(MAX_TICKET).with_watch(queue.clone());
        Slot { memory: Box::new(memory), queue }
    }

    /// The number of the slot.
    #[inline(always)]
    pub(super) fn number(&self) -> Pid {
        self.memory.slot()
    }

    /// Enters the critical section. Returns false if the deadline has passed, or if in `Mode::Try` there is no
    /// capacity.
    #[inline(always)]
    pub(super) fn enter(&mut self, mode: Mode, now: u64) -> Result<bool, Error> {
        let (queue, slot) = (&self.queue, self.memory.slot());
        let phase = match mode {
            Mode::Wait(deadline) => {
                self.memory.begin(deadline);
                Phase::Waiting
            }
            // Without capacity, returns before writing anything that other processes would see.
            Mode::Try(_) if queue.is_full(u64::MAX) => return Ok(false),
            Mode::Try(deadline) => {
                self.memory.begin_without_parking(deadline);
                Phase::Trying
            }
        };
        self.memory.set_arriving(now);
        let entered = queue.algorithm.doorway(&mut *self.memory, slot).and_then(|ticket| {
            self.memory.set_ticket(ticket.to_word(), phase);
            queue.algorithm.wait(&mut *self.memory, slot, &ticket)
        });
        match entered {
            Ok(()) => {
                self.memory.set_inside();
                self.memory.flush();
                Ok(true)
            }
            Err(halt) => self.abort(halt),
        }
    }

    /// Ends the passage before the critical section. Returns false, or the error that the halt stands for.
    #[cold]
    fn abort(&mut self, halt: Halt) -> Result<bool, Error> {
        self.memory.flush();
        let slot = self.memory.slot();
        let aborted = self.queue.algorithm.abort(&mut *self.memory, slot, &Ticket::ZERO);
        debug_assert_eq!(aborted, Ok(()), "aborting does not wait");
        self.end();
        match halt {
            Halt::Abort => Ok(false),
            Halt::Damaged => Err(Error::Damaged { path: self.queue.file.location().as_path().to_owned() }),
        }
    }

    /// Leaves the critical section.
    #[inline(always)]
    pub(super) fn leave(&mut self) {
        let slot = self.memory.slot();
        self.memory.set_leaving();
        let left = self.queue.algorithm.exit(&mut *self.memory, slot, &());
        debug_assert_eq!(left, Ok(()), "the exit section does not wait");
        self.end();
    }

    /// Completes the passage, after the exit section.
    #[inline(always)]
    fn end(&mut self) {
        self.memory.set_free();
        self.memory.flush();
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // A slot is dropped in the critical section only after an error or a panic.
        if self.queue.file.is_original_process() && self.memory.record().phase() != Phase::Free {
            self.leave();
        }
        self.queue.file.release(&self.memory);
    }
}
