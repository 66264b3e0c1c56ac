//! Safe registers: a write begins and ends, and a read in between returns any value.
use crate::common::{report, report_k, try_report};
use doorway_checker::{Error, Fault, Model, Property, Report, check};
use doorway_memory::{Exclusion, Memory, Pid, Space};

fn on_safe_registers(name: &str, n: usize, k: usize, states: u64) -> Report {
    let report = report_k(name, n, Some(k), Model::safe_registers);
    assert_eq!((report.states, report.incomplete.as_ref()), (states, None), "{name} n={n} k={k}");
    report
}

/// Here a read of Capture returns a wrong value.
#[test]
fn k_bakery_fife_does_not_exclude_on_safe_registers() {
    let report = on_safe_registers("k-bakery-fife", 2, 1, 11_328);
    let execution = report.finding(Property::Exclusion).execution.as_ref().expect("the property fails");
    assert_eq!(execution.steps.len(), 26);
    assert_eq!(execution.steps[22].access, "Capture[0][1] = 3 while it is written");
}

/// The textbook's bakery has no `choosing`, and reads labels while they are written.
#[test]
fn bakery_labels_does_not_exclude_on_safe_registers() {
    let report = report("bakery-labels", 2, Model::safe_registers);
    assert_eq!(report.finding(Property::Exclusion).execution.as_ref().expect("the property fails").steps.len(), 16);
}

/// A process that has begun to leave is no longer a holder, and one that has begun its doorway has left the remainder.
#[test]
fn a_process_has_left_a_section_when_its_next_write_begins() {
    struct Alternation<M: Memory>(Vec<M::Reg<bool>>);
    impl<M: Memory> Exclusion<M> for Alternation<M> {
        type Place = ();
        type Inside = ();
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
    let report = report.expect("the algorithm keeps the rules");
    assert!(report.holds(Property::Exclusion));
    let deadlock = report.finding(Property::DeadlockFreedom).execution.as_ref().expect("both flags can be up");
    assert_eq!(deadlock.cycle_at, Some(4));
}

fn fault(name: &str) -> Fault {
    match crate::common::try_report(name, Model::safe_registers) {
        Err(Error::Broken { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn algorithms_that_cannot_use_safe_registers_are_refused() {
    assert_eq!(fault("peterson"), Fault::OverlappingWrites("victim".to_string()));
    assert_eq!(fault("mcs"), Fault::NotSafe("tail".to_string()));
    assert_eq!(fault("dijkstra"), Fault::UnknownDomain("flag[0]".to_string()));
}

/// The execution shows the other write, which has begun.
#[test]
fn overlapping_writes_are_reported_with_the_execution_that_leads_to_them() {
    let error = try_report("peterson", Model::safe_registers).unwrap_err();
    let Error::Broken { execution: Some(execution), .. } = &error else { panic!("{error}") };
    let of_victim: Vec<&str> =
        execution.steps.iter().map(|step| step.access.as_str()).filter(|access| access.starts_with("victim")).collect();
    assert_eq!(of_victim, ["victim := 0 begins"], "{error}");
}
