//! Places that were given up.
use std::sync::OnceLock;

use doorway_memory::Count;
use doorway_native::{
    Call,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicU32,
            Ordering::{Relaxed, SeqCst},
        },
    },
};

/// Places that were given up and whose turn has not come yet.
///
/// # No lost turn
/// Who leaves writes that it has left, and then looks whether it is called; if so, whether a place was given up. Who gives up calls,
/// enters its place here, and then looks whether its turn has come. So who leaves reads nothing here as a rule: the lock's cache line
/// may be somebody else's by then. While a place is given up and its turn has not come, every write in the process pays for a look.
#[derive(Debug)]
pub(crate) struct Gone {
    /// How many there are, or are about to be.
    count: AtomicU32,
    /// Elsewhere, so that there is room for a value beside the lock, in its cache line.
    places: OnceLock<Box<Places>>,
}

type Places = Mutex<Vec<(Count, Call)>>;

impl Gone {
    pub(crate) const fn new() -> Gone {
        Gone { count: AtomicU32::new(0), places: OnceLock::new() }
    }

    /// Gives up a place. `leave` is called for each place that was given up and whose turn has come, as often as there is one.
    #[cold]
    pub(crate) fn give_up(&self, place: Count, turn: impl Fn(Count) -> bool, leave: impl Fn(Count)) {
        self.count.fetch_add(1, SeqCst);
        let call = Call::new();
        self.places().push((place, call));
        self.finish(turn, leave);
    }

    /// After somebody has left and was called: finishes the passages of those that were given up and whose turn has come.
    pub(crate) fn after_leaving(&self, turn: impl Fn(Count) -> bool, leave: impl Fn(Count)) {
        // ORDERING: Relaxed. Pairs with: the barrier of the `Call` in `give_up`, which comes after the count has changed: if its
        // turn has come by our leaving and it did not see that, we were called and see the count. It is the protocol of
        // `doorway_native`'s `lot.rs`, and fails without the barrier as that does.
        if self.count.load(Relaxed) != 0 {
            self.finish(turn, leave);
        }
    }

    fn places(&self) -> MutexGuard<'_, Vec<(Count, Call)>> {
        self.places.get_or_init(Box::default).lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, turn: impl Fn(Count) -> bool, leave: impl Fn(Count)) {
        let mut places = self.places();
        // With the list locked, so that nobody else finishes the same one.
        while let Some(at) = places.iter().position(|&(place, _)| turn(place)) {
            let (place, call) = places.swap_remove(at);
            self.count.fetch_sub(1, Relaxed);
            drop(call);
            leave(place);
        }
    }
}
