//! Threads that acquire, try, time out, abort and panic at random, on every lock of the crate.
//!
//! There are at most k holders, no thread is overtaken that must not be, and in the end the whole capacity is free.
//!
//! Ten seconds here; `scripts/soak` takes ten minutes.
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use doorway::{Mutex, Queue, Semaphore, algorithms::*};
use doorway_algorithms::{About, Kind, Status, for_each_algorithm, registry};
use doorway_memory::Property;

#[test]
fn locks_survive_ten_seconds() {
    soak(Duration::from_secs(10), 1);
}

#[test]
#[ignore = "10 minutes"]
fn locks_survive_ten_minutes() {
    for seed in 1..=10 {
        soak(Duration::from_secs(60), seed);
    }
}

const THREADS: usize = 6;

/// The slots of a mutex: one more than threads, so that a thread that registers finds one.
const SLOTS: usize = THREADS + 1;

/// The lifetime of each generation of threads.
const LIFETIME: Duration = Duration::from_millis(100);

/// Spends half of the time on the default locks, half on all others.
fn soak(time: Duration, seed: u64) {
    default_mutex(time / 4, seed);
    for k in [1, 2, 4] {
        default_semaphore(time / 12, k, seed);
    }
    let locks = registry::all().iter().filter(|about| about.kind != Kind::Part && about.status() == Status::Correct);
    let each = time / 2 / locks.count() as u32;
    macro_rules! soak_every_lock {
        ($($(#[$_:meta])* $folder:ident { $($kind:ident $file:ident $name:ident;)* })*) => {
            $($(soak_every_lock!($folder $name);)*)*
        };
        (mutex $name:ident) => { mutex::<$name>(each, seed); };
        (kexclusion $name:ident) => { semaphore::<$name>(each, seed); };
        ($other:ident $name:ident) => {}; // broken algorithms and parts
    }
    for_each_algorithm!(soak_every_lock);
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// A thread that completes the doorway before another starts it is not overtaken by that other.
    OfArrival,
    Any,
}

/// Observes the passages through a lock.
struct Observer {
    k: usize,
    order: Order,
    holders: AtomicUsize,
    clock: AtomicU64,
    /// When each thread completed the doorway, if it has not left yet.
    arrived: [AtomicU64; THREADS],
}

const ABSENT: u64 = u64::MAX;

impl Observer {
    fn new(k: usize, order: Order) -> Observer {
        let arrived = [const { AtomicU64::new(ABSENT) }; THREADS];
        Observer { k, order, holders: AtomicUsize::new(0), clock: AtomicU64::new(0), arrived }
    }

    /// Runs the doorway, which is `arrive`, and returns when it started.
    fn doorway<P>(&self, p: usize, arrive: impl FnOnce() -> P) -> (u64, P) {
        let start = self.clock.fetch_add(1, SeqCst);
        let place = arrive();
        self.arrived[p].store(self.clock.fetch_add(1, SeqCst), SeqCst);
        (start, place)
    }

    /// To be called before thread `p` aborts or leaves.
    fn before_leaving(&self, p: usize) {
        self.arrived[p].store(ABSENT, SeqCst);
    }

    /// Runs the critical section of thread `p`, whose doorway started at `start`, if that is known.
    fn critical_section(&self, p: usize, start: Option<u64>, random: &mut Random) {
        let now = self.holders.fetch_add(1, SeqCst) + 1;
        assert!(now <= self.k, "{now} holders with k = {}", self.k);
        if let (Some(start), Order::OfArrival) = (start, self.order) {
            // Earlier arrivals that are still present had not left when this thread entered: there are fewer than k.
            let before = (0..THREADS).filter(|&q| q != p && self.arrived[q].load(SeqCst) < start).count();
            assert!(before < self.k, "{before} earlier arrivals are still present, with k = {}", self.k);
        }
        if random.below(50) == 0 {
            thread::sleep(Duration::from_micros(random.below(1_500)));
        }
        self.holders.fetch_sub(1, SeqCst);
        self.before_leaving(p);
    }
}

/// Runs `work` in generations of threads until the time is over.
fn in_threads(time: Duration, seed: u64, work: impl Fn(usize, &mut Random) + Sync) {
    let end = Instant::now() + time;
    for generation in 0.. {
        if Instant::now() >= end {
            break;
        }
        let end = end.min(Instant::now() + LIFETIME);
        thread::scope(|scope| {
            for p in 0..THREADS {
                let work = &work;
                scope.spawn(move || {
                    let mut random = Random(seed.wrapping_add(generation * 31).wrapping_mul(2 * p as u64 + 1) | 1);
                    while Instant::now() < end {
                        work(p, &mut random);
                    }
                });
            }
        });
    }
}

/// Drops a guard, in 1 of 100 cases by a panic.
fn drop_or_panic<G>(guard: G, random: &mut Random) {
    if random.below(100) == 0 {
        let _ = catch_unwind(AssertUnwindSafe(move || {
            let _guard = guard;
            resume_unwind(Box::new(()));
        }));
    }
}

fn default_mutex(time: Duration, seed: u64) {
    let (lock, entered) = (Mutex::new(0_u64), AtomicU64::new(0));
    let observer = Observer::new(1, Order::OfArrival);
    in_threads(time, seed, |p, random| {
        let brief = Duration::from_micros(random.below(300));
        let kind = random.below(6);
        let (start, guard) = match kind {
            0 => (None, lock.try_lock()),
            1 => (None, lock.lock_timeout(brief)),
            _ => {
                let (start, place) = observer.doorway(p, || lock.arrive());
                let guard = match kind {
                    2 => {
                        observer.before_leaving(p);
                        drop(place);
                        None
                    }
                    3 => match place.wait_timeout(brief).or_else(|place| place.wait_timeout(brief)) {
                        Ok(guard) => Some(guard),
                        Err(place) => {
                            observer.before_leaving(p);
                            drop(place);
                            None
                        }
                    },
                    _ => Some(place.wait()),
                };
                (Some(start), guard)
            }
        };
        if let Some(mut guard) = guard {
            entered.fetch_add(1, SeqCst);
            let seen = *guard;
            observer.critical_section(p, start, random);
            *guard = seen + 1;
            drop_or_panic(guard, random);
        }
    });
    assert!(lock.try_lock().is_some(), "in the end the mutex is free");
    assert_eq!(lock.into_inner(), entered.into_inner(), "no update is lost");
}

fn default_semaphore(time: Duration, k: usize, seed: u64) {
    let semaphore = Semaphore::new(k);
    let observer = Observer::new(k, Order::OfArrival);
    in_threads(time, seed, |p, random| {
        let brief = Duration::from_micros(random.below(300));
        let (start, permit) = match random.below(5) {
            0 => (None, semaphore.try_acquire()),
            1 => (None, semaphore.acquire_timeout(brief)),
            2 => {
                drop(semaphore.arrive());
                (None, None)
            }
            _ => {
                let (start, place) = observer.doorway(p, || semaphore.arrive());
                (Some(start), Some(place.wait()))
            }
        };
        if let Some(permit) = permit {
            observer.critical_section(p, start, random);
            drop_or_panic(permit, random);
        }
    });
    let all: Vec<_> = (0..k).map(|_| semaphore.try_acquire().expect("in the end the whole capacity is free")).collect();
    assert!(semaphore.try_acquire().is_none());
    drop(all);
}

/// A mutex of the catalogue, if it supports this number of threads. Sometimes a thread registers.
fn mutex<Q>(time: Duration, seed: u64)
where
    Q: Queue + Catalogue,
{
    if Q::ABOUT.size(Some(SLOTS), None).is_err() {
        return;
    }
    let (lock, entered) = (Q::mutex(), AtomicU64::new(0));
    let order = if Q::ABOUT.holds(Property::Fcfs) { Order::OfArrival } else { Order::Any };
    let observer = Observer::new(1, order);
    in_threads(time, seed, |p, random| {
        if random.below(20) == 0 {
            drop(lock.arrive());
        }
        let (start, place) = observer.doorway(p, || lock.arrive());
        let mut guard = place.wait();
        entered.fetch_add(1, SeqCst);
        let seen = *guard;
        observer.critical_section(p, Some(start), random);
        *guard = seen + 1;
        drop_or_panic(guard, random);
        if random.below(20) == 0 {
            Q::registered_passage(&lock, || {
                entered.fetch_add(1, SeqCst);
                observer.critical_section(p, None, random);
            });
        }
    });
    assert_eq!(lock.into_inner(), entered.into_inner(), "no update is lost");
}

fn semaphore<Q>(time: Duration, seed: u64)
where
    Q: Queue + Catalogue,
{
    let semaphore = Q::semaphore();
    let observer = Observer::new(2, Order::Any);
    in_threads(time, seed, |p, random| {
        if random.below(20) == 0 {
            drop(semaphore.arrive());
        }
        let permit = semaphore.acquire();
        observer.critical_section(p, None, random);
        drop_or_panic(permit, random);
    });
    let _both = (semaphore.acquire(), semaphore.acquire());
}

/// A queue with slots.
trait Catalogue: Sized {
    const ABOUT: &'static About;
    fn mutex() -> Mutex<u64, Self>;
    fn semaphore() -> Semaphore<Self>;
    /// One passage of a registered thread.
    fn registered_passage(lock: &Mutex<u64, Self>, critical_section: impl FnOnce());
}

impl<A: Algorithm> Catalogue for Slotted<A> {
    const ABOUT: &'static About = A::ABOUT;

    fn mutex() -> Mutex<u64, Self> {
        Mutex::with_slots(0, SLOTS)
    }

    fn semaphore() -> Semaphore<Self> {
        Semaphore::with_slots(2, THREADS)
    }

    fn registered_passage(lock: &Mutex<u64, Self>, critical_section: impl FnOnce()) {
        let mut registered = lock.register();
        let mut guard = registered.lock();
        let seen = *guard;
        critical_section();
        *guard = seen + 1;
    }
}

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % end
    }
}
