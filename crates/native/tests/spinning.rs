//! Threads that only spin, and contention in every layout.
use std::{
    sync::atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Relaxed, SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use doorway_algorithms::mutex::{bakery::Bakery, filter::Filter, lamport_fast::LamportFast, mcs::Mcs};
use doorway_memory::{Exclusion, Memory, Space};
use doorway_native::{Layout, Native, Padded, Spinning};

#[test]
fn spinning_threads_exclude_each_other() {
    count(&Bakery::new(&mut Spinning, 2));
    count(&Filter::new(&mut Spinning, 2));
    count(&LamportFast::new(&mut Spinning, 2));
    count(&Mcs::new(&mut Spinning, 2));
}

/// In this layout writers do not wake parked waiters, so a waiter with a deadline must not park.
#[test]
fn a_spinning_waiter_with_a_deadline_sees_an_earlier_write() {
    let flag = Spinning.shared("flag", false);
    let waiting = AtomicBool::new(false);
    let waited = thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            waiting.store(true, SeqCst);
            let far_away = Instant::now() + Duration::from_secs(3600);
            Native::<Spinning>::new().until_deadline(&flag, |flag| flag, far_away)
        });
        while !waiting.load(SeqCst) {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(50)); // longer than a waiter that parks would spin
        let Ok(()) = Native::new().write(&flag, true);
        waiter.join().expect("a thread does not panic")
    });
    assert!(waited);
    let soon = Instant::now() + Duration::from_millis(1);
    assert!(!Native::<Spinning>::new().until_deadline(&Spinning.shared("flag", false), |flag| flag, soon));
}

#[test]
fn a_wait_is_contention_until_the_yield_after_release() {
    fn in_layout<L: Layout>(mut layout: L) {
        let (flag, mut m) = (layout.shared("flag", false), Native::<L>::new());
        let Ok(()) = m.until(&flag, |flag| !flag);
        assert!(!m.is_contended(), "the condition held at once");
        assert!(!m.until_deadline(&flag, |flag| flag, Instant::now() + Duration::from_millis(1)));
        assert!(m.is_contended());
        m.yield_after_release();
        assert!(!m.is_contended());
        m.relax();
        assert!(m.is_contended());
    }
    in_layout(Padded);
    in_layout(Spinning);
}

/// Counts passages with a lock. They are few because on one processor each may take a time slice.
fn count(lock: &impl Exclusion<Native<Spinning>>) {
    const PASSAGES: u64 = 300;
    let sum = AtomicU64::new(0);
    thread::scope(|scope| {
        for p in 0..2 {
            let sum = &sum;
            scope.spawn(move || {
                let mut m = Native::new();
                for _ in 0..PASSAGES {
                    let Ok(place) = lock.doorway(&mut m, p);
                    let Ok(inside) = lock.wait(&mut m, p, &place);
                    sum.store(sum.load(Relaxed) + 1, Relaxed);
                    let Ok(()) = lock.exit(&mut m, p, &inside);
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), 2 * PASSAGES);
}
