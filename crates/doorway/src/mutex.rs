//! One at a time, first come, first served.
use std::{
    cell::UnsafeCell,
    fmt,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    time::{Duration, Instant},
};

use doorway_algorithms::mutex::ticket::Ticket;
use doorway_memory::{Count, Exclusion, Memory};
use doorway_native::{Native, Packed, Reg};

use crate::gone::Gone;

type Threads = Native<Packed>;

/// A lock around a value: one at a time, first come, first served.
///
/// ```
/// use doorway::Mutex;
///
/// let list = Mutex::new(vec![1]);
/// list.lock().push(2);
/// assert_eq!(list.into_inner(), [1, 2]);
/// ```
pub struct Mutex<T: ?Sized> {
    line: Ticket<Threads>,
    gone: Gone,
    value: UnsafeCell<T>,
}

// SAFETY: a reference to the mutex gives one thread at a time access to the value, by moving it there and back in effect;
// that takes `Send`, and no more, since no two threads have it at once.
#[allow(unsafe_code, reason = "the value is guarded by the lock")]
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// A free lock around a value.
    ///
    /// ```
    /// static LOCK: doorway::Mutex<&str> = doorway::Mutex::new("here");
    /// assert_eq!(*LOCK.lock(), "here");
    /// ```
    #[must_use]
    pub const fn new(value: T) -> Mutex<T> {
        let free = Ticket::<Threads>::FREE.word();
        Mutex {
            line: Ticket::of(Reg::of_word(free), Reg::of_word(free)),
            gone: Gone::new(),
            value: UnsafeCell::new(value),
        }
    }

    /// The value.
    ///
    /// ```
    /// assert_eq!(doorway::Mutex::new(7).into_inner(), 7);
    /// ```
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits in line until it is our turn.
    ///
    /// A thread that is inside and calls this again waits for itself, for ever.
    ///
    /// ```
    /// let count = doorway::Mutex::new(0);
    /// *count.lock() += 1;
    /// assert_eq!(*count.lock(), 1);
    /// ```
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let mut m = Threads::new();
        let Ok(ticket) = self.line.doorway(&mut m, 0);
        let Ok(()) = self.line.wait(&mut m, 0, &ticket);
        MutexGuard { mutex: self, ticket }
    }

    /// Goes in if nobody is inside or in line.
    ///
    /// ```
    /// let count = doorway::Mutex::new(0);
    /// let guard = count.try_lock().unwrap();
    /// assert!(count.try_lock().is_none());
    /// ```
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let Ok(ticket) = self.line.try_enter(&mut Threads::new());
        Some(MutexGuard { mutex: self, ticket: ticket? })
    }

    /// Waits in line for at most so long.
    ///
    /// ```
    /// use std::time::Duration;
    /// let count = doorway::Mutex::new(0);
    /// let guard = count.lock();
    /// assert!(count.lock_timeout(Duration::from_millis(1)).is_none());
    /// drop(guard);
    /// assert!(count.lock_timeout(Duration::from_millis(1)).is_some());
    /// ```
    pub fn lock_timeout(&self, time: Duration) -> Option<MutexGuard<'_, T>> {
        self.arrive().wait_timeout(time).ok()
    }

    /// Waits in line, no longer than to the deadline.
    ///
    /// ```
    /// use std::time::Instant;
    /// let count = doorway::Mutex::new(0);
    /// assert!(count.lock_deadline(Instant::now()).is_some(), "it is free");
    /// ```
    pub fn lock_deadline(&self, deadline: Instant) -> Option<MutexGuard<'_, T>> {
        self.arrive().wait_deadline(deadline).ok()
    }

    /// Takes a place in line, without waiting. Who arrives after this enters after us.
    ///
    /// ```
    /// let count = doorway::Mutex::new(0);
    /// let inside = count.lock();
    /// let place = count.arrive();
    /// assert_eq!(place.ahead(), 1);
    /// drop(inside);
    /// *place.wait() += 1;
    /// ```
    #[must_use = "dropping it gives the place up"]
    pub fn arrive(&self) -> Place<'_, T> {
        let Ok(ticket) = self.line.doorway(&mut Threads::new(), 0);
        Place { mutex: self, ticket }
    }

    /// The value, which nobody else can have.
    ///
    /// ```
    /// let mut count = doorway::Mutex::new(0);
    /// *count.get_mut() += 1;
    /// assert_eq!(*count.lock(), 1);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    fn serving(&self) -> Count {
        let Ok(serving) = Threads::new().read(self.line.serving());
        serving
    }

    fn leave(&self, ticket: Count) {
        let Ok(()) = self.line.exit(&mut Threads::new(), 0, &ticket);
    }

    #[inline(always)]
    fn unlock(&self, ticket: Count) {
        self.leave(ticket);
        self.gone.after_leaving(|place| self.serving() == place, |place| self.leave(place));
    }

    fn give_up(&self, ticket: Count) {
        self.gone.give_up(ticket, |place| self.serving() == place, |place| self.leave(place));
    }
}

