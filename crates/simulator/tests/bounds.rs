//! The simulation beside the exact worst case: it never exceeds it, and where it should meets it.
use doorway_algorithms::{
    About, Kind, Size, Survey,
    registry::{self, Visitor},
};
use doorway_checker::{Bound, Model, Registers, RemoteReferences, View, remote_references};
use doorway_memory::{Cost, Exclusion, FailedCas, Part, Property};
use doorway_simulator::{Machine, Measured, Plan, measure};

const CC: Cost = Cost::Cc(FailedCas::Counts);

struct Exactly(Cost);

impl Visitor for Exactly {
    type Space = Registers;
    type Output = RemoteReferences;

    fn exclusion<A: Exclusion<View>>(
        self,
        about: &'static About,
        size: Size,
        make: impl Fn(&mut Registers) -> A,
    ) -> RemoteReferences {
        let model = Model::new(size.n).k(size.k).max_states(150_000);
        remote_references(&model, self.0, make).unwrap_or_else(|error| panic!("{}: {error}", about.name))
    }

    fn part<A: Part<View>>(self, _: &'static About, _: Size, _: impl Fn(&mut Registers) -> A) -> RemoteReferences {
        unreachable!("a part has no passages")
    }
}

struct Simulated(Plan);

impl Visitor for Simulated {
    type Space = Machine;
    type Output = Measured;

    fn exclusion<A: Exclusion<Machine>>(
        self,
        _: &'static About,
        _: Size,
        make: impl Fn(&mut Machine) -> A,
    ) -> Measured {
        measure(&self.0, make)
    }

    fn part<A: Part<Machine>>(self, _: &'static About, _: Size, _: impl Fn(&mut Machine) -> A) -> Measured {
        unreachable!("a part has no passages")
    }
}

fn simulated(about: &'static About, size: Size, plan: Plan) -> Measured {
    registry::visit(about, size, Simulated(plan))
}

fn locks() -> impl Iterator<Item = &'static About> {
    registry::all().iter().copied().filter(|about| about.kind != Kind::Part)
}

/// And where there is no bound the simulation finds none either, in the locks of which one asks.
#[test]
fn a_simulation_never_exceeds_the_exact_worst_case() {
    let (mut compared, mut met) = (0, 0);
    for about in locks().filter(|about| about.survey == Survey::Whole && about.local_spin.is_some()) {
        for (n, k) in [(2, 1), (3, 1), (3, 2)] {
            let Ok(size) = about.size(Some(n), Some(k)) else { continue };
            for cost in [CC, Cost::Cc(FailedCas::Free), Cost::Dsm] {
                if cost == Cost::Cc(FailedCas::Free) && !about.primitives.contains(&"compare-and-swap") {
                    continue;
                }
                let exact = registry::visit(about, size, Exactly(cost));
                let seen: Vec<Measured> = (0..2)
                    .map(|seed| simulated(about, size, Plan::new(n, cost).seed(seed).accesses(1_000_000)))
                    .collect();
                let worst = seen.iter().map(|seen| seen.worst).max().unwrap();
                let unbounded = seen.iter().find_map(|seen| seen.unbounded);
                let name = about.name;
                if exact.incomplete.is_some() {
                    continue;
                }
                compared += 1;
                let at = format!("{name} n={n} k={k} {cost:?}");
                assert_eq!(unbounded.is_some(), exact.worst() == Bound::Unbounded, "{at}: {unbounded:?}");
                if let Bound::AtMost(bound) = exact.worst() {
                    assert!(worst <= u64::from(bound), "{at}: {worst} were seen, {bound} is the worst case");
                    met += usize::from(worst == u64::from(bound));
                }
            }
        }
    }
    assert!(compared >= 60, "only {compared} were small enough");
    assert!(met >= 25, "only {met} bounds were met");
}

#[test]
fn at_most_k_are_inside_however_many_there_are() {
    for about in locks().filter(|about| about.holds(Property::Exclusion)) {
        for (n, k) in [(2, 1), (5, 1), (17, 1), (5, 3), (17, 4), (70, 7)] {
            let Ok(size) = about.simulated_size(Some(n), Some(k)) else { continue };
            let found = simulated(about, size, Plan::new(n, CC).passages(2).accesses(2_000_000));
            assert!(found.most_inside <= k, "{} n={n} k={k}: {} inside", about.name, found.most_inside);
            if about.holds(Property::DeadlockFreedom) {
                assert!(!found.stuck, "{} n={n} k={k}", about.name);
                // Not always k: what is not tried is not seen.
                assert!(found.most_inside >= k.min(2), "{} n={n} k={k}: only {} inside", about.name, found.most_inside);
            }
        }
    }
}

#[test]
fn the_k_bakery_meets_its_bound_in_dsm_however_many_there_are() {
    for (name, each) in [("k-bakery", 4), ("k-bakery-fife", 5)] {
        let about = registry::find(name).unwrap();
        for (n, k) in [(2, 1), (3, 2), (16, 5), (65, 2)] {
            let found = simulated(about, Size { n, k }, Plan::new(n, Cost::Dsm));
            assert_eq!(found.worst, each * (n as u64 - 1), "{name} n={n} k={k}");
        }
    }
}

/// A token, and k stages at which nobody waits.
#[test]
fn a_few_pass_anderson_and_moirs_fast_paths_however_many_there_are() {
    for (name, cost, each) in
        [("anderson-moir-fast", CC, 3), ("anderson-moir-adaptive", CC, 3), ("anderson-moir-dsm-adaptive", Cost::Dsm, 4)]
    {
        let about = registry::find(name).unwrap();
        for (n, k) in [(5, 2), (64, 2), (64, 5)] {
            let found = simulated(about, Size { n, k }, Plan::new(n, cost).contention(k));
            assert_eq!(found.worst, each * k as u64 + 2, "{name} n={n} k={k}");
        }
    }
}

/// Alone, the tree of minima is as shallow for many as for two: the leaf of the first slot is just below the root.
#[test]
fn what_adapts_costs_one_who_is_alone_as_much_for_many_as_for_two() {
    let alone = |name: &str, n: usize, cost| {
        let about = registry::find(name).unwrap();
        simulated(about, Size { n, k: 1 }, Plan::new(n, cost).contention(1)).worst
    };
    for (cost, adaptive, growing) in [(CC, 16, [13, 25, 41]), (Cost::Dsm, 21, [14, 38, 70])] {
        for (n, growing) in std::iter::zip([2, 16, 255], growing) {
            assert_eq!(alone("jayanti-f-array-adaptive", n, cost), adaptive, "n={n} {cost:?}");
            assert_eq!(alone("jayanti-f-array", n, cost), growing, "n={n} {cost:?}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_answer() {
    let about = registry::find("kim-anderson").unwrap();
    let size = Size { n: 16, k: 1 };
    let once = || {
        let found = simulated(about, size, Plan::new(16, CC).contention(5).seed(3));
        (found.worst, found.mean.to_bits(), found.accesses, found.schedule)
    };
    assert_eq!(once(), once());
}
