//! Turns or runs: whether two threads that do little but lock take turns, or let each other run.
//!
//! If hand-offs take longer than the work, one thread alone makes more passages than two that wait for each other. Whether
//! they do depends on the processor, and on how far apart the two cores are. So it is measured: one of the threads lets
//! them take turns for some passages, and then back off after every other one; they go on with what let the lock serve
//! more entries. After a while a thread measures again. docs/after-a-release.md has the argument. All of it is hints. Under
//! shuttle the clock stands still, and threads take turns.
use std::{cell::Cell, hint};

use crate::{
    READ, clock, parking,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    turns,
};

// ORDERING: Relaxed, in this file. Pairs with: nothing, these are hints.

/// What the threads that compete for a lock do after a release for which another one waits.
pub(crate) struct Habit {
    /// For how many ticks a thread backs off after every other release, so that the other thread makes passages without
    /// waiting; 0 if they take turns.
    back_off: AtomicU64,
    /// When to measure again; while a thread measures, when another one replaces it.
    due: AtomicU64,
    /// How many times as long as the last trial took its result is kept.
    kept: AtomicU32,
}

/// For how many releases of the thread that measures it measures turns, and runs. Half of the runs are its own, and cost it
/// nothing but time.
const MEASURED_TURNS: u32 = 32;
const MEASURED_RUNS: u32 = 8;

/// How many times as long as a trial takes its result is kept: at first, and at most if it stays the same.
const LEAST_KEPT: u32 = 4;
const LONGEST_KEPT: u32 = 64;

/// A thread that has not finished its trial after this time is replaced; trials take less than 2 ms.
const LONGEST_TRIAL: u64 = 10_000 * clock::TICKS_PER_MICROSECOND;

/// For how many of its turns a thread backs off.
const RUN: u64 = 32;

/// If a turn takes longer than this, hand-offs to a waiter that spins hardly matter.
const LONGEST_TURN: u64 = 3 * clock::TICKS_PER_MICROSECOND;

/// How much of a turn, besides the wait, is due to moving cache lines, at most.
const LONGEST_MOVES: u64 = clock::TICKS_PER_MICROSECOND / 2;

/// By how much runs must be faster.
const ADVANTAGE: f64 = 1.25;

thread_local! {
    static TRIAL: Cell<Option<Trial>> = const { Cell::new(None) };
    /// Whether this thread backed off after its last release that could.
    static HAS_BACKED_OFF: Cell<bool> = const { Cell::new(false) };
}

/// A trial by this thread.
#[derive(Clone, Copy)]
struct Trial {
    /// The address of the register on which waiters wait.
    register: usize,
    /// When another thread may replace this one. If the lock's `due` differs, one has.
    due: u64,
    /// How long threads backed off before the trial.
    before: u64,
    began: Moment,
    measured: Measured,
    /// After how many more releases the measurement ends.
    left: u32,
}

/// What a trial measures.
#[derive(Clone, Copy)]
enum Measured {
    Turns,
    /// With the pace of turns, which ended at that moment.
    Runs(f64, Moment),
}

/// The time, the processor time of this thread and how long it has waited so far, and the word of the lock's register, which
/// grows with each entry.
#[derive(Clone, Copy)]
struct Moment {
    ticks: u64,
    waited: u64,
    time: u64,
    processor_time: u64,
    word: u64,
}

impl Moment {
    fn now(register: &AtomicU64) -> Moment {
        Moment {
            ticks: clock::ticks(),
            waited: turns::waited(),
            time: clock::time(),
            processor_time: clock::processor_time(),
            word: register.load(READ),
        }
    }

    /// How many entries the lock serves in a tick if threads do what they did until `end`, times the step of its register.
    /// `None` if this thread lost its processor meanwhile, for what was measured then means nothing.
    fn pace_until(self, end: Moment) -> Option<f64> {
        let took = end.time.saturating_sub(self.time);
        let ran = end.processor_time.saturating_sub(self.processor_time);
        let pace = || end.word.wrapping_sub(self.word) as f64 / end.ticks.wrapping_sub(self.ticks).max(1) as f64;
        (ran >= took - took / 4).then(pace)
    }
}

impl Habit {
    pub(crate) const fn new() -> Habit {
        Habit { back_off: AtomicU64::new(0), due: AtomicU64::new(0), kept: AtomicU32::new(LEAST_KEPT) }
    }

