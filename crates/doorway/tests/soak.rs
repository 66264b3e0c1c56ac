//! Threads that come and go, lock, try, wait for a while, give up and panic at random, on every lock of the crate: at most k are
//! inside, nobody is overtaken who must not be, and in the end no place is lost.
//!
//! Ten seconds here; `scripts/soak` takes ten minutes.
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use doorway::{Line, Mutex, Semaphore, algorithms::*};

#[test]
fn nothing_is_lost_in_ten_seconds() {
    soak(Duration::from_secs(10), 1);
}

#[test]
#[ignore = "10 minutes"]
fn nothing_is_lost_in_ten_minutes() {
    for seed in 1..=10 {
        soak(Duration::from_secs(60), seed);
    }
}

const THREADS: usize = 6;

/// So long threads live before others come.
const LIVES: Duration = Duration::from_millis(100);

/// Half of the time for the locks one has by default, half for all others.
fn soak(time: Duration, seed: u64) {
    default_mutex(time / 4, seed);
    for k in [1, 2, 4] {
        default_semaphore(time / 12, k, seed);
    }
    let each = time / 60;
    mutex::<Filter>(each, seed, Order::Any);
    mutex::<BakeryLabels>(each, seed, Order::OfArrival);
    mutex::<Bakery>(each, seed, Order::OfArrival);
    mutex::<PetersonTree>(each, seed, Order::Any);
    mutex::<Tournament>(each, seed, Order::Any);
    mutex::<OneBit>(each, seed, Order::Any);
    mutex::<Dijkstra>(each, seed, Order::Any);
    mutex::<LamportFast>(each, seed, Order::Any);
    mutex::<BlackWhiteBakery>(each, seed, Order::OfArrival);
    mutex::<YangAnderson>(each, seed, Order::Any);
    mutex::<KimAnderson>(each, seed, Order::Any);
    mutex::<Mcs>(each, seed, Order::OfArrival);
    mutex::<AndersonArray>(each, seed, Order::OfArrival);
    mutex::<JayantiFArray>(each, seed, Order::OfArrival);
    mutex::<DanekGolab>(each, seed, Order::OfArrival);
    mutex::<DanekGolabAdaptive>(each, seed, Order::OfArrival);
    mutex::<DanekGolabYangAnderson>(each, seed, Order::OfArrival);
    semaphore::<KBakery>(each, seed);
    semaphore::<KBakeryFife>(each, seed);
    semaphore::<KBakerySafe>(each, seed);
    semaphore::<LogK>(each, seed);
    semaphore::<FilterK>(each, seed);
    semaphore::<AndersonMoir>(each, seed);
    semaphore::<AndersonMoirTree>(each, seed);
    semaphore::<DeckerJayanti>(each, seed);
    semaphore::<AndersonMoirFast>(each, seed);
    semaphore::<AndersonMoirAdaptive>(each, seed);
    semaphore::<AndersonMoirDsm>(each, seed);
    semaphore::<AndersonMoirDsmTree>(each, seed);
    semaphore::<AndersonMoirDsmAdaptive>(each, seed);
    semaphore::<DanekLee>(each, seed);
    semaphore::<DeckerJayantiNames>(each, seed);
    semaphore::<FischerQueue>(each, seed);
    semaphore::<ColoredTicket>(each, seed);
    semaphore::<Afek>(each, seed);
    semaphore::<BurnsPeterson>(each, seed);
    semaphore::<DolevGafniShavit>(each, seed);
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// Who is through the doorway before another starts is not overtaken by it.
    OfArrival,
    Any,
}

/// What is watched at a lock.
struct Room {
    k: usize,
    order: Order,
    inside: AtomicUsize,
    clock: AtomicU64,
    /// When each thread was through the doorway, if it has not left yet.
    arrived: [AtomicU64; THREADS],
}

const NOT_THERE: u64 = u64::MAX;

impl Room {
    fn new(k: usize, order: Order) -> Room {
        let arrived = [const { AtomicU64::new(NOT_THERE) }; THREADS];
        Room { k, order, inside: AtomicUsize::new(0), clock: AtomicU64::new(0), arrived }
    }

    /// Through the doorway by `arrive`; returns when we started.
    fn arriving<P>(&self, p: usize, arrive: impl FnOnce() -> P) -> (u64, P) {
        let start = self.clock.fetch_add(1, SeqCst);
        let place = arrive();
        self.arrived[p].store(self.clock.fetch_add(1, SeqCst), SeqCst);
        (start, place)
    }

    /// Before a place is given up, or left.
    fn going(&self, p: usize) {
        self.arrived[p].store(NOT_THERE, SeqCst);
    }

    /// Inside, having started then, or at a time not known.
    fn inside(&self, p: usize, start: Option<u64>, random: &mut Random) {
        let now = self.inside.fetch_add(1, SeqCst) + 1;
        assert!(now <= self.k, "{now} are inside, of {}", self.k);
        if let (Some(start), Order::OfArrival) = (start, self.order) {
            // Those who are still there had not left when we entered: of those who came before us, fewer than k.
            let before = (0..THREADS).filter(|&q| q != p && self.arrived[q].load(SeqCst) < start).count();
            assert!(before < self.k, "{before} who came before are still there, of {}", self.k);
        }
        if random.below(50) == 0 {
            thread::sleep(Duration::from_micros(random.below(1_500)));
        }
        self.inside.fetch_sub(1, SeqCst);
        self.going(p);
    }
}

