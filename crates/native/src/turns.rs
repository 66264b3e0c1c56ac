//! Whether threads that compete for a lock should take turns, or let one of them run.
//!
//! A thread remembers how long it last waited, was a holder, and was in its remainder. From these times it decides what
//! to do after a release that admits a waiter; docs/after-a-release.md derives the rules. All of it is hints: a wrong one
//! costs time, and never changes which accesses a lock makes. Under shuttle the clock stands still, and no rule applies.
use std::cell::Cell;

use crate::{clock, parking};

thread_local! {
    static LAST: Passage = const { Passage::none() };
}

/// The last passage of a thread that had to wait. Times are in ticks.
///
/// A field is written on its own: a new holder delays all waiters behind it, so [`entered`] stores one word only.
struct Passage {
    /// The address of the register on which the thread waited.
    register: Cell<usize>,
    /// When the wait began and ended.
    arrived: Cell<u64>,
    entered: Cell<u64>,
    /// When the remainder began, and how long the thread had been a holder.
    left: Cell<u64>,
    held: Cell<u64>,
    /// Whether the remainder was shorter than the critical section.
    saturates: Cell<bool>,
    /// For how long the thread has waited, in all passages whose release admitted a waiter.
    waited: Cell<u64>,
}

impl Passage {
    const fn none() -> Passage {
        Passage {
            register: Cell::new(0),
            arrived: Cell::new(0),
            entered: Cell::new(0),
            left: Cell::new(0),
            held: Cell::new(0),
            saturates: Cell::new(false),
            waited: Cell::new(0),
        }
    }
}

/// A critical section is long if it takes longer than parking and waking do, about 8 us: then it does not matter that
/// others take their time to arrive, but it does that the next holder is awake.
const LONG: u64 = 8 * clock::TICKS_PER_MICROSECOND;

/// Before a wait. Returns whether [two threads keep the lock busy](two_saturate).
#[inline]
pub(crate) fn arrived(register: usize, now: u64) -> bool {
    LAST.with(|last| {
        let is_same = last.register.replace(register) == register;
        last.arrived.set(now);
        last.saturates.set(is_same && now.wrapping_sub(last.left.get()) < last.held.get());
    });
    two_saturate(register)
}

/// After a wait, before which `arrived` returned whether two threads keep the lock busy.
#[inline(always)]
pub(crate) fn entered(register: usize, two_saturate: bool, now: u64) {
    LAST.with(|last| last.entered.set(now));
    if two_saturate {
        parking::hints(register).note_holder();
    }
}

/// For how many ticks this thread had held the lock whose waiters wait on this register when it released it, if it waited there
/// before it entered.
pub(crate) fn held(register: usize, released: u64) -> Option<u64> {
    LAST.with(|last| (last.register.get() == register).then(|| released.wrapping_sub(last.entered.get())))
}

/// After a release that admitted a waiter, by a thread that had waited for the lock and held it for so many ticks.
pub(crate) fn left(register: usize, held: u64) {
    parking::hints(register).note_critical_section(held > LONG);
    LAST.with(|last| {
        last.left.set(last.entered.get().wrapping_add(held));
        last.held.set(held);
        last.waited.set(waited().wrapping_add(last.entered.get().wrapping_sub(last.arrived.get())));
    });
}

/// The remainder begins after the thread has stayed away.
pub(crate) fn begin_remainder() {
    LAST.with(|last| last.left.set(clock::ticks()));
}

/// For how many ticks this thread has waited, in all its passages of any lock whose release admitted a waiter.
pub(crate) fn waited() -> u64 {
    LAST.with(|last| last.waited.get())
}

/// Whether critical sections are long and this thread's remainder is short, so that two such threads keep the lock busy,
/// and any more of them only have to wait.
pub(crate) fn two_saturate(register: usize) -> bool {
    LAST.with(|last| last.register.get() == register && last.saturates.get())
        && parking::hints(register).most_are_long()
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn the_time_waited_is_that_of_all_passages_that_admitted_a_waiter() {
        let (register, before) = (0x5b_0000_usize, waited());
        for wait in [5, 7] {
            arrived(register, 100);
            entered(register, false, 100 + wait);
            left(register, 3);
        }
        assert_eq!(waited() - before, 12);
    }

    #[test]
    fn two_threads_saturate_a_lock_if_remainders_are_shorter_than_long_critical_sections() {
        let register = 0x5a_0000_usize;
        let pass = |held: u64, remainder: u64| {
            arrived(register, 500_000);
            entered(register, false, 1_000_000);
            left(register, held);
            arrived(register, 1_000_000 + held + remainder)
        };
        assert!(!pass(LONG + 1, 10), "one long critical section does not make the lock one with long ones");
        (0..8).for_each(|_| _ = pass(LONG + 1, 10));
        assert!(pass(LONG + 1, 10) && !pass(LONG + 1, LONG + 2));
        (0..8).for_each(|_| _ = pass(LONG, 10));
        assert!(!pass(LONG, 10));
    }
}
