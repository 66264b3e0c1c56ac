//! The covering argument: it refutes locks with too few registers, and locks with enough escape it.
use crate::common::{about, report, report_k};
use doorway_algorithms::{About, Kind, registry};
use doorway_catalogue::covering;
use doorway_checker::{Covering, Error, Model, Outcome, Property};

fn try_covered(name: &str, n: usize, shape: impl FnOnce(Model) -> Model) -> Result<Covering, Error> {
    let size = about(name).size(Some(n), Some(1)).expect("the algorithm supports this size");
    covering(about(name), size, &shape(Model::new(n)))
}

fn covered(name: &str, n: usize) -> Covering {
    try_covered(name, n, |model| model).unwrap_or_else(|error| panic!("{name} n={n}: {error}"))
}

#[test]
fn one_register_is_refuted_for_two() {
    assert_eq!(
        covered("one-register", 2).to_string(),
        "\
two holders, by the covering argument; 2 processes need 2 registers, and it writes 1 (36 states)
\x20  1  p0  1  x = ⊥
  p0 covers x, and the registers look as if all processes were in the remainder
  p1 runs alone, and enters
\x20  2  p1  1  x = ⊥
\x20  3  p1  2  x := 1
\x20  4  p1  3  x = 1   -> inside
  all that p1 wrote is overwritten by p0
\x20  5  p0  2  x := 0
  no other process can tell that p1 has entered
\x20  6  p0  3  x = 0   -> inside
"
    );
}

/// Figures 2.14 and 2.15: process 0 makes one passage, and erases the announcement of process 1.
#[test]
fn two_registers_are_refuted_for_three() {
    assert_eq!(
        covered("two-registers", 3).to_string(),
        "\
two holders, by the covering argument; 3 processes need 3 registers, and it writes 2 (109474 states)
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
  p0 covers x and p1 covers y, and the registers look as if all processes were in the remainder
  p2 runs alone, and enters
\x20 12  p2  1  x = ⊥
\x20 13  p2  1  x := 2
\x20 14  p2  2  y = ⊥
\x20 15  p2  2  y := 2
\x20 16  p2  3  x = 2
\x20 17  p2  4  y = 2   -> inside
  all that p2 wrote is overwritten by p0 and p1
\x20 18  p0  1  x := 0
\x20 19  p1  2  y := 1
  no other process can tell that p2 has entered
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

/// The same two registers are enough for two processes; the check is complete, for any number of passages.
#[test]
fn two_registers_exclude_for_two() {
    let two = report("two-registers", 2, |model| model);
    assert_eq!((two.states, two.incomplete.as_ref()), (1_113, None));
    assert!(two.holds(Property::Exclusion) && two.holds(Property::DeadlockFreedom));
    let three = report("two-registers", 3, |model| model);
    assert_eq!((three.states, three.incomplete.as_ref()), (109_474, None));
    assert!(three.fails(Property::Exclusion) && three.fails(Property::DeadlockFreedom));
}

/// Its two registers are too few for three processes. It excludes, so it must deadlock.
#[test]
fn flaky_is_refuted_by_a_deadlock() {
    assert_eq!(
        covered("flaky", 3).to_string(),
        "\
not deadlock-free, by the covering argument; 3 processes need 3 registers, and it writes 2 (981 states)
\x20  1  p0  8   turn := 0
\x20  2  p0  9   busy = false
  p1 covers turn and p0 covers busy, and the registers look as if all processes were in the remainder
  all that p2 would write before it enters is overwritten by p1 and p0
\x20  3  p1  8   turn := 1
\x20  4  p0  10  busy := true
  no process could tell that p2 has entered, and none enters: so none does without p2 either
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
fn lock_two_is_refuted_by_an_uncontended_process_that_never_enters() {
    assert_eq!(
        covered("lock-two", 2).to_string(),
        "\
not deadlock-free, by the covering argument; 2 processes need 2 registers, and it writes 1 (7 states)
  p0 runs alone, and does not enter
\x20  1  p0  5  victim := 0
  then for ever
\x20  2  p0  6  victim = 0
"
    );
}

/// The numbers of written registers, and of states in which n-1 of them are covered, are pinned.
#[test]
fn with_enough_registers_a_solo_process_writes_one_that_is_not_covered() {
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

/// Burns and Lynch's theorem itself; and what the argument refutes, the checker refutes too.
#[test]
fn the_theorem_holds_for_the_whole_catalogue() {
    let reads_and_writes = |about: &About| about.primitives.iter().all(|what| ["read", "write"].contains(what));
    let locks = registry::all().iter().filter(|about| about.kind != Kind::Part && about.is_surveyed());
    let mut refuted = Vec::new();
    for about in locks.filter(|about| reads_and_writes(about)) {
        for n in [2, 3].into_iter().filter(|&n| about.size(Some(n), Some(1)).is_ok()) {
            let name = about.name;
            if name == "kim-anderson" || n == 3 && (about.kind == Kind::KExclusion || name.starts_with("danek-golab")) {
                continue; // most of them are too large
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
    let why = "the covering argument is about all executions of at least two processes with k = 1, on atomic registers";
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
fn an_incomplete_search_decides_no_covering_argument() {
    let stopped = |name, n, states| try_covered(name, n, |model| model.max_states(states)).unwrap();
    for (name, n) in [("bakery", 3), ("lock-two", 2), ("flaky", 3)] {
        let found = stopped(name, n, 3);
        assert_eq!((found.outcome, found.construction.is_none()), (Outcome::Unknown, true), "{name}:\n{found}");
        assert!(found.incomplete.is_some());
    }
}
