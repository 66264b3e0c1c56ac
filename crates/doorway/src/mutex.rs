//! One at a time, first come, first served.
use std::{
    cell::UnsafeCell,
    fmt,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    time::{Duration, Instant},
};

use crate::{
    algorithms::{Algorithm, Layout, Slotted},
    line::{Line, Patient},
    tickets::Tickets,
};

/// A lock around a value: one at a time, first come, first served.
///
/// ```
/// use doorway::Mutex;
///
/// let list = Mutex::new(vec![1]);
/// list.lock().push(2);
/// assert_eq!(list.into_inner(), [1, 2]);
/// ```
///
/// By another algorithm of the catalogue, in [`algorithms`](crate::algorithms), there are no deadlines: dropping a place waits.
///
/// It has a cache line to itself, with the beginning of the value: if others wrote to what lies beside it, those who come and go would
/// have to wait for that.
#[repr(align(64))]
pub struct Mutex<T: ?Sized, L = Tickets> {
    pub(crate) line: L,
    value: UnsafeCell<T>,
}

// SAFETY: a reference to the mutex gives one thread at a time access to the value, by moving it there and back in effect;
// that takes `Send`, and no more, since no two threads have it at once.
#[allow(unsafe_code, reason = "the value is guarded by the lock")]
unsafe impl<T: ?Sized + Send, L: Sync> Sync for Mutex<T, L> {}

impl<T> Mutex<T> {
    /// A free lock around a value.
    ///
    /// ```
    /// static LOCK: doorway::Mutex<&str> = doorway::Mutex::new("here");
    /// assert_eq!(*LOCK.lock(), "here");
    /// ```
    #[must_use]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { line: Tickets::new(), value: UnsafeCell::new(value) }
    }
}

impl<T, A: Algorithm<L>, L: Layout> Mutex<T, Slotted<A, L>> {
    /// A free lock around a value, by an algorithm of the catalogue, for so many threads inside or in line at once.
    ///
    /// # Panics
    /// With fewer than 2 slots.
    ///
    /// See [`algorithms`](crate::algorithms).
    #[must_use]
    pub fn with_slots(value: T, slots: usize) -> Self {
        Mutex { line: Slotted::new(slots, 1), value: UnsafeCell::new(value) }
    }
}

impl<T, L> Mutex<T, L> {
    /// The value.
    ///
    /// ```
    /// assert_eq!(doorway::Mutex::new(7).into_inner(), 7);
    /// ```
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized, L: Line> Mutex<T, L> {
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
    pub fn lock(&self) -> MutexGuard<'_, T, L> {
        let mut place = self.line.arrive();
        self.line.wait(&mut place);
        MutexGuard { mutex: self, place }
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
    pub fn arrive(&self) -> Place<'_, T, L> {
        Place { mutex: self, place: ManuallyDrop::new(self.line.arrive()) }
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
}

impl<T: ?Sized, L: Patient> Mutex<T, L> {
    /// Goes in if nobody is inside or in line.
    ///
    /// ```
    /// let count = doorway::Mutex::new(0);
    /// let guard = count.try_lock().unwrap();
    /// assert!(count.try_lock().is_none());
    /// ```
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T, L>> {
        Some(MutexGuard { mutex: self, place: self.line.try_arrive()? })
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
    pub fn lock_timeout(&self, time: Duration) -> Option<MutexGuard<'_, T, L>> {
        self.arrive().wait_timeout(time).ok()
    }

    /// Waits in line, no longer than to the deadline.
    ///
    /// ```
    /// use std::time::Instant;
    /// let count = doorway::Mutex::new(0);
    /// assert!(count.lock_deadline(Instant::now()).is_some(), "it is free");
    /// ```
    pub fn lock_deadline(&self, deadline: Instant) -> Option<MutexGuard<'_, T, L>> {
        self.arrive().wait_deadline(deadline).ok()
    }
}

