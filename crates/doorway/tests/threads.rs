//! The locks under threads that come, wait, give up and panic.
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    thread,
    time::Duration,
};

use doorway::{
    Mutex, MutexGuard, Permit, Place, Semaphore, Turn,
    algorithms::{Algorithm, Slotted},
};

#[test]
fn what_can_be_sent_and_shared_is_what_users_expect() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Mutex<std::cell::Cell<u8>>>();
    sync::<Mutex<std::cell::Cell<u8>>>();
    send::<MutexGuard<'_, u8>>();
    sync::<MutexGuard<'_, u8>>();
    send::<Place<'_, u8>>();
    sync::<Semaphore>();
    send::<Permit<'_>>();
    send::<Turn<'_>>();
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn a_lock_and_a_small_value_are_one_cache_line() {
    assert_eq!([size_of::<Mutex<()>>(), size_of::<Mutex<String>>(), size_of::<Semaphore>()], [64; 3]);
    assert_eq!([align_of::<Mutex<()>>(), align_of::<Semaphore>()], [64; 2]);
}

#[test]
fn one_at_a_time() {
    let count = Mutex::new(0_u64);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..20_000).for_each(|_| *count.lock() += 1));
        }
    });
    assert_eq!(count.into_inner(), 160_000);
}

/// Counts up by a lock of the catalogue; more threads than slots.
fn counts<L: doorway::Line>(lock: Mutex<u64, L>) {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|_| *lock.lock() += 1));
        }
        let place = lock.arrive();
        drop(place);
    });
    assert_eq!(lock.into_inner(), 2_000);
}

#[test]
fn one_at_a_time_by_every_lock_of_the_catalogue() {
    use doorway::algorithms::*;
    counts::<Filter>(Mutex::with_slots(0, 3));
    counts::<BakeryLabels>(Mutex::with_slots(0, 3));
    counts::<Bakery>(Mutex::with_slots(0, 3));
    counts::<PetersonTree>(Mutex::with_slots(0, 3));
    counts::<Tournament>(Mutex::with_slots(0, 3));
    counts::<OneBit>(Mutex::with_slots(0, 3));
    counts::<Dijkstra>(Mutex::with_slots(0, 3));
    counts::<LamportFast>(Mutex::with_slots(0, 3));
    counts::<BlackWhiteBakery>(Mutex::with_slots(0, 3));
    counts::<YangAnderson>(Mutex::with_slots(0, 3));
    counts::<KimAnderson>(Mutex::with_slots(0, 3));
    counts::<Mcs>(Mutex::with_slots(0, 3));
    counts::<AndersonArray>(Mutex::with_slots(0, 3));
    counts::<JayantiFArray>(Mutex::with_slots(0, 3));
    counts::<DanekGolab>(Mutex::with_slots(0, 3));
    counts::<DanekGolabAdaptive>(Mutex::with_slots(0, 3));
    counts::<DanekGolabYangAnderson>(Mutex::with_slots(0, 3));
}

#[test]
fn at_most_k_at_a_time_by_every_k_lock_of_the_catalogue() {
    use doorway::algorithms::*;
    fn crowds<L: doorway::Line>(semaphore: Semaphore<L>) {
        let inside = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        let _permit = semaphore.acquire();
                        let now = inside.fetch_add(1, SeqCst) + 1;
                        assert!(now <= 2, "{now} of 2 are inside");
                        inside.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        // One thread may be inside more than once: each time it has another slot.
        let _both = (semaphore.acquire(), semaphore.acquire());
    }
    crowds::<KBakery>(Semaphore::with_slots(2, 4));
    crowds::<KBakeryFife>(Semaphore::with_slots(2, 4));
    crowds::<KBakerySafe>(Semaphore::with_slots(2, 4));
    crowds::<LogK>(Semaphore::with_slots(2, 4));
    crowds::<FilterK>(Semaphore::with_slots(2, 4));
    crowds::<AndersonMoir>(Semaphore::with_slots(2, 4));
    crowds::<AndersonMoirTree>(Semaphore::with_slots(2, 4));
    crowds::<DeckerJayanti>(Semaphore::with_slots(2, 4));
    crowds::<AndersonMoirFast>(Semaphore::with_slots(2, 4));
    crowds::<AndersonMoirAdaptive>(Semaphore::with_slots(2, 4));
    crowds::<AndersonMoirDsm>(Semaphore::with_slots(2, 4));
    crowds::<AndersonMoirDsmTree>(Semaphore::with_slots(2, 4));
    crowds::<AndersonMoirDsmAdaptive>(Semaphore::with_slots(2, 4));
    crowds::<DanekLee>(Semaphore::with_slots(2, 4));
    crowds::<DeckerJayantiNames>(Semaphore::with_slots(2, 4));
    crowds::<FischerQueue>(Semaphore::with_slots(2, 4));
    crowds::<ColoredTicket>(Semaphore::with_slots(2, 4));
    crowds::<Afek>(Semaphore::with_slots(2, 4));
    crowds::<BurnsPeterson>(Semaphore::with_slots(2, 4));
    crowds::<DolevGafniShavit>(Semaphore::with_slots(2, 4));
}

