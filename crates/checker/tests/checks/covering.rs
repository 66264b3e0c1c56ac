//! The covering argument: too few registers are too few, and enough are enough to escape it.
use crate::common::{about, report, report_k};
use doorway_algorithms::{
    About, Kind, Size,
    registry::{self, Visitor},
};
use doorway_checker::{Covering, Error, Model, Outcome, Property, Registers, View, covering};
use doorway_memory::{Exclusion, Part};

struct Applying(Model);

impl Visitor for Applying {
    type Space = Registers;
    type Output = Result<Covering, Error>;

    fn exclusion<A: Exclusion<View>>(
        self,
        _: &'static About,
        _: Size,
        make: impl Fn(&mut Registers) -> A,
    ) -> Self::Output {
        covering(&self.0, make)
    }

    fn part<A: Part<View>>(self, about: &'static About, _: Size, _: impl Fn(&mut Registers) -> A) -> Self::Output {
        unreachable!("`{}` is not a lock", about.name)
    }
}

fn try_covered(name: &str, n: usize, shape: impl FnOnce(Model) -> Model) -> Result<Covering, Error> {
    let size = about(name).size(Some(n), Some(1)).expect("it is for that many processes");
    registry::visit(about(name), size, Applying(shape(Model::new(n))))
}

fn covered(name: &str, n: usize) -> Covering {
    try_covered(name, n, |model| model).unwrap_or_else(|error| panic!("{name} n={n}: {error}"))
}

#[test]
fn one_register_is_refuted_for_two() {
    assert_eq!(
        covered("one-register", 2).to_string(),
        "\
two inside, by the covering argument; 2 processes need 2 registers, and it writes 1 (36 states)
\x20  1  p0  1  x = ⊥
  p0 covers x, and it looks as if nobody were there
  p1 runs alone, and gets in
\x20  2  p1  1  x = ⊥
\x20  3  p1  2  x := 1
\x20  4  p1  3  x = 1   -> inside
  all that p1 wrote is overwritten by p0
\x20  5  p0  2  x := 0
  nobody can tell that p1 is inside
\x20  6  p0  3  x = 0   -> inside
"
    );
}

/// Figures 2.14 and 2.15: process 0 goes through once, and wipes out that process 1 is coming.
#[test]
fn two_registers_are_refuted_for_three() {
    assert_eq!(
        covered("two-registers", 3).to_string(),
        "\
two inside, by the covering argument; 3 processes need 3 registers, and it writes 2 (109474 states)
\x20  1  p0  1  x = ⊥
\x20  2  p0  1  x := 0
\x20  3  p0  2  y = ⊥
\x20  4  p0  2  y := 0
\x20  5  p0  3  x = 0
\x20  6  p0  4  y = 0   -> inside
\x20  7  p1  1  x = 0
\x20  8  p0  8  x := ⊥
\x20  9  p0  9  y := ⊥  -> out
\x20 10  p0  1  x = ⊥
\x20 11  p1  2  y = ⊥
  p0 covers x and p1 covers y, and it looks as if nobody were there
  p2 runs alone, and gets in
\x20 12  p2  1  x = ⊥
\x20 13  p2  1  x := 2
\x20 14  p2  2  y = ⊥
\x20 15  p2  2  y := 2
\x20 16  p2  3  x = 2
\x20 17  p2  4  y = 2   -> inside
  all that p2 wrote is overwritten by p0 and p1
\x20 18  p0  1  x := 0
\x20 19  p1  2  y := 1
  nobody can tell that p2 is inside
\x20 20  p1  3  x = 0
\x20 21  p1  6  y = 1
\x20 22  p1  7  x = 0
\x20 23  p1  7  y := ⊥
\x20 24  p0  2  y = ⊥
\x20 25  p0  2  y := 0
\x20 26  p0  3  x = 0
\x20 27  p0  4  y = 0   -> inside
"
    );
}

/// The same two registers are enough for two: all of it, for any number of passages.
#[test]
fn two_registers_keep_two_apart() {
    let two = report("two-registers", 2, |model| model);
    assert_eq!((two.states, two.incomplete.as_ref()), (1_113, None));
    assert!(two.holds(Property::Exclusion) && two.holds(Property::DeadlockFreedom));
    let three = report("two-registers", 3, |model| model);
    assert_eq!((three.states, three.incomplete.as_ref()), (109_474, None));
    assert!(three.fails(Property::Exclusion) && three.fails(Property::DeadlockFreedom));
}

/// Its two registers are too few for three. It excludes, and so must deadlock.
#[test]
fn flaky_pays_with_a_deadlock() {
    assert_eq!(
        covered("flaky", 3).to_string(),
        "\
not deadlock-free, by the covering argument; 3 processes need 3 registers, and it writes 2 (981 states)
\x20  1  p0  8   turn := 0
\x20  2  p0  9   busy = false
  p1 covers turn and p0 covers busy, and it looks as if nobody were there
  all that p2 would write on its way in is overwritten by p1 and p0
\x20  3  p1  8   turn := 1
\x20  4  p0  10  busy := true
  nobody could tell that p2 is inside: nobody gets in, and so nobody does without it
\x20  5  p0  11  turn = 1
\x20  6  p0  8   turn := 0
  then for ever
\x20  7  p0  9   busy = true
\x20  8  p1  9   busy = true
\x20  9  p1  8   turn := 1
\x20 10  p0  8   turn := 0
"
    );
}

