//! Threads that spin and never sleep, and those who do either.
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
fn threads_that_spin_exclude_each_other_too() {
    count(&Bakery::new(&mut Spinning, 2));
    count(&Filter::new(&mut Spinning, 2));
    count(&LamportFast::new(&mut Spinning, 2));
    count(&Mcs::new(&mut Spinning, 2));
}

/// Who writes does not look for sleepers, so who waits to a deadline must not be one.
#[test]
fn who_spins_to_a_deadline_sees_what_is_written_long_before_it() {
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
        thread::sleep(Duration::from_millis(50)); // longer than anybody would spin who is going to sleep
        let Ok(()) = Native::new().write(&flag, true);
        waiter.join().expect("it does not panic")
    });
    assert!(waited);
    let soon = Instant::now() + Duration::from_millis(1);
    assert!(!Native::<Spinning>::new().until_deadline(&Spinning.shared("flag", false), |flag| flag, soon));
}

#[test]
fn who_had_to_wait_has_met_others_until_they_went_first() {
    fn in_layout<L: Layout>(mut layout: L) {
        let (flag, mut m) = (layout.shared("flag", false), Native::<L>::new());
        let Ok(()) = m.until(&flag, |flag| !flag);
        assert!(!m.has_met_others(), "it was there already");
        assert!(!m.until_deadline(&flag, |flag| flag, Instant::now() + Duration::from_millis(1)));
        assert!(m.has_met_others());
        m.after_you();
        assert!(!m.has_met_others());
        m.relax();
        assert!(m.has_met_others());
    }
    in_layout(Padded);
    in_layout(Spinning);
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
