//! Claims of the catalogue beyond the pinned checks: crashes, primitives, and how properties imply one another.
use crate::common::{all_surveyed, locks, report, report_k, surveyed};
use doorway_catalogue::{find, table_1};
use doorway_checker::{Bound, Model, Property, Verdict};

/// The other variants survive k-1 crashes and no more.
#[test]
fn anderson_moir_with_tokens_survives_k_minus_1_crashes() {
    let progress = [Property::DeadlockFreedom, Property::StarvationFreedom];
    for name in ["anderson-moir-fast", "anderson-moir-adaptive"] {
        for (n, k, states) in [(3, 2, 4_734), (4, 3, 100_720)] {
            let report = |crashes| report_k(name, n, Some(k), |model| model.crashes(crashes));
            let (survived, not) = (report(k - 1), report(k));
            assert_eq!((survived.states, survived.incomplete.as_ref()), (states, None));
            assert!(survived.holds(Property::Exclusion) && survived.holds(Property::BoundedExit), "{survived}");
            for property in progress {
                assert!(survived.holds(property) && not.fails(property), "{name} n={n} k={k}: {survived}");
            }
        }
    }
}

#[test]
#[ignore = "10 minutes, 5 GB"]
fn anderson_moir_dsm_survives_a_crash_for_three() {
    let wanted = [Property::Exclusion, Property::DeadlockFreedom, Property::StarvationFreedom, Property::BoundedExit];
    let report = report_k("anderson-moir-dsm", 3, Some(2), |model| model.crashes(1).only(wanted));
    assert_eq!((report.states, report.incomplete.as_ref()), (82_935_510, None));
    assert!(wanted.iter().all(|&property| report.holds(property)), "{report}");
}

/// The least size at which line 23 is needed: without it, FIFE fails here. To be held back, a process that was overtaken
/// needs k others with smaller tickets, and the process that overtook it has a larger one.
#[test]
#[ignore = "7 minutes, 5 GB"]
fn k_bakery_fife_is_fife_for_four_with_k_2_and_one_passage_each() {
    let wanted = [Property::Exclusion, Property::Fife];
    let report = report_k("k-bakery-fife", 4, Some(2), |model| model.passages(1).only(wanted));
    assert_eq!(report.states, 85_480_675);
    assert!(wanted.iter().all(|&property| report.holds(property)), "{report}");
}

#[test]
#[ignore = "1 minute, 1 GB"]
fn k_bakery_fife_survives_one_crash_of_three_and_not_two() {
    let survives = |crashes| {
        let report = report_k("k-bakery-fife", 3, Some(2), |model| {
            model.crashes(crashes).only([Property::StarvationFreedom, Property::DeadlockFreedom])
        });
        report.holds(Property::StarvationFreedom) && report.holds(Property::DeadlockFreedom)
    };
    assert!(survives(1) && !survives(2));
}

/// A lock that is claimed to survive crashes survives exactly as many as claimed; the others do not survive one.
#[test]
fn locks_survive_exactly_as_many_crashes_as_claimed() {
    for about in locks().filter(|about| about.holds(Property::DeadlockFreedom)) {
        let progress = [Property::DeadlockFreedom, Property::StarvationFreedom];
        let claimed: Vec<Property> = progress.into_iter().filter(|&property| about.holds(property)).collect();
        let wanted = [vec![Property::Exclusion], claimed.clone()].concat();
        let survives = |crashes| {
            let report = surveyed(about, |model| model.crashes(crashes).only(wanted.clone()));
            assert_eq!(report.holds(Property::Exclusion), about.holds(Property::Exclusion), "{}", about.name);
            claimed.iter().all(|&property| report.holds(property))
        };
        let most = about.crashes(about.size(None, None).unwrap().k);
        assert!(survives(most), "{} does not survive {most} crashes", about.name);
        assert!(!survives(most + 1), "{} survives {} crashes", about.name, most + 1);
    }
}

