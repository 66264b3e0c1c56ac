//! Whether threads that compete for a lock should take turns, or let one of them run.
//!
//! A thread remembers how long it last waited, was a holder, and was in its remainder. From these times it decides what
//! to do after a release that admits a waiter; docs/after-a-release.md derives the rules. All of it is hints: a wrong one
//! costs time, and never changes which accesses a lock makes. Under shuttle the clock stands still, and no rule applies.
use std::{cell::Cell, hint};

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
    /// For how long the thread should back off after its release; 0 if it should not.
    back_off: u64,
    /// Whether it backed off last time.
    has_backed_off: bool,
}

impl Passage {
    const NONE: Passage =
        Passage { register: 0, entered: 0, left: 0, held: 0, saturates: false, back_off: 0, has_backed_off: false };
}

/// How many times the wait that it saves a thread stays away.
const RUN: u64 = 16;

/// A critical section is long if it takes longer than parking and waking do, about 8 us: then it does not matter that
/// others take their time to arrive, but it does that the next holder is awake.
const LONG: u64 = if cfg!(target_arch = "x86_64") { 20_000 } else { 8_000 };

/// Whether one thread alone makes more passages than two that take turns: these make two passages in the time that one of
/// them waits and works, and one alone makes a passage in the time that it works. A quarter more is for the change of
/// turns.
const fn runs_faster_alone(waited: u64, worked: u64) -> bool {
    waited > worked.saturating_add(worked / 4)
}

/// After a wait: notes when it began and ended, and whether the thread was next when it arrived and did not park.
#[inline]
pub(crate) fn entered(register: usize, began: u64, ended: u64, was_next: bool) {
    let last = LAST.get();
    let is_same = last.register == register;
    let (waited, worked) = (ended.wrapping_sub(began), began.wrapping_sub(last.entered));
    let runs = was_next && is_same && runs_faster_alone(waited, worked);
    let saturates = is_same && began.wrapping_sub(last.left) < last.held;
    let back_off = if runs { waited.saturating_mul(RUN) } else { 0 };
    LAST.set(Passage { register, entered: ended, saturates, back_off, ..last });
}

/// After a release that admitted a waiter, by a thread that had waited for it.
pub(crate) fn left(register: usize) {
    let last = LAST.get();
    if last.register == register {
        let left = clock::ticks();
        let held = left.wrapping_sub(last.entered);
        parking::note_critical_section(register, held > LONG);
        LAST.set(Passage { left, held, ..last });
    }
}

/// The remainder begins.
pub(crate) fn begin_remainder() {
    LAST.set(Passage { left: clock::ticks(), ..LAST.get() });
}

/// Whether critical sections are long and this thread's remainder is short, so that two such threads keep the lock busy,
/// and any more of them only have to wait.
pub(crate) fn two_saturate(register: usize) -> bool {
    let last = LAST.get();
    last.register == register && last.saturates && parking::has_long_critical_sections(register)
}

/// After a release that admitted a waiter, when none was parked: backs off if one of the two threads should run alone.
///
/// They do so by turns. A thread that backs off gives the other a run, in which that one makes passages without waiting.
pub(crate) fn back_off() {
    let last = LAST.get();
    if last.back_off == 0 {
        return;
    }
    let start = clock::ticks();
    let mut now = start;
    if !last.has_backed_off {
        while now.wrapping_sub(start) < last.back_off {
            hint::spin_loop();
            now = clock::ticks();
        }
    }
    let entered = last.entered.wrapping_add(now.wrapping_sub(start));
    LAST.set(Passage { entered, has_backed_off: !last.has_backed_off, ..last });
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    /// Makes a wait of `waited` ticks after `worked` ticks of work; returns for how long the thread should back off.
    fn after(waited: u64, worked: u64) -> u64 {
        let began = LAST.get().entered + worked;
        entered(1, began, began + waited, true);
        LAST.get().back_off
    }

    #[test]
    fn a_thread_backs_off_if_it_waits_longer_than_it_works() {
        entered(1, 0, 1000, true);
        assert_eq!([after(300, 400), after(400, 400), after(500, 400)], [0, 0, 0]);
        assert_eq!(after(600, 400), 600 * RUN);
        assert_eq!(after(600, 4000), 0, "several uncontended passages since");
        entered(2, 0, 1000, true);
        assert_eq!(LAST.get().back_off, 0, "another lock");
    }

    #[test]
    fn threads_back_off_by_turns() {
        entered(3, 0, 1000, true);
        after(600, 100);
        LAST.set(Passage { register: 3, back_off: 1, ..LAST.get() });
        let turns = [(); 4].map(|()| {
            back_off();
            LAST.get().has_backed_off
        });
        assert_eq!(turns, [true, false, true, false]);
    }

    #[test]
    fn two_threads_saturate_a_lock_if_remainders_are_shorter_than_long_critical_sections() {
        let register = 0x5a_0000_usize;
        let pass = |held: u64, remainder: u64| {
            LAST.set(Passage { register, held, left: 1_000_000, ..Passage::NONE });
            parking::note_critical_section(register, held > LONG);
            entered(register, 1_000_000 + remainder, 2_000_000, false);
            two_saturate(register)
        };
        assert!(!pass(LONG + 1, 10), "one long critical section does not make the lock one with long ones");
        (0..8).for_each(|_| _ = pass(LONG + 1, 10));
        assert!(pass(LONG + 1, 10) && !pass(LONG + 1, LONG + 2));
        (0..8).for_each(|_| _ = pass(LONG, 10));
        assert!(!pass(LONG, 10));
    }
}
