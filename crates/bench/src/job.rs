//! The jobs that threads do with a measured lock.
use std::{
    sync::{
        Barrier, OnceLock,
        atomic::{
            AtomicU8, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::{Duration, Instant},
};

use crossbeam_utils::CachePadded;

use crate::{busy, cpu, histogram::Histogram};

/// A lock as used by one thread.
pub(crate) trait Thread {
    /// Makes a passage with this critical section.
    fn pass(&mut self, critical_section: impl FnOnce());
}

/// A lock that all threads use alike.
pub(crate) trait Lock: Sync {
    /// Makes a passage with this critical section.
    fn pass(&self, critical_section: impl FnOnce());
}

impl<L: Lock> Thread for &L {
    #[inline(always)]
    fn pass(&mut self, critical_section: impl FnOnce()) {
        L::pass(self, critical_section);
    }
}

/// A lock of any type, as a trait object.
pub(crate) trait AnyLock: Sync {
    /// Does the share of thread `p` in a job.
    fn work(&self, p: usize, job: &Job<'_>) -> Tally;
}

impl<L: Lock> AnyLock for L {
    fn work(&self, p: usize, job: &Job<'_>) -> Tally {
        job.run(p, self)
    }
}

/// A job for the threads that use a lock.
pub(crate) enum Job<'a> {
    /// Makes uncontended passages for this time.
    Alone(Duration),
    /// Makes contended passages, and counts them.
    Count(&'a JobState),
    /// Makes contended passages, and records waiting times and overtaking. That takes time, so it is a job of its own.
    Watch(&'a JobState, &'a EntryCounters),
}

/// The state that the threads of a job share.
pub(crate) struct JobState {
    start: Barrier,
    phase: AtomicU8,
    /// The number of passages of each thread. Each thread often writes its own, which therefore has a cache line to
    /// itself.
    entries: Vec<CachePadded<AtomicU64>>,
    /// The clock of each thread, once it has begun.
    clocks: Vec<OnceLock<cpu::ThreadClock>>,
    /// What each thread does.
    work: Vec<Work>,
}

/// What a thread does in each passage.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    pub(crate) critical_section: CriticalSection,
    /// Iterations of work in the remainder.
    pub(crate) remainder: u32,
}

/// The phases of a job. Passages made before all threads have begun do not count.
const BEGINNING: u8 = 0;
const COUNTING: u8 = 1;
const OVER: u8 = 2;

// ORDERING: Relaxed for the phase and the counters: each is read by itself, and joining a thread publishes what it
// returns.
impl JobState {
    pub(crate) fn new(work: Vec<Work>) -> JobState {
        JobState {
            start: Barrier::new(work.len() + 1),
            phase: AtomicU8::new(BEGINNING),
            entries: work.iter().map(|_| CachePadded::default()).collect(),
            clocks: work.iter().map(|_| OnceLock::new()).collect(),
            work,
        }
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.work.len()
    }

    /// Waits until all threads are there; returns what thread `p` has to do.
    fn join(&self, p: usize) -> Work {
        if let Some(clock) = cpu::ThreadClock::of_this_thread() {
            let _ = self.clocks[p].set(clock); // each thread joins once
        }
        self.start.wait();
        self.work[p]
    }

    /// The processor time of each thread so far; `None` if the system does not tell. No thread has ended yet.
    pub(crate) fn cpu(&self) -> Option<Vec<Duration>> {
        self.clocks.iter().map(|clock| clock.get()?.read()).collect()
    }

    /// Lets the threads begin, and waits until each has made a passage.
    ///
    /// It does not wait longer than the timeout, since a thread may starve.
    pub(crate) fn begin(&self, timeout: Duration) {
        const POLL_INTERVAL: Duration = Duration::from_micros(200);
        self.start.wait();
        let start = Instant::now();
        while start.elapsed() < timeout && self.entries().contains(&0) {
            thread::sleep(POLL_INTERVAL);
        }
        self.phase.store(COUNTING, Relaxed);
    }

    pub(crate) fn end(&self) {
        self.phase.store(OVER, Relaxed);
    }

    /// The number of passages of each thread so far.
    pub(crate) fn entries(&self) -> Vec<u64> {
        self.entries.iter().map(|own| own.load(Relaxed)).collect()
    }

    fn has_passed(&self, p: usize, times: u64) {
        self.entries[p].store(times, Relaxed);
    }
}

/// What a holder does.
#[derive(Clone, Copy)]
pub(crate) enum CriticalSection {
    /// Iterations of work.
    Work(u32),
    Sleep(Duration),
}

/// Counters of entries that all threads share.
#[derive(Default)]
pub(crate) struct EntryCounters {
    entries: AtomicU64,
    holders: AtomicU64,
    /// The largest number of holders at once.
    pub(crate) most_holders: AtomicU64,
}

/// The results of one thread.
#[derive(Default)]
pub(crate) struct Tally {
    /// Nanoseconds of the fastest passage in `Job::Alone`.
    pub(crate) ns: f64,
    pub(crate) seen: Option<Box<Samples>>,
}

/// What a thread has recorded of its passages.
pub(crate) struct Samples {
    /// How many other threads entered between arrival and entry.
    pub(crate) overtaken: Histogram,
    /// Nanoseconds from arrival to entry.
    pub(crate) wait: Histogram,
}

impl Job<'_> {
    pub(crate) fn run(&self, p: usize, thread: impl Thread) -> Tally {
        match *self {
            Job::Alone(time) => alone(thread, time),
            Job::Count(state) => count(p, thread, state),
            Job::Watch(state, counters) => watch(p, thread, state, counters),
        }
    }
}

/// Takes the best of many short slices: interruptions only add time.
fn alone(mut thread: impl Thread, time: Duration) -> Tally {
    const PASSAGES: u32 = 2_000;
    let start = Instant::now();
    let mut best = Duration::MAX;
    while start.elapsed() < time {
        let start = Instant::now();
        (0..PASSAGES).for_each(|_| thread.pass(|| ()));
        best = best.min(start.elapsed());
    }
    Tally { ns: best.as_nanos() as f64 / f64::from(PASSAGES), seen: None }
}

fn count(p: usize, mut thread: impl Thread, state: &JobState) -> Tally {
    let work = state.join(p);
    for times in 1.. {
        thread.pass(|| work.critical_section.run());
        state.has_passed(p, times);
        if state.phase.load(Relaxed) == OVER {
            break;
        }
        busy::work(work.remainder);
    }
    Tally::default()
}

fn watch(p: usize, mut thread: impl Thread, state: &JobState, counters: &EntryCounters) -> Tally {
    let mut seen = Box::new(Samples { overtaken: Histogram::new(), wait: Histogram::new() });
    let work = state.join(p);
    for times in 1.. {
        let before = counters.entries.load(Relaxed);
        let arrival = Instant::now();
        let (mut entry, mut wait) = (0, Duration::ZERO);
        thread.pass(|| {
            wait = arrival.elapsed();
            entry = counters.entries.fetch_add(1, Relaxed);
            let holders = counters.holders.fetch_add(1, SeqCst) + 1;
            if holders > counters.most_holders.load(Relaxed) {
                counters.most_holders.fetch_max(holders, Relaxed);
            }
            work.critical_section.run();
            counters.holders.fetch_sub(1, SeqCst);
        });
        state.has_passed(p, times);
        match state.phase.load(Relaxed) {
            BEGINNING => {}
            COUNTING => {
                seen.overtaken.add(entry.saturating_sub(before));
                seen.wait.add(wait.as_nanos() as u64);
            }
            _ => break,
        }
        busy::work(work.remainder);
    }
    Tally { seen: Some(seen), ..Tally::default() }
}

impl CriticalSection {
    #[inline(always)]
    fn run(self) {
        match self {
            CriticalSection::Work(iterations) => busy::work(iterations),
            CriticalSection::Sleep(time) => thread::sleep(time),
        }
    }
}