    /// Begins a trial if one is due and no other thread begins it.
    fn begin(&self, register: usize, due: u64, ticks: u64, now: impl Fn() -> Moment) -> Option<Trial> {
        let replaced_at = ticks.wrapping_add(LONGEST_TRIAL);
        if !is_past(due, ticks) || self.due.compare_exchange(due, replaced_at, Relaxed, Relaxed).is_err() {
            return None;
        }
        let before = self.back_off.swap(0, Relaxed);
        Some(Trial {
            register,
            due: replaced_at,
            before,
            began: now(),
            measured: Measured::Turns,
            left: MEASURED_TURNS,
        })
    }

    /// Ends the trial. The result is kept for longer if it is the one before.
    fn end(&self, trial: Trial, now: Moment, back_off: u64) {
        let kept = self.kept.load(Relaxed);
        let kept = if (back_off > 0) == (trial.before > 0) { LONGEST_KEPT.min(2 * kept) } else { LEAST_KEPT };
        self.back_off.store(back_off, Relaxed);
        self.kept.store(kept, Relaxed);
        let took = now.ticks.wrapping_sub(trial.began.ticks);
        self.due.store(now.ticks.wrapping_add(took.saturating_mul(u64::from(kept))), Relaxed);
    }
}

/// Whether a moment is past, or so far ahead that it is another clock's.
const fn is_past(moment: u64, now: u64) -> bool {
    moment.wrapping_sub(now) as i64 <= 0
}

impl Trial {
    /// After a release during the trial. Returns the trial unless it has ended.
    fn go_on(mut self, habit: &Habit, now: impl Fn() -> Moment) -> Option<Trial> {
        self.left -= 1;
        if self.left > 0 {
            return Some(self);
        }
        let now = now();
        match self.measured {
            Measured::Turns => {
                let turn = now.ticks.wrapping_sub(self.began.ticks) / u64::from(MEASURED_TURNS);
                let wait = now.waited.wrapping_sub(self.began.waited) / u64::from(MEASURED_TURNS);
                match self.began.pace_until(now) {
                    Some(pace) if runs_may_be_faster(turn, wait) => {
                        habit.back_off.store(RUN * turn, Relaxed);
                        return Some(Trial { measured: Measured::Runs(pace, now), left: MEASURED_RUNS, ..self });
                    }
                    Some(_) => habit.end(self, now, 0),
                    None => habit.end(self, now, self.before),
                }
            }
            Measured::Runs(pace_of_turns, began) => match began.pace_until(now) {
                Some(pace) if pace > ADVANTAGE * pace_of_turns => {
                    habit.end(self, now, habit.back_off.load(Relaxed));
                }
                Some(_) => habit.end(self, now, 0),
                None => habit.end(self, now, self.before),
            },
        }
        None
    }
}

/// Whether letting each other run may be faster than taking turns of this length in which a thread waits for so long: two
/// threads make a passage each in a turn, and one that runs makes one in the time that it works.
fn runs_may_be_faster(turn: u64, wait: u64) -> bool {
    let least_work = turn.saturating_sub(wait).saturating_sub(LONGEST_MOVES);
    turn > 0 && turn < LONGEST_TURN && turn as f64 > ADVANTAGE * 2.0 * least_work as f64
}