/// A place in line. Dropping it gives it up; the others move up when its turn comes.
///
/// See [`Mutex::arrive`].
#[must_use = "dropping it gives the place up"]
pub struct Place<'a, T: ?Sized, L: Line = Tickets> {
    mutex: &'a Mutex<T, L>,
    /// Taken out when our turn has come.
    place: ManuallyDrop<L::Place>,
}

impl<'a, T: ?Sized, L: Line> Place<'a, T, L> {
    /// Waits until it is our turn.
    ///
    /// ```
    /// let count = doorway::Mutex::new(0);
    /// *count.arrive().wait() += 1;
    /// ```
    pub fn wait(mut self) -> MutexGuard<'a, T, L> {
        self.mutex.line.wait(&mut self.place);
        self.enter()
    }

    /// Our turn has come.
    #[allow(unsafe_code, reason = "moves out of a type with a destructor")]
    fn enter(self) -> MutexGuard<'a, T, L> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, and its destructor, which would take the place too, does not run.
        let place = unsafe { ManuallyDrop::take(&mut this.place) };
        MutexGuard { mutex: this.mutex, place }
    }
}

impl<'a, T: ?Sized, L: Patient> Place<'a, T, L> {
    /// How many are before us, the one inside among them.
    ///
    /// ```
    /// let lock = doorway::Mutex::new(());
    /// assert_eq!(lock.arrive().ahead(), 0);
    /// ```
    #[must_use]
    pub fn ahead(&self) -> u64 {
        self.mutex.line.ahead(&self.place)
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
    pub fn try_wait(self) -> Result<MutexGuard<'a, T, L>, Self> {
        if self.mutex.line.has_come(&self.place) { Ok(self.enter()) } else { Err(self) }
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
    pub fn wait_timeout(self, time: Duration) -> Result<MutexGuard<'a, T, L>, Self> {
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
    pub fn wait_deadline(self, deadline: Instant) -> Result<MutexGuard<'a, T, L>, Self> {
        if self.mutex.line.wait_deadline(&self.place, deadline) { Ok(self.enter()) } else { Err(self) }
    }
}

impl<T: ?Sized, L: Line> Drop for Place<'_, T, L> {
    #[allow(unsafe_code, reason = "drops what `enter` would have taken")]
    fn drop(&mut self) {
        self.mutex.line.give_up(&mut self.place);
        // SAFETY: this is the destructor, so the place is not used again; `enter`, which takes it, keeps this from running.
        unsafe { ManuallyDrop::drop(&mut self.place) };
    }
}

impl<T: ?Sized, L: Line> fmt::Debug for Place<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&*self.place).finish()
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
pub struct MutexGuard<'a, T: ?Sized, L: Line = Tickets> {
    pub(crate) mutex: &'a Mutex<T, L>,
    pub(crate) place: L::Place,
}

// SAFETY: a shared reference to the guard gives a shared reference to the value, which takes `Sync`; and nothing else. Without
// this it would be `Sync` if the mutex is, which takes less.
#[allow(unsafe_code, reason = "the guard stands for a reference to the value")]
unsafe impl<T: ?Sized + Sync, L: Line> Sync for MutexGuard<'_, T, L> {}

impl<T: ?Sized, L: Line> Deref for MutexGuard<'_, T, L> {
    type Target = T;

    #[inline(always)]
    #[allow(unsafe_code, reason = "the value is guarded by the lock")]
    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so its turn has come and it has not left; the line lets one in at a time: there is no other
        // guard. What this one lends is bound to it, shared here and exclusive in `deref_mut`.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized, L: Line> DerefMut for MutexGuard<'_, T, L> {
    #[inline(always)]
    #[allow(unsafe_code, reason = "the value is guarded by the lock")]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; the guard is borrowed exclusively, so it has lent nothing else.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized, L: Line> Drop for MutexGuard<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.line.leave(&self.place);
    }
}

impl<T: ?Sized + fmt::Debug, L: Line> fmt::Debug for MutexGuard<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display, L: Line> fmt::Display for MutexGuard<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug, L: Patient> fmt::Debug for Mutex<T, L> {
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
