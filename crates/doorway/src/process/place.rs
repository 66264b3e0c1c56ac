//! A position in the queue of a semaphore for processes.
use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use doorway_shm::Error;

use super::{Permit, Semaphore, slot::Slot};

/// The panic of a future that is polled after it has returned its result.
const USED: &str = "the place was used: its permit or error was returned by an earlier poll";

/// A position in the queue of a [`Semaphore`]. Dropping it is an abort.
///
/// It can be waited for by a thread or, since it is a future, by a task. Awaiting `&mut place` keeps the position if
/// another branch, such as a timeout, is faster.
///
/// See [`Semaphore::arrive`].
#[must_use = "dropping the place aborts"]
pub struct Place<'a> {
    pub(super) semaphore: &'a Semaphore,
    pub(super) state: State,
}

pub(super) enum State {
    /// Not in the queue yet: no slot was free.
    Slotless,
    /// In the queue, and the attendant waits for it unless it is a holder.
    Waiting(Slot),
    /// A holder.
    Entered(Slot),
    /// The result was returned.
    Over,
}

impl<'a> Place<'a> {
    /// The number of holders and waiters ahead in the queue.
    ///
    /// # Errors
    /// If the file is damaged.
    ///
    /// See [`Semaphore::arrive`].
    pub fn ahead(&self) -> Result<usize, Error> {
        let State::Waiting(slot) = &self.state else { return Ok(0) };
        let queue = slot.queue.snapshot()?;
        Ok(queue.entries().iter().position(|entry| entry.process == slot.number()).unwrap_or(0))
    }

    /// Waits until the caller may enter.
    ///
    /// # Errors
    /// As [`Semaphore::acquire`].
    ///
    /// See [`Semaphore::arrive`].
    pub fn wait(mut self) -> Result<Permit<'a>, Error> {
        Ok(self.wait_until(None)?.expect("a wait without a deadline does not abort"))
    }

    /// Waits for at most `time`. On timeout, aborts and returns `None`.
    ///
    /// # Errors
    /// As [`Semaphore::acquire`].
    ///
    /// See [`Semaphore::acquire_timeout`].
    pub fn wait_timeout(mut self, time: Duration) -> Result<Option<Permit<'a>>, Error> {
        self.wait_until(Instant::now().checked_add(time)) // no deadline, if it is beyond the range of the clock
    }

    /// As [`wait`](Place::wait), for asynchronous callers: a place is a future itself, and this returns it.
    ///
    /// See [`Semaphore::acquire_async`].
    pub fn wait_async(self) -> Place<'a> {
        self
    }

    fn wait_until(&mut self, deadline: Option<Instant>) -> Result<Option<Permit<'a>>, Error> {
        let semaphore = self.semaphore;
        semaphore.check_process()?;
        match mem::replace(&mut self.state, State::Over) {
            State::Waiting(mut slot) => {
                slot.queue.dismiss(slot.number());
                if !slot.wait(deadline)? {
                    semaphore.return_slot(slot);
                    return Ok(None);
                }
                semaphore.entered(slot, deadline)
            }
            State::Entered(slot) => Ok(Some(Permit { semaphore, slot: Some(slot) })),
            State::Slotless => semaphore.enter_until(deadline),
            State::Over => panic!("{USED}"),
        }
    }

    fn poll_permit(&mut self, context: &Context<'_>) -> Result<Poll<Permit<'a>>, Error> {
        let semaphore = self.semaphore;
        semaphore.check_process()?;
        loop {
            match mem::replace(&mut self.state, State::Over) {
                State::Slotless => match semaphore.join()? {
                    State::Slotless => {
                        self.state = State::Slotless;
                        semaphore.queue().retry(context.waker().clone())?;
                        return Ok(Poll::Pending);
                    }
                    joined => self.state = joined,
                },
                State::Waiting(mut slot) => {
                    let number = slot.number();
                    let is_holder = match slot.is_holder() {
                        Ok(false) => slot.queue.attend_again(number, context.waker()),
                        found => found,
                    };
                    if !matches!(is_holder, Ok(false)) {
                        slot.queue.dismiss(number);
                    }
                    if is_holder? {
                        slot.note_entry()?;
                        // If the path leads to another file by now, later callers compete there.
                        if !slot.queue.file.is_current()? {
                            slot.leave();
                            semaphore.move_to_new_file(slot)?;
                            self.state = State::Slotless;
                            continue;
                        }
                        self.state = State::Entered(slot);
                    } else {
                        self.state = State::Waiting(slot);
                        return Ok(Poll::Pending);
                    }
                }
                State::Entered(slot) => return Ok(Poll::Ready(Permit { semaphore, slot: Some(slot) })),
                State::Over => panic!("{USED}"),
            }
        }
    }
}

/// Resolves to the permit when the caller may enter, or to the error of [`Semaphore::acquire`].
///
/// # Panics
/// If it is polled after that.
impl<'a> Future for Place<'a> {
    type Output = Result<Permit<'a>, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.poll_permit(context) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(permit)) => Poll::Ready(Ok(permit)),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let state = mem::replace(&mut self.state, State::Over);
        let (State::Waiting(mut slot) | State::Entered(mut slot)) = state else { return };
        // In a forked child the parent is in the queue.
        if self.semaphore.is_original_process() {
            slot.queue.dismiss(slot.number());
            slot.leave();
            self.semaphore.return_slot(slot);
        } else {
            slot.disown();
        }
    }
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slot = match &self.state {
            State::Waiting(slot) | State::Entered(slot) => Some(slot.number()),
            State::Slotless | State::Over => None,
        };
        f.debug_struct("Place").field("path", &self.semaphore.path()).field("slot", &slot).finish()
    }
}
