//! Observation of ticket comparisons, which a checker needs in order to renumber tickets.
//!
//! Without the feature `observed` all of it compiles to nothing, so native locks do not pay for it.

#[cfg(not(feature = "observed"))]
#[inline(always)]
pub(crate) fn compared(_: crate::Ticket, _: crate::Ticket) {}

#[cfg(feature = "observed")]
pub(crate) use with_std::compared;
#[cfg(feature = "observed")]
pub use with_std::ticket_comparisons;

#[cfg(feature = "observed")]
mod with_std {
    use alloc::vec::Vec;
    use core::cell::{Cell, RefCell};

    use crate::Ticket;

    std::thread_local! {
        static OBSERVING: Cell<bool> = const { Cell::new(false) };
        static SEEN: RefCell<Vec<(Ticket, Ticket)>> = const { RefCell::new(Vec::new()) };
    }

    #[inline(always)]
    pub(crate) fn compared(a: Ticket, b: Ticket) {
        if OBSERVING.get() {
            note(a, b);
        }
    }

    #[cold]
    fn note(a: Ticket, b: Ticket) {
        SEEN.with_borrow_mut(|seen| seen.push((a, b)));
    }

    /// Runs `act` and returns its result, with every pair of tickets that it compared on this thread.
    ///
    /// Comparisons are all that an algorithm can learn about tickets.
    ///
    /// ```
    /// use doorway_memory::{Ticket, ticket_comparisons};
    /// let one = Ticket::ZERO.next();
    /// let (larger, compared) = ticket_comparisons(|| one > Ticket::ZERO);
    /// assert_eq!((larger, compared), (true, vec![(one, Ticket::ZERO)]));
    /// ```
    pub fn ticket_comparisons<R>(act: impl FnOnce() -> R) -> (R, Vec<(Ticket, Ticket)>) {
        /// Ends the observation, also if `act` panics.
        struct Observing;
        impl Drop for Observing {
            fn drop(&mut self) {
                OBSERVING.set(false);
            }
        }
        SEEN.take();
        OBSERVING.set(true);
        let observing = Observing;
        let result = act();
        drop(observing);
        (result, SEEN.take())
    }
}
