//! Aborted places of a ticket lock.
use std::sync::OnceLock;

use doorway_memory::Count;
use doorway_native::{
    WakeInterest,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicU32,
            Ordering::{Relaxed, SeqCst},
        },
    },
};

/// The aborted places whose turn has not come yet.
///
/// # No lost turn
/// A thread that leaves writes the lock's counter, then checks for wake interest, and only if there is some, for
/// aborted places. A thread that aborts registers wake interest, adds its place here, then checks whether the place's
/// turn has come. So at least one of the two sees that the turn has come. Usually there is no wake interest, and a
/// release reads nothing here: the lock's cache line may belong to the next holder by then. While an aborted place
/// awaits its turn, every write to a register in the process takes the slow path, which searches for parked waiters.
#[derive(Debug)]
pub(crate) struct AbortedTickets {
    /// The number of places here or about to be added.
    count: AtomicU32,
    /// Boxed, to leave room for the guarded value in the lock's cache line.
    places: OnceLock<Box<Places>>,
}

type Places = Mutex<Vec<(Count, WakeInterest)>>;

impl AbortedTickets {
    pub(crate) const fn new() -> AbortedTickets {
        AbortedTickets { count: AtomicU32::new(0), places: OnceLock::new() }
    }

    /// Aborts `place`. Calls `leave` for each aborted place whose turn has come, until there is none.
    #[cold]
    pub(crate) fn abort(&self, place: Count, turn: impl Fn(Count) -> bool, leave: impl Fn(Count)) {
        self.count.fetch_add(1, SeqCst);
        let interest = WakeInterest::new();
        self.places().push((place, interest));
        self.finish(turn, leave);
    }

    /// Completes the passages of aborted places whose turn has come. To be called after a release that saw wake
    /// interest.
    pub(crate) fn after_leaving(&self, turn: impl Fn(Count) -> bool, leave: impl Fn(Count)) {
        // ORDERING: Relaxed. Pairs with: the barrier of the `WakeInterest` in `abort`, which comes after the
        // increment of the count. If this release made the turn of a place come and `abort` did not see that, then
        // this thread saw the wake interest and sees the count. This is the protocol of `doorway_native`'s
        // `parking.rs`, and fails without the barrier as that does.
        if self.count.load(Relaxed) != 0 {
            self.finish(turn, leave);
        }
    }

    fn places(&self) -> MutexGuard<'_, Vec<(Count, WakeInterest)>> {
        self.places.get_or_init(Box::default).lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, turn: impl Fn(Count) -> bool, leave: impl Fn(Count)) {
        let mut places = self.places();
        // The list stays locked, so that no other thread completes the same passage.
        while let Some(at) = places.iter().position(|&(place, _)| turn(place)) {
            let (place, interest) = places.swap_remove(at);
            self.count.fetch_sub(1, Relaxed);
            drop(interest);
            leave(place);
        }
    }
}
