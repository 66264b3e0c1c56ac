//! Our locks beside those of the standard library, in one run; what counts is the ratios.
use std::{
    hint::black_box,
    sync::{
        Barrier, Condvar, Mutex as StdMutex,
        atomic::{AtomicBool, AtomicU64, Ordering::*},
    },
    thread,
    time::{Duration, Instant},
};

use doorway::{Mutex, Semaphore};

/// A lock to measure: goes in, does something, comes out.
trait Lock: Sync {
    fn once(&self, inside: impl FnOnce());
}

impl Lock for Mutex<()> {
    fn once(&self, inside: impl FnOnce()) {
        let _guard = self.lock();
        inside();
    }
}

impl Lock for StdMutex<()> {
    fn once(&self, inside: impl FnOnce()) {
        let _guard = self.lock().unwrap();
        inside();
    }
}

impl Lock for Semaphore {
    fn once(&self, inside: impl FnOnce()) {
        let _permit = self.acquire();
        inside();
    }
}

struct Counter(AtomicU64);

impl Lock for Counter {
    fn once(&self, inside: impl FnOnce()) {
        self.0.fetch_add(1, SeqCst);
        inside();
    }
}

struct Condition(StdMutex<usize>, Condvar);

impl Lock for Condition {
    fn once(&self, inside: impl FnOnce()) {
        let mut free = self.0.lock().unwrap();
        while *free == 0 {
            free = self.1.wait(free).unwrap();
        }
        *free -= 1;
        drop(free);
        inside();
        *self.0.lock().unwrap() += 1;
        self.1.notify_one();
    }
}

fn alone(lock: &impl Lock) -> f64 {
    const TIMES: u32 = 2_000_000;
    let run = || {
        let start = Instant::now();
        (0..TIMES).for_each(|_| lock.once(|| {}));
        start.elapsed().as_nanos() as f64 / f64::from(TIMES)
    };
    (0..5).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn busy(nanos: u64) {
    // About a nanosecond and a half a turn.
    (0..nanos * 2 / 3).for_each(|i| {
        black_box(i);
    });
}

/// Entries a second in all, and Jain's index of fairness.
fn together(lock: &impl Lock, threads: usize) -> (f64, f64) {
    const TIME: Duration = Duration::from_millis(700);
    let (start, stop) = (Barrier::new(threads + 1), AtomicBool::new(false));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    let mut entries = 0_u64;
                    while !stop.load(Relaxed) {
                        lock.once(|| busy(50));
                        busy(200);
                        entries += 1;
                    }
                    entries
                })
            })
            .collect();
        start.wait();
        let began = Instant::now();
        thread::sleep(TIME);
        stop.store(true, Relaxed);
        let took = began.elapsed().as_secs_f64();
        let entries: Vec<f64> = workers.into_iter().map(|worker| worker.join().unwrap() as f64).collect();
        let (sum, squares) = entries.iter().fold((0.0, 0.0), |(sum, squares), e| (sum + e, squares + e * e));
        (sum / took, sum * sum / squares / entries.len() as f64)
    })
}

fn measure(name: &str, lock: &impl Lock, counter: f64) {
    let ns = alone(lock);
    print!("{name:<22} {ns:6.1} ns {:5.2} x", ns / counter);
    for threads in [2, 8] {
        let (entries, jain) = together(lock, threads);
        print!("   {threads} threads {:6.2} M/s, Jain {jain:.2}", entries / 1e6);
    }
    println!();
}

fn main() {
    let counter = alone(&Counter(AtomicU64::new(0)));
    println!("fetch_add              {counter:6.1} ns");
    for _ in 0..2 {
        measure("doorway Mutex", &Mutex::new(()), counter);
        measure("std Mutex", &StdMutex::new(()), counter);
        measure("doorway Semaphore(4)", &Semaphore::new(4), counter);
        measure("std Condvar(4)", &Condition(StdMutex::new(4), Condvar::new()), counter);
    }
}
