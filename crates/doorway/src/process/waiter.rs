//! A thread in the queue of a semaphore for processes that waits in parts.
use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Instant,
};

use doorway_memory::Pid;
use doorway_shm::Error;

use super::{Permit, Semaphore, queue::FileQueue, slot::Slot};

/// A position in the queue of a [`Semaphore`] for a thread that waits in parts. Waiting turns it into a [`Permit`]; dropping
/// it leaves the queue. A [`Place`](super::Place) is for callers that wait once, and for tasks.
///
/// A wait that ends at its deadline keeps the position. So a caller can wait, look after something else, and wait on. But
/// only a waiter that is waited on notices the death of a process ahead of it, and a waiter that is admitted keeps others out:
/// do not leave it alone for long.
///
/// ```
/// use std::time::{Duration, Instant};
/// # let path = std::env::temp_dir().join(format!("doorway-waiter-{}", std::process::id()));
/// let printers = doorway::process::Semaphore::open(&path, 1)?;
/// let permit = printers.acquire()?;
/// let waiter = printers.line_up()?;
/// let later = printers.line_up()?;
/// let waiter = waiter.wait_deadline(Some(Instant::now() + Duration::from_millis(1)))?.unwrap_err();
/// drop(permit);
/// let permit = waiter.wait()?; // before `later`
/// assert!(later.wait_deadline(Some(Instant::now()))?.is_err());
/// # drop(permit);
/// # drop(printers);
/// # doorway::process::Semaphore::forget(&path)?;
/// # Ok::<(), doorway::process::Error>(())
/// ```
#[must_use = "dropping the waiter leaves the queue"]
pub struct Waiter<'a> {
    semaphore: &'a Semaphore,
    /// `None` only while the waiter is turned into a permit, or dropped.
    slot: Option<Slot>,
    interrupt: Option<Interrupter>,
}

/// Ends the wait of a [`Waiter`] as its deadline would, from another thread.
///
/// See [`Waiter::interrupter`].
#[derive(Clone)]
pub struct Interrupter {
    flag: Arc<AtomicBool>,
    /// The slot in which the waiter waits: another one after it has moved to a new file.
    target: Arc<Mutex<(Arc<FileQueue>, Pid)>>,
}

impl<'a> Waiter<'a> {
    pub(super) fn new(semaphore: &'a Semaphore, slot: Slot) -> Waiter<'a> {
        Waiter { semaphore, slot: Some(slot), interrupt: None }
    }

    /// Whether the caller may enter, as far as was known when it joined the queue or last waited.
    #[must_use]
    pub fn is_admitted(&self) -> bool {
        self.slot.as_ref().is_some_and(|slot| slot.name.is_some())
    }

    /// Waits until the caller may enter.
    ///
    /// # Errors
    /// As [`Semaphore::acquire`].
    ///
    /// See [`Waiter`].
    pub fn wait(self) -> Result<Permit<'a>, Error> {
        let mut waiter = self;
        loop {
            waiter = match waiter.wait_deadline(None)? {
                Ok(permit) => return Ok(permit),
                Err(interrupted) => interrupted,
            };
        }
    }

    /// Waits until the caller may enter, until `deadline` at most, or until it is
    /// [interrupted](Waiter::interrupter). Then returns the waiter, which has kept its position.
    ///
    /// # Errors
    /// As [`Semaphore::acquire`]. The waiter has left the queue then.
    ///
    /// See [`Waiter`].
    pub fn wait_deadline(self, deadline: Option<Instant>) -> Result<Result<Permit<'a>, Waiter<'a>>, Error> {
        self.wait_or_return(deadline, false)
    }

    /// As [`wait_deadline`](Waiter::wait_deadline), but also returns the waiter after a signal handler has run in this thread
    /// while it was parked, and whenever the thread has woken up for another reason.
    ///
    /// So a caller can look after signals without waking up for them. A signal that comes in the moment before the thread
    /// parks is not noticed until the next return, so a deadline should bound the wait.
    ///
    /// # Errors
    /// As [`wait_deadline`](Waiter::wait_deadline).
    pub fn wait_briefly(self, deadline: Option<Instant>) -> Result<Result<Permit<'a>, Waiter<'a>>, Error> {
        self.wait_or_return(deadline, true)
    }

    fn wait_or_return(
        mut self,
        deadline: Option<Instant>,
        is_brief: bool,
    ) -> Result<Result<Permit<'a>, Waiter<'a>>, Error> {
        let semaphore = self.semaphore;
        // In a forked child the parent is the waiter.
        if !semaphore.is_original_process() {
            return Err(Error::Forked { path: semaphore.path().to_owned() });
        }
        loop {
            let Some(slot) = &mut self.slot else { unreachable!("only the end of the waiter takes its slot") };
            if !slot.wait_on(deadline, is_brief)? {
                return Ok(Err(self));
            }
            slot.memory.set_interrupt(None);
            if !slot.memory.has_waited() || slot.queue.file.is_current()? {
                return Ok(Ok(Permit { semaphore, slot: self.slot.take() }));
            }
            // The path leads to another file by now, and later callers compete there.
            let Some(mut slot) = self.slot.take() else { unreachable!("it was there a moment ago") };
            slot.leave();
            semaphore.move_to_new_file(slot)?;
            let slot = self.slot.insert(semaphore.lined_up()?);
            if let Some(interrupt) = &self.interrupt {
                interrupt.aim_at(slot);
            }
        }
    }

    /// A handle with which another thread can interrupt the wait of this waiter.
    ///
    /// ```
    /// use std::thread;
    /// # let path = std::env::temp_dir().join(format!("doorway-interrupt-{}", std::process::id()));
    /// let printers = doorway::process::Semaphore::open(&path, 1)?;
    /// let permit = printers.acquire()?;
    /// let mut waiter = printers.line_up()?;
    /// let interrupter = waiter.interrupter();
    /// let waiter = thread::scope(|scope| {
    ///     scope.spawn(move || interrupter.interrupt());
    ///     waiter.wait_deadline(None)
    /// })?;
    /// assert!(waiter.is_err());
    /// # drop((waiter, permit));
    /// # drop(printers);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    #[must_use]
    pub fn interrupter(&mut self) -> Interrupter {
        let Some(slot) = &mut self.slot else { unreachable!("only the end of the waiter takes its slot") };
        let interrupter = self.interrupt.get_or_insert_with(|| Interrupter {
            flag: Arc::default(),
            target: Arc::new(Mutex::new((slot.queue.clone(), slot.number()))),
        });
        interrupter.aim_at(slot);
        interrupter.clone()
    }
}

impl Interrupter {
    /// Ends the current wait of the waiter, or else its next one.
    pub fn interrupt(&self) {
        // ORDERING: SeqCst. Pairs with: the announcement of a waiter that parks, after which it reads the flag.
        self.flag.store(true, SeqCst);
        let (queue, slot) = self.target.lock().unwrap_or_else(PoisonError::into_inner).clone();
        queue.file.wake(slot);
    }

    fn aim_at(&self, slot: &mut Slot) {
        slot.memory.set_interrupt(Some(self.flag.clone()));
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = (slot.queue.clone(), slot.number());
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let Some(mut slot) = self.slot.take() else { return };
        if self.semaphore.is_original_process() {
            slot.memory.set_interrupt(None);
            slot.leave_queue();
            self.semaphore.return_slot(slot);
        } else {
            slot.disown();
        }
    }
}

impl fmt::Debug for Waiter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").field("path", &self.semaphore.path()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Interrupter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupter").finish_non_exhaustive()
    }
}
