//! Symmetric algorithms, checked up to permutations of processes; and log-k, which is too large otherwise.
use crate::common::{report_k, try_report_k};
use doorway_checker::{Error, Fault, Model, Property, Report, Verdict, check};
use doorway_memory::{Exclusion, Memory, Pid, Space};

/// A check with symmetry decides the same as one without.
#[test]
fn verdicts_are_the_same_with_symmetry_and_without() {
    for (name, n, k, states) in [
        ("gottlieb", 3, 2, 32),
        ("gottlieb", 4, 2, 95),
        ("ticket-k", 3, 1, 14),
        ("ticket-k", 4, 2, 186),
        ("log-k", 2, 1, 269),
        ("log-k-printed", 2, 1, 269),
    ] {
        for crashes in 0..n {
            let [alike, each] = [Model::symmetric, |model| model]
                .map(|shape| report_k(name, n, Some(k), |m| shape(m.crashes(crashes))));
            assert_eq!(alike.states, states, "{name} n={n} k={k}");
            assert!(alike.findings.len() >= 5, "exclusion, progress, and bounded numbers of own steps");
            for finding in &alike.findings {
                let without = each.finding(finding.property);
                assert_eq!(finding.verdict, without.verdict, "{name} n={n} k={k} {crashes} crashes: {finding}");
                let steps = |report: &Report| {
                    let execution = report.finding(finding.property).execution.as_ref()?;
                    Some(execution.cycle_at.unwrap_or(execution.steps.len()))
                };
                assert_eq!(steps(&alike), steps(&each), "{name} n={n} k={k} {crashes} crashes: {finding}");
            }
        }
    }
}

/// Error B: both compare-and-swaps of a leaving process fail because of two stale ones.
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
    assert_eq!(finding.execution.as_ref().unwrap().cycle_at, Some(152));
}

/// Complete: passages and tickets are not limited.
#[test]
#[ignore = "20 s"]
fn log_k_is_fair_and_survives_one_crash_for_three_with_k_2() {
    let report = report_k("log-k", 3, Some(2), |model| model.crashes(1));
    assert_eq!((report.states, report.incomplete.as_ref()), (5_853_424, None));
    for property in Property::OF_LOCKS {
        let expected =
            if matches!(property, Property::Fcfs | Property::Bypass) { Verdict::Fails } else { Verdict::Holds };
        assert_eq!(report.finding(property).verdict, expected, "{property}");
    }
    let report = report_k("log-k", 3, Some(2), |model| model.crashes(2).symmetric());
    assert_eq!(report.states, 976_557);
    assert!(report.fails(Property::StarvationFreedom), "it survives k-1 crashes, not k");
}

/// Complete for four processes.
#[test]
#[ignore = "8 minutes, 5 GB"]
fn log_k_survives_one_crash_for_four_with_k_2() {
    let report = report_k("log-k", 4, Some(2), |model| model.symmetric().crashes(1));
    assert_eq!((report.states, report.incomplete.as_ref()), (89_856_652, None));
    let all = [Property::Exclusion, Property::DeadlockFreedom, Property::StarvationFreedom, Property::BoundedExit];
    assert!(all.iter().all(|&property| report.holds(property)), "{report}");
}

/// Checks a larger size with `passages` passages in all and k-1 crashes.
fn log_k_holds(n: usize, k: usize, passages: u32, states: u64) {
    let report = report_k("log-k", n, Some(k), |model| model.symmetric().crashes(k - 1).passages_in_all(passages));
    assert_eq!(report.states, states);
    for finding in &report.findings {
        assert_eq!(finding.verdict, Verdict::Holds, "n={n} k={k}: {finding}");
    }
}

#[test]
#[ignore = "30 s"]
fn log_k_survives_one_crash_for_four_with_k_2_in_14_passages() {
    log_k_holds(4, 2, 14, 6_807_309);
}

#[test]
#[ignore = "6 minutes, 8 GB"]
fn log_k_survives_two_crashes_for_four_with_k_3_in_18_passages() {
    log_k_holds(4, 3, 18, 70_526_571);
}

#[test]
#[ignore = "1 minute, 1 GB"]
fn log_k_survives_one_crash_for_five_with_k_2_in_10_passages() {
    log_k_holds(5, 2, 10, 10_895_676);
}

/// A complete check: passages and tickets are not limited.
fn decker_jayanti_survives(n: usize, k: usize, crashes: usize) -> Report {
    let report = report_k("decker-jayanti", n, Some(k), |model| model.symmetric().crashes(crashes));
    assert_eq!(report.incomplete, None);
    report
}

#[test]
fn decker_jayanti_survives_one_crash_for_three_and_four_with_k_2() {
    for (n, states) in [(3, 7_404), (4, 334_665)] {
        let report = decker_jayanti_survives(n, 2, 1);
        assert_eq!(report.states, states);
        assert!(report.findings.iter().all(|finding| finding.verdict == Verdict::Holds), "n={n}: {report}");
        assert!(decker_jayanti_survives(n, 2, 2).fails(Property::DeadlockFreedom), "it survives k-1 crashes, not k");
    }
}

#[test]
#[ignore = "20 s"]
fn decker_jayanti_survives_two_crashes_for_four_with_k_3() {
    let report = decker_jayanti_survives(4, 3, 2);
    assert_eq!(report.states, 2_093_218);
    assert!(report.findings.iter().all(|finding| finding.verdict == Verdict::Holds), "{report}");
}

/// The order of line 4 decides not only which process enters first: after some rounds, one attempt is not enough.
#[test]
fn decker_jayanti_in_descending_order_deadlocks_after_one_crash() {
    let report = report_k("decker-jayanti-descending", 4, Some(2), |model| {
        model.symmetric().crashes(1).only([Property::Exclusion, Property::DeadlockFreedom])
    });
    assert!(report.holds(Property::Exclusion));
    assert_eq!(
        report.finding(Property::DeadlockFreedom).execution.as_ref().expect("the property fails").cycle_at,
        Some(28)
    );
    let without = report_k("decker-jayanti-descending", 4, Some(2), Model::symmetric);
    assert!(without.holds(Property::DeadlockFreedom) && without.holds(Property::StarvationFreedom), "{without}");
}

/// A lock that declares itself symmetric and is not.
#[test]
fn a_lock_that_is_not_symmetric_is_detected() {
    struct Partial<M: Memory>(M::Reg<usize>);
    impl<M: Memory> Exclusion<M> for Partial<M> {
        type Place = ();
        type Inside = ();
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
fn models_that_exclude_symmetry_are_refused() {
    let refusal = |name, n, k, shape: fn(Model) -> Model| match try_report_k(name, n, Some(k), shape) {
        Err(Error::Model(why)) => why,
        other => panic!("{other:?}"),
    };
    let numbers = "its processes use their numbers, so they are not all alike; check it without symmetry";
    assert_eq!(refusal("bakery", 2, 1, Model::symmetric), numbers);
    let order = |model: Model| model.symmetric().only([Property::Fcfs]);
    assert_eq!(refusal("log-k", 3, 2, order), "`fcfs` is about the order of processes; check it without symmetry");
    assert_eq!(refusal("gottlieb", 6, 2, Model::symmetric), "with symmetry up to 5 processes can be checked, not 6");
}
