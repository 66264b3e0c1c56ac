//! Simulated executions: their remote memory references beside the exact worst case, which they never exceed and often
//! attain, and at sizes that cannot be checked.
use std::sync::Arc;

use doorway_algorithms::Survey;
use doorway_catalogue::{About, Kind, Range, Series, SeriesError, Size, all, find, glance, measure, remote_references};
use doorway_checker::{Bound, Model};
use doorway_memory::{Cost, FailedCas, Property};
use doorway_simulator::{Measured, Plan, Variable};

const CC: Cost = Cost::Cc(FailedCas::Counts);

/// The most states of an exact search; what is not decided with them is not compared.
const MAX_STATES: u64 = 150_000;

fn locks() -> impl Iterator<Item = &'static About> {
    all().iter().copied().filter(|about| about.kind != Kind::Part)
}

/// Where the simulation finds no bound there is none; where there is none, the simulation mostly finds that.
#[test]
fn a_simulation_never_exceeds_the_exact_worst_case() {
    let (mut compared, mut attained) = (0, 0);
    for about in locks().filter(|about| about.survey == Survey::Whole && about.local_spin.is_some()) {
        for (n, k) in [(2, 1), (3, 1), (3, 2)] {
            let Ok(size) = about.size(Some(n), Some(k)) else { continue };
            for cost in [CC, Cost::Cc(FailedCas::Free), Cost::Dsm] {
                if cost == Cost::Cc(FailedCas::Free) && !about.primitives.contains(&"compare-and-swap") {
                    continue;
                }
                let model = Model::new(n).k(k).max_states(MAX_STATES);
                let exact = remote_references(about, size, &model, cost)
                    .unwrap_or_else(|error| panic!("{}: {error}", about.name));
                if exact.incomplete.is_some() {
                    continue;
                }
                let seen: Vec<Measured> = (0..2)
                    .map(|seed| measure(about, size, &Plan::new(n, cost).seed(seed).accesses(1_000_000)))
                    .collect();
                let worst = seen.iter().map(|seen| seen.worst).max().unwrap();
                let unbounded = seen.iter().find_map(|seen| seen.unbounded);
                compared += 1;
                let at = format!("{} n={n} k={k} {cost:?}", about.name);
                let is_unbounded = exact.worst() == Bound::Unbounded;
                assert!(unbounded.is_none() || is_unbounded, "{at}: {unbounded:?}");
                // With caches, random schedules need not contain the rare executions that cost more and more, unless a
                // process starves in them; and a process starves at the queue only if another one changes it during each of
                // its attempts.
                let is_rare = about.holds(Property::StarvationFreedom) || about.name == "fischer-queue-copied";
                let is_seen = cost == Cost::Dsm || !is_rare;
                assert!(unbounded.is_some() || !is_unbounded || !is_seen, "{at}: no unbounded passage was observed");
                if let Bound::AtMost(bound) = exact.worst() {
                    assert!(worst <= u64::from(bound), "{at}: {worst} observed, but the worst case is {bound}");
                    attained += usize::from(worst == u64::from(bound));
                }
            }
        }
    }
    assert!(compared >= 120, "only {compared} were small enough to compare");
    assert!(attained >= 45, "only {attained} bounds were attained");
}

#[test]
fn at_most_k_processes_hold_at_every_size() {
    for about in locks().filter(|about| about.holds(Property::Exclusion)) {
        for (n, k) in [(2, 1), (5, 1), (17, 1), (5, 3), (17, 4), (70, 7)] {
            let Ok(size) = about.size(Some(n), Some(k)) else { continue };
            let found = measure(about, size, &Plan::new(n, CC).passages(2).accesses(2_000_000));
            assert!(found.max_holders <= k, "{} n={n} k={k}: {} holders", about.name, found.max_holders);
            if about.holds(Property::DeadlockFreedom) {
                assert!(!found.deadlocked, "{} n={n} k={k}", about.name);
                // Not always k: the schedules need not contain an execution with k holders.
                assert!(
                    found.max_holders >= k.min(2),
                    "{} n={n} k={k}: only {} holders",
                    about.name,
                    found.max_holders
                );
            }
        }
    }
}

