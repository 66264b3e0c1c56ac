//! Places that were given up.
use std::sync::atomic::compiler_fence;

use doorway_memory::Count;
use doorway_native::sync::{
    Mutex, PoisonError,
    atomic::{
        AtomicU32,
        Ordering::{Relaxed, SeqCst},
    },
};

/// Places that were given up and whose turn has not come yet.
///
/// # No lost turn
/// Who leaves writes that it has left, and then looks whether a place was given up; who gives up enters its place here, and
/// then looks whether its turn has come. That both see nothing is prevented as for sleepers (`doorway_native`, `lot.rs`): who
/// gives up makes everyone pass a barrier in between, so that who leaves need not.
#[derive(Debug)]
pub(crate) struct Gone {
    /// How many there are, or are about to be.
    count: AtomicU32,
    places: Mutex<Vec<Count>>,
}

impl Gone {
    pub(crate) const fn new() -> Gone {
        Gone { count: AtomicU32::new(0), places: Mutex::new(Vec::new()) }
    }

    /// Gives up a place. `leave` is called for each place that was given up and whose turn has come, as often as there is one.
    #[cold]
    pub(crate) fn give_up(&self, place: Count, turn: impl Fn(Count) -> bool, leave: impl Fn(Count)) {
        self.count.fetch_add(1, SeqCst);
        self.places.lock().unwrap_or_else(PoisonError::into_inner).push(place);
        doorway_native::barrier();
        self.finish(turn, leave);
    }

    /// After somebody has left: finishes the passages of those that were given up and whose turn has come.
    #[inline(always)]
    pub(crate) fn after_leaving(&self, turn: impl Fn(Count) -> bool, leave: impl Fn(Count)) {
        // ORDERING: Relaxed, behind a fence for the compiler only: it must not look before it has left.
        // Pairs with: the barrier in `give_up`, which orders this load after our leaving for who gives up; it is the protocol of
        // `doorway_native`'s `lot.rs`, and fails without the barrier as that does.
        compiler_fence(SeqCst);
        if self.count.load(Relaxed) != 0 {
            self.finish(turn, leave);
        }
    }

    #[cold]
    #[inline(never)]
    fn finish(&self, turn: impl Fn(Count) -> bool, leave: impl Fn(Count)) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        // With the list locked, so that nobody else finishes the same one.
        while let Some(at) = places.iter().position(|&place| turn(place)) {
            let place = places.swap_remove(at);
            self.count.fetch_sub(1, Relaxed);
            leave(place);
        }
    }
}
