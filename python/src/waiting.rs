//! A wait that signals interrupt, and that the closing of its semaphore ends.
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use doorway::process::{Interrupter, Semaphore};
use pyo3::prelude::*;

use crate::{
    errors,
    owned::{OwnedPermit, OwnedWaiter},
};

/// How long the main thread waits at most before it lets Python handle signals: at first, and after a long wait.
///
/// A signal wakes it at once, except for one that comes in the microseconds before it parks. The fewer times it parks, the
/// less likely that is.
const FIRST_SLICE: Duration = Duration::from_secs(1);
const MAX_SLICE: Duration = Duration::from_secs(8);

/// The waits of one semaphore, which its closing interrupts.
#[derive(Default)]
pub(crate) struct Interrupts {
    is_closed: AtomicBool,
    next: AtomicU64,
    /// Locked for a moment only, and only by threads that are attached.
    waiting: Mutex<Vec<(u64, Interrupter)>>,
}

impl Interrupts {
    fn waiting(&self) -> MutexGuard<'_, Vec<(u64, Interrupter)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(SeqCst)
    }

    /// Ends every wait, and those that come.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, SeqCst);
        let waiting = self.waiting().clone();
        waiting.iter().for_each(|(_, interrupter)| interrupter.interrupt());
    }

    /// Forgets the waits, which in a forked child are those of threads that it does not have.
    pub(crate) fn forget(&self) {
        self.waiting().clear();
    }
}

/// A wait that closing interrupts; until it is dropped.
struct Registered<'a>(&'a Interrupts, u64);

impl<'a> Registered<'a> {
    fn new(interrupts: &'a Interrupts, interrupter: Interrupter) -> Registered<'a> {
        let id = interrupts.next.fetch_add(1, SeqCst);
        interrupts.waiting().push((id, interrupter));
        Registered(interrupts, id)
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.0.waiting().retain(|(id, _)| *id != self.1);
    }
}

/// Acquires a permit, waiting until the deadline at most; `None` after it. The GIL is released while waiting.
///
/// A signal handler that raises, as Ctrl-C does, ends the wait: the caller leaves the queue. Signals are handled by the
/// main thread only, so no other thread is woken for them.
pub(crate) fn acquire(
    py: Python<'_>,
    semaphore: &Arc<Semaphore>,
    deadline: Option<Instant>,
    interrupts: &Interrupts,
) -> PyResult<Option<OwnedPermit>> {
    let arrived = py.detach(|| {
        let place = OwnedWaiter::arrive(semaphore)?;
        if place.is_admitted() { place.wait() } else { Ok(Err(place)) }
    });
    let mut place = match arrived.map_err(errors::of_file)? {
        Ok(permit) => return Ok(Some(permit)),
        Err(place) => place,
    };
    let _registered = place.interrupter().map(|interrupter| Registered::new(interrupts, interrupter));
    let is_main = is_main_thread();
    let (arrival, mut slice) = (Instant::now(), FIRST_SLICE);
    loop {
        if interrupts.is_closed() {
            return Err(errors::Class::Closed.error("the semaphore was closed while this caller waited"));
        }
        let waited = py.detach(|| match is_main {
            true => {
                let end = Instant::now() + slice;
                place.wait_briefly(deadline.map_or(end, |deadline| deadline.min(end)))
            }
            false => place.wait_deadline(deadline),
        });
        place = match waited.map_err(errors::of_file)? {
            Ok(permit) => return Ok(Some(permit)),
            Err(place) => place,
        };
        slice = arrival.elapsed().clamp(FIRST_SLICE, MAX_SLICE);
        // An error drops the place: the caller leaves the queue.
        py.check_signals()?;
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(None);
        }
    }
}

/// Whether this is the thread that handles signals: the process' first one or, in a forked child, the one that forked.
pub(crate) fn is_main_thread() -> bool {
    rustix::thread::gettid().as_raw_nonzero().get() == std::process::id() as i32
}
