//! What a thread does with a lock that is measured.
use std::{
    sync::{
        Barrier,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::{Duration, Instant},
};

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
    fn work(&self, _: usize, job: &Job<'_>) -> Tally {
        job.run(self)
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
    pub(crate) stop: AtomicBool,
    pub(crate) inside: Inside,
    /// Turns of work outside.
    pub(crate) outside: u32,
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
    /// Passages that were over when it was time to stop.
    pub(crate) entries: u64,
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
    pub(crate) fn run(&self, thread: impl Thread) -> Tally {
        match *self {
            Job::Alone(time) => alone(thread, time),
            Job::Count(room) => count(thread, room),
            Job::Watch(room, door) => watch(thread, room, door),
        }
    }
}

/// The best of many short stretches: whatever comes in between only adds time.
fn alone(mut thread: impl Thread, time: Duration) -> Tally {
    const PASSAGES: u32 = 2_000;
    let start = Instant::now();
    let mut best = Duration::MAX;
    let mut entries = 0;
    while start.elapsed() < time {
        let start = Instant::now();
        (0..PASSAGES).for_each(|_| thread.pass(|| ()));
        best = best.min(start.elapsed());
        entries += u64::from(PASSAGES);
    }
    Tally { entries, ns: best.as_nanos() as f64 / f64::from(PASSAGES), seen: None }
}

// ORDERING: Relaxed for the flag and the counters: each is looked at by itself, and what a thread returns is passed on by
// joining it.
fn count(mut thread: impl Thread, room: &Room) -> Tally {
    let mut entries = 0;
    room.start.wait();
    loop {
        thread.pass(|| room.inside.spend());
        if room.stop.load(Relaxed) {
            return Tally { entries, ..Tally::default() };
        }
        entries += 1;
        busy::work(room.outside);
    }
}

fn watch(mut thread: impl Thread, room: &Room, door: &Door) -> Tally {
    let mut seen = Box::new(Seen { passed: Histogram::new(), wait: Histogram::new() });
    room.start.wait();
    loop {
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
        if room.stop.load(Relaxed) {
            return Tally { seen: Some(seen), ..Tally::default() };
        }
        seen.passed.add(entry.saturating_sub(before));
        seen.wait.add(wait.as_nanos() as u64);
        busy::work(room.outside);
    }
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
