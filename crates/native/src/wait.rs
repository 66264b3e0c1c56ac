//! How a thread waits: it spins briefly, and then parks.
//!
//! The first waiter in the queue waits for the holder, which usually runs on another core and leaves soon. Then
//! spinning is best, for about as long as parking and waking would take. Waiters further back spin as long as the
//! queue moves. If it does not move, the holder has lost the processor or sleeps; the waiter then parks and leaves
//! its processor to others. It spins for longer if no more threads compete than there are processors: then the others do
//! not need this one.
//!
//! A queue of parked waiters is slow, since each has to be woken before the next can enter. In order of arrival it
//! stays slow for as long as threads that leave arrive again before the queue is empty. So, on release, a thread
//! yields while waiters are parked ([`Native::yield_after_release`](crate::Native::yield_after_release)), and so does
//! a thread that arrives behind parked waiters, unless its critical sections are longer than usual (`account.rs`). The
//! queue soon drains.
//!
//! If critical sections are long and remainders short, two threads keep the lock busy, and the queue never drains. Then
//! the next waiter spins for longer, and a thread that leaves stays away while there is one (`turns.rs`).
//!
//! Two threads that do little else than enter and leave wait for each other at nearly every step, and each step of an
//! algorithm of reads and writes moves a cache line from one to the other. If a thread that had to wait backs off
//! briefly after releasing, the other one makes several uncontended passages, and the two meet less often.
//!
//! docs/after-a-release.md has the argument, docs/measurements.md the figures.
use std::{
    hint,
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use crate::{
    READ, account, clock,
    hints::Hints,
    parking,
    sync::{atomic::AtomicU64, thread},
    turns,
};

/// How often the first waiter reads a register that does not change before it parks: about 10 us.
const SPINS_WHEN_NEXT: u32 = spins(500);

/// How often it reads it further if critical sections are long, or each thread has a processor, and nobody enters: about
/// 200 us. A yield counts for a microsecond.
const SPINS_WHEN_LONG: u32 = spins(10_000);
const SPINS_PER_YIELD: u32 = spins(50);

/// The same for a waiter further back: enough to see whether the queue moves.
const SPINS_WHEN_BEHIND: u32 = spins(30);

/// The same for a waiter whose position in the queue is unknown.
///
/// It is large because without an order the register often has the same value although other threads enter and leave,
/// and the barrier before parking slows those down.
const SPINS_WITHOUT_POSITION: u32 = spins(2000);

/// The number of spins: 1 under shuttle, where further spins only lengthen the schedules.
const fn spins(spins: u32) -> u32 {
    if cfg!(shuttle) { 1 } else { spins }
}

/// Waits until `holds` is true of the register's word, or until the deadline; returns whether it is true.
///
/// `holds_next` says whether `holds` will be true of the value that follows a word; `None` if that is unknown.
#[inline(always)]
pub(crate) fn until(
    register: &AtomicU64,
    holds: impl Fn(u64) -> bool + Sync,
    holds_next: impl Fn(u64) -> Option<bool>,
    deadline: Option<Instant>,
) -> bool {
    let read = || register.load(READ);
    let is_next = |word| holds_next(word) == Some(true);
    let address = parking::address(register);
    let two_saturate = turns::arrived(address, clock::ticks());
    let hints = parking::hints(address);
    let spins = |word| match holds_next(word) {
        Some(true) if !two_saturate && !hints.holders_block() => SPINS_WHEN_NEXT,
        Some(_) => SPINS_WHEN_BEHIND,
        None => SPINS_WITHOUT_POSITION,
    };
    if parking::parked_on(address) > 0 && account::yields_on_arrival() {
        // The parked waiters are ahead in the queue and need the processor first.
        thread::yield_now();
        if holds(read()) {
            turns::entered(address, two_saturate, clock::ticks());
            return true;
        }
    }
    let mut word = read();
    let mut left = spins(word);
    while left > 0 {
        let ended = clock::ticks();
        hint::spin_loop();
        let now = read();
        if holds(now) {
            turns::entered(address, two_saturate, ended);
            return true;
        }
        left -= 1;
        if now != word {
            word = now;
            left = left.max(spins(word));
        }
    }
    // A wait with a deadline should not end later than it needs to.
    let has_processor = || deadline.is_none() && hints.have_processors(clock::ticks());
    let is_worth_spinning = two_saturate || is_next(word) && hints.some_are_long() || has_processor();
    let is_served = is_worth_spinning && spin_while_long(hints, two_saturate, read, &holds, is_next);
    let is_served = is_served || parking::park_until(register, &holds, deadline);
    turns::entered(address, two_saturate, clock::ticks());
    is_served
}

/// Waits without parking while long critical sections end, since waking takes about as long as one of them; or while each
/// thread has a processor. Returns whether `holds` returned true.
///
/// If two threads keep the lock busy, a waiter further back yields instead of parking: it will soon be next. And a waiter on the
/// processor of the holder knows that the holder does not run, and yields to it.
fn spin_while_long(
    hints: &Hints,
    two_saturate: bool,
    read: impl Fn() -> u64,
    holds: impl Fn(u64) -> bool,
    is_next: impl Fn(u64) -> bool,
) -> bool {
    let (mut word, mut left) = (read(), SPINS_WHEN_LONG);
    while left > 0 {
        if two_saturate && (!is_next(word) || hints.holder_is_here()) {
            thread::yield_now();
            left = left.saturating_sub(SPINS_PER_YIELD);
        } else {
            hint::spin_loop();
            left -= 1;
        }
        let now = read();
        if holds(now) {
            hints.note_long_spin(true);
            return true;
        }
        if now != word {
            (word, left) = (now, SPINS_WHEN_LONG);
        }
    }
    hints.note_long_spin(false);
    false
}

/// As [`until`], for a layout whose waiters do not park.
#[inline(always)]
pub(crate) fn spin_until(register: &AtomicU64, holds: impl Fn(u64) -> bool, deadline: Option<Instant>) -> bool {
    while !holds(register.load(READ)) {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return holds(register.load(READ));
        }
        hint::spin_loop();
    }
    true
}