#[test]
fn the_k_bakery_attains_its_dsm_bound_at_every_size() {
    for (name, each) in [("k-bakery", 4), ("k-bakery-fife", 5)] {
        let about = find(name).unwrap();
        for (n, k) in [(2, 1), (3, 2), (16, 5), (65, 2)] {
            let found = measure(about, Size { n, k }, &Plan::new(n, Cost::Dsm));
            assert_eq!(found.worst, each * (n as u64 - 1), "{name} n={n} k={k}");
        }
    }
}

/// The fast path is a token and k stages, at which no process waits.
#[test]
fn k_processes_take_anderson_and_moirs_fast_path_at_every_size() {
    for (name, cost, each) in
        [("anderson-moir-fast", CC, 3), ("anderson-moir-adaptive", CC, 3), ("anderson-moir-dsm-adaptive", Cost::Dsm, 4)]
    {
        let about = find(name).unwrap();
        for (n, k) in [(5, 2), (64, 2), (64, 5)] {
            let found = measure(about, Size { n, k }, &Plan::new(n, cost).contention(k));
            assert_eq!(found.worst, each * k as u64 + 2, "{name} n={n} k={k}");
        }
    }
}

/// For a single participant the tree of minima is as shallow for many processes as for two: the leaf of the first
/// slot is just below the root.
#[test]
fn an_uncontended_passage_of_an_adaptive_lock_costs_the_same_for_every_n() {
    let uncontended = |name: &str, n: usize, cost| {
        let about = find(name).unwrap();
        measure(about, Size { n, k: 1 }, &Plan::new(n, cost).contention(1)).worst
    };
    for (cost, adaptive, growing) in [(CC, 16, [13, 25, 41]), (Cost::Dsm, 21, [14, 38, 70])] {
        for (n, growing) in std::iter::zip([2, 16, 255], growing) {
            assert_eq!(uncontended("jayanti-f-array-adaptive", n, cost), adaptive, "n={n} {cost:?}");
            assert_eq!(uncontended("jayanti-f-array", n, cost), growing, "n={n} {cost:?}");
        }
    }
}

#[test]
fn a_glance_tells_the_class() {
    let class =
        |name, cost| glance(find(name).unwrap(), cost, Variable::N, Arc::new(|| false)).map(|growth| growth.class());
    assert_eq!(class("k-bakery", Cost::Dsm).as_deref(), Some("O(N)"));
    assert_eq!(class("yang-anderson", Cost::Dsm).as_deref(), Some("O(log N)"));
    assert_eq!(class("bakery", Cost::Dsm).as_deref(), Some("unbounded"));
    assert_eq!(class("peterson", Cost::Dsm), None, "it is for two processes");
}

#[test]
fn sizes_that_cannot_be_simulated_are_refused() {
    let range = |from, to| Range::new(from, to).unwrap();
    let message = |series: Result<Series, SeriesError>| series.unwrap_err().to_string();
    let k_bakery = find("k-bakery").unwrap();
    assert_eq!(
        message(Series::of_n(k_bakery, range(2, 2048), None, None)),
        "`k-bakery` can be simulated for at most 1024 processes, not 2048"
    );
    assert_eq!(
        message(Series::of_n(k_bakery, range(1, 3), None, Some(9))),
        "`k-bakery` with k=2 is for more than 2 processes; raise the range"
    );
    assert_eq!(
        message(Series::of_k(k_bakery, range(1, 8), Some(8), None)),
        "k is less than n, and 8 is not less than 8; take more processes"
    );
    assert_eq!(
        message(Series::of_n(k_bakery, range(4, 8), None, Some(9))),
        "at most 8 of 8 processes can take part, not 9; take more processes"
    );
    assert_eq!(
        message(Series::of_n(find("peterson").unwrap(), range(2, 4), None, None)),
        "`peterson` is for 2 processes, not 4"
    );
}
