//! A slot of the file, in which this process makes its passages.
use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use doorway_memory::{Abort, Exclusion, Pid};
use doorway_shm::{Error, File, Halt, Shared, Taken};

use super::queue::FileQueue;

/// How a caller enters.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    /// Waits in the queue, until the deadline if there is one.
    Wait(Option<Instant>),
    /// Does not wait.
    Try,
}

/// A slot: its number, its memory, and the queue in which this process makes its passages.
///
/// It is owned only from `take` to the end of a passage. Between passages another process may take it.
pub(super) struct Slot {
    pub(super) memory: Shared,
    pub(super) queue: Arc<FileQueue>,
    /// Whether this process owns the slot now.
    is_owned: bool,
    /// The name, which is `None` except in the critical section.
    pub(super) name: Option<usize>,
}

impl Slot {
    pub(super) fn new(queue: Arc<FileQueue>) -> Slot {
        let memory = queue.file.memory(0).with_watch(queue.clone());
        Slot { memory, queue, is_owned: false, name: None }
    }

    /// The number of the slot.
    #[inline(always)]
    pub(super) fn number(&self) -> Pid {
        self.memory.slot()
    }

    /// Takes a slot, preferably the one of the last passage.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Result<Taken, Error> {
        let taken = self.queue.file.take(&mut self.memory)?;
        self.is_owned = matches!(taken, Taken::Free | Taken::FromTheDead);
        Ok(taken)
    }

    /// Prepares a slot that was taken for its first passage: removes what a dead process, or damage, left in the queue
    /// for it. Returns false if the file was damaged and has been reset, so that the slot is to be taken again.
    #[cold]
    pub(super) fn prepare(&mut self) -> Result<bool, Error> {
        /// How often it is tried to reset a damaged file: its last user may have ended a moment ago, and a child that is
        /// about to execute another program has its descriptor for a moment longer.
        const RESETS: usize = 20;
        for _ in 0..RESETS {
            if self.queue.snapshot().is_ok() {
                break;
            }
            if self.queue.file.reset_if_unused()? {
                self.is_owned = false;
                return Ok(false);
            }
            thread::sleep(Duration::from_millis(5));
        }
        let number = self.number();
        self.memory.begin(None);
        let removed = self.queue.algorithm.abort(&mut self.memory, number, &None);
        self.memory.flush();
        removed.map_err(|_| self.queue.damaged())?;
        Ok(true)
    }

    /// Enters the critical section in a slot that was taken. Returns false, and releases the slot, if the deadline has
    /// passed, or if in `Mode::Try` there is no capacity.
    #[inline(always)]
    pub(super) fn enter(&mut self, mode: Mode, now: u64) -> Result<bool, Error> {
        let number = self.number();
        self.memory.record().arrive(now);
        let entered = match mode {
            Mode::Wait(deadline) => {
                self.memory.begin(deadline);
                let place = self.queue.algorithm.doorway(&mut self.memory, number);
                place.and_then(|place| self.queue.algorithm.wait(&mut self.memory, number, &place)).map(Some)
            }
            Mode::Try => self.try_to_enter(),
        };
        match entered {
            Ok(Some(name)) => {
                self.memory.flush();
                self.name = Some(name);
                if self.memory.has_waited() {
                    self.memory.record().enter(File::now());
                }
                Ok(true)
            }
            Ok(None) => {
                self.release();
                Ok(false)
            }
            Err(halt) => self.abort(halt),
        }
    }

    /// Joins the queue in a slot that was taken; returns whether it has become a holder at once.
    pub(super) fn arrive(&mut self, now: u64) -> Result<bool, Error> {
        let number = self.number();
        self.memory.record().arrive(now);
        self.memory.begin(None);
        match self.queue.algorithm.doorway(&mut self.memory, number) {
            Ok(name) => {
                self.memory.flush();
                self.name = name;
                Ok(name.is_some())
            }
            Err(halt) => self.abort(halt),
        }
    }

    /// Waits on. Returns false at the deadline, or if interrupted, or if brief; then it is in the queue still.
    pub(super) fn wait_on(&mut self, deadline: Option<Instant>, is_brief: bool) -> Result<bool, Error> {
        if self.name.is_some() {
            return Ok(true);
        }
        let number = self.number();
        self.memory.resume(deadline, is_brief);
        match self.queue.algorithm.wait(&mut self.memory, number, &None) {
            Ok(name) => {
                self.memory.flush();
                self.name = Some(name);
                if self.memory.has_waited() {
                    self.memory.record().enter(File::now());
                }
                Ok(true)
            }
            Err(Halt::Abort) => Ok(false),
            Err(halt) => self.abort(halt),
        }
    }

    /// Leaves the queue, as a holder or as a waiter.
    pub(super) fn leave_queue(&mut self) {
        // After an error the slot is released already, and may be another process' now.
        if self.is_owned {
            // A waiter may have announced that it parks: `abort` retracts that before another process can take the slot.
            // If the file is damaged, there is nothing to leave.
            let _ = self.abort(Halt::Abort);
        }
    }

    /// Waits, as a waiter. Returns false, and releases the slot, if the deadline has passed.
    pub(super) fn wait(&mut self, deadline: Option<Instant>) -> Result<bool, Error> {
        let number = self.number();
        self.memory.begin(deadline);
        match self.queue.algorithm.wait(&mut self.memory, number, &None) {
            Ok(name) => {
                self.memory.flush();
                self.name = Some(name);
                self.memory.record().enter(File::now());
                Ok(true)
            }
            Err(halt) => self.abort(halt),
        }
    }

    /// Whether this waiter has become a holder.
    pub(super) fn is_holder(&self) -> Result<bool, Error> {
        Ok(self.queue.snapshot()?.name(self.number()).is_some())
    }

    /// Notes that this waiter, which has become a holder, has entered.
    pub(super) fn note_entry(&mut self) -> Result<(), Error> {
        self.name = self.queue.snapshot()?.name(self.number());
        self.memory.record().enter(File::now());
        if self.name.is_some() { Ok(()) } else { Err(self.queue.damaged()) }
    }

    /// Enters if there is capacity. If all of it is used, perhaps by the dead, these are reaped first.
    fn try_to_enter(&mut self) -> Result<Option<usize>, Halt> {
        let number = self.number();
        self.memory.begin(None);
        let mut attempt = || {
            self.queue.algorithm.change(&mut self.memory, number, |queue| {
                if queue.entries().len() < queue.k() { queue.arrive(number) } else { None }
            })
        };
        match attempt()? {
            None if self.queue.reap_dead(number) > 0 => attempt(),
            name => Ok(name),
        }
    }

    /// Ends the passage before the critical section. Returns false, or the error that the halt stands for.
    #[cold]
    fn abort(&mut self, halt: Halt) -> Result<bool, Error> {
        self.memory.flush();
        let number = self.number();
        let aborted = self.queue.algorithm.abort(&mut self.memory, number, &None);
        self.end();
        match aborted.err().unwrap_or(halt) {
            Halt::Abort => Ok(false),
            Halt::Damaged => Err(self.queue.damaged()),
        }
    }

    /// Leaves the critical section.
    #[inline(always)]
    pub(super) fn leave(&mut self) {
        let number = self.number();
        self.memory.begin(None);
        // If the file is damaged, there is nothing to leave.
        let _ = self.queue.algorithm.exit(&mut self.memory, number, &0);
        self.end();
    }

    /// Completes the passage, after the exit section.
    #[inline(always)]
    fn end(&mut self) {
        self.name = None;
        // Only now: until the queue no longer has the slot, no other process may take it.
        self.release();
        self.memory.flush();
        self.queue.wake_tasks();
    }

    /// Releases the slot, which is not in the queue.
    #[inline(always)]
    pub(super) fn release(&mut self) {
        self.is_owned = false;
        self.queue.file.release(&self.memory);
    }

    /// Forgets that the slot is owned: in a forked child it belongs to the parent.
    pub(super) fn disown(&mut self) {
        (self.is_owned, self.name) = (false, None);
    }

    /// Changes the capacity, as the owner of this slot, and releases the slot.
    pub(super) fn resize(&mut self, k: usize) -> Result<usize, Error> {
        let number = self.number();
        self.memory.begin(None);
        let resized = self.queue.algorithm.change(&mut self.memory, number, |queue| {
            queue.resize(k);
            queue.named()
        });
        self.end();
        resized.map_err(|_| self.queue.damaged())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // A slot is dropped while it is owned only after an error or a panic.
        if self.is_owned && self.queue.file.is_original_process() {
            self.leave();
        }
    }
}
