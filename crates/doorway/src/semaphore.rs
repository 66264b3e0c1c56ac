//! At most k at a time, first in, first enabled.
use std::{
    fmt,
    mem::ManuallyDrop,
    time::{Duration, Instant},
};

use doorway_algorithms::kexclusion::ticket_k::TicketK;
use doorway_memory::{Count, Exclusion, Memory};
use doorway_native::{Native, Packed, Reg};

use crate::gone::Gone;

type Threads = Native<Packed>;

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
pub struct Semaphore {
    line: TicketK<Threads>,
    gone: Gone,
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
        let free = TicketK::<Threads>::free(k).word();
        Semaphore { line: TicketK::of(k, Reg::of_word(free), Reg::of_word(free)), gone: Gone::new() }
    }

    /// How many may be inside.
    ///
    /// See [`new`](Self::new).
    #[must_use]
    pub const fn permits(&self) -> usize {
        self.line.k()
    }

    /// Waits in line until we may go in.
    ///
    /// ```
    /// let printers = doorway::Semaphore::new(2);
    /// let permit = printers.acquire();
    /// ```
    #[inline]
    pub fn acquire(&self) -> Permit<'_> {
        let mut m = Threads::new();
        let Ok(ticket) = self.line.doorway(&mut m, 0);
        let Ok(()) = self.line.wait(&mut m, 0, &ticket);
        Permit { semaphore: self, ticket }
    }

    /// Goes in if there is room and nobody is in line.
    ///
    /// ```
    /// let printers = doorway::Semaphore::new(1);
    /// let permit = printers.try_acquire().unwrap();
    /// assert!(printers.try_acquire().is_none());
    /// ```
    #[inline]
    pub fn try_acquire(&self) -> Option<Permit<'_>> {
        let mut m = Threads::new();
        loop {
            if let Ok(Some(ticket)) = self.line.try_enter(&mut m) {
                return Some(Permit { semaphore: self, ticket });
            }
            // Another may have arrived or left in between, and there may still be room.
            if self.ahead(self.arrived()) >= self.permits() as u64 {
                return None;
            }
        }
    }

    /// Waits in line for at most so long.
    ///
    /// ```
    /// use std::time::Duration;
    /// let printers = doorway::Semaphore::new(1);
    /// let permit = printers.acquire();
    /// assert!(printers.acquire_timeout(Duration::from_millis(1)).is_none());
    /// ```
    pub fn acquire_timeout(&self, time: Duration) -> Option<Permit<'_>> {
        self.arrive().wait_timeout(time).ok()
    }

    /// Waits in line, no longer than to the deadline.
    ///
    /// See [`acquire_timeout`](Self::acquire_timeout).
    pub fn acquire_deadline(&self, deadline: Instant) -> Option<Permit<'_>> {
        self.arrive().wait_deadline(deadline).ok()
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
    pub fn arrive(&self) -> Turn<'_> {
        let Ok(ticket) = self.line.doorway(&mut Threads::new(), 0);
        Turn { semaphore: self, ticket }
    }

    fn left(&self) -> Count {
        let Ok(left) = Threads::new().read(self.line.left());
        left
    }

    fn arrived(&self) -> Count {
        let Ok(arrived) = Threads::new().read(self.line.arrived());
        arrived
    }

    /// How many are before a ticket, inside or in line.
    fn ahead(&self, ticket: Count) -> u64 {
        ticket.since(self.left())
    }

    fn may_enter(&self, ticket: Count) -> bool {
        ticket < self.left().plus(self.permits())
    }

    fn leave(&self, ticket: Count) {
        let Ok(()) = self.line.exit(&mut Threads::new(), 0, &ticket);
    }

    #[inline(always)]
    fn release(&self, ticket: Count) {
        self.leave(ticket);
        self.gone.after_leaving(|place| self.may_enter(place), |place| self.leave(place));
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = self.ahead(self.arrived());
        f.debug_struct("Semaphore").field("permits", &self.permits()).field("inside or in line", &there).finish()
    }
}

/// A place in line at a semaphore. Dropping it gives it up; the others move up when its turn comes.
///
/// See [`Semaphore::arrive`].
#[must_use = "dropping it gives the place up"]
pub struct Turn<'a> {
    semaphore: &'a Semaphore,
    ticket: Count,
}

impl<'a> Turn<'a> {
    /// How many are before us, those inside among them.
    ///
    /// See [`Semaphore::arrive`].
    #[must_use]
    pub fn ahead(&self) -> u64 {
        self.semaphore.ahead(self.ticket)
    }

    /// Waits until we may go in.
    ///
    /// See [`Semaphore::arrive`].
    pub fn wait(self) -> Permit<'a> {
        let Ok(()) = self.semaphore.line.wait(&mut Threads::new(), 0, &self.ticket);
        self.enter()
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
    pub fn try_wait(self) -> Result<Permit<'a>, Self> {
        if self.semaphore.may_enter(self.ticket) { Ok(self.enter()) } else { Err(self) }
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
    pub fn wait_timeout(self, time: Duration) -> Result<Permit<'a>, Self> {
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
    pub fn wait_deadline(self, deadline: Instant) -> Result<Permit<'a>, Self> {
        let (ticket, k) = (self.ticket, self.semaphore.permits());
        let line = &self.semaphore.line;
        let come = Threads::new().until_deadline(line.left(), |left| ticket < left.plus(k), deadline);
        if come { Ok(self.enter()) } else { Err(self) }
    }

    /// Our turn has come.
    fn enter(self) -> Permit<'a> {
        let turn = ManuallyDrop::new(self);
        Permit { semaphore: turn.semaphore, ticket: turn.ticket }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let semaphore = self.semaphore;
        semaphore.gone.give_up(self.ticket, |place| semaphore.may_enter(place), |place| semaphore.leave(place));
    }
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("ahead", &self.ahead()).finish_non_exhaustive()
    }
}

/// We are inside; dropping it makes room for the next one.
///
/// See [`Semaphore::acquire`].
#[derive(Debug)]
#[must_use = "dropping it makes room for the next one"]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    ticket: Count,
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.release(self.ticket);
    }
}
