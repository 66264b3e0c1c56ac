//! Every lock of the registry, where nobody has to wait.
use doorway_algorithms::{
    About, Claim, Size,
    registry::{self, Visitor},
};
use doorway_memory::{Exclusion, Part, Property, Solo};

#[test]
fn who_finds_fewer_than_k_inside_gets_in() {
    for &about in registry::all() {
        // The others may let one who is alone wait for ever.
        if about.fails(Property::DeadlockFreedom) {
            continue;
        }
        for (n, k) in (2..=6).flat_map(|n| (1..n).map(move |k| (n, k))) {
            if let Ok(size) = about.size(Some(n), Some(k)) {
                registry::visit(about, size, Crowd);
            }
        }
    }
}

/// As many as fit inside go in one after the other, then out again; twice, and everyone has been among them.
struct Crowd;

impl Visitor for Crowd {
    type Space = Solo;
    type Output = ();

    fn exclusion<A: Exclusion<Solo>>(self, _: &'static About, size: Size, make: impl Fn(&mut Solo) -> A) {
        let mut m = Solo::new();
        let lock = make(&mut m);
        for first in 0..2 * size.n {
            let crowd = (first..first + size.k).map(|p| p % size.n);
            let inside: Vec<_> = crowd
                .map(|p| {
                    let Ok(place) = lock.doorway(&mut m, p);
                    let Ok(place) = lock.enter(&mut m, p, &place);
                    (p, place)
                })
                .collect();
            for (p, place) in inside {
                let Ok(()) = lock.exit(&mut m, p, &place);
            }
        }
    }

    fn part<A: Part<Solo>>(self, about: &'static About, _: Size, _: impl Fn(&mut Solo) -> A) {
        unreachable!("`{}` is a part and has no k", about.name)
    }
}

/// All places are taken by processes that die there, and all others die in line; then everyone is reaped, and as many as fit
/// get in.
#[test]
fn places_of_the_dead_and_of_those_who_gave_up_are_free_again() {
    for about in registry::all().iter().copied().filter(|about| about.claims.contains(&Claim::Deaths)) {
        for (n, k) in (2..=6).flat_map(|n| (1..n).map(move |k| (n, k))) {
            registry::visit(about, about.size(Some(n), Some(k)).expect("it is for any n and k"), Disaster);
        }
    }
}

struct Disaster;

impl Visitor for Disaster {
    type Space = Solo;
    type Output = ();

    fn exclusion<A: Exclusion<Solo>>(self, about: &'static About, size: Size, make: impl Fn(&mut Solo) -> A) {
        assert!(A::REAPABLE && A::ABANDONABLE, "`{}` claims to survive it", about.name);
        let mut m = Solo::new();
        let lock = make(&mut m);
        let enter = |m: &mut Solo, p| {
            let Ok(place) = lock.doorway(m, p);
            let Ok(place) = lock.enter(m, p, &place);
            place
        };
        for p in 0..size.k {
            enter(&mut m, p);
        }
        for p in size.k..size.n {
            let Ok(place) = lock.doorway(&mut m, p);
            if p % 2 == 0 {
                let Ok(()) = lock.abandon(&mut m, p, &place);
            }
        }
        for dead in 0..size.n {
            let Ok(()) = lock.reap(&mut m, dead);
        }
        for p in size.n - size.k..size.n {
            enter(&mut m, p);
        }
    }

    fn part<A: Part<Solo>>(self, about: &'static About, _: Size, _: impl Fn(&mut Solo) -> A) {
        unreachable!("`{}` is a part", about.name)
    }
}
