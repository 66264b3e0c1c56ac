//! Every lock of the registry, in executions without waiting.
use doorway_algorithms::{
    About, Condition, Size,
    registry::{self, Visitor},
};
use doorway_memory::{Exclusion, Part, Property, Solo};

#[test]
fn enters_without_waiting_below_capacity() {
    for &about in registry::all() {
        // In these an uncontended process may wait for ever.
        if about.lacks(Property::DeadlockFreedom) {
            continue;
        }
        for (n, k) in (2..=6).flat_map(|n| (1..n).map(move |k| (n, k))) {
            if let Ok(size) = about.size(Some(n), Some(k)) {
                registry::visit(about, size, FillToCapacity);
            }
        }
    }
}

/// k processes enter one after the other and then leave; 2n times, with every process among them.
struct FillToCapacity;

impl Visitor for FillToCapacity {
    type Space = Solo;
    type Output = ();

    fn lock<A: Exclusion<Solo>>(self, _: &'static About, size: Size, make: impl Fn(&mut Solo) -> A) {
        let mut m = Solo::new();
        let lock = make(&mut m);
        for first in 0..2 * size.n {
            let entering = (first..first + size.k).map(|p| p % size.n);
            let inside: Vec<_> = entering
                .map(|p| {
                    let Ok(place) = lock.doorway(&mut m, p);
                    let Ok(inside) = lock.wait(&mut m, p, &place);
                    (p, inside)
                })
                .collect();
            for (p, inside) in inside {
                let Ok(()) = lock.exit(&mut m, p, &inside);
            }
        }
    }

    fn part<A: Part<Solo>>(self, about: &'static About, _: Size, _: impl Fn(&mut Solo) -> A) {
        unreachable!("`{}` is a part and has no k", about.name)
    }
}

/// k holders and all waiters die, some waiters after an abort; then all processes are reaped, and k processes enter.
#[test]
fn reaps_and_aborts_restore_the_capacity() {
    for about in registry::all().iter().copied().filter(|about| about.tolerates(Condition::Deaths)) {
        for (n, k) in (2..=6).flat_map(|n| (1..n).map(move |k| (n, k))) {
            registry::visit(about, about.size(Some(n), Some(k)).expect("any k < n is supported"), ReapEveryProcess);
        }
    }
}

struct ReapEveryProcess;

impl Visitor for ReapEveryProcess {
    type Space = Solo;
    type Output = ();

    fn lock<A: Exclusion<Solo>>(self, about: &'static About, size: Size, make: impl Fn(&mut Solo) -> A) {
        let mut m = Solo::new();
        let lock = make(&mut m);
        let (Some(recovery), Some(aborting)) = (lock.recovery(), lock.aborting()) else {
            panic!("`{}` claims deaths, but has no recovery or no abort", about.name)
        };
        let enter = |m: &mut Solo, p| {
            let Ok(place) = lock.doorway(m, p);
            let Ok(inside) = lock.wait(m, p, &place);
            inside
        };
        for p in 0..size.k {
            enter(&mut m, p);
        }
        for p in size.k..size.n {
            let Ok(place) = lock.doorway(&mut m, p);
            if p % 2 == 0 {
                let Ok(()) = aborting.abort(&mut m, p, &place);
            }
        }
        for dead in 0..size.n {
            let Ok(()) = recovery.reap(&mut m, dead);
        }
        for p in size.n - size.k..size.n {
            enter(&mut m, p);
        }
    }

    fn part<A: Part<Solo>>(self, about: &'static About, _: Size, _: impl Fn(&mut Solo) -> A) {
        unreachable!("`{}` is a part", about.name)
    }
}
