//! Whether a thread yields after a release: an account of the processor time that it has used.
//!
//! A yield forfeits up to a time slice. That is cheap if every thread yields equally often, and unfair if a thread with
//! long critical sections finds parked waiters at each release. Such a thread yields only when it has used as much
//! processor time as a yield forfeits; docs/after-a-release.md has the argument. All of it is hints. Under shuttle the
//! clock stands still, and every release yields that may.
use std::{cell::Cell, num::NonZero, sync::OnceLock};

use crate::{clock, parking};

thread_local! {
    static ACCOUNT: Cell<Account> = const { Cell::new(Account::NEW) };
}

/// Processor times of a thread, in nanoseconds.
#[derive(Clone, Copy)]
struct Account {
    /// When it last entered after it had parked, and the address of the register.
    entered: u64,
    register: usize,
    /// At the last release that saw parked waiters.
    released: u64,
    /// What it has used since it last yielded, up to that release.
    used: u64,
    /// Whether that release yielded.
    yields: bool,
}

impl Account {
    const NEW: Account = Account { entered: 0, register: 0, released: 0, used: 0, yields: true };
}

/// The time slice of the scheduler: what a yield forfeits. Linux has 0.7 ms times 1 to 4, by the number of processors.
const SLICE: u64 = 1_400_000;

/// For how long a thread that yields is away at least: nearly two ticks of 4 ms, since a tick ends the slices of others.
const TICKS: u64 = 7_000_000;

/// A critical section is long if it takes this many times the usual processor time.
const LONG: u64 = 4;

/// A thread parked, was woken, and has entered.
pub(crate) fn entered(register: usize) {
    ACCOUNT.set(Account { entered: clock::processor_time(), register, ..ACCOUNT.get() });
}

/// After a release that saw parked waiters: whether the thread should yield. `has_waited` says whether it waited for the
/// passage that ends.
pub(crate) fn yields(register: usize, has_waited: bool) -> bool {
    let mut account = ACCOUNT.get();
    let now = clock::processor_time();
    let since_release = now.saturating_sub(account.released);
    let has_parked = has_waited && account.register == register;
    let held = if has_parked { now.saturating_sub(account.entered).min(since_release) } else { since_release };
    let is_long = held > LONG * parking::usual_critical_section(register, held);
    account.used += since_release;
    account.yields = !is_long || account.used >= allowance(u64::from(parking::parked_on(register)) + 1, processors());
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

/// How much processor time a thread uses between two yields if it has an equal share, with this number of threads on this
/// number of processors.
///
/// A yield keeps a thread away until all others have used the slice that it forfeits, which takes n/p slices. Until it
/// yields, a thread waits for a quarter of the time that it uses. It has its share p/n of a processor if it has used u when
/// u / (5/4 u + away) = p/n.
fn allowance(n: u64, p: u64) -> u64 {
    away(n, p) * 4 * p / (4 * n).saturating_sub(5 * p).max(2)
}

fn away(n: u64, p: u64) -> u64 {
    (SLICE * n / p).max(TICKS)
}

fn processors() -> u64 {
    static PROCESSORS: OnceLock<u64> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allowance_gives_an_equal_share() {
        for (n, p) in [(3, 2), (9, 2), (33, 2), (64, 16)] {
            let used = allowance(n, p) as f64;
            let share = used / (1.25 * used + away(n, p) as f64);
            assert!((share * n as f64 / p as f64 - 1.0).abs() < 1e-6, "{n} threads on {p} processors: {share}");
        }
        assert_eq!(allowance(2, 16), 32 * TICKS, "not more threads than processors");
    }

    #[test]
    #[cfg(not(shuttle))]
    fn a_long_critical_section_yields_only_after_its_allowance() {
        let register = 0x77_0000_usize;
        let used = |used: u64| {
            let now = clock::processor_time();
            ACCOUNT.set(Account { released: now.saturating_sub(used), ..ACCOUNT.get() });
            let yields = yields(register, false);
            released();
            yields
        };
        let start = clock::processor_time();
        while clock::processor_time() < start + 4_000_000 {}
        ACCOUNT.set(Account::NEW);
        (0..64).for_each(|_| assert!(used(0), "a short one yields"));
        let all = (0..200).map(|_| used(1_000_000)).collect::<Vec<_>>();
        let often = all.iter().filter(|&&yields| yields).count();
        assert!(!all[0] && (1..100).contains(&often), "{often} of 200");
    }
}