#[test]
fn lock_two_does_not_let_one_in_who_is_alone() {
    assert_eq!(
        covered("lock-two", 2).to_string(),
        "\
not deadlock-free, by the covering argument; 2 processes need 2 registers, and it writes 1 (7 states)
  p0 runs alone, and does not get in
\x20  1  p0  5  victim := 0
  then for ever
\x20  2  p0  6  victim = 0
"
    );
}

/// Written registers, and states in which n-1 of them are covered: the number is pinned, as that of all states is elsewhere.
#[test]
fn who_runs_alone_in_a_lock_of_enough_registers_writes_one_that_nobody_covers() {
    for (name, n, registers, covering_states) in [
        ("peterson", 2, 3, 2),
        ("filter", 2, 3, 2),
        ("filter", 3, 5, 3),
        ("bakery", 2, 4, 1),
        ("bakery", 3, 6, 1),
        ("bakery-labels", 3, 6, 111),
        ("one-bit", 2, 2, 2),
        ("one-bit", 3, 3, 4),
        ("dijkstra", 2, 3, 2),
        ("dijkstra", 3, 4, 3),
        ("lamport-fast", 2, 4, 10),
        ("lamport-fast", 3, 5, 69),
        ("black-white-bakery", 3, 7, 15),
        ("tournament", 3, 5, 4),
        ("peterson-tree", 4, 9, 8),
        ("yang-anderson", 3, 11, 719),
        ("burns-peterson", 2, 2, 30),
        ("two-registers", 2, 2, 34),
    ] {
        let found = covered(name, n);
        let construction = found.construction.as_ref().expect("a covering state was found");
        assert_eq!((found.outcome, found.incomplete.as_ref()), (Outcome::Escapes, None), "{name} n={n}:\n{found}");
        assert_eq!((found.registers.len(), found.covering_states), (registers, covering_states), "{name} n={n}");
        assert_eq!(construction.covers.len(), n - 1, "{name} n={n}:\n{found}");
        assert!(!construction.uncovered.is_empty(), "{name} n={n}:\n{found}");
    }
}

/// Burns and Lynch's theorem itself; and what the argument finds is found without it too.
#[test]
fn the_theorem_holds_in_the_whole_catalogue() {
    let reads_and_writes = |about: &About| about.primitives.iter().all(|what| ["read", "write"].contains(what));
    let locks = registry::all().iter().filter(|about| about.kind != Kind::Part && about.is_surveyed());
    let mut refuted = Vec::new();
    for about in locks.filter(|about| reads_and_writes(about)) {
        for n in [2, 3].into_iter().filter(|&n| about.size(Some(n), Some(1)).is_ok()) {
            let name = about.name;
            if name == "kim-anderson" || n == 3 && (about.kind == Kind::KExclusion || name.starts_with("danek-golab")) {
                continue; // too large, most of them
            }
            let found = covered(name, n);
            let checked =
                report_k(name, n, Some(1), |model| model.only([Property::Exclusion, Property::DeadlockFreedom]));
            let correct = checked.holds(Property::Exclusion) && checked.holds(Property::DeadlockFreedom);
            let covers = found.construction.as_ref().map_or(0, |construction| construction.covers.len());
            assert!(!correct || (found.registers.len() >= n && covers == n - 1), "{name} n={n}:\n{found}");
            match found.outcome {
                Outcome::TwoInside => assert!(checked.fails(Property::Exclusion), "{name} n={n}:\n{found}"),
                Outcome::Deadlock => assert!(checked.fails(Property::DeadlockFreedom), "{name} n={n}:\n{found}"),
                Outcome::Escapes => continue,
                Outcome::Unknown => panic!("{name} n={n}:\n{found}"),
            }
            refuted.push((name, n));
        }
    }
    let too_few = [("lock-two", 2), ("flaky", 3), ("one-register", 2), ("one-register", 3), ("two-registers", 3)];
    assert_eq!(refuted, too_few);
}

#[test]
fn a_lock_that_does_more_than_read_and_write_is_refused() {
    assert_eq!(
        try_covered("ticket", 2, |model| model).unwrap_err().to_string(),
        "process 0 in `doorway`, line 1, changes `Entry` in one step; the covering argument is about locks that only read and write"
    );
    let why = "the covering argument is about all runs of two processes or more, one inside, on atomic registers";
    let shapes: [fn(Model) -> Model; 6] = [
        Model::tso,
        Model::safe_registers,
        |model| model.k(2),
        |model| model.crashes(1),
        |model| model.passages(1),
        |model| model.passages_in_all(4),
    ];
    for shape in shapes {
        assert_eq!(try_covered("bakery", 3, shape).unwrap_err().to_string(), why);
    }
}

#[test]
fn a_search_that_is_stopped_refutes_only_with_two_inside() {
    let stopped = |name, n, states| try_covered(name, n, |model| model.max_states(states)).unwrap();
    for (name, n) in [("bakery", 3), ("lock-two", 2), ("flaky", 3)] {
        let found = stopped(name, n, 3);
        assert_eq!((found.outcome, found.construction.is_none()), (Outcome::Unknown, true), "{name}:\n{found}");
        assert!(found.incomplete.is_some());
    }
}
