//! The native code under schedules that the machine would rarely choose: `scripts/sanitize`.
//!
//! The checker proves the algorithm and the protocol of parking; these tests cover the sources around them, among
//! them the lists of parked waiters and of aborted places. The memory is sequentially consistent, without store
//! buffers, and schedules are random. A lost wake-up or a lost turn is a deadlock, which is reported with its
//! schedule.
#![cfg(shuttle)]

use std::{panic, time::Duration};

use doorway::{
    Mutex, Semaphore,
    algorithms::{Bakery, KBakeryFife, Mcs},
};
use shuttle::{
    check_pct, check_random,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

const SCHEDULES: usize = 20_000;

/// Runs a test under random schedules, and under schedules with few context switches (PCT). The latter are only for
/// tests whose waiters park: they may schedule a waiter that polls for ever.
fn in_many_schedules(test: impl Fn() + Send + Sync + Clone + 'static) {
    check_random(test.clone(), SCHEDULES);
    check_pct(test, SCHEDULES, 3);
}

/// Runs each function in a thread, joins the threads, and returns what they shared.
fn together<T: Send + Sync + 'static>(shared: T, work: &[fn(&T)]) -> T {
    let shared = Arc::new(shared);
    let threads: Vec<_> = work
        .iter()
        .map(|&work| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || work(&shared))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    Arc::into_inner(shared).expect("all threads have ended")
}

#[test]
fn every_thread_enters() {
    in_many_schedules(|| {
        let lock = |lock: &Mutex<u32>| (0..2).for_each(|_| *lock.lock() += 1);
        assert_eq!(together(Mutex::new(0), &[lock, lock, lock]).into_inner(), 6);
    });
}

#[test]
fn aborted_places_are_skipped() {
    in_many_schedules(|| {
        let lock = |lock: &Mutex<u32>| *lock.lock() += 1;
        let abort = |lock: &Mutex<u32>| drop(lock.arrive());
        let after = together(Mutex::new(0), &[lock, abort, lock, abort]);
        assert_eq!(*after.try_lock().expect("the mutex is free"), 2);
    });
}

#[test]
fn a_timeout_does_not_block_the_queue() {
    in_many_schedules(|| {
        let lock = |lock: &Mutex<u32>| *lock.lock() += 1;
        let late = |lock: &Mutex<u32>| {
            if let Some(mut value) = lock.lock_timeout(Duration::ZERO) {
                *value += 10;
            }
        };
        let after = together(Mutex::new(0), &[lock, late, lock]);
        assert_eq!(*after.try_lock().expect("the mutex is free") % 10, 2);
    });
}

#[test]
fn a_panic_of_the_holder_releases_the_mutex() {
    in_many_schedules(|| {
        let lock = |lock: &Mutex<u32>| *lock.lock() += 1;
        let panics = |lock: &Mutex<u32>| {
            let guard = lock.lock();
            let _ = panic::catch_unwind(panic::AssertUnwindSafe(move || {
                let _guard = guard;
                panic::resume_unwind(Box::new(()));
            }));
        };
        assert_eq!(together(Mutex::new(0), &[panics, lock, lock]).into_inner(), 2);
    });
}

#[test]
fn a_semaphore_admits_at_most_k_holders_and_keeps_its_capacity() {
    struct Counted {
        semaphore: Semaphore,
        holders: AtomicUsize,
    }
    in_many_schedules(|| {
        let enter = |counted: &Counted| {
            let _permit = counted.semaphore.acquire();
            assert!(counted.holders.fetch_add(1, SeqCst) < 2);
            counted.holders.fetch_sub(1, SeqCst);
        };
        let abort = |counted: &Counted| drop(counted.semaphore.arrive());
        let try_acquire = |counted: &Counted| drop(counted.semaphore.try_acquire());
        let counted = Counted { semaphore: Semaphore::new(2), holders: AtomicUsize::new(0) };
        let Counted { semaphore, .. } = together(counted, &[enter, enter, enter, abort, try_acquire]);
        let both = (semaphore.try_acquire(), semaphore.try_acquire());
        assert!(both.0.is_some() && both.1.is_some() && semaphore.try_acquire().is_none());
    });
}

#[test]
fn a_mutex_takes_and_returns_slots() {
    let test = || {
        let lock = |lock: &Mutex<u32, Bakery>| *lock.lock() += 1;
        assert_eq!(together(Mutex::with_slots(0, 2), &[lock, lock, lock]).into_inner(), 3);
    };
    check_random(test, SCHEDULES);
}

#[test]
fn registered_threads_keep_and_return_slots() {
    let test = || {
        let lock_twice = |lock: &Mutex<u32, Mcs>| {
            let mut registered = lock.register();
            (0..2).for_each(|_| *registered.lock() += 1);
        };
        assert_eq!(together(Mutex::with_slots(0, 2), &[lock_twice, lock_twice]).into_inner(), 4);
    };
    check_random(test, SCHEDULES);
}

#[test]
fn a_semaphore_takes_and_returns_slots() {
    let test = || {
        let enter = |semaphore: &Semaphore<KBakeryFife>| drop(semaphore.acquire());
        together(Semaphore::with_slots(1, 2), &[enter, enter, enter]);
    };
    check_random(test, SCHEDULES);
}