#[test]
fn those_inside_have_different_names() {
    fn names<A: Algorithm>(semaphore: Semaphore<Slotted<A>>) {
        let taken = [const { AtomicBool::new(false) }; 2];
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let permit = semaphore.acquire();
                        assert!(!taken[permit.name()].swap(true, SeqCst), "two have one name");
                        taken[permit.name()].store(false, SeqCst);
                    }
                });
            }
        });
    }
    names::<doorway_algorithms::kexclusion::danek_lee::DanekLee<_>>(Semaphore::with_slots(2, 4));
    names::<doorway_algorithms::kexclusion::decker_jayanti_names::DeckerJayantiNames<_>>(Semaphore::with_slots(2, 4));
}

#[test]
fn who_is_registered_keeps_its_slot() {
    let lock: Mutex<u64, doorway::algorithms::Mcs> = Mutex::with_slots(0, 4);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut here = lock.register();
                (0..2_000).for_each(|_| *here.lock() += 1);
            });
        }
        scope.spawn(|| (0..500).for_each(|_| *lock.lock() += 1));
    });
    let [_a, _b, _c, _d] = [(); 4].map(|()| lock.register());
    assert!(format!("{_d:?}").contains("slot"), "all four slots were given back");
    drop(_d);
    assert_eq!(*lock.lock(), 6_500);
}

#[test]
#[should_panic(expected = "a guard of this slot was forgotten")]
fn who_forgets_a_guard_does_not_go_in_twice() {
    let lock: Mutex<u64, doorway::algorithms::Bakery> = Mutex::with_slots(0, 2);
    let mut here = lock.register();
    std::mem::forget(here.lock());
    drop(here.lock());
}

#[test]
#[should_panic(expected = "2 at a time need more than 2 slots, not 2")]
fn too_few_slots_are_refused() {
    let _: Semaphore<doorway::algorithms::KBakery> = Semaphore::with_slots(2, 2);
}

#[test]
fn at_most_k_at_a_time_and_k_do_get_in() {
    for k in [1, 2, 4] {
        let semaphore = Semaphore::new(k);
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..3_000 {
                        let _permit = semaphore.acquire();
                        let now = inside.fetch_add(1, SeqCst) + 1;
                        assert!(now <= k, "{now} of {k} are inside");
                        most.fetch_max(now, SeqCst);
                        thread::yield_now();
                        inside.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), k, "with eight who want to and yield inside, k are there at some time");
    }
}

/// Places are taken one after the other, and waited for in any order.
#[test]
fn who_arrives_first_enters_first() {
    let order = Mutex::new(Vec::new());
    let inside = order.lock();
    let places: Vec<_> = (0..8).map(|i| (i, order.arrive())).collect();
    thread::scope(|scope| {
        for (i, place) in places.into_iter().rev() {
            assert_eq!(place.ahead(), i + 1);
            scope.spawn(move || place.wait().push(i));
        }
        drop(inside);
    });
    assert_eq!(order.into_inner(), (0..8).collect::<Vec<_>>());
}

/// As above, long enough for everyone to fall asleep.
#[test]
fn sleepers_are_woken_in_order() {
    let order = Mutex::new(Vec::new());
    let inside = order.lock();
    let places: Vec<_> = (0..6).map(|i| (i, order.arrive())).collect();
    thread::scope(|scope| {
        for (i, place) in places {
            scope.spawn(move || place.wait().push(i));
        }
        thread::sleep(Duration::from_millis(50));
        drop(inside);
    });
    assert_eq!(order.into_inner(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_place_given_up_is_passed_over() {
    let order = Mutex::new(Vec::new());
    let inside = order.lock();
    let [first, second, third, fourth] = [(); 4].map(|()| order.arrive());
    drop(second);
    drop(first);
    let still = third.wait_timeout(Duration::from_millis(2)).unwrap_err();
    drop(inside);
    still.wait().push(3);
    drop(fourth);
    order.try_lock().expect("everyone has left or given up").push(5);
    assert_eq!(order.into_inner(), [3, 5]);
}

#[test]
fn a_place_given_up_at_a_semaphore_is_passed_over() {
    let semaphore = Semaphore::new(2);
    let (a, b) = (semaphore.acquire(), semaphore.acquire());
    let (lost, kept, late) = (semaphore.arrive(), semaphore.arrive(), semaphore.arrive());
    drop(lost);
    drop(a);
    let kept = kept.try_wait().expect("the one before gave up");
    assert!(late.try_wait().is_err(), "and is given up with that");
    drop((b, kept));
    let _both = (semaphore.try_acquire().unwrap(), semaphore.try_acquire().unwrap());
    assert!(semaphore.try_acquire().is_none());
}

#[test]
fn a_panic_inside_lets_the_next_one_in() {
    let count = Mutex::new(0);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut inside = count.lock();
        *inside += 1;
        panic!("inside");
    }));
    assert!(panicked.is_err());
    assert_eq!(*count.try_lock().expect("it is free"), 1);
}

#[test]
fn locks_tell_what_they_are_in_debug() {
    let lock = Mutex::new(3);
    assert_eq!(format!("{lock:?}"), "Mutex { value: 3 }");
    let inside = lock.lock();
    assert_eq!(format!("{lock:?} {inside:?}"), "Mutex { value: <locked> } 3");
    assert_eq!(format!("{:?}", Semaphore::new(2)), "Semaphore { permits: 2, inside or in line: 0 }");
}
