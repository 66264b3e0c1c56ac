//! The queue behind a lock.
use std::{
    fmt,
    task::{Context, Poll},
    time::Instant,
};

/// The queue of a lock: a caller joins it, waits, becomes a holder, and leaves.
///
/// The default queues are [`Tickets`](crate::Tickets), for a mutex, and [`TicketsFor`](crate::TicketsFor), for a
/// semaphore. Every lock of the catalogue is a queue too: see [`algorithms`](crate::algorithms).
pub trait Queue: Send + Sync {
    /// A position in the queue.
    type Place: fmt::Debug + Send + Sync;

    /// The value that a holder carries and [`leave`](Queue::leave) needs.
    type Inside: fmt::Debug + Send + Sync;

    /// How many holders there may be at once.
    fn capacity(&self) -> usize;

    /// Joins the queue, without waiting.
    fn arrive(&self) -> Self::Place;

    /// Waits until the caller is a holder.
    fn wait(&self, place: Self::Place) -> Self::Inside;

    /// Leaves the critical section.
    fn leave(&self, inside: &Self::Inside);

    /// Aborts. The default implementation waits for the place's turn, enters, and leaves at once.
    fn abort(&self, place: Self::Place) {
        let inside = self.wait(place);
        self.leave(&inside);
    }
}

/// A queue with attempts and deadlines.
pub trait TimedQueue: Queue {
    /// Enters if there are fewer holders than the capacity and no waiter.
    fn try_enter(&self) -> Option<Self::Inside>;

    /// The number of holders and waiters ahead of this place.
    fn ahead(&self, place: &Self::Place) -> u64;

    /// Enters if it is this place's turn.
    ///
    /// # Errors
    /// Returns the place if it is not.
    fn try_wait(&self, place: Self::Place) -> Result<Self::Inside, Self::Place>;

    /// Waits until the caller is a holder, until `deadline` at most.
    ///
    /// # Errors
    /// Returns the place if its turn has not come by then.
    fn wait_deadline(&self, place: Self::Place, deadline: Instant) -> Result<Self::Inside, Self::Place>;
}

/// A queue in which tasks can wait.
pub trait AsyncQueue: TimedQueue {
    /// Enters if it is this place's turn. If not, has the context's waker called when it is.
    ///
    /// `is_suspended` is false in the first call for a place, and belongs to the queue from then on. Of several wakers,
    /// the latest is called.
    fn poll_wait(&self, place: &Self::Place, is_suspended: &mut bool, context: &Context<'_>) -> Poll<Self::Inside>;
}
