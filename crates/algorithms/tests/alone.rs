//! Every lock of the registry, where nobody has to wait.
use doorway_algorithms::{
    About, Size,
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
                    let Ok(()) = lock.wait(&mut m, p, &place);
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