/// Runs this in threads that come and go until the time is over.
fn in_threads(time: Duration, seed: u64, work: impl Fn(usize, &mut Random) + Sync) {
    let end = Instant::now() + time;
    for life in 0.. {
        if Instant::now() >= end {
            break;
        }
        let end = end.min(Instant::now() + LIVES);
        thread::scope(|scope| {
            for p in 0..THREADS {
                let work = &work;
                scope.spawn(move || {
                    let mut random = Random(seed.wrapping_add(life * 31).wrapping_mul(2 * p as u64 + 1) | 1);
                    while Instant::now() < end {
                        work(p, &mut random);
                    }
                });
            }
        });
    }
}

/// Drops what is inside by a panic, once in a while.
fn perhaps_panic<G>(inside: G, random: &mut Random) {
    if random.below(100) == 0 {
        let _ = catch_unwind(AssertUnwindSafe(move || {
            let _inside = inside;
            resume_unwind(Box::new(()));
        }));
    }
}

fn default_mutex(time: Duration, seed: u64) {
    let (lock, entered) = (Mutex::new(0_u64), AtomicU64::new(0));
    let room = Room::new(1, Order::OfArrival);
    in_threads(time, seed, |p, random| {
        let brief = Duration::from_micros(random.below(300));
        let kind = random.below(6);
        let (start, guard) = match kind {
            0 => (None, lock.try_lock()),
            1 => (None, lock.lock_timeout(brief)),
            _ => {
                let (start, place) = room.arriving(p, || lock.arrive());
                let guard = match kind {
                    2 => {
                        room.going(p);
                        drop(place);
                        None
                    }
                    3 => match place.wait_timeout(brief).or_else(|place| place.wait_timeout(brief)) {
                        Ok(guard) => Some(guard),
                        Err(place) => {
                            room.going(p);
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
            room.inside(p, start, random);
            *guard = seen + 1;
            perhaps_panic(guard, random);
        }
    });
    assert!(lock.try_lock().is_some(), "no place is lost");
    assert_eq!(lock.into_inner(), entered.into_inner(), "nobody was inside with another");
}

fn default_semaphore(time: Duration, k: usize, seed: u64) {
    let semaphore = Semaphore::new(k);
    let room = Room::new(k, Order::OfArrival);
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
                let (start, turn) = room.arriving(p, || semaphore.arrive());
                (Some(start), Some(turn.wait()))
            }
        };
        if let Some(permit) = permit {
            room.inside(p, start, random);
            perhaps_panic(permit, random);
        }
    });
    let all: Vec<_> = (0..k).map(|_| semaphore.try_acquire().expect("all places are there")).collect();
    assert!(semaphore.try_acquire().is_none());
    drop(all);
}

/// A lock of the catalogue. There are as many slots as threads, and sometimes one keeps its own.
fn mutex<L>(time: Duration, seed: u64, order: Order)
where
    L: Line + Catalogue,
{
    let (lock, entered) = (L::mutex(), AtomicU64::new(0));
    let room = Room::new(1, order);
    in_threads(time, seed, |p, random| {
        if random.below(20) == 0 {
            drop(lock.arrive());
        }
        let (start, place) = room.arriving(p, || lock.arrive());
        let mut guard = place.wait();
        entered.fetch_add(1, SeqCst);
        let seen = *guard;
        room.inside(p, Some(start), random);
        *guard = seen + 1;
        perhaps_panic(guard, random);
        if random.below(20) == 0 {
            L::pass_registered(&lock, || {
                entered.fetch_add(1, SeqCst);
                room.inside(p, None, random);
            });
        }
    });
    assert_eq!(lock.into_inner(), entered.into_inner(), "nobody was inside with another");
}

fn semaphore<L>(time: Duration, seed: u64)
where
    L: Line + Catalogue,
{
    let semaphore = L::semaphore();
    let room = Room::new(2, Order::Any);
    in_threads(time, seed, |p, random| {
        if random.below(20) == 0 {
            drop(semaphore.arrive());
        }
        let permit = semaphore.acquire();
        room.inside(p, None, random);
        perhaps_panic(permit, random);
    });
    let _both = (semaphore.acquire(), semaphore.acquire());
}

/// What takes slots.
trait Catalogue: Sized {
    fn mutex() -> Mutex<u64, Self>;
    fn semaphore() -> Semaphore<Self>;
    fn pass_registered(lock: &Mutex<u64, Self>, inside: impl FnOnce());
}

impl<A: Algorithm> Catalogue for Slotted<A> {
    fn mutex() -> Mutex<u64, Self> {
        // One more than threads, so that whoever registers finds one.
        Mutex::with_slots(0, THREADS + 1)
    }

    fn semaphore() -> Semaphore<Self> {
        Semaphore::with_slots(2, THREADS)
    }

    fn pass_registered(lock: &Mutex<u64, Self>, inside: impl FnOnce()) {
        let mut here = lock.register();
        let mut guard = here.lock();
        let seen = *guard;
        inside();
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
