//! Which locks of the catalogue are decided for every number of processes; none is that does not exclude.
use doorway_algorithms::{Kind, registry};
use doorway_catalogue::subject;
use doorway_checker::{Property, every_n_observed};

/// A search that has found this many views is ended.
const MOST: usize = 20_000;

#[test]
fn locks_that_are_decided_for_every_n_are_claimed_to_exclude() {
    let mut decided = Vec::new();
    for about in registry::all().iter().filter(|about| about.kind != Kind::Part) {
        for k in 1..=if about.kind == Kind::KExclusion { 2 } else { 1 } {
            let make = |n| Some(subject(about, about.size(Some(n), Some(k)).ok()?));
            let found = every_n_observed(k, make, &mut |views| views < MOST);
            let found = found.unwrap_or_else(|error| panic!("{} k={k}: {error}", about.name));
            if found.holds() {
                assert!(about.holds(Property::Exclusion), "{}", about.name);
                for property in found.order.map_or(Vec::new(), |order| order.holds) {
                    assert!(
                        !about.lacks(property) || k == 1 && property != Property::Fcfs,
                        "{}: {property}",
                        about.name
                    );
                }
                decided.push(format!("{} {k}", about.name));
            }
        }
    }
    let mut expected =
        ["bakery 1", "fischer-queue 1", "fischer-queue 2", "gottlieb 1", "gottlieb 2", "ticket 1"].to_vec();
    // Broken only if processes die.
    expected.extend(["bakery-reaped 1", "ticket-k 1", "ticket-k 2"]);
    for name in expected {
        assert!(decided.iter().any(|decided| decided == name), "{name} is not decided: {decided:?}");
    }
}
