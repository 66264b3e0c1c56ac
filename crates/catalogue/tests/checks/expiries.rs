//! Processes that are taken for dead while they live, and tokens against them.
use doorway_checker::{Error, Model, Property};

use crate::common::{report_k, try_report_k};

fn with_expiries(name: &str, n: usize, k: usize) -> doorway_checker::Report {
    report_k(name, n, Some(k), Model::expiries)
}

/// The shortest execution in which two processes believe that they are holders.
#[test]
fn a_holder_whose_lease_expires_believes_that_it_holds() {
    let report = with_expiries("fischer-queue", 2, 1);
    let finding = report.finding(Property::Exclusion);
    assert_eq!(
        finding.execution.as_ref().expect("it fails").to_string(),
        "\
\x20  1  p0  1  V := [0] (was [])
\x20  2  p0  2  V = [0]                           -> inside
\x20  3  p1  1  V := [0, 1] (was [0])
\x20  4  p0     is taken for dead
\x20  5  p0  3  V := [1] (was [0, 1]) by another  -> reaped
\x20  6  p1  2  V = [1]                           -> inside
"
    );
    assert_eq!(finding.processes, [0, 1]);
}

/// The others are not harmed: what is promised to them holds, and without expiries exclusion does too.
#[test]
fn an_expiry_harms_no_other_process() {
    let report = with_expiries("fischer-queue-names", 3, 1);
    let kept = [Property::StarvationFreedom, Property::KFcfs, Property::Fife, Property::BoundedExit, Property::Fenced];
    assert!(kept.into_iter().all(|property| report.holds(property)), "{report}");
    assert!(report.fails(Property::Exclusion) && report.fails(Property::Assignment));
    let without = report_k("fischer-queue-names", 3, Some(1), Model::deaths);
    assert!(without.holds(Property::Exclusion) && without.holds(Property::Assignment));
}

/// A waiter of the k-Bakery only reads: if it is taken for dead it goes on, and enters although its place is gone.
#[test]
fn a_waiter_that_only_reads_enters_after_its_lease_has_expired() {
    let report = report_k("k-bakery", 2, Some(1), |model| model.expiries().passages(1));
    let execution = report.finding(Property::Exclusion).execution.as_ref().expect("it fails").to_string();
    let lines: Vec<&str> = execution.lines().collect();
    let line = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{execution}"));
    let dead = line("is taken for dead");
    let p = &lines[dead][5..7];
    let enters = lines.iter().rposition(|line| line.contains(p) && line.ends_with("-> inside"));
    assert!(enters.is_some_and(|at| at > dead), "{execution}");
}

/// A waiter that has to write is told: the claim of a name fails once the lease has expired.
#[test]
fn a_waiter_that_writes_finds_out() {
    let subject = doorway_catalogue::subject(
        doorway_catalogue::find("fischer-queue-names").unwrap(),
        doorway_algorithms::Size { n: 2, k: 1 },
    );
    let mut stepper = doorway_checker::Stepper::new(&subject, &Model::new(2).expiries()).unwrap();
    let mut steps = Vec::new();
    // It is among the first before it expires, and claims its name afterwards.
    for choice in ["0", "0", "e0", "0", "0", "0"] {
        let step = stepper.take(choice.parse().unwrap()).unwrap();
        steps.push(format!("{} {}", step.access, step.sections[1]));
    }
    assert_eq!(
        steps,
        [
            "V := [0] (was []) wait",
            "V = [0] wait",
            "is taken for dead wait, taken for dead",
            "Name[0] := ⊥, 0 (was ⊥, 0) by another wait, taken for dead",
            "V := [] (was [0]) by another wait, taken for dead",
            "finds out remainder",
        ]
    );
}

#[test]
fn models_that_exclude_expiries_are_refused() {
    let refused = |name: &str, shape: fn(Model) -> Model| match try_report_k(name, 2, None, shape) {
        Err(Error::Model(why)) => why,
        other => panic!("{name}: {other:?}"),
    };
    let expiries: fn(Model) -> Model = Model::expiries;
    assert_eq!(refused("bakery", expiries), "this lock has no recovery (`reap`); check it without expiries");
    assert_eq!(refused("bouncer", expiries), "expiries apply to locks only; check a part without expiries");
    assert_eq!(
        refused("fischer-queue", |model| model.expiries().tso()),
        "expiries are checked without store buffers; check one without the other"
    );
    assert_eq!(
        refused("fischer-queue", |model| model.expiries().safe_registers()),
        "expiries are checked on atomic registers, not on safe ones"
    );
    assert_eq!(
        refused("fischer-queue-names", |model| model.only([Property::Fenced])),
        "`fenced` is not a property of this lock; it has exclusion, deadlock-freedom, starvation-freedom, fcfs, k-fcfs, \
         fife, bypass, bounded-exit, wait-free-doorway, assignment"
    );
}
