//! Processes that are all alike, counted as such; and log-k, which is too large otherwise.
use crate::common::{report_k, try_report_k};
use doorway_checker::{Error, Fault, Model, Property, Report, Verdict, check};
use doorway_memory::{Exclusion, Memory, Pid, Space};

/// What is decided modulo symmetry is what is decided without.
#[test]
fn verdicts_are_the_same_with_symmetry_and_without() {
    for (name, n, k, states) in [
        ("gottlieb", 3, 2, 32),
        ("gottlieb", 4, 2, 95),
        ("ticket-k", 3, 1, 17),
        ("ticket-k", 4, 2, 233),
        ("log-k", 2, 1, 390),
        ("log-k-printed", 2, 1, 390),
    ] {
        for crashes in 0..n {
            let [alike, each] = [Model::symmetric, |model| model]
                .map(|shape| report_k(name, n, Some(k), |m| shape(m.crashes(crashes))));
            assert_eq!(alike.states, states, "{name} n={n} k={k}");
            assert!(alike.findings.len() >= 5, "exclusion, progress, and what takes a bounded number of steps");
            for finding in &alike.findings {
                let without = each.finding(finding.property);
                assert_eq!(finding.verdict, without.verdict, "{name} n={n} k={k} {crashes} crashes: {finding}");
                let steps = |report: &Report| {
                    let run = report.finding(finding.property).run.as_ref()?;
                    Some(run.cycle_at.unwrap_or(run.steps.len()))
                };
                assert_eq!(steps(&alike), steps(&each), "{name} n={n} k={k} {crashes} crashes: {finding}");
            }
        }
    }
}

/// Error A: 0 is not in Wait-Set(0). Who has ticket 2 is let in by who leaves first, and does not look there.
#[test]
fn log_k_as_printed_starves_after_one_crash() {
    let report = report_k("log-k-printed", 3, Some(2), |model| {
        model.symmetric().passages_in_all(3).crashes(1).only([Property::Exclusion, Property::StarvationFreedom])
    });
    assert!(report.holds(Property::Exclusion));
    assert_eq!(
        report.finding(Property::StarvationFreedom).run.as_ref().expect("it fails").to_string(),
        "\
\x20  1  p0  1  fetch-and-add(Entry, 1) = 0
\x20  2  p1  1  fetch-and-add(Entry, 1) = 1
\x20  3  p2  1  fetch-and-add(Entry, 1) = 2
\x20  4  p0  2  A[0][1] = 1                             -> inside
\x20  5  p0  3  fetch-and-add(Exit, 1) = 0
\x20  6  p0  7  A[0][1] = 1
\x20  7  p0  7  A[0][1] = 1
\x20  8  p0  7  A[1][0] = 0
\x20  9  p0  8  Exit = 1
\x20 10  p0  9  compare-and-swap(A[1][0], 0, 1) = true
\x20 11  p0  7  A[1][0] = 1                             -> out
\x20 12  p1     crashes
\x20 then for ever
\x20 13  p2  2  A[1][1] = 0
"
    );
}

/// Error B: both compare-and-swaps of who leaves are lost to two that are stale.
#[test]
#[ignore = "4 minutes, 4 GB"]
fn log_k_with_the_first_repair_only_starves_after_two_crashes_and_17_passages() {
    let starves = |passages| {
        let model =
            |model: Model| model.symmetric().crashes(2).passages_in_all(passages).only([Property::StarvationFreedom]);
        report_k("log-k-first-repair", 4, Some(3), model)
    };
    let before = starves(16);
    assert!(before.holds(Property::StarvationFreedom), "{before}");
    let report = starves(17);
    assert_eq!(report.states, 40_637_381);
    let finding = report.finding(Property::StarvationFreedom);
    assert_eq!(finding.verdict, Verdict::Fails);
    assert_eq!(finding.run.as_ref().unwrap().cycle_at, Some(152));
}

/// Without a limit on passages or tickets.
#[test]
#[ignore = "20 s"]
fn log_k_is_fair_and_survives_one_crash_for_three_and_two_inside() {
    let report = report_k("log-k", 3, Some(2), |model| model.crashes(1));
    assert_eq!((report.states, report.incomplete.as_ref()), (8_476_366, None));
    for property in Property::OF_LOCKS {
        let expected =
            if matches!(property, Property::Fcfs | Property::Bypass) { Verdict::Fails } else { Verdict::Holds };
        assert_eq!(report.finding(property).verdict, expected, "{property}");
    }
    let report = report_k("log-k", 3, Some(2), |model| model.crashes(2).symmetric());
    assert_eq!(report.states, 1_414_117);
    assert!(report.fails(Property::StarvationFreedom), "of k crashes there may be k-1");
}

