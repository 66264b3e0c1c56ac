//! Registers that are only safe: a write begins and ends, and a read in between returns anything.
use crate::common::{about, report, report_k, try_report};
use doorway_algorithms::Claim;
use doorway_checker::{Error, Fault, Model, Property, Report, check};
use doorway_memory::{Exclusion, Memory, Pid, Space};

fn on_safe_registers(name: &str, n: usize, k: usize, states: u64) -> Report {
    let report = report_k(name, n, Some(k), Model::safe_registers);
    assert_eq!((report.states, report.incomplete.as_ref()), (states, None), "{name} n={n} k={k}");
    report
}

/// Lamport's point in 1974: the bakery needs no atomic registers.
#[test]
fn bakery_is_fair_on_safe_registers() {
    for (n, states) in [(2, 980), (3, 118_310)] {
        as_claimed("bakery", &on_safe_registers("bakery", n, 1, states));
    }
}

#[test]
fn k_bakery_safe_is_fair_on_safe_registers() {
    as_claimed("k-bakery-safe", &on_safe_registers("k-bakery-safe", 2, 1, 145_019));
}

#[test]
fn dolev_gafni_shavit_is_fair_on_safe_registers() {
    as_claimed("dolev-gafni-shavit", &on_safe_registers("dolev-gafni-shavit", 2, 1, 1_494_860));
}

#[test]
#[ignore = "40 s, 2 GB"]
fn dolev_gafni_shavit_is_fair_on_safe_registers_for_three_and_one_passage_each() {
    let report = report_k("dolev-gafni-shavit", 3, Some(2), |model| model.safe_registers().passages(1));
    assert_eq!(report.states, 11_820_950);
    as_claimed("dolev-gafni-shavit", &report);
}

/// One copy of each is not enough: 1 reads 0's ticket twice while it is written, as too small to wait for the first time, and as
/// too large the second.
#[test]
fn dolev_gafni_shavit_with_single_copies_does_not_exclude_on_safe_registers() {
    let report = report("dolev-gafni-shavit-single", 2, |model| model.safe_registers().only([Property::Exclusion]));
    assert_eq!(
        report.finding(Property::Exclusion).run.as_ref().expect("it fails").to_string(),
        "\
\x20  1  p0  1   X[0] := true begins
\x20  2  p0  1   X[0] := true ends
\x20  3  p0  2   N[0][1] = 0
\x20  4  p0  2   N[1][1] = 0
\x20  5  p0  3   N[0][1] := 1 begins
\x20  6  p1  1   X[1] := true begins
\x20  7  p1  1   X[1] := true ends
\x20  8  p1  2   N[0][1] = 0 while it is written
\x20  9  p1  2   N[1][1] = 0
\x20 10  p1  3   N[1][1] := 1 begins
\x20 11  p1  3   N[1][1] := 1 ends
\x20 12  p1  5   A[1][0][1] = 0
\x20 13  p1  7   X[0] = true
\x20 14  p1  8   A[0][1][1] = 0
\x20 15  p1  10  N[0][1] = 2 while it is written  -> inside
\x20 16  p0  3   N[0][1] := 1 ends
\x20 17  p0  5   A[0][1][1] = 0
\x20 18  p0  7   X[1] = true
\x20 19  p0  8   A[1][0][1] = 0
\x20 20  p0  10  N[1][1] = 1                      -> inside
"
    );
}

fn as_claimed(name: &str, report: &Report) {
    assert!(about(name).claims.contains(&Claim::SafeRegisters));
    for claim in about(name).claims {
        let as_claimed = match *claim {
            Claim::Holds(property) => report.holds(property),
            Claim::Fails(property) => report.fails(property),
            _ => true,
        };
        assert!(as_claimed, "{name} is not as claimed ({claim}) on safe registers:\n{report}");
    }
}

