//! Whether a thread yields after a release: an account of the processor time that it has used.
//!
//! A yield forfeits up to a time slice. That is cheap if every thread yields equally often, and unfair if a thread with
//! long critical sections finds parked waiters at each release. Such a thread yields only when it has had its share of the
//! processors; docs/after-a-release.md has the argument. All of it is hints. Under shuttle the clock stands still, and
//! every release yields that may.
use std::{cell::Cell, num::NonZero, sync::OnceLock};

use crate::{clock, parking};

thread_local! {
    static ACCOUNT: Cell<Account> = const { Cell::new(Account::NEW) };
}

/// Times of a thread, in nanoseconds.
#[derive(Clone, Copy)]
struct Account {
    /// The processor time when it last entered after it had parked, and the address of the register.
    entered: u64,
    register: usize,
    /// The processor time at the last release that saw parked waiters.
    released: u64,
    /// When it last began to yield, and the processor time that it has used since, up to that release.
    yielded: u64,
    used: u64,
    /// Whether that release yielded.
    yields: bool,
}

impl Account {
    const NEW: Account = Account { entered: 0, register: 0, released: 0, yielded: 0, used: 0, yields: true };
}

/// A critical section is long if it takes this many times the usual processor time.
const LONG: u64 = 4;

/// A thread that was away for longer than this gets no more for that.
const MEMORY: u64 = 40_000_000;

/// A thread parked, was woken, and has entered.
pub(crate) fn entered(register: usize) {
    ACCOUNT.set(Account { entered: clock::processor_time(), register, ..ACCOUNT.get() });
}

/// After a release that saw parked waiters: whether the thread should yield. `has_waited` says whether it waited for the
/// passage that ends, and `threads` how many are in the queue, with this one.
pub(crate) fn yields(register: usize, has_waited: bool, threads: u64) -> bool {
    let mut account = ACCOUNT.get();
    let now = clock::processor_time();
    let since_release = now.saturating_sub(account.released);
    let has_parked = has_waited && account.register == register;
    let held = if has_parked { now.saturating_sub(account.entered).min(since_release) } else { since_release };
    let hints = parking::hints(register);
    let is_long = held > LONG * hints.usual_critical_section(held);
    let crowd = hints.note_crowd(threads);
    account.used += since_release;
    let time = clock::time();
    let passed = time.saturating_sub(account.yielded).min(MEMORY);
    account.yields = !is_long || had_its_share(account.used, passed, crowd, processors());
    if account.yields {
        account.yielded = time;
    }
    if account.yields && is_long {
        hints.forget_crowd();
    }
    ACCOUNT.set(account);
    account.yields
}

/// After a release that saw parked waiters, and after its yields if there were any.
pub(crate) fn released() {
    let account = ACCOUNT.get();
    let used = if account.yields { 0 } else { account.used };
    ACCOUNT.set(Account { released: clock::processor_time(), used, ..account });
}

/// Whether a thread that arrives behind parked waiters should yield.
pub(crate) fn yields_on_arrival() -> bool {
    ACCOUNT.get().yields
}

/// Whether a thread that used so much of the time had at least an equal share of the processors.
const fn had_its_share(used: u64, time: u64, threads: u64, processors: u64) -> bool {
    used.saturating_mul(4 * threads) >= time.saturating_mul(5 * processors)
}

fn processors() -> u64 {
    static PROCESSORS: OnceLock<u64> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_had_its_share_if_it_used_as_much_as_each_of_the_others_could() {
        assert!(had_its_share(25, 30, 3, 2) && !had_its_share(24, 30, 3, 2));
        assert!(!had_its_share(30, 30, 2, 2), "not more threads than processors");
        assert!(had_its_share(u64::MAX, u64::MAX, 3, 2));
    }

    #[test]
    #[cfg(not(shuttle))]
    fn a_thread_with_long_critical_sections_yields_when_it_had_its_share() {
        let register = 0x77_0000_usize;
        // A release after a critical section; if it yields, the thread is away for so long.
        let release = |used: u64, away: u64| {
            let now = clock::processor_time();
            let account = ACCOUNT.get();
            ACCOUNT.set(Account { released: now.saturating_sub(used), yielded: account.yielded - used, ..account });
            let yields = yields(register, false, 3);
            released();
            parking::hints(register).usual_critical_section(0);
            let account = ACCOUNT.get();
            ACCOUNT.set(Account { yielded: account.yielded - if yields { away } else { 0 }, ..account });
            yields
        };
        let start = clock::time();
        while clock::time() < start + 40_000_000 {}
        ACCOUNT.set(Account { yielded: clock::time(), ..Account::NEW });
        (0..64).for_each(|_| assert!(release(0, 0), "a short one yields"));
        let often = (0..200).filter(|_| release(100_000, 500_000)).count();
        // It has five sixths of a processor if it yields after 2.5 ms.
        assert!((4..=10).contains(&often), "{often} of 200");
    }
}