/// After a release at this time in ticks that admitted a waiter, when none was parked, of a lock whose waiters wait on this
/// register. `held` is for how many ticks this thread was the holder, if it is known. Returns whether the thread backed off.
pub(crate) fn after_release(register: &AtomicU64, held: Option<u64>, now: u64) -> bool {
    if held.is_some_and(|held| held > LONGEST_TURN) {
        return false;
    }
    let address = parking::address(register);
    let habit = &parking::hints(address).habit;
    let back_off = habit.back_off.load(Relaxed);
    let backs_off = back_off > 0 && !HAS_BACKED_OFF.replace(!HAS_BACKED_OFF.get());
    if backs_off {
        while clock::ticks().wrapping_sub(now) < back_off {
            hint::spin_loop();
        }
    }
    let due = habit.due.load(Relaxed);
    let moment = || Moment::now(register);
    match TRIAL.get() {
        Some(trial) if trial.register == address && trial.due == due => TRIAL.set(trial.go_on(habit, moment)),
        other => TRIAL.set(habit.begin(address, due, now, moment).or(other)),
    }
    backs_off
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    /// A lock and its clock, for trials.
    struct Lock {
        habit: Habit,
        now: Cell<Moment>,
        /// How many entries it serves in a thousand ticks, if threads take turns and if they back off.
        pace: [u64; 2],
        /// For which part of the time a thread waits.
        waits: f64,
    }

    impl Lock {
        fn of_pace(turns: u64, runs: u64) -> Lock {
            let ticks = clock::ticks();
            let now = Cell::new(Moment { ticks, waited: 0, time: 0, processor_time: 0, word: 0 });
            Lock { habit: Habit::new(), now, pace: [turns, runs], waits: 0.5 }
        }

        /// Lets a number of entries pass, during which the thread has the processor for this share of the time.
        fn pass(&self, entries: u64, has_processor: f64) {
            let now = self.now.get();
            let backs_off = self.habit.back_off.load(Relaxed) > 0;
            let took = entries * 1000 / self.pace[usize::from(backs_off)];
            self.now.set(Moment {
                ticks: now.ticks + took,
                waited: now.waited + (took as f64 * self.waits) as u64,
                time: now.time + took,
                processor_time: now.processor_time + (took as f64 * has_processor) as u64,
                word: now.word + entries,
            });
        }

        /// Makes a trial, and returns whether threads back off after it, and how many times as long the result is kept.
        fn trial(&self, has_processor: f64) -> (bool, u64) {
            self.habit.due.store(self.now.get().ticks, Relaxed);
            let mut trial = self.habit.begin(1, self.now.get().ticks, self.now.get().ticks, || self.now.get());
            let began = self.now.get().ticks;
            assert!(trial.is_some());
            while let Some(measures) = trial {
                self.pass(10, has_processor);
                trial = measures.go_on(&self.habit, || self.now.get());
            }
            let ended = self.now.get().ticks;
            let kept = (self.habit.due.load(Relaxed) - ended) / (ended - began);
            (self.habit.back_off.load(Relaxed) > 0, kept)
        }
    }

    #[test]
    fn threads_keep_for_longer_and_longer_what_is_faster() {
        let slow_hand_offs = Lock::of_pace(10, 20);
        let trials = [(); 6].map(|()| slow_hand_offs.trial(1.0));
        assert_eq!(trials, [(true, 4), (true, 8), (true, 16), (true, 32), (true, 64), (true, 64)]);
        let lock = Lock { pace: [10, 12], ..slow_hand_offs };
        assert_eq!([(); 3].map(|()| lock.trial(1.0)), [(false, 4), (false, 8), (false, 16)]);
    }

    #[test]
    fn a_trial_without_the_processor_changes_nothing() {
        let lock = Lock::of_pace(10, 20);
        assert!(!lock.trial(0.5).0);
        assert!(lock.trial(1.0).0);
        assert!(lock.trial(0.5).0);
    }

    #[test]
    fn runs_are_not_tried_if_a_turn_takes_long() {
        let lock = Lock { pace: [1, 1000], ..Lock::of_pace(1, 1) };
        assert!(!lock.trial(1.0).0, "ten entries of a thousand ticks each");
    }

    #[test]
    fn runs_are_not_tried_if_threads_hardly_wait() {
        // Turns of 2 us.
        let lock = Lock { waits: 0.2, ..Lock::of_pace(1_000 * 10 / (2 * clock::TICKS_PER_MICROSECOND), 20) };
        assert!(!lock.trial(1.0).0, "0.4 us of waiting and 1.1 us of work at least");
        assert!(Lock { waits: 0.5, ..lock }.trial(1.0).0, "1 us of waiting and 0.5 us of work at least");
        assert!(runs_may_be_faster(LONGEST_MOVES, 0), "all of a short turn may be moving cache lines");
        assert!(!runs_may_be_faster(LONGEST_TURN, LONGEST_TURN));
    }

    #[test]
    fn one_thread_at_a_time_measures_and_a_vanished_one_is_replaced() {
        let (habit, due) = (Habit::new(), clock::ticks());
        habit.due.store(due, Relaxed);
        let now = || Moment { ticks: clock::ticks(), waited: 0, time: 0, processor_time: 0, word: 0 };
        assert!(habit.begin(1, due, clock::ticks(), now).is_some());
        assert!(habit.begin(1, due, clock::ticks(), now).is_none(), "another thread was first");
        let replaced_at = habit.due.load(Relaxed);
        assert!(habit.begin(1, replaced_at, clock::ticks(), now).is_none(), "it may still measure");
        while !is_past(replaced_at, clock::ticks()) {}
        assert!(habit.begin(1, replaced_at, clock::ticks(), now).is_some());
    }
}
