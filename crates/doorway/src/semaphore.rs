//! A semaphore: at most k holders, first in, first enabled.
use std::{
    fmt,
    time::{Duration, Instant},
};

use crate::{
    algorithms::{Algorithm, Layout, Slotted},
    place::{Entering, Guard, Place},
    queue::{AsyncQueue, Queue, TimedQueue},
    tickets::TicketsFor,
};

/// A semaphore with at most k holders: first in, first enabled.
///
/// Waiters become able to enter in the order in which they arrived.
///
/// ```
/// use doorway::Semaphore;
///
/// static PRINTERS: Semaphore = Semaphore::new(2);
/// let first = PRINTERS.acquire();
/// let second = PRINTERS.acquire();
/// assert!(PRINTERS.try_acquire().is_none());
/// drop(first);
/// assert!(PRINTERS.try_acquire().is_some());
/// ```
///
/// With another algorithm of the catalogue, from [`algorithms`](crate::algorithms), a semaphore has no deadlines, and
/// dropping a [`Place`] waits for its turn.
///
/// A semaphore has a cache line to itself, so that writes to neighbouring data do not slow it down.
#[repr(align(64))]
pub struct Semaphore<Q = TicketsFor> {
    pub(crate) queue: Q,
}

impl Semaphore {
    /// Creates a semaphore with capacity `k`.
    ///
    /// # Panics
    /// If `k` is 0 or above 65,535.
    ///
    /// ```
    /// assert_eq!(doorway::Semaphore::new(4).capacity(), 4);
    /// ```
    #[must_use]
    pub const fn new(k: usize) -> Semaphore {
        Semaphore { queue: TicketsFor::new(k) }
    }
}

impl<A: Algorithm, L: Layout> Semaphore<Slotted<A, L>> {
    /// Creates a semaphore with capacity `k`, by an algorithm of the catalogue.
    ///
    /// The number of slots limits the holders and waiters together; further callers wait for a free slot.
    ///
    /// # Panics
    /// If the algorithm does not support that number of processes, or that capacity: `k` must be below `slots`, and 1
    /// for an algorithm for mutual exclusion.
    ///
    /// See [`algorithms`](crate::algorithms).
    #[must_use]
    pub fn with_slots(k: usize, slots: usize) -> Self {
        Semaphore { queue: Slotted::new(slots, k) }
    }
}

impl<Q: Queue> Semaphore<Q> {
    /// The capacity k: how many holders there may be at once.
    ///
    /// See [`new`](Semaphore::new).
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.queue.capacity()
    }

    /// Acquires a permit, waiting in the queue until the caller may enter.
    ///
    /// See [`Semaphore`].
    #[inline]
    pub fn acquire(&self) -> Permit<'_, Q> {
        let inside = self.queue.wait(self.queue.arrive());
        Permit { semaphore: self, inside }
    }

    /// Joins the queue without waiting. Callers that arrive later are enabled to enter later.
    ///
    /// ```
    /// let printers = doorway::Semaphore::new(1);
    /// let permit = printers.acquire();
    /// let place = printers.arrive();
    /// assert_eq!(place.ahead(), 1);
    /// drop(permit);
    /// let permit = place.wait();
    /// assert!(printers.try_acquire().is_none());
    /// ```
    #[must_use = "dropping the place aborts"]
    pub fn arrive(&self) -> Place<Permit<'_, Q>> {
        Place::new(self)
    }
}

impl<Q: TimedQueue> Semaphore<Q> {
    /// Acquires a permit if there are fewer than k holders and no waiter.
    ///
    /// ```
    /// let printers = doorway::Semaphore::new(1);
    /// let permit = printers.try_acquire().unwrap();
    /// assert!(printers.try_acquire().is_none());
    /// drop(permit);
    /// assert!(printers.try_acquire().is_some());
    /// ```
    #[inline]
    pub fn try_acquire(&self) -> Option<Permit<'_, Q>> {
        Some(Permit { semaphore: self, inside: self.queue.try_enter()? })
    }

    /// Acquires a permit, waiting for at most `time`. On timeout, aborts and returns `None`.
    ///
    /// ```
    /// use std::time::Duration;
    /// let printers = doorway::Semaphore::new(1);
    /// let permit = printers.acquire();
    /// assert!(printers.acquire_timeout(Duration::from_millis(1)).is_none());
    /// ```
    pub fn acquire_timeout(&self, time: Duration) -> Option<Permit<'_, Q>> {
        self.arrive().wait_timeout(time).ok()
    }

    /// Acquires a permit, waiting until `deadline` at most. After it, aborts and returns `None`.
    ///
    /// See [`acquire_timeout`](Self::acquire_timeout).
    pub fn acquire_deadline(&self, deadline: Instant) -> Option<Permit<'_, Q>> {
        self.arrive().wait_deadline(deadline).ok()
    }
}

impl<Q: AsyncQueue> Semaphore<Q> {
    /// As [`acquire`](Self::acquire), for asynchronous callers. Tasks and threads wait in one queue.
    ///
    /// It depends on no runtime. The future joins the queue when it is first polled; [`arrive`](Self::arrive) joins it at
    /// once, and the [`Place`] can be awaited later.
    ///
    /// # Cancel safety
    /// Dropping the future is an abort: neither a permit nor a wake-up is lost, and later arrivals move up. If its turn
    /// had come already, the next waiter enters instead.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let printers = doorway::Semaphore::new(1);
    /// let permit = printers.acquire_async().await;
    /// let late = tokio::time::timeout(Duration::from_millis(1), printers.acquire_async()).await;
    /// assert!(late.is_err());
    /// drop(permit);
    /// assert!(printers.try_acquire().is_some());
    /// # }
    /// ```
    #[inline]
    pub fn acquire_async(&self) -> Entering<Permit<'_, Q>> {
        Entering::new(self)
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queued = self.queue.queued();
        f.debug_struct("Semaphore").field("capacity", &self.capacity()).field("holders and waiters", &queued).finish()
    }
}

/// The right to be a holder of a [`Semaphore`]; dropping it releases the permit.
///
/// See [`Semaphore::acquire`].
#[must_use = "dropping the permit releases it"]
pub struct Permit<'a, Q: Queue = TicketsFor> {
    pub(crate) semaphore: &'a Semaphore<Q>,
    pub(crate) inside: Q::Inside,
}

impl<'a, Q: Queue> Guard for Permit<'a, Q> {
    type Lock = &'a Semaphore<Q>;
    type Queue = Q;

    fn queue(lock: &Self::Lock) -> &Q {
        &lock.queue
    }

    fn new(semaphore: Self::Lock, inside: Q::Inside) -> Self {
        Permit { semaphore, inside }
    }
}

impl<Q: Queue> Drop for Permit<'_, Q> {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.queue.leave(&self.inside);
    }
}

impl<Q: Queue> fmt::Debug for Permit<'_, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.inside).finish()
    }
}