/// Table 1 of Danek's paper says "no" for Peterson's algorithm; this one is after Exercise 2.7 of Herlihy and Shavit.
#[test]
fn filter_k_is_starvation_free_with_k_minus_1_crashes() {
    for (n, k) in [(3, 2), (4, 2), (4, 3)] {
        let report = report_k("filter-k", n, Some(k), |model| model.crashes(k - 1).only([Property::StarvationFreedom]));
        assert!(report.holds(Property::StarvationFreedom), "n={n} k={k}: {report}");
    }
}

/// Barriers are not counted: they do nothing without store buffers.
#[test]
fn a_lock_uses_exactly_the_primitives_that_the_catalogue_lists() {
    for (about, report) in all_surveyed() {
        let said: Vec<&str> = about.primitives.iter().copied().filter(|&what| what != "barrier").collect();
        if report.stopped {
            assert!(report.primitives.iter().all(|what| said.contains(what)), "{}: {report}", about.name);
        } else {
            assert_eq!(report.primitives, said, "{}", about.name);
        }
    }
}

#[test]
fn a_lock_is_fcfs_exactly_if_its_bypass_by_later_arrivals_is_zero() {
    for (about, report) in all_surveyed() {
        let late = report.finding(Property::Bypass).bypass.expect("bypass is checked").late;
        assert_eq!(report.holds(Property::Fcfs), late == Bound::AtMost(0), "{}", about.name);
    }
}

/// A process that crashes between the leaves and the roots blocks both trees.
#[test]
fn danek_lee_with_k_2_does_not_survive_a_crash() {
    let report = report_k("danek-lee", 3, Some(2), |model| {
        model.passages_in_all(2).crashes(1).only([Property::Exclusion, Property::Assignment, Property::DeadlockFreedom])
    });
    assert!(report.holds(Property::Exclusion) && report.holds(Property::Assignment), "{report}");
    assert!(report.fails(Property::DeadlockFreedom), "{report}");
}

/// The race of section 5: a later arrival is a holder, and process 1 waits for two processes that have not announced their
/// tickets.
#[test]
fn k_bakery_is_not_first_in_first_enabled_for_four() {
    // The shortest execution is among the first of the 4,866,041 states.
    let shape = |model: Model| model.passages(1).only([Property::Fife]).max_states(1_000_000);
    let report = report_k("k-bakery", 4, Some(2), shape);
    let finding = report.finding(Property::Fife);
    assert_eq!(finding.verdict, Verdict::Fails);
    assert_eq!(finding.execution.as_ref().unwrap().cycle_at, Some(34));
}

/// Complete, as the next one: neither passages nor tickets are limited.
#[test]
#[ignore = "1 minute"]
fn ticket_sleeping_is_correct_for_four() {
    let report = report_k("ticket-sleeping", 4, None, Model::forget);
    assert_eq!((report.states, report.incomplete.as_ref()), (1_991_341, None));
    let all =
        [Property::Exclusion, Property::DeadlockFreedom, Property::Fcfs, Property::Fife, Property::WaitFreeDoorway];
    assert!(all.iter().all(|&property| report.holds(property)), "{report}");
}

#[test]
#[ignore = "1 minute, 1 GB"]
fn ticket_async_is_correct_for_three() {
    let report = report_k("ticket-async", 3, None, Model::forget);
    assert_eq!((report.states, report.incomplete.as_ref()), (20_168_136, None));
    let all = [Property::Exclusion, Property::DeadlockFreedom, Property::Fcfs, Property::Fife];
    assert!(all.iter().all(|&property| report.holds(property)), "{report}");
}

/// Two tasks that are cancelled for ever, each after its turn has come, starve a third one at the lock of the list.
#[test]
#[ignore = "3 minutes, 2 GB"]
fn ticket_async_with_aborts_starves_a_releasing_task_for_three() {
    let report = report_k("ticket-async", 3, None, |model| model.forget().aborts());
    assert_eq!((report.states, report.incomplete.as_ref()), (31_176_558, None));
    assert!([Property::Exclusion, Property::Fcfs, Property::Fife].iter().all(|&p| report.holds(p)), "{report}");
    let finding = report.finding(Property::DeadlockFreedom);
    let execution = finding.execution.as_ref().expect("it fails");
    let cycle = &execution.steps[execution.cycle_at.expect("it stays so")..];
    assert!(cycle.iter().filter(|step| step.process == 0).all(|step| step.access == "swap(lock, true) = true"));
}