/// Section 6 of Danek's paper: one reads Want while it is written, sees ∞, and goes in.
#[test]
fn k_bakery_does_not_exclude_on_safe_registers() {
    let report = on_safe_registers("k-bakery", 2, 1, 3_298);
    assert_eq!(
        report.finding(Property::Exclusion).run.as_ref().expect("it fails").to_string(),
        "\
\x20  1  p0  14  Ticket[0] = 0
\x20  2  p0  14  Want[0][1] := 0 begins
\x20  3  p0  14  Want[0][1] := 0 ends
\x20  4  p0  15  Ticket[0] = 0
\x20  5  p0  15  Ticket[1] = 0
\x20  6  p0  15  Ticket[0] := 1 begins
\x20  7  p0  15  Ticket[0] := 1 ends
\x20  8  p0  16  Want[0][1] := 1 begins
\x20  9  p1  14  Ticket[1] = 0
\x20 10  p1  14  Want[1][0] := 0 begins
\x20 11  p1  14  Want[1][0] := 0 ends
\x20 12  p1  15  Ticket[0] = 1
\x20 13  p1  15  Ticket[1] = 0
\x20 14  p1  15  Ticket[1] := 2 begins
\x20 15  p1  15  Ticket[1] := 2 ends
\x20 16  p1  16  Want[1][0] := 2 begins
\x20 17  p1  16  Want[1][0] := 2 ends
\x20 18  p1  21  Want[0][1] = ∞ while it is written  -> inside
\x20 19  p0  16  Want[0][1] := 1 ends
\x20 20  p0  21  Want[1][0] = 2                      -> inside
"
    );
}

/// There it is Capture that is misread.
#[test]
fn k_bakery_fife_does_not_exclude_on_safe_registers() {
    let report = on_safe_registers("k-bakery-fife", 2, 1, 11_328);
    let run = report.finding(Property::Exclusion).run.as_ref().expect("it fails");
    assert_eq!(run.steps.len(), 26);
    assert_eq!(run.steps[22].access, "Capture[0][1] = 3 while it is written");
}

/// The textbook's bakery has no `choosing` and reads labels while they are written.
#[test]
fn bakery_labels_does_not_exclude_on_safe_registers() {
    let report = report("bakery-labels", 2, Model::safe_registers);
    assert_eq!(report.finding(Property::Exclusion).run.as_ref().expect("it fails").steps.len(), 16);
}

/// A process that has begun to leave is not inside any more, and one that has begun to enter may not rest.
#[test]
fn a_process_has_left_a_section_when_its_next_write_begins() {
    struct Alternation<M: Memory>(Vec<M::Reg<bool>>);
    impl<M: Memory> Exclusion<M> for Alternation<M> {
        type Place = ();
        fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
            m.write(&self.0[p], true)
        }
        fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
            m.spin(|m| m.test(&self.0[1 - p], |up| !up))
        }
        fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
            m.write(&self.0[p], false)
        }
    }
    let report = check(&Model::new(2).safe_registers(), |space| Alternation(space.per_process("flag", 2, false)));
    let report = report.expect("it keeps the rules");
    assert!(report.holds(Property::Exclusion));
    let deadlock = report.finding(Property::DeadlockFreedom).run.as_ref().expect("both flags can be up");
    assert_eq!(deadlock.cycle_at, Some(4));
}

fn fault(name: &str) -> Fault {
    match crate::common::try_report(name, Model::safe_registers) {
        Err(Error::Broken { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_safe_registers_cannot_do_is_said() {
    assert_eq!(fault("peterson"), Fault::OverlappingWrites("victim".to_string()));
    assert_eq!(fault("mcs"), Fault::NotSafe("tail".to_string()));
    assert_eq!(fault("dijkstra"), Fault::UnknownDomain("flag[0]".to_string()));
}

/// The execution shows the other write that has begun.
#[test]
fn overlapping_writes_come_with_the_execution_that_leads_there() {
    let error = try_report("peterson", Model::safe_registers).unwrap_err();
    let Error::Broken { execution: Some(execution), .. } = &error else { panic!("{error}") };
    let of_victim: Vec<&str> =
        execution.steps.iter().map(|step| step.access.as_str()).filter(|access| access.starts_with("victim")).collect();
    assert_eq!(of_victim, ["victim := 0 begins"], "{error}");
}
