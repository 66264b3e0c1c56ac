//! The locks with threads that acquire, wait, abort and panic.
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    thread,
    time::Duration,
};

use doorway::{
    Mutex, MutexGuard, Permit, Place, Semaphore,
    algorithms::{self, Algorithm, Slotted},
};

#[test]
fn locks_and_guards_are_send_and_sync() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Mutex<std::cell::Cell<u8>>>();
    sync::<Mutex<std::cell::Cell<u8>>>();
    send::<MutexGuard<'_, u8>>();
    sync::<MutexGuard<'_, u8>>();
    send::<Place<MutexGuard<'_, u8>>>();
    sync::<Semaphore>();
    send::<Permit<'_>>();
    send::<Place<Permit<'_>>>();
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn a_lock_with_a_small_value_fits_in_one_cache_line() {
    assert_eq!([size_of::<Mutex<()>>(), size_of::<Mutex<String>>(), size_of::<Semaphore>()], [64; 3]);
    assert_eq!([align_of::<Mutex<()>>(), align_of::<Semaphore>()], [64; 2]);
}

#[test]
fn a_mutex_excludes() {
    let count = Mutex::new(0_u64);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..20_000).for_each(|_| *count.lock() += 1));
        }
    });
    assert_eq!(count.into_inner(), 160_000);
}

/// Increments a value under a lock of the catalogue, with more threads than slots.
fn excludes<A: Algorithm>(with_slots: fn(u64, usize) -> Mutex<u64, Slotted<A>>) {
    let slots = if A::ABOUT.size(Some(3), None).is_ok() { 3 } else { 2 };
    let lock = with_slots(0, slots);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|_| *lock.lock() += 1));
        }
        let place = lock.arrive();
        drop(place);
    });
    assert_eq!(lock.into_inner(), 2_000);
}

/// Counts the holders of a semaphore of the catalogue, with more threads than slots.
fn admits_at_most_k<A: Algorithm>(with_slots: fn(usize, usize) -> Semaphore<Slotted<A>>) {
    let (semaphore, holders) = (with_slots(2, 4), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..300 {
                    let _permit = semaphore.acquire();
                    let now = holders.fetch_add(1, SeqCst) + 1;
                    assert!(now <= 2, "{now} holders with k = 2");
                    holders.fetch_sub(1, SeqCst);
                }
            });
        }
    });
    // A thread may hold several permits: each has a slot of its own.
    let _both = (semaphore.acquire(), semaphore.acquire());
}

macro_rules! tests {
    ($($(#[$_:meta])* $folder:ident { $($kind:ident $file:ident $name:ident;)* })*) => {
        $($(tests!($folder $file $name);)*)*
    };
    (mutex $file:ident $name:ident) => {
        #[test]
        fn $file() {
            excludes(Mutex::<u64, algorithms::$name>::with_slots);
        }
    };
    (kexclusion $file:ident $name:ident) => {
        #[test]
        fn $file() {
            admits_at_most_k(Semaphore::<algorithms::$name>::with_slots);
        }
    };
    ($other:ident $file:ident $name:ident) => {}; // broken algorithms and parts
}

mod every_lock_of_the_catalogue_excludes_or_admits_at_most_k {
    use super::*;

    doorway_algorithms::for_each_algorithm!(tests);
}

#[test]
fn holders_have_different_names() {
    fn names<A: Algorithm>(semaphore: Semaphore<Slotted<A>>, name: fn(&Permit<'_, Slotted<A>>) -> usize) {
        let taken = [const { AtomicBool::new(false) }; 2];
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let permit = semaphore.acquire();
                        assert!(!taken[name(&permit)].swap(true, SeqCst), "two holders have the same name");
                        taken[name(&permit)].store(false, SeqCst);
                    }
                });
            }
        });
    }
    names(Semaphore::<algorithms::DanekLee>::with_slots(2, 4), |permit| permit.name());
    names(Semaphore::<algorithms::DeckerJayantiNames>::with_slots(2, 4), |permit| permit.name());
}

#[test]
fn registered_threads_keep_and_return_their_slots() {
    let lock: Mutex<u64, algorithms::Mcs> = Mutex::with_slots(0, 4);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut registered = lock.register();
                (0..2_000).for_each(|_| *registered.lock() += 1);
            });
        }
        scope.spawn(|| (0..500).for_each(|_| *lock.lock() += 1));
    });
    let [_a, _b, _c, _d] = [(); 4].map(|()| lock.register());
    assert!(format!("{_d:?}").contains("slot"), "all four slots were returned");
    drop(_d);
    assert_eq!(*lock.lock(), 6_500);
}

