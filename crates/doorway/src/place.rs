//! A position in the queue of a lock.
use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use crate::queue::{AsyncQueue, Queue, TimedQueue};

/// The panic of a future that is polled after it has returned the guard.
const USED: &str = "the place was used: its guard was returned by an earlier poll";

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
/// It is also a future, whose output is the guard. Awaiting `&mut place` keeps the position if another branch, such as a
/// timeout, is faster. Waiting threads and tasks are in one queue.
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
    queued: Option<Queued<<G::Queue as Queue>::Place>>,
}

/// A place in a queue, and what the queue has to know of the task that waits there.
#[derive(Debug)]
struct Queued<P> {
    place: P,
    is_suspended: bool,
}

#[allow(private_bounds, reason = "only a lock makes guards")]
impl<G: Guard> Place<G> {
    pub(crate) fn new(lock: G::Lock) -> Place<G> {
        let place = G::queue(&lock).arrive();
        Place { lock, queued: Some(Queued { place, is_suspended: false }) }
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
        self.queued.take().expect(USED).place
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
        self.queued.as_ref().map_or(0, |queued| G::queue(&self.lock).ahead(&queued.place))
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
        let Queued { place, is_suspended } = self.queued.take().expect(USED);
        match wait(G::queue(&self.lock), place) {
            Ok(inside) => Ok(G::new(self.lock, inside)),
            Err(place) => {
                self.queued = Some(Queued { place, is_suspended });
                Err(self)
            }
        }
    }
}

#[allow(private_bounds, reason = "only a lock makes guards")]
impl<G: Guard<Queue: AsyncQueue>> Place<G> {
    /// As [`wait`](Place::wait), for asynchronous callers: a place is a future itself, and this returns it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let count = doorway::Mutex::new(0);
    /// let (first, second) = (count.arrive(), count.arrive()); // queue now
    /// *first.wait_async().await += 1; // await later
    /// *second.await += 1;
    /// assert_eq!(count.into_inner(), 2);
    /// # }
    /// ```
    pub fn wait_async(self) -> Place<G> {
        self
    }
}

/// Resolves to the guard when it is this place's turn.
///
/// # Panics
/// If it is polled after that.
impl<G: Guard<Lock: Unpin, Queue: AsyncQueue<Place: Unpin>>> Future for Place<G> {
    type Output = G;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<G> {
        let lock = self.lock;
        let Queued { place, is_suspended } = self.queued.as_mut().expect(USED);
        let Poll::Ready(inside) = G::queue(&lock).poll_wait(place, is_suspended, context) else { return Poll::Pending };
        self.queued = None;
        Poll::Ready(G::new(lock, inside))
    }
}

/// The future of [`Mutex::lock_async`](crate::Mutex::lock_async) and
/// [`Semaphore::acquire_async`](crate::Semaphore::acquire_async): joins the queue when it is first polled.
///
/// Dropping it is an abort, at any time: before it was polled, while it waits, and after its turn has come. In the last
/// case the next waiter enters instead.
#[must_use = "a future does nothing unless it is awaited"]
#[allow(private_bounds, reason = "only a lock makes guards")]
pub struct Entering<G: Guard> {
    lock: G::Lock,
    state: State<<G::Queue as Queue>::Place>,
}

enum State<P> {
    Unpolled,
    Queued(Queued<P>),
    Over,
}

#[allow(private_bounds, reason = "only a lock makes guards")]
impl<G: Guard> Entering<G> {
    #[inline(always)]
    pub(crate) fn new(lock: G::Lock) -> Entering<G> {
        Entering { lock, state: State::Unpolled }
    }
}

/// Resolves to the guard when it is the caller's turn.
///
/// # Panics
/// If it is polled after that.
impl<G: Guard<Lock: Unpin, Queue: AsyncQueue<Place: Unpin>>> Future for Entering<G> {
    type Output = G;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<G> {
        let lock = self.lock;
        if let State::Unpolled = self.state {
            self.state = State::Queued(Queued { place: G::queue(&lock).arrive(), is_suspended: false });
        }
        let State::Queued(Queued { place, is_suspended }) = &mut self.state else { panic!("{USED}") };
        let Poll::Ready(inside) = G::queue(&lock).poll_wait(place, is_suspended, context) else { return Poll::Pending };
        self.state = State::Over;
        Poll::Ready(G::new(lock, inside))
    }
}

impl<G: Guard> Drop for Entering<G> {
    #[inline]
    fn drop(&mut self) {
        if let State::Queued(Queued { place, .. }) = mem::replace(&mut self.state, State::Over) {
            G::queue(&self.lock).abort(place);
        }
    }
}

impl<G: Guard> fmt::Debug for Entering<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state: &dyn fmt::Debug = match &self.state {
            State::Unpolled => &format_args!("unpolled"),
            State::Queued(queued) => &queued.place,
            State::Over => &format_args!("over"),
        };
        f.debug_tuple("Entering").field(state).finish()
    }
}

impl<G: Guard> Drop for Place<G> {
    fn drop(&mut self) {
        if let Some(Queued { place, .. }) = self.queued.take() {
            G::queue(&self.lock).abort(place);
        }
    }
}

impl<G: Guard> fmt::Debug for Place<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.queued.as_ref().map(|queued| &queued.place)).finish()
    }
}
