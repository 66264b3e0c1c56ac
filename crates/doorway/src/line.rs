//! What stands behind a lock: a line of those who wait.
use std::{fmt, time::Instant};

/// A line: who arrives takes a place in it, waits there, is inside, and leaves.
///
/// The default lines are [`Tickets`](crate::Tickets), for one and for k at a time. Any lock of the catalogue is one too: see
/// [`algorithms`](crate::algorithms).
pub trait Line: Send + Sync {
    /// A place in line.
    type Place: fmt::Debug + Send + Sync;

    /// How many may be inside.
    fn permits(&self) -> usize;

    /// Takes a place, without waiting for those before.
    fn arrive(&self) -> Self::Place;

    /// Waits until our turn has come. What leaving takes may be found out only now; then the place is another one afterwards.
    fn wait(&self, place: &mut Self::Place);

    /// Leaves, after having been inside.
    fn leave(&self, place: &Self::Place);

    /// Gives a place up, before having been inside. Unless a line knows better it waits for its turn and leaves.
    fn give_up(&self, place: &mut Self::Place) {
        self.wait(place);
        self.leave(place);
    }
}

/// A line in which one can look how far one is, and give up.
pub trait Patient: Line {
    /// Takes a place if it may enter at once.
    fn try_arrive(&self) -> Option<Self::Place>;

    /// How many are before us, those inside among them.
    fn ahead(&self, place: &Self::Place) -> u64;

    /// Whether our turn has come.
    fn has_come(&self, place: &Self::Place) -> bool;

    /// Waits until our turn has come, no longer than to the deadline; says whether it has.
    fn wait_deadline(&self, place: &Self::Place, deadline: Instant) -> bool;
}