/// Contention without parked waiters, in place of the address of a register. No register has this address.
pub(crate) const NO_PARKED_WAITER: NonZeroUsize = NonZeroUsize::MIN;

/// How many pauses a thread that had to wait backs off for after releasing: about as long as a passage takes.
///
/// It is right where a pause takes 10 to 40 ns, and a cache line 50 to 150 ns from one core to the other: on x86
/// processors with the two threads in one socket. docs/measurements.md has the trials, which were made with 15 ns.
const BACKOFF_PAUSES: u32 = 4;

/// The limit of successive yields after a release that find no fewer parked waiters than any before them.
const MAX_FRUITLESS_YIELDS: u32 = 4;

/// The limit of successive yields between which nobody enters, for a thread that stays away from a busy lock: several
/// hundred microseconds, or longer if other threads need the processor.
const MAX_YIELDS_WHEN_CROWDED: u32 = if cfg!(shuttle) { 1 } else { 1000 };

/// After a release: yields if waiters were parked, or else backs off briefly. `has_waited` says whether this thread waited in
/// the passage that ends.
#[cold]
#[inline(never)]
pub(crate) fn yield_or_back_off(contended_with: NonZeroUsize, has_waited: bool) {
    if contended_with == NO_PARKED_WAITER {
        (0..BACKOFF_PAUSES).for_each(|_| hint::spin_loop());
    } else {
        let register = contended_with.get();
        let held = if has_waited { turns::held(register, clock::ticks()) } else { None };
        let seems_long = held.map(|held| account::note_held(register, held));
        let parked = || u64::from(parking::parked_on(register));
        yield_if_parked(contended_with, seems_long, parked() + 1, parked);
    }
}

/// After a release with parked waiters on the register at this address: yields while there are any and their number keeps
/// falling. If it does not fall, the holder is blocked, and yielding does not help. A thread with far longer critical sections
/// than usual, which `seems_long` says if the thread waited for this one, stays away if it has used more than its share of
/// the processors. `progress` changes when threads enter.
pub(crate) fn yield_if_parked(
    register: NonZeroUsize,
    seems_long: Option<bool>,
    threads: u64,
    progress: impl Fn() -> u64,
) {
    if account::is_long(register.get(), seems_long) {
        stay_away(register.get(), threads, progress);
    } else {
        yield_while_parked(register.get());
    }
    account::released();
}

/// For how long nobody enters before a thread that stays away comes back, in nanoseconds.
const LONGEST_IDLE: u64 = if cfg!(shuttle) { 0 } else { 50_000 };

