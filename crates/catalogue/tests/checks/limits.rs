//! The limits of the checker, pinned by tests; LIMITS.md lists the others.
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use crate::common::report;
use doorway_checker::{Error, Model, Observer, Phase, Progress, Property, Verdict, check};
use doorway_memory::{Exclusion, Memory, Pid, Space};

#[test]
fn an_incomplete_search_decides_only_failures() {
    let report = report("one-bit", 6, |model| model.max_states(10_000));
    assert!(report.stopped);
    assert_eq!(report.finding(Property::Exclusion).verdict, Verdict::Unknown);
    assert_eq!(report.finding(Property::StarvationFreedom).verdict, Verdict::Unknown);
    assert!(report.incomplete.as_ref().unwrap().ends_with(
        "raise the limit on states, count states as one (`forget`, `merge`), or check it with fewer processes"
    ));
    // An execution that was found is real, however early the search ended.
    assert_eq!(report.finding(Property::Fcfs).verdict, Verdict::Fails);
}

#[test]
fn a_search_ends_at_its_memory_limit() {
    let report = report("filter", 5, |model| model.max_memory(50_000_000).only([Property::Exclusion]));
    assert!(report.stopped);
    assert_eq!(report.finding(Property::Exclusion).verdict, Verdict::Unknown);
    assert!(report.incomplete.as_ref().unwrap().ends_with(
        "raise the limit on memory, count states as one (`forget`, `merge`), or check it with fewer processes"
    ));
}

/// Memory for judging is reserved, so a search that ends at its memory limit is judged like one that ends at a state
/// limit.
#[test]
fn an_incomplete_search_is_judged_whichever_limit_ended_it() {
    for stopped in [
        report("one-bit", 6, |model| model.max_states(100_000)),
        report("one-bit", 6, |model| model.max_memory(10_000_000)),
    ] {
        assert!(stopped.stopped);
        assert_eq!(stopped.finding(Property::Fcfs).verdict, Verdict::Fails, "{stopped}");
        assert_eq!(stopped.finding(Property::Exclusion).verdict, Verdict::Unknown, "{stopped}");
    }
}

/// Cancels the check as soon as all states are found.
#[derive(Default)]
struct CancelJudging(AtomicBool);

impl Observer for CancelJudging {
    fn progress(&self, progress: &Progress) {
        self.0.fetch_or(progress.phase == Phase::Judging, SeqCst);
    }
    fn cancelled(&self) -> bool {
        self.0.load(SeqCst)
    }
}

/// A property that was judged only in part is undecided: none may be reported to hold because it was not judged.
#[test]
fn an_interrupt_while_judging_decides_nothing_but_exclusion() {
    for name in ["peterson-tree", "one-bit", "bakery"] {
        let report = report(name, 4, |model| model.observer(Arc::new(CancelJudging::default())));
        assert!(
            report.stopped && report.incomplete.as_ref().unwrap().ends_with("checking the properties was interrupted")
        );
        for finding in &report.findings {
            let decided = finding.property == Property::Exclusion;
            assert_eq!(finding.verdict == Verdict::Holds, decided, "{name}: {finding}");
        }
    }
}

/// Tickets above the cap are cut, so a capped search is not about every execution, and the report says so.
#[test]
fn a_capped_search_is_incomplete_and_agrees_with_the_complete_one() {
    for (name, n) in [("bakery", 2), ("bakery", 3), ("bakery-labels", 2), ("bakery-labels", 3)] {
        let complete = report(name, n, |model| model);
        for cap in [4, 6] {
            let capped = report(name, n, |model| model.ticket_cap(cap));
            assert!(capped.incomplete.is_some(), "{name} n={n} cap {cap}");
            for (a, b) in std::iter::zip(&complete.findings, &capped.findings) {
                assert_eq!((a.verdict, a.bypass), (b.verdict, b.bypass), "{name} n={n} cap {cap}: {}", a.property);
            }
        }
    }
}

/// The counts are those of two independent searches: a prototype of this one, and SPIN's for one-bit.
#[test]
fn capped_searches_find_as_many_states_as_independent_ones() {
    for (cap, states, cut) in [(4, 16_649, 1_150), (8, 46_478, 1_215)] {
        let report = report("bakery", 3, |model| model.ticket_cap(cap));
        assert_eq!(report.states, states);
        assert_eq!(report.incomplete, Some(format!("tickets above {cap} were cut {cut} times")));
    }
}

/// A number that is not a ticket and grows for ever makes the state space infinite; only a limit ends the search.
#[test]
fn plain_counters_are_not_renumbered() {
    struct Counter<M: Memory>(M::Reg<u64>, M::Reg<u64>);
    impl<M: Memory> Exclusion<M> for Counter<M> {
        type Place = u64;
        type Inside = ();
        fn doorway(&self, m: &mut M, _: Pid) -> Result<u64, M::Halt> {
            m.fetch_add(&self.0, 1)
        }
        fn wait(&self, m: &mut M, _: Pid, &mine: &u64) -> Result<(), M::Halt> {
            m.spin(|m| m.test(&self.1, |served| served == mine))
        }
        fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
            m.fetch_add(&self.1, 1).map(|_| ())
        }
    }
    let make = |space: &mut _| Counter(Space::shared(space, "next", 0), Space::shared(space, "served", 0));
    let unlimited = check(&Model::new(2).max_states(20_000), make).unwrap();
    assert!(unlimited.stopped);
    assert!(unlimited.incomplete.as_ref().unwrap().contains("`next` has held"), "{unlimited}");
    let limited = check(&Model::new(2).passages(3), make).unwrap();
    assert!(limited.holds(Property::Fcfs) && limited.incomplete.is_some());
}

#[test]
fn a_model_with_an_impossible_size_is_refused() {
    struct Nothing;
    impl<M: Memory> Exclusion<M> for Nothing {
        type Place = ();
        type Inside = ();
        fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
            Ok(())
        }
        fn wait(&self, _: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
            Ok(())
        }
        fn exit(&self, _: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
            Ok(())
        }
    }
    for model in [Model::new(0), Model::new(11), Model::new(2).k(0)] {
        assert!(matches!(check(&model, |_| Nothing), Err(Error::Model(_))));
    }
    // A lock that does nothing is accepted, and does not exclude.
    let report = check(&Model::new(2), |_| Nothing).unwrap();
    assert!(report.fails(Property::Exclusion) && report.holds(Property::StarvationFreedom));
}

/// For a part, a passage is a call.
#[test]
fn calls_of_a_part_can_be_limited() {
    let states = |limit: fn(Model) -> Model| {
        let report = report("special-set", 3, limit);
        assert!(report.holds(Property::Rule), "{report}");
        (report.states, report.incomplete)
    };
    let (all, complete) = states(|model| model);
    assert_eq!(complete, None);
    let (few, reason) = states(|model| model.passages(2));
    assert_eq!(reason.as_deref(), Some("each process makes at most 2 calls"));
    let (fewer, reason) = states(|model| model.passages_in_all(2));
    assert_eq!(reason.as_deref(), Some("all processes together make at most 2 calls"));
    assert!(fewer < few && few < all, "{fewer}, {few}, {all}");
}