/// Complete, as the ones before.
#[test]
#[ignore = "2 minutes, 1 GB"]
fn anderson_moir_dsm_tree_is_correct_for_three_with_capacity_two() {
    let report = report_k("anderson-moir-dsm-tree", 3, Some(2), |model| model.forget().crashes(1));
    assert_eq!((report.states, report.incomplete.as_ref()), (7_490_820, None));
    let all = [Property::Exclusion, Property::DeadlockFreedom, Property::StarvationFreedom, Property::BoundedExit];
    assert!(all.iter().all(|&property| report.holds(property)), "{report}");
}

/// Complete, where neither every state nor every state but old tickets could be told apart.
#[test]
#[ignore = "2 minutes, 1 GB"]
fn k_bakery_fife_is_correct_with_deaths_for_three() {
    let report = report_k("k-bakery-fife", 3, Some(2), |model| model.merge().deaths());
    assert_eq!((report.states, report.incomplete.as_ref()), (532_776, None));
    let all = [
        Property::Exclusion,
        Property::DeadlockFreedom,
        Property::StarvationFreedom,
        Property::KFcfs,
        Property::Fife,
        Property::BoundedExit,
        Property::WaitFreeDoorway,
    ];
    assert!(all.iter().all(|&property| report.holds(property)), "{report}");
}

/// Complete, with Kim and Anderson's lock as the inner one.
#[test]
#[ignore = "10 minutes, 7 GB"]
fn danek_golab_is_correct_for_two() {
    let report = report_k("danek-golab", 2, None, Model::forget);
    assert_eq!((report.states, report.incomplete.as_ref()), (160_373_712, None));
    let all = [Property::Exclusion, Property::DeadlockFreedom, Property::StarvationFreedom, Property::Fcfs];
    assert!(all.iter().all(|&property| report.holds(property)), "{report}");
}

/// As in `k-bakery`: a later arrival is a holder, and process 0 waits for two processes that have not chosen.
#[test]
fn burns_peterson_is_not_first_in_first_enabled_for_four() {
    let report = report_k("burns-peterson", 4, Some(2), |model| model.passages(1).only([Property::Fife]));
    let finding = report.finding(Property::Fife);
    assert_eq!((report.states, finding.verdict), (203_393, Verdict::Fails));
    assert_eq!(finding.execution.as_ref().unwrap().cycle_at, Some(21));
}

/// With k = 1, k-FCFS is FCFS. FCFS implies FIFE; FIFE and exclusion imply k-FCFS.
#[test]
fn the_fairness_properties_imply_one_another_as_defined() {
    for (about, report) in all_surveyed() {
        let k = about.size(None, None).unwrap().k;
        let holds = |property| report.holds(property);
        assert!(k > 1 || holds(Property::Fcfs) == holds(Property::KFcfs), "{}", about.name);
        assert!(!holds(Property::Fcfs) || holds(Property::Fife), "{}", about.name);
        let excludes = holds(Property::Exclusion);
        assert!(!(holds(Property::Fife) && excludes) || holds(Property::KFcfs), "{}", about.name);
    }
}

#[test]
fn one_bit_starves_every_process_but_0() {
    for n in 2..=5 {
        let report = report("one-bit", n, |model| model.only([Property::StarvationFreedom]));
        assert_eq!(report.finding(Property::StarvationFreedom).processes, (1..n).collect::<Vec<_>>());
    }
}

