//! The code that runs, in other orders than the machine would choose: `scripts/sanitize`.
//!
//! What the checker proves complete is the algorithm and the protocol of sleeping; here are the sources around them, sleepers'
//! lists and places given up among them. Each step on shared memory is one after the other, as if there were no store buffers,
//! and orders are tried at random. A wake-up or a turn that is lost is a deadlock, which is reported with the order that shows it.
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

const ORDERS: usize = 20_000;

/// At random, and with few but well placed changes of thread. The latter only where who waits sleeps: they may let one who looks
/// again and again go on looking.
fn in_many_orders(test: impl Fn() + Send + Sync + Clone + 'static) {
    check_random(test.clone(), ORDERS);
    check_pct(test, ORDERS, 3);
}

/// Does this in threads and waits for them.
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
    Arc::into_inner(shared).expect("all have ended")
}

#[test]
fn everyone_gets_in() {
    in_many_orders(|| {
        let lock = |lock: &Mutex<u32>| (0..2).for_each(|_| *lock.lock() += 1);
        assert_eq!(together(Mutex::new(0), &[lock, lock, lock]).into_inner(), 6);
    });
}

#[test]
fn a_place_given_up_is_passed_over() {
    in_many_orders(|| {
        let lock = |lock: &Mutex<u32>| *lock.lock() += 1;
        let give_up = |lock: &Mutex<u32>| drop(lock.arrive());
        let after = together(Mutex::new(0), &[lock, give_up, lock, give_up]);
        assert_eq!(*after.try_lock().expect("nobody is there"), 2);
    });
}

#[test]
fn who_is_late_leaves_no_trace() {
    in_many_orders(|| {
        let lock = |lock: &Mutex<u32>| *lock.lock() += 1;
        let late = |lock: &Mutex<u32>| {
            if let Some(mut value) = lock.lock_timeout(Duration::ZERO) {
                *value += 10;
            }
        };
        let after = together(Mutex::new(0), &[lock, late, lock]);
        assert_eq!(*after.try_lock().expect("nobody is there") % 10, 2);
    });
}

#[test]
fn a_panic_lets_the_next_one_in() {
    in_many_orders(|| {
        let lock = |lock: &Mutex<u32>| *lock.lock() += 1;
        let panics = |lock: &Mutex<u32>| {
            let inside = lock.lock();
            let _ = panic::catch_unwind(panic::AssertUnwindSafe(move || {
                let _inside = inside;
                panic::resume_unwind(Box::new(()));
            }));
        };
        assert_eq!(together(Mutex::new(0), &[panics, lock, lock]).into_inner(), 2);
    });
}

#[test]
fn at_most_k_are_inside_and_no_place_is_lost() {
    struct Room {
        semaphore: Semaphore,
        inside: AtomicUsize,
    }
    in_many_orders(|| {
        let enter = |room: &Room| {
            let _permit = room.semaphore.acquire();
            assert!(room.inside.fetch_add(1, SeqCst) < 2);
            room.inside.fetch_sub(1, SeqCst);
        };
        let give_up = |room: &Room| drop(room.semaphore.arrive());
        let try_it = |room: &Room| drop(room.semaphore.try_acquire());
        let room = Room { semaphore: Semaphore::new(2), inside: AtomicUsize::new(0) };
        let Room { semaphore, .. } = together(room, &[enter, enter, enter, give_up, try_it]);
        let both = (semaphore.try_acquire(), semaphore.try_acquire());
        assert!(both.0.is_some() && both.1.is_some() && semaphore.try_acquire().is_none());
    });
}

#[test]
fn slots_are_taken_and_given_back() {
    let test = || {
        let lock = |lock: &Mutex<u32, Bakery>| *lock.lock() += 1;
        assert_eq!(together(Mutex::with_slots(0, 2), &[lock, lock, lock]).into_inner(), 3);
    };
    check_random(test, ORDERS);
}

#[test]
fn slots_are_kept_and_given_back() {
    let test = || {
        let often = |lock: &Mutex<u32, Mcs>| {
            let mut here = lock.register();
            (0..2).for_each(|_| *here.lock() += 1);
        };
        assert_eq!(together(Mutex::with_slots(0, 2), &[often, often]).into_inner(), 4);
    };
    check_random(test, ORDERS);
}

#[test]
fn slots_are_taken_and_given_back_at_a_semaphore() {
    let test = || {
        let enter = |semaphore: &Semaphore<KBakeryFife>| drop(semaphore.acquire());
        together(Semaphore::with_slots(1, 2), &[enter, enter, enter]);
    };
    check_random(test, ORDERS);
}