/// A place in line. Dropping it gives it up; the others move up when its turn comes.
///
/// See [`Mutex::arrive`].
#[must_use = "dropping it gives the place up"]
pub struct Place<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    ticket: Count,
}

impl<'a, T: ?Sized> Place<'a, T> {
    /// How many are before us, the one inside among them.
    ///
    /// ```
    /// let lock = doorway::Mutex::new(());
    /// assert_eq!(lock.arrive().ahead(), 0);
    /// ```
    #[must_use]
    pub fn ahead(&self) -> u64 {
        self.ticket.since(self.mutex.serving())
    }

    /// Waits until it is our turn.
    ///
    /// ```
    /// let count = doorway::Mutex::new(0);
    /// *count.arrive().wait() += 1;
    /// ```
    pub fn wait(self) -> MutexGuard<'a, T> {
        let Ok(()) = self.mutex.line.wait(&mut Threads::new(), 0, &self.ticket);
        self.enter()
    }

    /// Goes in if it is our turn; if not, we keep the place.
    ///
    /// # Errors
    /// The place, if it is not our turn.
    ///
    /// ```
    /// let count = doorway::Mutex::new(0);
    /// assert!(count.arrive().try_wait().is_ok());
    /// ```
    pub fn try_wait(self) -> Result<MutexGuard<'a, T>, Self> {
        if self.mutex.serving() == self.ticket { Ok(self.enter()) } else { Err(self) }
    }

    /// Waits for at most so long; we keep the place.
    ///
    /// # Errors
    /// The place, if our turn has not come.
    ///
    /// ```
    /// use std::time::Duration;
    /// let count = doorway::Mutex::new(0);
    /// let guard = count.lock();
    /// let place = count.arrive().wait_timeout(Duration::from_millis(1)).unwrap_err();
    /// drop(guard);
    /// assert!(place.wait_timeout(Duration::from_millis(1)).is_ok());
    /// ```
    pub fn wait_timeout(self, time: Duration) -> Result<MutexGuard<'a, T>, Self> {
        match Instant::now().checked_add(time) {
            Some(deadline) => self.wait_deadline(deadline),
            None => Ok(self.wait()), // longer than clocks go
        }
    }

    /// Waits, no longer than to the deadline; we keep the place.
    ///
    /// # Errors
    /// The place, if our turn has not come.
    ///
    /// See [`wait_timeout`](Self::wait_timeout).
    pub fn wait_deadline(self, deadline: Instant) -> Result<MutexGuard<'a, T>, Self> {
        let ticket = self.ticket;
        let come = Threads::new().until_deadline(self.mutex.line.serving(), |serving| serving == ticket, deadline);
        if come { Ok(self.enter()) } else { Err(self) }
    }

    /// Our turn has come.
    fn enter(self) -> MutexGuard<'a, T> {
        let place = ManuallyDrop::new(self);
        MutexGuard { mutex: place.mutex, ticket: place.ticket }
    }
}

impl<T: ?Sized> Drop for Place<'_, T> {
    fn drop(&mut self) {
        self.mutex.give_up(self.ticket);
    }
}

impl<T: ?Sized> fmt::Debug for Place<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("ahead", &self.ahead()).finish_non_exhaustive()
    }
}

/// We are inside; dropping it lets the next one in.
///
/// ```
/// let count = doorway::Mutex::new(1);
/// let guard: doorway::MutexGuard<'_, i32> = count.lock();
/// assert_eq!(*guard, 1);
/// ```
#[must_use = "dropping it lets the next one in"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    ticket: Count,
}

// SAFETY: a shared reference to the guard gives a shared reference to the value, which takes `Sync`; and nothing else. Without
// this it would be `Sync` if the mutex is, which takes less.
#[allow(unsafe_code, reason = "the guard stands for a reference to the value")]
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    #[allow(unsafe_code, reason = "the value is guarded by the lock")]
    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so its ticket is being served, and tickets are served one at a time: there is no other
        // guard. What this one lends is bound to it, shared here and exclusive in `deref_mut`.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline(always)]
    #[allow(unsafe_code, reason = "the value is guarded by the lock")]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; the guard is borrowed exclusively, so it has lent nothing else.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.unlock(self.ticket);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
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
