//! The default queues: `ticket` and `ticket-k` of the catalogue, with aborts and suspended tasks.
use std::{
    fmt,
    task::{Context, Poll},
    time::Instant,
};

use doorway_algorithms::{kexclusion::ticket_k::TicketK, mutex::ticket::Ticket};
use doorway_memory::{Count, Exclusion, Memory};
use doorway_native::{Native, Packed, Reg};

use crate::{
    queue::{AsyncQueue, Queue, TimedQueue},
    waiters::{Turns, Waiters},
};

pub(crate) type Threads = Native<Packed>;

/// The ticket lock: the default queue of a [`Mutex`](crate::Mutex).
pub type Tickets = Numbered<Ticket<Threads>>;

/// The ticket lock for k: the default queue of a [`Semaphore`](crate::Semaphore).
pub type TicketsFor = Numbered<TicketK<Threads>>;

/// A queue in which a place is a number, and a counter says whose turn it is. See [`Tickets`] and [`TicketsFor`].
pub struct Numbered<A> {
    lock: A,
    waiters: Waiters,
}

/// What a holder carries: the value for the exit section, and whether it had to wait.
#[derive(Debug)]
pub struct Entered<I> {
    inside: I,
    is_contended: bool,
}

/// An algorithm in which a place is a number, and a counter says whose turn it is.
trait Numbers: Exclusion<Threads, Place = Count, Inside: fmt::Debug + Copy + Send + Sync> {
    /// Whether the exit section ends with a read-modify-write, which is a fence.
    const EXIT_IS_FENCE: bool;

    /// How many holders there may be at once.
    fn capacity(&self) -> usize;

    /// The register on which all waiters wait.
    fn counter(&self) -> &Reg<Count, Packed>;

    /// The register that counts arrivals.
    fn arrived(&self) -> &Reg<Count, Packed>;

    /// Whether it is this place's turn when the counter has this value.
    fn is_served(&self, counter: Count, place: Count) -> bool;

    /// The value for the exit section of a holder that entered with this place.
    fn inside(&self, place: Count) -> Self::Inside;

    /// Takes a number if that number is served at once.
    fn try_enter(&self) -> Option<Count>;
}

impl Numbers for Ticket<Threads> {
    const EXIT_IS_FENCE: bool = false;

    fn capacity(&self) -> usize {
        1
    }

    fn counter(&self) -> &Reg<Count, Packed> {
        self.serving()
    }

    fn arrived(&self) -> &Reg<Count, Packed> {
        self.arrived()
    }

    #[inline(always)]
    fn is_served(&self, counter: Count, place: Count) -> bool {
        counter == place
    }

    #[inline(always)]
    fn inside(&self, place: Count) -> Count {
        place
    }

    #[inline(always)]
    fn try_enter(&self) -> Option<Count> {
        let Ok(place) = self.try_enter(&mut Threads::new());
        place
    }
}

impl Numbers for TicketK<Threads> {
    const EXIT_IS_FENCE: bool = true;

    fn capacity(&self) -> usize {
        self.k()
    }

    fn counter(&self) -> &Reg<Count, Packed> {
        self.left()
    }

    fn arrived(&self) -> &Reg<Count, Packed> {
        self.arrived()
    }

    #[inline(always)]
    fn is_served(&self, counter: Count, place: Count) -> bool {
        place < counter.plus(self.k())
    }

    #[inline(always)]
    fn inside(&self, _: Count) {}

    #[inline(always)]
    fn try_enter(&self) -> Option<Count> {
        loop {
            if let Ok(Some(place)) = self.try_enter(&mut Threads::new()) {
                return Some(place);
            }
            // Another thread may have arrived or left in between, and there may still be capacity.
            if queued(self) >= self.k() as u64 {
                return None;
            }
        }
    }
}

impl Tickets {
    pub(crate) const fn new() -> Tickets {
        let free = Ticket::<Threads>::FREE.word();
        Numbered { lock: Ticket::of(Reg::of_word(free), Reg::of_word(free)), waiters: Waiters::new() }
    }
}

impl TicketsFor {
    pub(crate) const fn new(k: usize) -> TicketsFor {
        let free = TicketK::<Threads>::free(k).word();
        Numbered { lock: TicketK::of(k, Reg::of_word(free), Reg::of_word(free)), waiters: Waiters::new() }
    }
}

#[inline(always)]
fn read(counter: &Reg<Count, Packed>) -> Count {
    let Ok(count) = Threads::new().read(counter);
    count
}

/// The number of holders and waiters.
fn queued(lock: &impl Numbers) -> u64 {
    read(lock.arrived()).since(read(lock.counter()))
}

#[allow(private_bounds, reason = "the locks are a closed set")]
impl<A: Numbers> Numbered<A> {
    /// The number of holders and waiters.
    #[inline(always)]
    pub(crate) fn queued(&self) -> u64 {
        queued(&self.lock)
    }

    fn is_served(&self, place: Count) -> bool {
        self.lock.is_served(read(self.lock.counter()), place)
    }

    /// The value of a holder that did not have to wait.
    #[inline(always)]
    fn uncontended(&self, place: Count) -> Entered<A::Inside> {
        Entered { inside: self.lock.inside(place), is_contended: false }
    }