/// Without a limit again, for four.
#[test]
#[ignore = "4 minutes, 5 GB"]
fn log_k_excludes_for_four_and_two_inside() {
    let report = report_k("log-k", 4, Some(2), |model| model.symmetric().only([Property::Exclusion]));
    assert_eq!((report.states, report.incomplete.as_ref()), (130_014_896, None));
    assert!(report.holds(Property::Exclusion));
}

/// Larger sizes, for so many passages in all, with k-1 crashes.
fn log_k_holds(n: usize, k: usize, passages: u32, states: u64) {
    let report = report_k("log-k", n, Some(k), |model| model.symmetric().crashes(k - 1).passages_in_all(passages));
    assert_eq!(report.states, states);
    for finding in &report.findings {
        assert_eq!(finding.verdict, Verdict::Holds, "n={n} k={k}: {finding}");
    }
}

#[test]
#[ignore = "30 s"]
fn log_k_survives_one_crash_for_four_and_two_inside_in_14_passages() {
    log_k_holds(4, 2, 14, 6_807_309);
}

#[test]
#[ignore = "6 minutes, 8 GB"]
fn log_k_survives_two_crashes_for_four_and_three_inside_in_18_passages() {
    log_k_holds(4, 3, 18, 70_526_571);
}

#[test]
#[ignore = "1 minute, 1 GB"]
fn log_k_survives_one_crash_for_five_and_two_inside_in_10_passages() {
    log_k_holds(5, 2, 10, 10_895_676);
}

/// Without a limit on passages or tickets.
fn decker_jayanti_survives(n: usize, k: usize, crashes: usize) -> Report {
    let report = report_k("decker-jayanti", n, Some(k), |model| model.symmetric().crashes(crashes));
    assert_eq!(report.incomplete, None);
    report
}

#[test]
fn decker_jayanti_survives_one_crash_for_three_and_four_and_two_inside() {
    for (n, states) in [(3, 12_519), (4, 547_671)] {
        let report = decker_jayanti_survives(n, 2, 1);
        assert_eq!(report.states, states);
        assert!(report.findings.iter().all(|finding| finding.verdict == Verdict::Holds), "n={n}: {report}");
        assert!(decker_jayanti_survives(n, 2, 2).fails(Property::DeadlockFreedom), "of k crashes there may be k-1");
    }
}

#[test]
#[ignore = "20 s"]
fn decker_jayanti_survives_two_crashes_for_four_and_three_inside() {
    let report = decker_jayanti_survives(4, 3, 2);
    assert_eq!(report.states, 3_639_038);
    assert!(report.findings.iter().all(|finding| finding.verdict == Verdict::Holds), "{report}");
}

/// The order of line 4 is not only a matter of who goes first: after rounds one attempt is not enough.
#[test]
fn decker_jayanti_in_descending_order_deadlocks_after_one_crash() {
    let report = report_k("decker-jayanti-descending", 4, Some(2), |model| {
        model.symmetric().crashes(1).only([Property::Exclusion, Property::DeadlockFreedom])
    });
    assert!(report.holds(Property::Exclusion));
    assert_eq!(report.finding(Property::DeadlockFreedom).run.as_ref().expect("it fails").cycle_at, Some(28));
    let without = report_k("decker-jayanti-descending", 4, Some(2), Model::symmetric);
    assert!(without.holds(Property::DeadlockFreedom) && without.holds(Property::StarvationFreedom), "{without}");
}

/// A lock that is said to be alike for all and is not.
#[test]
fn processes_that_are_not_alike_are_told_so() {
    struct Partial<M: Memory>(M::Reg<usize>);
    impl<M: Memory> Exclusion<M> for Partial<M> {
        type Place = ();
        const SYMMETRIC: bool = true;
        fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
            m.write(&self.0, p)
        }
        fn wait(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
            m.spin(|m| m.test(&self.0, |turn| turn == 0))
        }
        fn exit(&self, _: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
            Ok(())
        }
    }
    let error = check(&Model::new(2).symmetric(), |space| Partial(space.shared("turn", 0))).unwrap_err();
    assert!(matches!(error, Error::Broken { fault: Fault::NotAlike, .. }), "{error}");
}

#[test]
fn what_symmetry_cannot_do_is_said() {
    let refusal = |name, n, k, shape: fn(Model) -> Model| match try_report_k(name, n, Some(k), shape) {
        Err(Error::Model(why)) => why,
        other => panic!("{other:?}"),
    };
    let numbers = "its processes look at their numbers, so they are not all alike; check it without symmetry";
    assert_eq!(refusal("bakery", 2, 1, Model::symmetric), numbers);
    let order = |model: Model| model.symmetric().only([Property::Fcfs]);
    assert_eq!(refusal("log-k", 3, 2, order), "`fcfs` is about who comes first; check it without symmetry");
    assert_eq!(refusal("gottlieb", 6, 2, Model::symmetric), "up to 5 processes can be counted as alike, not 6");
}
