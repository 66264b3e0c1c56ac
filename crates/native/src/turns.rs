//! Whether threads that compete for a lock should take turns, or let one of them run.
//!
//! A thread remembers how long it last waited, was a holder, and was in its remainder. From these times it decides what
//! to do after a release that admits a waiter; docs/after-a-release.md derives the rules. All of it is hints: a wrong one
//! costs time, and never changes which accesses a lock makes. Under shuttle the clock stands still, and no rule applies.
use std::cell::Cell;

use crate::{clock, parking};

thread_local! {
    static LAST: Cell<Passage> = const { Cell::new(Passage::NONE) };
}

/// The last passage of a thread that had to wait. Times are in ticks.
#[derive(Clone, Copy)]
struct Passage {
    /// The address of the register on which the thread waited.
    register: usize,
    /// When the wait ended; later by the time that the thread has backed off since.
    entered: u64,
    /// When the remainder began, and how long the thread had been a holder.
    left: u64,
    held: u64,
    /// Whether the remainder was shorter than the critical section.
    saturates: bool,
}

impl Passage {
    const NONE: Passage = Passage { register: 0, entered: 0, left: 0, held: 0, saturates: false };
}

/// A critical section is long if it takes longer than parking and waking do, about 8 us: then it does not matter that
/// others take their time to arrive, but it does that the next holder is awake.
const LONG: u64 = 8 * clock::TICKS_PER_MICROSECOND;

/// After a wait: notes when it began and ended, and whether the thread was next when it arrived and did not park.
#[inline]
pub(crate) fn entered(register: usize, began: u64, ended: u64) {
    let last = LAST.get();
    let is_same = last.register == register;
    let saturates = is_same && began.wrapping_sub(last.left) < last.held;
    LAST.set(Passage { register, entered: ended, saturates, ..last });
    if two_saturate(register) {
        parking::hints(register).note_holder();
    }
}

/// For how many ticks this thread has held the lock whose waiters wait on this register, if it waited there before it entered.
pub(crate) fn held(register: usize) -> Option<u64> {
    let last = LAST.get();
    (last.register == register).then(|| clock::ticks().wrapping_sub(last.entered))
}

/// After a release that admitted a waiter, by a thread that had waited for the lock and held it for so many ticks.
pub(crate) fn left(register: usize, held: u64) {
    parking::hints(register).note_critical_section(held > LONG);
    let last = LAST.get();
    LAST.set(Passage { left: last.entered.wrapping_add(held), held, ..last });
}

/// The remainder begins.
pub(crate) fn begin_remainder() {
    LAST.set(Passage { left: clock::ticks(), ..LAST.get() });
}

/// Whether critical sections are long and this thread's remainder is short, so that two such threads keep the lock busy,
/// and any more of them only have to wait.
pub(crate) fn two_saturate(register: usize) -> bool {
    let last = LAST.get();
    last.register == register && last.saturates && parking::hints(register).most_are_long()
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn two_threads_saturate_a_lock_if_remainders_are_shorter_than_long_critical_sections() {
        let register = 0x5a_0000_usize;
        let pass = |held: u64, remainder: u64| {
            LAST.set(Passage { register, held, left: 1_000_000, ..Passage::NONE });
            parking::hints(register).note_critical_section(held > LONG);
            entered(register, 1_000_000 + remainder, 2_000_000);
            two_saturate(register)
        };
        assert!(!pass(LONG + 1, 10), "one long critical section does not make the lock one with long ones");
        (0..8).for_each(|_| _ = pass(LONG + 1, 10));
        assert!(pass(LONG + 1, 10) && !pass(LONG + 1, LONG + 2));
        (0..8).for_each(|_| _ = pass(LONG, 10));
        assert!(!pass(LONG, 10));
    }
}
