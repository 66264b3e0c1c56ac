//! A position in the queue of a lock.
use std::{
    fmt,
    time::{Duration, Instant},
};

use crate::queue::{Queue, TimedQueue};

/// The guard of a lock, which a holder owns.
pub(crate) trait Guard: Sized {
    /// A reference to the lock.
    type Lock: Copy;

    /// The lock's queue.
    type Queue: Queue;

    fn queue(lock: &Self::Lock) -> &Self::Queue;

    /// Makes the guard of a caller that has entered.
    fn new(lock: Self::Lock, inside: <Self::Queue as Queue>::Inside) -> Self;
}

/// A position in the queue of a [`Mutex`](crate::Mutex) or [`Semaphore`](crate::Semaphore).
///
/// Waiting turns it into a guard `G`. Dropping it aborts: later arrivals move up when its turn comes.
///
/// ```
/// use doorway::{Mutex, MutexGuard, Place};
///
/// let count = Mutex::new(0);
/// let guard = count.lock();
/// let place: Place<MutexGuard<'_, i32>> = count.arrive();
/// drop(count.arrive()); // aborts, and delays no later arrival
/// let last = count.arrive();
/// drop(guard);
/// *place.wait() += 1;
/// *last.wait() += 1;
/// assert_eq!(count.into_inner(), 2);
/// ```
#[must_use = "dropping the place aborts"]
#[allow(private_bounds, reason = "only a lock makes guards")]
pub struct Place<G: Guard> {
    lock: G::Lock,
    /// `None` once the place was used or aborted.
    place: Option<<G::Queue as Queue>::Place>,
}

#[allow(private_bounds, reason = "only a lock makes guards")]
impl<G: Guard> Place<G> {
    pub(crate) fn new(lock: G::Lock) -> Place<G> {
        let place = G::queue(&lock).arrive();
        Place { lock, place: Some(place) }
    }

    /// Waits until it is this place's turn.
    ///
    /// ```
    /// let count = doorway::Mutex::new(0);
    /// *count.arrive().wait() += 1;
    /// assert_eq!(count.into_inner(), 1);
    /// ```
    pub fn wait(mut self) -> G {
        let place = self.take();
        let inside = G::queue(&self.lock).wait(place);
        G::new(self.lock, inside)
    }

    fn take(&mut self) -> <G::Queue as Queue>::Place {
        self.place.take().expect("only a method that consumes the place takes it")
    }
}

#[allow(private_bounds, reason = "only a lock makes guards")]
impl<G: Guard<Queue: TimedQueue>> Place<G> {
    /// The number of holders and waiters ahead in the queue.
    ///
    /// ```
    /// let lock = doorway::Mutex::new(());
    /// let guard = lock.lock();
    /// let (first, second) = (lock.arrive(), lock.arrive());
    /// assert_eq!((first.ahead(), second.ahead()), (1, 2));
    /// ```
    #[must_use]
    pub fn ahead(&self) -> u64 {
        self.place.as_ref().map_or(0, |place| G::queue(&self.lock).ahead(place))
    }

    /// Enters if it is this place's turn.
    ///
    /// # Errors
    /// Returns the place if it is not.
    ///
    /// ```
    /// let printers = doorway::Semaphore::new(1);
    /// let permit = printers.arrive().try_wait().expect("the semaphore is free");
    /// let place = printers.arrive().try_wait().unwrap_err();
    /// drop(permit);
    /// assert!(place.try_wait().is_ok());
    /// ```
    pub fn try_wait(self) -> Result<G, Self> {
        self.wait_by(G::Queue::try_wait)
    }

    /// Waits for this place's turn, for at most `time`.
    ///
    /// # Errors
    /// Returns the place if its turn has not come by then.
    ///
    /// ```
    /// use std::time::Duration;
    /// let count = doorway::Mutex::new(0);
    /// let guard = count.lock();
    /// let place = count.arrive().wait_timeout(Duration::from_millis(1)).unwrap_err();
    /// drop(guard);
    /// assert!(place.wait_timeout(Duration::from_millis(1)).is_ok());
    /// ```
    pub fn wait_timeout(self, time: Duration) -> Result<G, Self> {
        match Instant::now().checked_add(time) {
            Some(deadline) => self.wait_deadline(deadline),
            None => Ok(self.wait()), // the deadline is beyond the range of the clock
        }
    }

    /// Waits for this place's turn, until `deadline` at most.
    ///
    /// # Errors
    /// Returns the place if its turn has not come by then.
    ///
    /// See [`wait_timeout`](Self::wait_timeout).
    pub fn wait_deadline(self, deadline: Instant) -> Result<G, Self> {
        self.wait_by(|queue, place| queue.wait_deadline(place, deadline))
    }

    fn wait_by(
        mut self,
        wait: impl FnOnce(
            &G::Queue,
            <G::Queue as Queue>::Place,
        ) -> Result<<G::Queue as Queue>::Inside, <G::Queue as Queue>::Place>,
    ) -> Result<G, Self> {
        let place = self.take();
        match wait(G::queue(&self.lock), place) {
            Ok(inside) => Ok(G::new(self.lock, inside)),
            Err(place) => {
                self.place = Some(place);
                Err(self)
            }
        }
    }
}

impl<G: Guard> Drop for Place<G> {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            G::queue(&self.lock).abort(place);
        }
    }
}

impl<G: Guard> fmt::Debug for Place<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.place).finish()
    }
}