/// Yields while this thread has used more than its share of the processors, and others enter.
fn stay_away(register: usize, threads: u64, progress: impl Fn() -> u64) {
    let Some(until) = account::away_until(register, threads) else { return };
    let (mut before, mut fruitless, mut since) = (progress(), 0, clock::time());
    loop {
        thread::yield_now();
        let (now, time) = (progress(), clock::time());
        if now != before {
            (before, fruitless, since) = (now, 0, time);
        } else {
            fruitless += 1;
        }
        if time >= until || fruitless >= MAX_FRUITLESS_YIELDS && time - since >= LONGEST_IDLE {
            return;
        }
    }
}

fn yield_while_parked(register: usize) {
    let (mut fewest, mut fruitless) = (u32::MAX, 0);
    while fewest > 0 && fruitless < MAX_FRUITLESS_YIELDS {
        thread::yield_now();
        let parked = parking::parked_on(register);
        fruitless = if parked < fewest { 0 } else { fruitless + 1 };
        fewest = fewest.min(parked);
    }
}

/// After a release by one of several threads of which two keep the lock busy: yields while there are waiters. A thread with far
/// longer critical sections than usual stays away only if it has used more than its share. `queued` says how many holders and
/// waiters there are.
pub(crate) fn yield_while_crowded(register: &AtomicU64, seems_long: Option<bool>, queued: impl Fn() -> u64) {
    let address = parking::address(register);
    // Whether it seems so is known without a system call, which the others need not make.
    if seems_long != Some(false) && account::is_long(address, seems_long) {
        stay_away(address, queued() + 1, || register.load(READ));
        account::released();
    } else {
        yield_while_there_are_waiters(register, queued);
    }
}

/// Yields while there is a waiter beside the holder, and the register changes, but not for ever: the two threads that keep the
/// lock busy do not take turns with the others by themselves, as there is a holder and a waiter whenever another thread looks.
fn yield_while_there_are_waiters(register: &AtomicU64, queued: impl Fn() -> u64) {
    let start = clock::time();
    let (mut before, mut fruitless) = (register.load(READ), 0);
    while queued() > 1 && clock::time() - start < account::LONGEST_AWAY {
        thread::yield_now();
        let now = register.load(READ);
        fruitless = if now == before { fruitless + 1 } else { 0 };
        if fruitless == MAX_YIELDS_WHEN_CROWDED {
            return parking::hints(parking::address(register)).note_long_spin(false);
        }
        before = now;
    }
}

/// The backoff of a wait on several registers. No writer knows which waiters to wake then, so the waiter spins,
/// yields, and at last sleeps for ever longer times.
#[derive(Debug)]
pub(crate) struct Backoff {
    spins: u32,
}

/// How often a wait on several registers spins before its first yield: longer than a passage on another core takes.
const SPINS_BEFORE_FIRST_YIELD: u32 = 50;

/// How often it spins between two yields.
const SPINS_BETWEEN_YIELDS: u32 = 10;

/// How often it yields before it sleeps.
const YIELDS_BEFORE_SLEEP: u32 = 100;

/// The duration of the first sleep; each sleep is longer than the one before, up to the maximum.
const FIRST_SLEEP: Duration = Duration::from_micros(20);
const MAX_SLEEP: Duration = Duration::from_millis(1);

impl Backoff {
    pub(crate) const fn new() -> Backoff {
        Backoff { spins: 0 }
    }

    #[inline(always)]
    pub(crate) fn relax(&mut self) {
        self.spins = self.spins.saturating_add(1);
        if self.spins >= SPINS_BEFORE_FIRST_YIELD && self.spins.is_multiple_of(SPINS_BETWEEN_YIELDS) {
            yield_or_sleep((self.spins - SPINS_BEFORE_FIRST_YIELD) / SPINS_BETWEEN_YIELDS);
        } else {
            hint::spin_loop();
        }
    }
}

/// Yields, and after enough yields sleeps. Not inlined: a call within the wait loop would cost processor registers
/// even on the uncontended path.
#[cold]
#[inline(never)]
fn yield_or_sleep(yields: u32) {
    match yields.saturating_sub(YIELDS_BEFORE_SLEEP) {
        0 => thread::yield_now(),
        sleeps => thread::sleep((FIRST_SLEEP * sleeps).min(MAX_SLEEP)),
    }
}
