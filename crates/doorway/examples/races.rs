//! Every lock of the crate around a value that is not atomic, for a race detector: `scripts/sanitize`.
//!
//! A critical section must happen before the next one; the detector reports a race if it does not. With the argument
//! `broken`, a lock without this guarantee is used, and the detector must report it.
//!
//! Threads are spawned and joined, and locks are never freed, since the detector does not understand the other ways
//! in which the standard library waits for a thread.
use std::{
    cell::UnsafeCell,
    sync::atomic::{
        AtomicBool,
        Ordering::{Relaxed, SeqCst},
    },
    thread,
    time::Duration,
};

use doorway::{Mutex, Queue, Semaphore, algorithms::*};

const THREADS: usize = 4;
const PASSAGES: u64 = 3_000;

macro_rules! races {
    ($($(#[$_:meta])* $folder:ident { $($kind:ident $file:ident $name:ident;)* })*) => {
        $($(race!($folder $kind $file $name);)*)*
    };
}

macro_rules! race {
    (mutex lock $file:ident $name:ident) => {
        if doorway_algorithms::mutex::$file::ABOUT.size(Some(THREADS), None).is_ok() {
            counts::<$name>(Mutex::with_slots(0, THREADS));
        }
    };
    (kexclusion lock $file:ident $name:ident) => {
        one_of_k::<$name>();
    };
    ($other:ident $kind:ident $file:ident $name:ident) => {}; // broken algorithms and parts
}

fn main() {
    if std::env::args().nth(1).is_some_and(|argument| argument == "broken") {
        return broken();
    }
    default_mutex();
    default_semaphore();
    doorway_algorithms::for_each_algorithm!(races);
    println!("done");
}

/// Runs `work` `PASSAGES` times in each thread, and joins the threads.
fn in_threads(work: impl Fn(u64) + Copy + Send + 'static) {
    let threads: Vec<_> =
        (0..THREADS as u64).map(|p| thread::spawn(move || (0..PASSAGES).for_each(|i| work(p + i)))).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("a thread does not panic"));
}

fn counts<Q: Queue + 'static>(lock: Mutex<u64, Q>) {
    let lock: &'static Mutex<u64, Q> = Box::leak(Box::new(lock));
    in_threads(|_| *lock.lock() += 1);
    assert_eq!(*lock.lock(), THREADS as u64 * PASSAGES);
}

/// Includes aborts, attempts and timeouts.
fn default_mutex() {
    static LOCK: Mutex<u64> = Mutex::new(0);
    in_threads(|i| {
        let guard = match i % 5 {
            0 => LOCK.try_lock(),
            1 => LOCK.lock_timeout(Duration::from_micros(i % 50)),
            2 => {
                drop(LOCK.arrive());
                None
            }
            _ => Some(LOCK.lock()),
        };
        if let Some(mut value) = guard {
            *value += 1;
            if i % 200 == 0 {
                thread::sleep(Duration::from_micros(300)); // so that waiters park
            }
        }
    });
    assert!(*LOCK.lock() >= 2 * PASSAGES);
}

/// A semaphore with capacity 1 is a mutex.
fn default_semaphore() {
    static SEMAPHORE: Semaphore = Semaphore::new(1);
    counted_behind(|i| {
        if i % 3 == 0 { SEMAPHORE.acquire_timeout(Duration::from_micros(20)) } else { Some(SEMAPHORE.acquire()) }
    });
}

/// A semaphore of which all permits but one are held permanently is a mutex.
fn one_of_k<Q: Queue + 'static>()
where
    Semaphore<Q>: Slots,
{
    let semaphore: &'static Semaphore<Q> = Box::leak(Box::new(Semaphore::<Q>::for_two()));
    let _permanent = semaphore.acquire();
    counted_behind(|_| Some(semaphore.acquire()));
}

/// A semaphore with capacity 2 and enough slots.
trait Slots {
    fn for_two() -> Self;
}

impl<A: Algorithm> Slots for Semaphore<Slotted<A>> {
    fn for_two() -> Self {
        Semaphore::with_slots(2, THREADS + 1)
    }
}

/// A value that only the caller's lock protects.
struct Bare(UnsafeCell<u64>);

// SAFETY: not guaranteed here: whether accesses are exclusive is what the detector has to find out.
#[allow(unsafe_code, reason = "this is what is tested")]
unsafe impl Sync for Bare {}

impl Bare {
    #[allow(unsafe_code, reason = "this is what is tested")]
    fn add(&self) {
        // SAFETY: every caller is the only holder of its lock.
        unsafe { *self.0.get() += 1 }
    }
}

fn counted_behind<P>(enter: impl Fn(u64) -> Option<P> + Copy + Send + 'static) {
    let bare: &'static Bare = Box::leak(Box::new(Bare(UnsafeCell::new(0))));
    in_threads(move |i| {
        if let Some(_permit) = enter(i) {
            bare.add();
        }
    });
}

/// A lock that excludes, but whose release does not publish what the holder did.
fn broken() {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let bare: &'static Bare = Box::leak(Box::new(Bare(UnsafeCell::new(0))));
    in_threads(move |_| {
        while TAKEN.compare_exchange(false, true, SeqCst, Relaxed).is_err() {
            thread::yield_now();
        }
        bare.add();
        TAKEN.store(false, Relaxed);
    });
}
