//! Observation of comparisons, which a checker needs in order to renumber tickets, and to know which numbers are alike.
//!
//! Without the feature `observed` all of it compiles to nothing, so native locks do not pay for it.

#[cfg(not(feature = "observed"))]
#[inline(always)]
pub(crate) fn compared(_: crate::Ticket, _: crate::Ticket) {}

#[cfg(not(feature = "observed"))]
#[inline(always)]
pub(crate) fn weighed(_: Option<i64>) {}

#[cfg(not(feature = "observed"))]
#[inline(always)]
pub(crate) fn asked(_: crate::Pid, _: usize) {}

#[cfg(feature = "observed")]
pub(crate) use with_std::{asked, compared, weighed};
#[cfg(feature = "observed")]
pub use with_std::{queue_questions, tally_comparisons, ticket_comparisons};

#[cfg(feature = "observed")]
mod with_std {
    use alloc::vec::Vec;
    use core::cell::{Cell, RefCell};

    use crate::{Pid, Ticket};

    std::thread_local! {
        static OBSERVING: Cell<bool> = const { Cell::new(false) };
        static SEEN: RefCell<Vec<(Ticket, Ticket)>> = const { RefCell::new(Vec::new()) };
        static ASKED: RefCell<Option<Vec<(Pid, usize)>>> = const { RefCell::new(None) };
        static WEIGHED: RefCell<Option<Vec<Option<i64>>>> = const { RefCell::new(None) };
    }

    pub(crate) fn asked(p: Pid, k: usize) {
        ASKED.with_borrow_mut(|asked| {
            if let Some(asked) = asked {
                asked.push((p, k));
            }
        });
    }

    /// Runs `act` and returns its result, with every question on this thread whether a process is among the first k of a
    /// queue.
    ///
    /// ```
    /// use doorway_memory::{Queue, queue_questions};
    /// assert_eq!(queue_questions(|| Queue::EMPTY.is_among(1, 2)), (false, vec![(1, 2)]));
    /// ```
    pub fn queue_questions<R>(act: impl FnOnce() -> R) -> (R, Vec<(Pid, usize)>) {
        ASKED.set(Some(Vec::new()));
        let result = act();
        (result, ASKED.take().unwrap_or_default())
    }

    #[inline(always)]
    pub(crate) fn weighed(constant: Option<i64>) {
        WEIGHED.with_borrow_mut(|weighed| {
            if let Some(weighed) = weighed {
                weighed.push(constant);
            }
        });
    }

    /// Runs `act` and returns its result, with every constant that it compared a [`Tally`](crate::Tally) with on this
    /// thread; none stands for another tally.
    ///
    /// ```
    /// use doorway_memory::{Tally, tally_comparisons};
    /// assert_eq!(tally_comparisons(|| Tally::new(3) >= 1), (true, vec![Some(1)]));
    /// ```
    pub fn tally_comparisons<R>(act: impl FnOnce() -> R) -> (R, Vec<Option<i64>>) {
        WEIGHED.set(Some(Vec::new()));
        let result = act();
        (result, WEIGHED.take().unwrap_or_default())
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
