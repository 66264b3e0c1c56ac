//! What a thread does with a lock that is measured.
use std::{
    sync::{
        Barrier,
        atomic::{
            AtomicU8, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::{Duration, Instant},
};

use crossbeam_utils::CachePadded;

use crate::{busy, histogram::Histogram};

/// One thread's way through a lock.
pub(crate) trait Thread {
    /// Goes in, does what is to be done inside, comes out.
    fn pass(&mut self, inside: impl FnOnce());
}

/// A lock to measure that every thread uses alike.
pub(crate) trait Lock: Sync {
    /// Goes in, does what is to be done inside, comes out.
    fn pass(&self, inside: impl FnOnce());
}

impl<L: Lock> Thread for &L {
    #[inline(always)]
    fn pass(&mut self, inside: impl FnOnce()) {
        L::pass(self, inside);
    }
}

/// A lock that is ready to be measured, whatever its type.
pub(crate) trait Made: Sync {
    /// Does one thread's part of a job; `p` is the thread's number.
    fn work(&self, p: usize, job: &Job<'_>) -> Tally;
}

impl<L: Lock> Made for L {
    fn work(&self, p: usize, job: &Job<'_>) -> Tally {
        job.run(p, self)
    }
}

/// What to do.
pub(crate) enum Job<'a> {
    /// Pass again and again, alone, for so long.
    Alone(Duration),
    /// Pass again and again beside others, and count.
    Count(&'a Room),
    /// The same, and look at the clock and at who else passes. That takes time, so it is a job of its own.
    Watch(&'a Room, &'a Door),
}

/// What the threads of a job share.
pub(crate) struct Room {
    pub(crate) start: Barrier,
    phase: AtomicU8,
    /// How often each thread has passed. Each is written by one thread, again and again: nobody else's cache line.
    entries: Vec<CachePadded<AtomicU64>>,
    pub(crate) inside: Inside,
    /// Turns of work outside.
    pub(crate) outside: u32,
}

/// Where a job is. What is seen while some threads have not yet begun does not count.
const BEGINNING: u8 = 0;
const COUNTING: u8 = 1;
const OVER: u8 = 2;

// ORDERING: Relaxed for the phase and the counters: each is looked at by itself, and what a thread returns is passed on by
// joining it.
impl Room {
    pub(crate) fn new(threads: usize, inside: Inside, outside: u32) -> Room {
        let entries = (0..threads).map(|_| CachePadded::default()).collect();
        Room { start: Barrier::new(threads + 1), phase: AtomicU8::new(BEGINNING), entries, inside, outside }
    }

    /// Lets threads begin, and waits until each has passed; but not for ever, since some may never.
    pub(crate) fn begin(&self, patience: Duration) {
        const LOOK: Duration = Duration::from_micros(200);
        self.start.wait();
        let start = Instant::now();
        while start.elapsed() < patience && self.entries().contains(&0) {
            thread::sleep(LOOK);
        }
        self.phase.store(COUNTING, Relaxed);
    }

    pub(crate) fn end(&self) {
        self.phase.store(OVER, Relaxed);
    }

    /// How often each thread has passed so far.
    pub(crate) fn entries(&self) -> Vec<u64> {
        self.entries.iter().map(|own| own.load(Relaxed)).collect()
    }

    fn has_passed(&self, p: usize, times: u64) {
        self.entries[p].store(times, Relaxed);
    }
}

/// What is done inside.
#[derive(Clone, Copy)]
pub(crate) enum Inside {
    /// Turns of work.
    Work(u32),
    Sleep(Duration),
}

/// What is seen at the door by all together.
#[derive(Default)]
pub(crate) struct Door {
    entries: AtomicU64,
    inside: AtomicU64,
    /// The most that were inside at once.
    pub(crate) most_inside: AtomicU64,
}

/// What a thread has counted.
#[derive(Default)]
pub(crate) struct Tally {
    /// Alone: nanoseconds of a passage, at best.
    pub(crate) ns: f64,
    pub(crate) seen: Option<Box<Seen>>,
}

/// What a thread has seen of its passages.
pub(crate) struct Seen {
    /// How many others entered between arrival and entry.
    pub(crate) passed: Histogram,
    /// Nanoseconds from arrival to entry.
    pub(crate) wait: Histogram,
}

impl Job<'_> {
    pub(crate) fn run(&self, p: usize, thread: impl Thread) -> Tally {
        match *self {
            Job::Alone(time) => alone(thread, time),
            Job::Count(room) => count(p, thread, room),
            Job::Watch(room, door) => watch(p, thread, room, door),
        }
    }
}

/// The best of many short stretches: whatever comes in between only adds time.
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

fn count(p: usize, mut thread: impl Thread, room: &Room) -> Tally {
    room.start.wait();
    for times in 1.. {
        thread.pass(|| room.inside.spend());
        room.has_passed(p, times);
        if room.phase.load(Relaxed) == OVER {
            break;
        }
        busy::work(room.outside);
    }
    Tally::default()
}

fn watch(p: usize, mut thread: impl Thread, room: &Room, door: &Door) -> Tally {
    let mut seen = Box::new(Seen { passed: Histogram::new(), wait: Histogram::new() });
    room.start.wait();
    for times in 1.. {
        let before = door.entries.load(Relaxed);
        let arrival = Instant::now();
        let (mut entry, mut wait) = (0, Duration::ZERO);
        thread.pass(|| {
            wait = arrival.elapsed();
            entry = door.entries.fetch_add(1, Relaxed);
            let inside = door.inside.fetch_add(1, SeqCst) + 1;
            if inside > door.most_inside.load(Relaxed) {
                door.most_inside.fetch_max(inside, Relaxed);
            }
            room.inside.spend();
            door.inside.fetch_sub(1, SeqCst);
        });
        room.has_passed(p, times);
        match room.phase.load(Relaxed) {
            BEGINNING => {}
            COUNTING => {
                seen.passed.add(entry.saturating_sub(before));
                seen.wait.add(wait.as_nanos() as u64);
            }
            _ => break,
        }
        busy::work(room.outside);
    }
    Tally { seen: Some(seen), ..Tally::default() }
}

impl Inside {
    #[inline(always)]
    fn spend(self) {
        match self {
            Inside::Work(turns) => busy::work(turns),
            Inside::Sleep(time) => thread::sleep(time),
        }
    }
}
