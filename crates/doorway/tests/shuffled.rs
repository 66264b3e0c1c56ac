//! The native code under schedules that the machine would rarely choose: `scripts/sanitize`.
//!
//! The checker proves the algorithm and the protocol of parking; these tests cover the sources around them, among
//! them the lists of parked waiters and of aborted places. The memory is sequentially consistent, without store
//! buffers, and schedules are random. A lost wake-up or a lost turn is a deadlock, which is reported with its
//! schedule.
#![cfg(shuttle)]

use std::{
    future::Future,
    panic,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use doorway::{
    Mutex, Semaphore,
    algorithms::{Bakery, KBakeryFife, Mcs},
};
use shuttle::{
    check_pct, check_random,
    future::block_on,
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

/// Polls a future once, with a waker that does nothing, and drops it: a task that is cancelled while it waits, or after
/// its turn has come.
fn cancel<F: Future + Unpin>(mut future: F) -> Poll<F::Output> {
    let polled = Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()));
    thread::yield_now();
    polled
}

#[test]
fn every_task_enters() {
    in_many_schedules(|| {
        let enter = |lock: &Mutex<u32>| {
            block_on(async {
                for _ in 0..2 {
                    *lock.lock_async().await += 1;
                }
            });
        };
        assert_eq!(together(Mutex::new(0), &[enter, enter, enter]).into_inner(), 6);
    });
}

#[test]
fn tasks_and_threads_are_in_one_queue() {
    in_many_schedules(|| {
        let task = |lock: &Mutex<u32>| *block_on(lock.lock_async()) += 1;
        let thread = |lock: &Mutex<u32>| *lock.lock() += 1;
        assert_eq!(together(Mutex::new(0), &[task, thread, task, thread]).into_inner(), 4);
    });
}

#[test]
fn cancelled_tasks_lose_no_wake_up() {
    in_many_schedules(|| {
        let enter = |lock: &Mutex<u32>| *block_on(lock.lock_async()) += 1;
        let cancelled = |lock: &Mutex<u32>| drop(cancel(lock.lock_async()));
        let after = together(Mutex::new(0), &[enter, cancelled, enter, cancelled]);
        assert_eq!(*after.try_lock().expect("the mutex is free"), 2);
    });
}

/// The waker of the first poll is replaced by that of another task.
#[test]
fn the_latest_waker_is_woken() {
    in_many_schedules(|| {
        let enter = |lock: &Mutex<u32>| *block_on(lock.lock_async()) += 1;
        let replaced = |lock: &Mutex<u32>| {
            let mut place = lock.arrive();
            match Pin::new(&mut place).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(mut value) => *value += 1,
                Poll::Pending => *block_on(place) += 1,
            }
        };
        assert_eq!(together(Mutex::new(0), &[replaced, enter, replaced]).into_inner(), 3);
    });
}

#[test]
fn a_semaphore_of_tasks_keeps_its_capacity() {
    struct Counted {
        semaphore: Semaphore,
        holders: AtomicUsize,
    }
    in_many_schedules(|| {
        let enter = |counted: &Counted| {
            let _permit = block_on(counted.semaphore.acquire_async());
            assert!(counted.holders.fetch_add(1, SeqCst) < 2);
            counted.holders.fetch_sub(1, SeqCst);
        };
        let cancelled = |counted: &Counted| drop(cancel(counted.semaphore.acquire_async()));
        let thread = |counted: &Counted| drop(counted.semaphore.acquire());
        let counted = Counted { semaphore: Semaphore::new(2), holders: AtomicUsize::new(0) };
        let Counted { semaphore, .. } = together(counted, &[enter, enter, enter, cancelled, thread]);
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