#[test]
#[should_panic(expected = "a guard of this slot was forgotten")]
fn a_registered_thread_that_forgot_a_guard_does_not_enter_again() {
    let lock: Mutex<u64, algorithms::Bakery> = Mutex::with_slots(0, 2);
    let mut registered = lock.register();
    std::mem::forget(registered.lock());
    drop(registered.lock());
}

#[test]
#[should_panic(expected = "`k-bakery` needs a k from 1 to 1, not 2")]
fn too_few_slots_are_refused() {
    let _: Semaphore<algorithms::KBakery> = Semaphore::with_slots(2, 2);
}

#[test]
#[should_panic(expected = "`peterson` is for 2 processes, not 8")]
fn a_number_of_slots_that_the_algorithm_does_not_support_is_refused() {
    let _: Mutex<(), algorithms::Peterson> = Mutex::with_slots((), 8);
}

#[test]
#[should_panic(expected = "`bakery` is mutual exclusion, so k is 1, not 2")]
fn a_capacity_that_the_algorithm_does_not_support_is_refused() {
    let _: Semaphore<algorithms::Bakery> = Semaphore::with_slots(2, 8);
}

#[test]
fn a_semaphore_admits_up_to_k_holders() {
    for k in [1, 2, 4] {
        let semaphore = Semaphore::new(k);
        let (holders, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..3_000 {
                        let _permit = semaphore.acquire();
                        let now = holders.fetch_add(1, SeqCst) + 1;
                        assert!(now <= k, "{now} holders with k = {k}");
                        most.fetch_max(now, SeqCst);
                        thread::yield_now();
                        holders.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), k, "with eight threads whose holders yield, there are k holders at some time");
    }
}

/// The threads arrive one after the other, and start to wait in reverse order.
#[test]
fn threads_enter_in_order_of_arrival() {
    let order = Mutex::new(Vec::new());
    let guard = order.lock();
    let places: Vec<_> = (0..8).map(|i| (i, order.arrive())).collect();
    thread::scope(|scope| {
        for (i, place) in places.into_iter().rev() {
            assert_eq!(place.ahead(), i + 1);
            scope.spawn(move || place.wait().push(i));
        }
        drop(guard);
    });
    assert_eq!(order.into_inner(), (0..8).collect::<Vec<_>>());
}

/// As above, with a holder that stays long enough for all waiters to park.
#[test]
fn parked_waiters_are_woken_in_order() {
    let order = Mutex::new(Vec::new());
    let guard = order.lock();
    let places: Vec<_> = (0..6).map(|i| (i, order.arrive())).collect();
    thread::scope(|scope| {
        for (i, place) in places {
            scope.spawn(move || place.wait().push(i));
        }
        thread::sleep(Duration::from_millis(50));
        drop(guard);
    });
    assert_eq!(order.into_inner(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_mutex_skips_aborted_places() {
    let order = Mutex::new(Vec::new());
    let guard = order.lock();
    let [first, second, third, fourth] = [(); 4].map(|()| order.arrive());
    drop(second);
    drop(first);
    let still = third.wait_timeout(Duration::from_millis(2)).unwrap_err();
    drop(guard);
    still.wait().push(3);
    drop(fourth);
    order.try_lock().expect("all others have left or aborted").push(5);
    assert_eq!(order.into_inner(), [3, 5]);
}

#[test]
fn a_semaphore_skips_aborted_places() {
    let semaphore = Semaphore::new(2);
    let (a, b) = (semaphore.acquire(), semaphore.acquire());
    let (lost, kept, late) = (semaphore.arrive(), semaphore.arrive(), semaphore.arrive());
    drop(lost);
    drop(a);
    let kept = kept.try_wait().expect("the place ahead was aborted");
    assert!(late.try_wait().is_err(), "which also drops this place");
    drop((b, kept));
    let _both = (semaphore.try_acquire().unwrap(), semaphore.try_acquire().unwrap());
    assert!(semaphore.try_acquire().is_none());
}

#[test]
fn a_panic_of_the_holder_releases_the_mutex() {
    let count = Mutex::new(0);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut guard = count.lock();
        *guard += 1;
        panic!("in the critical section");
    }));
    assert!(panicked.is_err());
    assert_eq!(*count.try_lock().expect("the mutex is free"), 1);
}

#[test]
fn debug_shows_the_value_and_the_queue() {
    let lock = Mutex::new(3);
    assert_eq!(format!("{lock:?}"), "Mutex { value: 3 }");
    let guard = lock.lock();
    assert_eq!(format!("{lock:?} {guard:?}"), "Mutex { value: <locked> } 3");
    assert_eq!(format!("{:?}", Semaphore::new(2)), "Semaphore { capacity: 2, holders and waiters: 0 }");
}