    /// The release of a thread that had to wait. Apart, so that it costs other releases no more than a test; the argument
    /// is not a reference, which would force it into memory.
    #[inline(never)]
    fn leave_contended(&self, inside: A::Inside) {
        // Before the exit section, after which the counters' cache line may belong to the next holder.
        let before = self.queued();
        let mut m = Threads::resumed(true);
        let Ok(()) = self.lock.exit(&mut m, 0, &inside);
        if before > self.lock.capacity() as u64 || m.has_wake_interest() {
            self.after_leaving(m, before);
        }
    }

    /// The slow path of a release that saw parked waiters or wake interest, or that admitted a waiter after this thread had
    /// waited itself.
    #[inline(never)]
    fn after_leaving(&self, mut m: Threads, before: u64) {
        if m.has_wake_interest() {
            self.waiters.after_release(&self.lock);
        }
        m.yield_in_order(self.lock.counter(), self.lock.capacity(), before, || self.queued());
    }
}

impl<A: Numbers> Turns for A {
    const EXIT_IS_FENCE: bool = A::EXIT_IS_FENCE;

    #[inline(always)]
    fn first_unserved(&self) -> Count {
        read(self.counter()).plus(self.capacity())
    }

    fn complete(&self, place: Count) {
        let Ok(()) = self.exit(&mut Threads::new(), 0, &self.inside(place));
    }
}

#[allow(private_bounds, reason = "the locks are a closed set")]
impl<A: Numbers> Queue for Numbered<A> {
    type Place = Count;
    type Inside = Entered<A::Inside>;

    fn capacity(&self) -> usize {
        self.lock.capacity()
    }

    #[inline(always)]
    fn arrive(&self) -> Count {
        let Ok(place) = self.lock.doorway(&mut Threads::new(), 0);
        place
    }

    #[inline(always)]
    fn wait(&self, place: Count) -> Self::Inside {
        let mut m = Threads::new();
        let Ok(inside) = self.lock.wait(&mut m, 0, &place);
        Entered { inside, is_contended: m.is_contended() }
    }

    #[inline(always)]
    fn leave(&self, entered: &Self::Inside) {
        if entered.is_contended {
            return self.leave_contended(entered.inside);
        }
        let mut m = Threads::new();
        let Ok(()) = self.lock.exit(&mut m, 0, &entered.inside);
        if m.has_wake_interest() {
            self.after_leaving(m, self.queued() + 1);
        }
    }

    /// The place of a task whose turn came before it was polled again is released, for the next one.
    fn abort(&self, place: Count) {
        if self.is_served(place) || !self.waiters.abort(&self.lock, place) {
            self.leave(&self.uncontended(place));
        }
    }
}

#[allow(private_bounds, reason = "the locks are a closed set")]
impl<A: Numbers> TimedQueue for Numbered<A> {
    #[inline(always)]
    fn try_enter(&self) -> Option<Self::Inside> {
        self.lock.try_enter().map(|place| self.uncontended(place))
    }

    fn ahead(&self, place: &Count) -> u64 {
        place.since(read(self.lock.counter()))
    }

    fn try_wait(&self, place: Count) -> Result<Self::Inside, Count> {
        if self.is_served(place) { Ok(self.uncontended(place)) } else { Err(place) }
    }

    fn wait_deadline(&self, place: Count, deadline: Instant) -> Result<Self::Inside, Count> {
        let is_served = |counter| self.lock.is_served(counter, place);
        let mut m = Threads::new();
        let is_served = m.until_deadline(self.lock.counter(), is_served, deadline);
        let entered = || Entered { inside: self.lock.inside(place), is_contended: m.is_contended() };
        if is_served { Ok(entered()) } else { Err(place) }
    }
}

#[allow(private_bounds, reason = "the locks are a closed set")]
impl<A: Numbers> AsyncQueue for Numbered<A> {
    #[inline(always)]
    fn poll_wait(&self, place: &Count, is_suspended: &mut bool, context: &Context<'_>) -> Poll<Self::Inside> {
        if self.is_served(*place) || !self.suspends(*place, is_suspended, context) {
            Poll::Ready(self.uncontended(*place))
        } else {
            Poll::Pending
        }
    }
}

#[allow(private_bounds, reason = "the locks are a closed set")]
impl<A: Numbers> Numbered<A> {
    /// Suspends a task, unless the turn of its place comes meanwhile.
    #[inline(never)]
    fn suspends(&self, place: Count, is_suspended: &mut bool, context: &Context<'_>) -> bool {
        if *is_suspended {
            return self.waiters.resuspend(&self.lock, place, context.waker());
        }
        *is_suspended =
            !self.waiters.spin(&self.lock, place) && self.waiters.suspend(&self.lock, place, context.waker().clone());
        *is_suspended
    }
}

impl<A: Numbers> fmt::Debug for Numbered<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Numbered").field("queued", &self.queued()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    #[test]
    fn the_wake_interest_ends_after_many_releases_without_waiters() {
        let lock = crate::Mutex::new(());
        let guard = lock.lock();
        drop(lock.arrive());
        assert!(lock.queue.waiters.has_interest());
        drop(guard);
        for _ in 0..255 {
            drop(lock.lock());
        }
        assert!(lock.queue.waiters.has_interest(), "the next waiter needs no barrier");
        (0..257).for_each(|_| drop(lock.lock()));
        assert!(!lock.queue.waiters.has_interest());
        let guard = lock.lock();
        drop(lock.arrive());
        assert!(lock.queue.waiters.has_interest(), "another waiter registers it again");
        drop(guard);
        assert!(lock.try_lock().is_some());
    }
}
