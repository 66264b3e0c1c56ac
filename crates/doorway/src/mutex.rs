//! A lock with one holder, first come, first served.
use std::{
    cell::UnsafeCell,
    fmt,
    ops::{Deref, DerefMut},
    time::{Duration, Instant},
};

use crate::{
    algorithms::{Algorithm, Layout, Slotted},
    place::{Entering, Guard, Place},
    queue::{AsyncQueue, Queue, TimedQueue},
    tickets::Tickets,
};

/// A lock around a value: one holder at a time, first come, first served.
///
/// ```
/// use doorway::Mutex;
///
/// let list = Mutex::new(vec![1]);
/// list.lock().push(2);
/// assert_eq!(list.into_inner(), [1, 2]);
/// ```
///
/// With another algorithm of the catalogue, from [`algorithms`](crate::algorithms), a mutex has no deadlines, and
/// dropping a [`Place`] waits for its turn.
///
/// A mutex is aligned to a cache line, which it shares with the beginning of the value, so that writes to
/// neighbouring data do not slow it down.
#[repr(align(64))]
pub struct Mutex<T: ?Sized, Q = Tickets> {
    pub(crate) queue: Q,
    value: UnsafeCell<T>,
}

// SAFETY: a reference to the mutex gives one thread at a time access to the value, which in effect moves the value to
// that thread and back. This requires `Send`, and no more, since no two threads have access at once.
#[allow(unsafe_code, reason = "the value is guarded by the lock")]
unsafe impl<T: ?Sized + Send, Q: Sync> Sync for Mutex<T, Q> {}

impl<T> Mutex<T> {
    /// Creates an unlocked mutex around `value`.
    ///
    /// ```
    /// static LOCK: doorway::Mutex<&str> = doorway::Mutex::new("here");
    /// assert_eq!(*LOCK.lock(), "here");
    /// ```
    #[must_use]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex::of(Tickets::new(), value)
    }
}

impl<T, A: Algorithm, L: Layout> Mutex<T, Slotted<A, L>> {
    /// Creates an unlocked mutex around `value`, by an algorithm of the catalogue.
    ///
    /// The number of slots limits the holders and waiters together; further callers wait for a free slot.
    ///
    /// # Panics
    /// If the algorithm does not support that number of processes: most need at least 2, and some have a maximum.
    ///
    /// See [`algorithms`](crate::algorithms).
    #[must_use]
    pub fn with_slots(value: T, slots: usize) -> Self {
        Mutex::of(Slotted::new(slots, 1), value)
    }
}

impl<T, Q> Mutex<T, Q> {
    pub(crate) const fn of(queue: Q, value: T) -> Mutex<T, Q> {
        Mutex { queue, value: UnsafeCell::new(value) }
    }

    /// Consumes the mutex and returns the value.
    ///
    /// ```
    /// assert_eq!(doorway::Mutex::new(7).into_inner(), 7);
    /// ```
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized, Q: Queue> Mutex<T, Q> {
    /// Acquires the mutex, waiting in the queue until it is the caller's turn.
    ///
    /// A holder that calls this again deadlocks.
    ///
    /// ```
    /// let count = doorway::Mutex::new(0);
    /// *count.lock() += 1;
    /// assert_eq!(*count.lock(), 1);
    /// ```
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T, Q> {
        let inside = self.queue.wait(self.queue.arrive());
        MutexGuard { mutex: self, inside }
    }

    /// Joins the queue without waiting. Callers that arrive later enter later.
    ///
    /// ```
    /// let count = doorway::Mutex::new(0);
    /// let guard = count.lock();
    /// let place = count.arrive();
    /// assert_eq!(place.ahead(), 1);
    /// drop(guard);
    /// *place.wait() += 1;
    /// assert_eq!(count.into_inner(), 1);
    /// ```
    #[must_use = "dropping the place aborts"]
    pub fn arrive(&self) -> Place<MutexGuard<'_, T, Q>> {
        Place::new(self)
    }

    /// Returns a mutable reference to the value. The exclusive borrow makes locking unnecessary.
    ///
    /// ```
    /// let mut count = doorway::Mutex::new(0);
    /// *count.get_mut() += 1;
    /// assert_eq!(*count.lock(), 1);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: ?Sized, Q: TimedQueue> Mutex<T, Q> {
    /// Acquires the mutex if there is no holder and no waiter.
    ///
    /// ```
    /// let count = doorway::Mutex::new(0);
    /// let guard = count.try_lock().unwrap();
    /// assert!(count.try_lock().is_none());
    /// drop(guard);
    /// assert!(count.try_lock().is_some());
    /// ```
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T, Q>> {
        Some(MutexGuard { mutex: self, inside: self.queue.try_enter()? })
    }

