//! Threads that spin and never sleep.
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
};

use doorway_algorithms::mutex::{bakery::Bakery, filter::Filter, lamport_fast::LamportFast, mcs::Mcs};
use doorway_memory::Exclusion;
use doorway_native::{Native, Spinning};

#[test]
fn threads_that_spin_exclude_each_other_too() {
    count(&Bakery::new(&mut Spinning, 2));
    count(&Filter::new(&mut Spinning, 2));
    count(&LamportFast::new(&mut Spinning, 2));
    count(&Mcs::new(&mut Spinning, 2));
}

/// Few passages: on one processor each may take a time slice.
fn count(lock: &(impl Exclusion<Native<Spinning>> + Sync)) {
    const PASSAGES: u64 = 300;
    let sum = AtomicU64::new(0);
    thread::scope(|scope| {
        for p in 0..2 {
            let sum = &sum;
            scope.spawn(move || {
                let mut m = Native::new();
                for _ in 0..PASSAGES {
                    let Ok(place) = lock.doorway(&mut m, p);
                    let Ok(place) = lock.enter(&mut m, p, &place);
                    sum.store(sum.load(Relaxed) + 1, Relaxed);
                    let Ok(()) = lock.exit(&mut m, p, &place);
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), 2 * PASSAGES);
}
