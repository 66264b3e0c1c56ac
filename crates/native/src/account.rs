//! Whether a thread stays away after a release: an account of the processor time that it has used.
//!
//! A yield forfeits up to a time slice. That is cheap if every thread yields equally often, and unfair if a thread with
//! long critical sections finds parked waiters at each release. Such a thread yields only when it has used more than its share
//! of the processors, and then until it has not; docs/after-a-release.md has the argument. All of it is hints. Under shuttle the
//! clock stands still, and no critical section is long.
use std::cell::Cell;

use crate::{clock, parking};

thread_local! {
    static ACCOUNT: Cell<Account> = const { Cell::new(Account::NEW) };
}

/// Times of a thread, in nanoseconds.
#[derive(Clone, Copy)]
struct Account {
    /// The processor time after the last release with waiters.
    released: u64,
    /// The processor time used since the account was settled.
    used: u64,
    /// When it was settled, and by how much the thread had used less than its share then.
    settled: u64,
    balance: i64,
    /// Whether the last critical section was far longer than usual.
    is_long: bool,
}

impl Account {
    const NEW: Account = Account { released: 0, used: 0, settled: 0, balance: 0, is_long: false };
}

/// A thread that was away for longer than this gets no more for that.
const MEMORY: u64 = 40_000_000;

/// The longest time for which a thread stays away after a release, in nanoseconds.
pub(crate) const LONGEST_AWAY: u64 = 10_000_000;

/// After a release: notes for how many ticks this thread held the lock. Returns whether that was far longer than usual; it seems so
/// too if the thread lost its processor meanwhile.
pub(crate) fn note_held(register: usize, held: u64) -> bool {
    parking::hints(register).is_unusual(held.saturating_mul(1000) / clock::TICKS_PER_MICROSECOND)
}

/// After a release with waiters: whether the critical section took far more processor time than usual. `seems_long` is what
/// [`note_held`] returned, if the thread had to wait for the lock.
pub(crate) fn is_long(register: usize, seems_long: Option<bool>) -> bool {
    let Account { released, used, .. } = ACCOUNT.get();
    let now = clock::processor_time();
    let since_release = now.saturating_sub(released);
    let hints = parking::hints(register);
    let is_long = match seems_long {
        Some(seems_long) => seems_long && hints.is_still_unusual(since_release),
        None => hints.is_unusual(since_release),
    };
    ACCOUNT.set(Account { released: now, used: used + since_release, is_long, ..ACCOUNT.get() });
    is_long
}

/// After a release with waiters by a thread with long critical sections: until when it stays away, if it has used more than its
/// share. `threads` is how many are in the queue, with this one.
pub(crate) fn away_until(register: usize, threads: u64) -> Option<u64> {
    let account = ACCOUNT.get();
    let time = clock::time();
    let share = Share {
        processors: clock::processors(),
        threads: parking::hints(register).note_crowd(clock::ticks(), threads),
    };
    let balance = share.balance(account, time);
    ACCOUNT.set(Account { used: 0, settled: time, balance, ..account });
    let debt = u64::try_from(-balance).ok().filter(|&debt| debt > 0)?;
    Some(time + share.time_to_earn(debt).min(LONGEST_AWAY))
}

/// After a release with waiters, and after this thread has stayed away, if it has.
pub(crate) fn released() {
    ACCOUNT.set(Account { released: clock::processor_time(), ..ACCOUNT.get() });
}

/// Whether a thread that arrives behind parked waiters should yield.
pub(crate) fn yields_on_arrival() -> bool {
    !ACCOUNT.get().is_long
}

/// A thread's share of the processors: an equal one, and an eighth for what it does besides critical sections.
#[derive(Clone, Copy)]
struct Share {
    processors: u64,
    threads: u64,
}

impl Share {
    /// What the thread may use in this time.
    const fn earned_in(self, time: u64) -> u64 {
        time.saturating_mul(9 * self.processors) / (8 * self.threads)
    }

    const fn time_to_earn(self, used: u64) -> u64 {
        used.saturating_mul(8 * self.threads) / (9 * self.processors)
    }

    /// By how much a thread has used less than its share, negative if it has used more.
    fn balance(self, account: Account, time: u64) -> i64 {
        let passed = time.saturating_sub(account.settled).max(1);
        let counted = passed.min(MEMORY);
        // Of a longer time the mean counts: what it used long before is not owed to the threads that compete now.
        let used = u128::from(account.used) * u128::from(counted) / u128::from(passed);
        let most = self.earned_in(MEMORY) as i64;
        (account.balance + self.earned_in(counted) as i64 - used as i64).clamp(-most, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_thread_stays_away_until_it_has_used_no_more_than_its_share() {
        let share = Share { processors: 2, threads: 9 };
        let settled = Account { settled: 100 * MS, ..Account::NEW };
        // In 4 ms it may use 1 ms.
        assert_eq!(share.balance(Account { used: MS, ..settled }, 104 * MS), 0);
        assert_eq!(share.balance(Account { used: MS / 2, ..settled }, 104 * MS), MS as i64 / 2);
        assert_eq!(share.balance(Account { used: 3 * MS, ..settled }, 104 * MS), -2 * MS as i64);
        assert_eq!(share.time_to_earn(2 * MS), 8 * MS);
        assert_eq!(share.balance(settled, 10_000 * MS), 10 * MS as i64, "what it may use after a long time is limited");
        let rarely = Account { used: 1_000 * MS, ..settled };
        assert!(share.balance(rarely, 10_100 * MS) > 0, "it used a tenth of one processor, and may use a quarter");
        let few = Share { processors: 2, threads: 2 };
        assert!(few.balance(Account { used: 4 * MS, ..settled }, 104 * MS) > 0, "no more threads than processors");
    }

    #[test]
    #[cfg(not(shuttle))]
    fn a_thread_with_a_debt_stays_away_for_ten_milliseconds_at_most() {
        let register = 0x77_0000_usize;
        let away = |used: u64| {
            let time = clock::time();
            ACCOUNT.set(Account { settled: time, used, ..Account::NEW });
            let until = away_until(register, 1_000_000);
            (until, time + LONGEST_AWAY..=clock::time() + LONGEST_AWAY)
        };
        assert_eq!(away(0).0, None);
        let (until, longest) = away(100 * MS);
        assert!(until.is_some_and(|until| longest.contains(&until)), "{until:?}, {longest:?}");
        assert!(ACCOUNT.get().balance < 0, "it owes the rest");
    }

    #[test]
    #[cfg(not(shuttle))]
    fn a_critical_section_that_did_not_use_the_processor_is_not_long() {
        let register = 0x78_0000_usize;
        ACCOUNT.set(Account { released: u64::MAX, ..Account::NEW });
        assert!(note_held(register, 1_000_000 * clock::TICKS_PER_MICROSECOND), "a second");
        assert!(!is_long(register, Some(true)) && yields_on_arrival());
    }
}