    /// Acquires the mutex, waiting for at most `time`. On timeout, aborts and returns `None`.
    ///
    /// ```
    /// use std::time::Duration;
    /// let count = doorway::Mutex::new(0);
    /// let guard = count.lock();
    /// assert!(count.lock_timeout(Duration::from_millis(1)).is_none());
    /// drop(guard);
    /// assert!(count.lock_timeout(Duration::from_millis(1)).is_some());
    /// ```
    pub fn lock_timeout(&self, time: Duration) -> Option<MutexGuard<'_, T, Q>> {
        self.arrive().wait_timeout(time).ok()
    }

    /// Acquires the mutex, waiting until `deadline` at most. After it, aborts and returns `None`.
    ///
    /// ```
    /// use std::time::Instant;
    /// let count = doorway::Mutex::new(0);
    /// let guard = count.lock_deadline(Instant::now()).expect("an uncontended call does not time out");
    /// assert!(count.lock_deadline(Instant::now()).is_none());
    /// ```
    pub fn lock_deadline(&self, deadline: Instant) -> Option<MutexGuard<'_, T, Q>> {
        self.arrive().wait_deadline(deadline).ok()
    }
}

impl<T: ?Sized, Q: AsyncQueue> Mutex<T, Q> {
    /// As [`lock`](Self::lock), for asynchronous callers. Tasks and threads wait in one queue.
    ///
    /// It depends on no runtime. The future joins the queue when it is first polled; [`arrive`](Self::arrive) joins it at
    /// once, and the [`Place`] can be awaited later. A guard may be held while its task awaits something else.
    ///
    /// # Cancel safety
    /// Dropping the future is an abort: no wake-up is lost, and later arrivals move up. If its turn had come already, the
    /// next waiter enters instead.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let count = doorway::Mutex::new(0);
    /// *count.lock_async().await += 1;
    /// let guard = count.lock();
    /// tokio::select! {
    ///     biased;
    ///     _ = count.lock_async() => unreachable!("there is a holder"),
    ///     _ = async {} => {} // faster, so the other future is dropped
    /// }
    /// drop(guard);
    /// assert_eq!(*count.lock(), 1);
    /// # }
    /// ```
    #[inline]
    pub fn lock_async(&self) -> Entering<MutexGuard<'_, T, Q>> {
        Entering::new(self)
    }
}

/// The holder's access to the value of a [`Mutex`]; dropping it releases the mutex.
///
/// ```
/// let count = doorway::Mutex::new(1);
/// let guard: doorway::MutexGuard<'_, i32> = count.lock();
/// assert_eq!(*guard, 1);
/// ```
#[must_use = "dropping the guard releases the mutex"]
pub struct MutexGuard<'a, T: ?Sized, Q: Queue = Tickets> {
    pub(crate) mutex: &'a Mutex<T, Q>,
    pub(crate) inside: Q::Inside,
}

impl<'a, T: ?Sized, Q: Queue> Guard for MutexGuard<'a, T, Q> {
    type Lock = &'a Mutex<T, Q>;
    type Queue = Q;

    fn queue(lock: &Self::Lock) -> &Q {
        &lock.queue
    }

    fn new(mutex: Self::Lock, inside: Q::Inside) -> Self {
        MutexGuard { mutex, inside }
    }
}

// SAFETY: a shared reference to the guard gives a shared reference to the value, which requires `Sync`, and gives
// nothing else. Without this impl, the guard would be `Sync` whenever the mutex is, which requires only `Send`.
#[allow(unsafe_code, reason = "the guard stands for a reference to the value")]
unsafe impl<T: ?Sized + Sync, Q: Queue> Sync for MutexGuard<'_, T, Q> {}

impl<T: ?Sized, Q: Queue> Deref for MutexGuard<'_, T, Q> {
    type Target = T;

    #[inline(always)]
    #[allow(unsafe_code, reason = "the value is guarded by the lock")]
    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so its owner has entered the critical section and not left. The queue admits one
        // holder at a time, so there is no other guard. The reference borrows the guard: shared here, exclusive in
        // `deref_mut`.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized, Q: Queue> DerefMut for MutexGuard<'_, T, Q> {
    #[inline(always)]
    #[allow(unsafe_code, reason = "the value is guarded by the lock")]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; the guard is borrowed exclusively, so no other reference to the value exists.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized, Q: Queue> Drop for MutexGuard<'_, T, Q> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.queue.leave(&self.inside);
    }
}

impl<T: ?Sized + fmt::Debug, Q: Queue> fmt::Debug for MutexGuard<'_, T, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display, Q: Queue> fmt::Display for MutexGuard<'_, T, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug, Q: TimedQueue> fmt::Debug for Mutex<T, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_lock() {
            Some(guard) => f.debug_struct("Mutex").field("value", &&*guard).finish(),
            None => f.debug_struct("Mutex").field("value", &format_args!("<locked>")).finish(),
        }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}