/// After its doorway a process is bypassed at most once by each other process, and only by earlier arrivals.
#[test]
fn the_bakeries_let_each_other_process_enter_at_most_once_before() {
    for (name, n) in [("bakery", 2), ("bakery", 3), ("bakery-labels", 3), ("black-white-bakery", 3)] {
        let report = report(name, n, |model| model.only([Property::Bypass]));
        let bypass = report.finding(Property::Bypass).bypass.expect("bypass is checked");
        assert_eq!((bypass.late, bypass.in_all), (Bound::AtMost(0), Bound::AtMost(1)), "{name} n={n}");
    }
}

/// The search renumbers tickets, so it would not notice that they grow. With tickets capped at n it cuts nothing, and finds
/// exactly the reachable states, fewer than with renumbered tickets. With a smaller cap it cuts executions.
#[test]
fn no_number_of_the_black_white_bakery_exceeds_n() {
    for (n, states) in [(2, 1_407), (3, 167_894)] {
        let up_to = |cap: usize| report("black-white-bakery", n, |model| model.ticket_cap(cap as u32));
        let all = up_to(n);
        assert_eq!((all.states, &all.incomplete), (states, &None), "n={n}");
        let cut = up_to(n - 1).incomplete.expect("a process takes the number n");
        assert!(cut.starts_with(&format!("tickets above {} were cut", n - 1)), "n={n}: {cut}");
    }
}

#[test]
fn the_report_does_not_depend_on_the_number_of_threads() {
    for (name, n) in [("filter", 4), ("bakery", 4), ("one-bit", 5), ("renaming", 3)] {
        let one = report(name, n, |model| model.threads(1));
        for threads in [2, 3] {
            let more = report(name, n, |model| model.threads(threads));
            assert_eq!(one.to_string(), more.to_string(), "{name} n={n} on {threads} threads");
            assert_eq!((one.transitions, one.depth), (more.transitions, more.depth), "{name} n={n}");
        }
    }
}

/// A process that takes no step in the cycle must be in the remainder at its start. No process may enter in a cycle
/// that shows a deadlock; the starving process may not in one that shows starvation.
#[test]
fn every_cycle_that_shows_a_deadlock_or_starvation_is_fair() {
    for (about, report) in all_surveyed() {
        let n = about.default_n;
        for finding in &report.findings {
            let is_deadlock = finding.property == Property::DeadlockFreedom;
            if !is_deadlock && finding.property != Property::StarvationFreedom {
                continue;
            }
            let Some(execution) = &finding.execution else { continue };
            let (prefix, cycle) =
                execution.steps.split_at(execution.cycle_at.expect("a liveness property fails in a cycle"));
            let enters = |p| cycle.iter().any(|step| step.process == p && step.arrives == Some("inside"));
            let steps = |p| cycle.iter().any(|step| step.process == p);
            let out = |p| prefix.iter().rfind(|step| step.process == p).is_none_or(|step| step.arrives == Some("out"));
            for p in 0..n {
                assert!(steps(p) || out(p), "{}: {finding}{execution}process {p} takes no step", about.name);
                assert!(!is_deadlock || !enters(p), "{}: {finding}{execution}process {p} enters", about.name);
            }
            let progresses = |p| cycle.iter().any(|step| step.process == p && step.arrives.is_some());
            let starves = finding.processes.iter().any(|&p| steps(p) && !progresses(p));
            assert!(starves, "{}: {finding}{execution}no process starves", about.name);
        }
    }
}

#[test]
fn the_report_states_a_limit_on_passages() {
    let report = report("filter", 3, |model| model.passages(1));
    assert!(report.holds(Property::Exclusion));
    assert_eq!(report.incomplete.as_deref(), Some("each process makes at most 1 passage"));
}

/// A row without these would have nothing measured beside it.
#[test]
fn every_row_of_table_1_has_surveyed_algorithms_with_claims_about_their_cost() {
    for printed in &table_1::ROWS {
        assert!(!printed.algorithms.is_empty(), "{}", printed.reference);
        for about in printed.algorithms.iter().map(|name| find(name).unwrap()) {
            assert!(about.is_surveyed() && about.local_spin.is_some() && about.remote.is_some(), "{}", about.name);
        }
    }
}
