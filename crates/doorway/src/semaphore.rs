//! At most k at a time, first in, first enabled.
use std::{
    fmt,
    mem::ManuallyDrop,
    time::{Duration, Instant},
};

use crate::{
    algorithms::{Algorithm, Layout, Slotted},
    line::{Line, Patient},
    tickets::TicketsFor,
};

/// At most k at a time, in order of arrival: who came first is the first who may go in.
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
/// By another algorithm of the catalogue, in [`algorithms`](crate::algorithms), there are no deadlines: dropping a turn waits.
///
/// It has a cache line to itself: if others wrote to what lies beside it, those who come and go would have to wait for that.
#[repr(align(64))]
pub struct Semaphore<L = TicketsFor> {
    pub(crate) line: L,
}

impl Semaphore {
    /// A free semaphore for `k` at a time.
    ///
    /// # Panics
    /// If `k` is 0 or above 65,535.
    ///
    /// ```
    /// assert_eq!(doorway::Semaphore::new(4).permits(), 4);
    /// ```
    #[must_use]
    pub const fn new(k: usize) -> Semaphore {
        Semaphore { line: TicketsFor::new(k) }
    }
}

impl<A: Algorithm<L>, L: Layout> Semaphore<Slotted<A, L>> {
    /// A free semaphore for `k` at a time, by an algorithm of the catalogue, for so many threads inside or in line at once.
    ///
    /// # Panics
    /// If there are not more than `k` slots.
    ///
    /// See [`algorithms`](crate::algorithms).
    #[must_use]
    pub fn with_slots(k: usize, slots: usize) -> Self {
        Semaphore { line: Slotted::new(slots, k) }
    }
}

impl<L: Line> Semaphore<L> {
    /// How many may be inside.
    ///
    /// See [`new`](Semaphore::new).
    #[must_use]
    pub fn permits(&self) -> usize {
        self.line.permits()
    }

    /// Waits in line until we may go in.
    ///
    /// ```
    /// let printers = doorway::Semaphore::new(2);
    /// let permit = printers.acquire();
    /// ```
    #[inline]
    pub fn acquire(&self) -> Permit<'_, L> {
        let mut place = self.line.arrive();
        self.line.wait(&mut place);
        Permit { semaphore: self, place }
    }

    /// Takes a place in line, without waiting.
    ///
    /// ```
    /// let printers = doorway::Semaphore::new(1);
    /// let inside = printers.acquire();
    /// let turn = printers.arrive();
    /// assert_eq!(turn.ahead(), 1);
    /// drop(inside);
    /// let permit = turn.wait();
    /// ```
    #[must_use = "dropping it gives the place up"]
    pub fn arrive(&self) -> Turn<'_, L> {
        Turn { semaphore: self, place: ManuallyDrop::new(self.line.arrive()) }
    }
}

impl<L: Patient> Semaphore<L> {
    /// Goes in if there is room and nobody is in line.
    ///
    /// ```
    /// let printers = doorway::Semaphore::new(1);
    /// let permit = printers.try_acquire().unwrap();
    /// assert!(printers.try_acquire().is_none());
    /// ```
    #[inline]
    pub fn try_acquire(&self) -> Option<Permit<'_, L>> {
        Some(Permit { semaphore: self, place: self.line.try_arrive()? })
    }

    /// Waits in line for at most so long.
    ///
    /// ```
    /// use std::time::Duration;
    /// let printers = doorway::Semaphore::new(1);
    /// let permit = printers.acquire();
    /// assert!(printers.acquire_timeout(Duration::from_millis(1)).is_none());
    /// ```
    pub fn acquire_timeout(&self, time: Duration) -> Option<Permit<'_, L>> {
        self.arrive().wait_timeout(time).ok()
    }

    /// Waits in line, no longer than to the deadline.
    ///
    /// See [`acquire_timeout`](Self::acquire_timeout).
    pub fn acquire_deadline(&self, deadline: Instant) -> Option<Permit<'_, L>> {
        self.arrive().wait_deadline(deadline).ok()
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = self.line.there();
        f.debug_struct("Semaphore").field("permits", &self.permits()).field("inside or in line", &there).finish()
    }
}

/// A place in line at a semaphore. Dropping it gives it up; the others move up when its turn comes.
///
/// See [`Semaphore::arrive`].
#[must_use = "dropping it gives the place up"]
pub struct Turn<'a, L: Line = TicketsFor> {
    semaphore: &'a Semaphore<L>,
    /// Taken out when our turn has come.
    place: ManuallyDrop<L::Place>,
}

impl<'a, L: Line> Turn<'a, L> {
    /// Waits until we may go in.
    ///
    /// See [`Semaphore::arrive`].
    pub fn wait(mut self) -> Permit<'a, L> {
        self.semaphore.line.wait(&mut self.place);
        self.enter()
    }

    /// Our turn has come.
    #[allow(unsafe_code, reason = "moves out of a type with a destructor")]
    fn enter(self) -> Permit<'a, L> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, and its destructor, which would take the place too, does not run.
        let place = unsafe { ManuallyDrop::take(&mut this.place) };
        Permit { semaphore: this.semaphore, place }
    }
}

impl<'a, L: Patient> Turn<'a, L> {
    /// How many are before us, those inside among them.
    ///
    /// See [`Semaphore::arrive`].
    #[must_use]
    pub fn ahead(&self) -> u64 {
        self.semaphore.line.ahead(&self.place)
    }

    /// Goes in if we may; if not, we keep the place.
    ///
    /// # Errors
    /// The place, if we may not.
    ///
    /// ```
    /// let printers = doorway::Semaphore::new(1);
    /// assert!(printers.arrive().try_wait().is_ok());
    /// ```
    pub fn try_wait(self) -> Result<Permit<'a, L>, Self> {
        if self.semaphore.line.has_come(&self.place) { Ok(self.enter()) } else { Err(self) }
    }

    /// Waits for at most so long; we keep the place.
    ///
    /// # Errors
    /// The place, if our turn has not come.
    ///
    /// ```
    /// use std::time::Duration;
    /// let printers = doorway::Semaphore::new(1);
    /// let permit = printers.acquire();
    /// assert!(printers.arrive().wait_timeout(Duration::from_millis(1)).is_err());
    /// ```
    pub fn wait_timeout(self, time: Duration) -> Result<Permit<'a, L>, Self> {
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
    pub fn wait_deadline(self, deadline: Instant) -> Result<Permit<'a, L>, Self> {
        if self.semaphore.line.wait_deadline(&self.place, deadline) { Ok(self.enter()) } else { Err(self) }
    }
}

impl<L: Line> Drop for Turn<'_, L> {
    #[allow(unsafe_code, reason = "drops what `enter` would have taken")]
    fn drop(&mut self) {
        self.semaphore.line.give_up(&mut self.place);
        // SAFETY: this is the destructor, so the place is not used again; `enter`, which takes it, keeps this from running.
        unsafe { ManuallyDrop::drop(&mut self.place) };
    }
}

impl<L: Line> fmt::Debug for Turn<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Turn").field(&*self.place).finish()
    }
}

/// We are inside; dropping it makes room for the next one.
///
/// See [`Semaphore::acquire`].
#[must_use = "dropping it makes room for the next one"]
pub struct Permit<'a, L: Line = TicketsFor> {
    pub(crate) semaphore: &'a Semaphore<L>,
    pub(crate) place: L::Place,
}

impl<L: Line> Drop for Permit<'_, L> {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.line.leave(&self.place);
    }
}

impl<L: Line> fmt::Debug for Permit<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.place).finish()
    }
}
