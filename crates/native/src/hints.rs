//! Hints about a lock: how long its critical sections are, and where its holder runs.
//!
//! The hints of a lock are kept with the bucket of the register on which its waiters wait. Locks may share a bucket, and updates
//! may be lost: a wrong hint costs time, and never changes which accesses a lock makes.
use crate::{
    clock,
    runs::Habit,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

// ORDERING: Relaxed, in this file. Pairs with: nothing, these are hints.

/// What is known of the critical sections of a lock.
pub(crate) struct Hints {
    /// The share of long ones among the last critical sections of threads that had to wait, out of `ALL`.
    long: AtomicU32,
    /// For how many more releases no waiter spins for longer than usual, since one has spun in vain; and for how many the next time
    /// that happens.
    paused: AtomicU32,
    next_pause: AtomicU32,
    /// The processor on which a holder was last seen, if two threads keep the lock busy.
    holder_on: AtomicU32,
    /// The length of a usual critical section that ended while there were waiters, in nanoseconds.
    usual: AtomicU32,
    /// The numbers of threads that were seen to compete of late; see [`Crowd`].
    crowd: AtomicU32,
    pub(crate) habit: Habit,
}

const ALL: u32 = 1024;

/// One of the last eight or so critical sections counts for an eighth.
const RECENT: u32 = 8;

/// The limits of the pause after a waiter has spun in vain: it is doubled if that happens again, and halved if a waiter
/// spins with success.
const LEAST_PAUSE: u32 = 4;
const LONGEST_PAUSE: u32 = 64;

/// A critical section is far longer than usual if it takes this many times as long.
const UNUSUAL: u64 = 4;

/// The least of `Hints::usual`: about the time that waking a waiter takes, which counts as a part of the critical section.
const LEAST_USUAL: u32 = 8_000;

impl Hints {
    pub(crate) const fn new() -> Hints {
        Hints {
            long: AtomicU32::new(0),
            paused: AtomicU32::new(0),
            next_pause: AtomicU32::new(LEAST_PAUSE),
            holder_on: AtomicU32::new(clock::NO_PROCESSOR),
            usual: AtomicU32::new(LEAST_USUAL),
            crowd: AtomicU32::new(0),
            habit: Habit::new(),
        }
    }

    /// Notes whether a critical section was long.
    pub(crate) fn note_critical_section(&self, is_long: bool) {
        let long = self.long.load(Relaxed);
        let after = long - long / RECENT + if is_long { ALL / RECENT } else { 0 };
        if after != long {
            self.long.store(after, Relaxed);
        }
    }

    /// Notes a release with waiters, and how many threads were in the queue before it, at this time in ticks.
    pub(crate) fn note_release(&self, now: u64, threads: u64) {
        self.note_crowd(now, threads);
        let paused = self.paused.load(Relaxed);
        if paused > 0 {
            self.paused.store(paused - 1, Relaxed);
        }
    }

    /// Whether one of its last few critical sections was long: if one in eight is, the lock is held by those for most of the
    /// time.
    pub(crate) fn some_are_long(&self) -> bool {
        self.long.load(Relaxed) > ALL / 20 && self.paused.load(Relaxed) == 0
    }

    /// Whether most of its critical sections are long.
    pub(crate) fn most_are_long(&self) -> bool {
        self.long.load(Relaxed) > ALL / 2 && self.paused.load(Relaxed) == 0
    }

    /// Whether its holders seem to be blocked in most critical sections, so that a waiter had better park.
    pub(crate) fn holders_block(&self) -> bool {
        self.long.load(Relaxed) > ALL / 2 && self.paused.load(Relaxed) > 0
    }

    /// Notes whether a waiter that spun for long was served meanwhile. If not, the holder is likely to be blocked.
    pub(crate) fn note_long_spin(&self, is_served: bool) {
        let pause = self.next_pause.load(Relaxed);
        let next = if is_served { (pause / 2).max(LEAST_PAUSE) } else { (2 * pause).min(LONGEST_PAUSE) };
        if next != pause {
            self.next_pause.store(next, Relaxed);
        }
        if !is_served {
            self.paused.store(pause, Relaxed);
        }
    }

    /// Notes that the holder runs on the processor of this thread.
    pub(crate) fn note_holder(&self) {
        self.holder_on.store(clock::processor(), Relaxed);
    }

    /// Whether the holder was last seen on the processor of this thread. Then it does not run.
    pub(crate) fn holder_is_here(&self) -> bool {
        let holder_on = self.holder_on.load(Relaxed);
        holder_on != clock::NO_PROCESSOR && holder_on == clock::processor()
    }

    /// Notes how long a critical section was, in nanoseconds. Returns whether that was far longer than usual.
    ///
    /// The usual length falls faster than it rises, so that one long critical section in three does not seem usual.
    pub(crate) fn is_unusual(&self, held: u64) -> bool {
        let usual = self.usual.load(Relaxed);
        let next = if held > u64::from(usual) { usual.saturating_add(usual / 32) } else { usual - usual / 8 };
        let next = next.max(LEAST_USUAL);
        if next != usual {
            self.usual.store(next, Relaxed);
        }
        held > UNUSUAL * u64::from(usual)
    }

    /// Whether a critical section that was noted was far longer than usual, if it took only so many nanoseconds.
    pub(crate) fn is_still_unusual(&self, held: u64) -> bool {
        held > UNUSUAL * u64::from(self.usual.load(Relaxed))
    }

    /// Notes how many threads are in the queue at this time, in ticks. Returns how many seem to compete: as many as in the
    /// longest queue of late.
    pub(crate) fn note_crowd(&self, now: u64, threads: u64) -> u64 {
        let before = self.crowd.load(Relaxed);
        let crowd = Crowd::of(before).seeing(now, threads);
        if crowd.to_word() != before {
            self.crowd.store(crowd.to_word(), Relaxed);
        }
        crowd.threads()
    }

    /// Whether each thread that seems to compete has a processor, so that a waiter that spins keeps none from a thread that
    /// competes.
    pub(crate) fn have_processors(&self, now: u64) -> bool {
        let threads = Crowd::of(self.crowd.load(Relaxed)).seeing(now, 0).threads();
        (1..=clock::processors()).contains(&threads) && self.paused.load(Relaxed) == 0
    }
}

/// The longest queue that was noted in a span of time, and in the span before it.
#[derive(Clone, Copy)]
struct Crowd {
    /// The number of the span, of which a few bits are kept: another span with the same bits is seconds away.
    span: u32,
    longest: u32,
    longest_before: u32,
}

impl Crowd {
    /// The length of a span in ticks: 20 ms.
    const SPAN: u64 = 20_000 * clock::TICKS_PER_MICROSECOND;
    /// The bits of a length; the others are those of the span.
    const BITS: u32 = 12;
    const MOST: u32 = (1 << Crowd::BITS) - 1;
    const SPANS: u32 = 1 << (32 - 2 * Crowd::BITS);

    const fn of(word: u32) -> Crowd {
        Crowd {
            span: word >> (2 * Crowd::BITS),
            longest: word >> Crowd::BITS & Crowd::MOST,
            longest_before: word & Crowd::MOST,
        }
    }

    const fn to_word(self) -> u32 {
        self.span << (2 * Crowd::BITS) | self.longest << Crowd::BITS | self.longest_before
    }

    fn threads(self) -> u64 {
        self.longest.max(self.longest_before).into()
    }

    fn seeing(self, now: u64, threads: u64) -> Crowd {
        let span = (now / Crowd::SPAN) as u32 % Crowd::SPANS;
        let threads = threads.min(Crowd::MOST.into()) as u32;
        let passed = span.wrapping_sub(self.span) % Crowd::SPANS;
        let (longest, longest_before) = match passed {
            0 => (self.longest.max(threads), self.longest_before),
            1 => (threads, self.longest),
            _ => (threads, 0),
        };
        Crowd { span, longest, longest_before }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(critical_sections: impl IntoIterator<Item = bool>) -> Hints {
        let hints = Hints::new();
        critical_sections.into_iter().for_each(|is_long| hints.note_critical_section(is_long));
        hints
    }

    #[test]
    fn most_or_some_of_the_critical_sections_are_long() {
        let every = |n: usize| after((1..=40 * n).map(|i| i % n == 0));
        assert!(every(1).most_are_long() && every(1).some_are_long());
        assert!(!every(3).most_are_long() && every(3).some_are_long());
        let short_after = |n| after((0..=n).map(|i| i == 0));
        assert!(short_after(7).some_are_long() && !short_after(8).some_are_long());
    }

    #[test]
    fn a_pause_after_a_spin_in_vain_is_doubled_until_one_succeeds() {
        let hints = after([true; 40]);
        let pause_in_vain = || {
            hints.note_long_spin(false);
            assert!(hints.holders_block());
            let mut releases = 0;
            while !hints.some_are_long() {
                hints.note_release(0, 2);
                releases += 1;
            }
            assert!(hints.most_are_long() && !hints.holders_block());
            releases
        };
        assert_eq!([(); 6].map(|()| pause_in_vain()), [4, 8, 16, 32, 64, 64]);
        hints.note_long_spin(true);
        assert_eq!(pause_in_vain(), 32);
    }

    #[test]
    fn one_long_critical_section_in_three_is_not_usual() {
        let hints = Hints::new();
        let is_long = |i: usize| i.is_multiple_of(3);
        assert!((0..300).all(|i| hints.is_unusual(if is_long(i) { 100_000 } else { 100 }) == is_long(i)));
        assert!((0..300).any(|_| !hints.is_unusual(100_000)), "if all are long, none is");
    }

    #[test]
    fn the_crowd_is_the_longest_queue_of_late() {
        let hints = Hints::new();
        let note = |spans: u64, threads| hints.note_crowd(spans * Crowd::SPAN, threads);
        assert_eq!([3, 9, 1].map(|threads| note(7, threads)), [3, 9, 9]);
        assert_eq!([note(8, 2), note(8, 4), note(9, 1)], [9, 9, 4]);
        assert_eq!([note(9, u64::MAX), note(11, 2)], [4095, 2]);
        assert_eq!([note(255, 5), note(256, 3), note(257, 1)], [5, 5, 3], "few bits of a span are kept");
    }

    #[test]
    fn threads_have_processors_if_no_longer_queue_was_seen_of_late() {
        let (hints, processors) = (Hints::new(), clock::processors());
        let note = |spans: u64, threads| hints.note_crowd(spans * Crowd::SPAN, threads);
        let have_processors = |spans: u64| hints.have_processors(spans * Crowd::SPAN);
        assert!(!have_processors(7), "no queue was seen");
        note(7, processors);
        assert!(have_processors(7) && have_processors(8) && !have_processors(9));
        note(8, processors + 1);
        note(9, processors);
        assert!(!have_processors(9));
        note(10, processors);
        assert!(have_processors(10));
        hints.note_long_spin(false);
        assert!(!have_processors(10), "the spin was in vain");
        assert!(!hints.holders_block(), "critical sections are short, so something else took the processor");
        (0..LEAST_PAUSE).for_each(|_| hints.note_release(10 * Crowd::SPAN, 1));
        assert!(have_processors(10));
    }

    #[test]
    #[cfg(not(shuttle))]
    fn a_holder_is_here_only_after_it_was_seen_here() {
        let hints = Hints::new();
        assert!(!hints.holder_is_here());
        // The thread may be moved between the two.
        assert!(
            (0..1000).any(|_| {
                hints.note_holder();
                hints.holder_is_here()
            }) || !cfg!(target_os = "linux")
        );
    }
}
