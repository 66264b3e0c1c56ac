//! Processes that die and are reaped, and processes that abort.
use doorway_algorithms::{kexclusion::k_bakery::KBakery, mutex::yang_anderson::YangAnderson};
use doorway_checker::{Error, Model, Property, check};
use doorway_memory::{Abort, Exclusion, Memory, Pid, Reap, Space, Ticket};

use crate::common::{report_k, try_report_k};

/// Adds failures to a model.
type Failures = fn(Model) -> Model;

const DEATHS: Failures = Model::deaths;
const ABORTS: Failures = Model::aborts;
const DEATHS_AND_ABORTS: Failures = |model| model.deaths().aborts();

/// After any number of deaths, and with one process crashed in the critical section, all others still enter: a death
/// loses no capacity. With two crashed holders there is no capacity left.
#[test]
#[ignore = "2 minutes, 1 GB"]
fn deaths_lose_no_capacity() {
    let starves = |crashes| {
        let shape = |model: Model| model.deaths().crashes(crashes).only([Property::StarvationFreedom]);
        report_k("k-bakery", 3, Some(2), shape).fails(Property::StarvationFreedom)
    };
    assert!(!starves(1) && starves(2));
}

/// Deaths and aborts need no fences beyond those of the algorithm.
#[test]
fn a_reap_and_an_abort_have_no_fence() {
    let fences = |failures: Failures| report_k("k-bakery", 2, Some(1), |model| failures(model).tso()).fences;
    assert_eq!(fences(DEATHS_AND_ABORTS), fences(|model| model));
}

/// Without a limit on tickets the shortest execution found is not real; the search among real executions finds the
/// one above, or another of the same length.
#[test]
fn old_captures_count_with_any_number_of_tickets() {
    let report = report_k("k-bakery-fife-reset", 2, None, DEATHS);
    let execution = report.finding(Property::Exclusion).execution.as_ref().expect("the property fails");
    assert_eq!(execution.steps.len(), 38);
}

/// Process 1 waits while the flag of process 0 is up. Process 0 waits for nothing, but its waiting section takes one
/// step, before which it can abort.
struct WaitsForAborter<M: Memory> {
    flag: Vec<M::Reg<bool>>,
}

impl<M: Memory> Exclusion<M> for WaitsForAborter<M> {
    type Place = ();
    type Inside = ();
    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("1").write(&self.flag[p], true)
    }
    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("2").until(&self.flag[1 - p], |up| p == 0 || !up)
    }
    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("3").write(&self.flag[p], false)
    }
    fn aborting(&self) -> Option<&dyn Abort<M, ()>> {
        Some(self)
    }
}

impl<M: Memory> Abort<M, ()> for WaitsForAborter<M> {
    fn abort(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("4").write(&self.flag[p], false)
    }
}

/// An abort is not progress, and no process may starve because of aborts.
#[test]
fn endless_aborts_do_not_excuse_deadlock() {
    let make = |space: &mut doorway_checker::Registers| WaitsForAborter { flag: space.per_process("flag", 2, false) };
    let model = Model::new(2).only([Property::DeadlockFreedom]);
    assert!(check(&model, make).unwrap().holds(Property::DeadlockFreedom), "process 0 enters");
    let report = check(&model.aborts(), make).unwrap();
    let finding = report.finding(Property::DeadlockFreedom);
    assert_eq!(
        format!("{finding}{}", finding.execution.as_ref().expect("the property fails")),
        "\
deadlock-freedom FAILS in 1 step, and stays so
\x20  1  p1  1  flag[1] := true
\x20 then for ever
\x20  2  p0  1  flag[0] := true
\x20  3  p1  2  flag[0] = true
\x20  4  p0     aborts
\x20  5  p0  4  flag[0] := false  -> out
"
    );
}

/// The k-Bakery with a reap that waits for ever and an abort that does nothing.
struct BadReapAndAbort<M: Memory>(KBakery<M>, M::Reg<bool>);

impl<M: Memory> Exclusion<M> for BadReapAndAbort<M> {
    type Place = Ticket;
    type Inside = ();
    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        self.0.doorway(m, p)
    }
    fn wait(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.wait(m, p, mine)
    }
    fn exit(&self, m: &mut M, p: Pid, inside: &()) -> Result<(), M::Halt> {
        self.0.exit(m, p, inside)
    }
    fn recovery(&self) -> Option<&dyn Reap<M>> {
        Some(self)
    }
    fn aborting(&self) -> Option<&dyn Abort<M, Ticket>> {
        Some(self)
    }
}

impl<M: Memory> Abort<M, Ticket> for BadReapAndAbort<M> {
    fn abort(&self, _: &mut M, _: Pid, _: &Ticket) -> Result<(), M::Halt> {
        Ok(())
    }
}

impl<M: Memory> Reap<M> for BadReapAndAbort<M> {
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        m.until(&self.1, |never| never)?;
        self.0.reap(m, dead)
    }
}

#[test]
fn an_endless_reap_and_an_empty_abort_are_detected() {
    let make = |space: &mut doorway_checker::Registers| {
        BadReapAndAbort(KBakery::new(space, 2, 1), space.shared("never", false))
    };
    let report = check(&Model::new(2).deaths(), make).unwrap();
    assert_eq!(report.finding(Property::StarvationFreedom).note, "process 0 is dead, and never completely reaped");
    assert_eq!(report.finding(Property::BoundedExit).note, "process 0 can take steps in `reap` for ever");
    let report = check(&Model::new(2).aborts(), make).unwrap();
    assert!(report.fails(Property::DeadlockFreedom), "{report}");
    assert!(report.holds(Property::BoundedExit) && report.holds(Property::Exclusion), "{report}");
    let report = check(&Model::new(2), make).unwrap();
    assert_eq!((report.states, report.fails(Property::DeadlockFreedom)), (852, false), "without deaths and aborts");
}

/// Yang and Anderson's tournament with an abort that releases locks it has not acquired.
struct AbortByExit<M: Memory>(YangAnderson<M>);

impl<M: Memory> Exclusion<M> for AbortByExit<M> {
    type Place = ();
    type Inside = ();
    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        self.0.doorway(m, p)
    }
    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.0.wait(m, p, &())
    }
    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.0.exit(m, p, &())
    }
    fn aborting(&self) -> Option<&dyn Abort<M, ()>> {
        Some(self)
    }
}

impl<M: Memory> Abort<M, ()> for AbortByExit<M> {
    fn abort(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.exit(m, p, &())
    }
}

/// On line 8 process 0 waits for a write that process 1 no longer makes.
#[test]
fn the_exit_section_of_a_tournament_does_not_abort_it() {
    let model = Model::new(2).aborts().passages(1).only([Property::DeadlockFreedom]);
    let report = check(&model, |space| AbortByExit(YangAnderson::new(space, 2))).unwrap();
    let finding = report.finding(Property::DeadlockFreedom);
    assert_eq!(
        format!("{finding}{}", finding.execution.as_ref().expect("the property fails")),
        "\
deadlock-freedom FAILS in 13 steps, and stays so
\x20  1  p0  1   C[1][0] := 0
\x20  2  p0  2   T[1] := 0
\x20  3  p0  3   P[1][0] := 0
\x20  4  p1  1   C[1][1] := 1
\x20  5  p0  4   C[1][1] = 1
\x20  6  p0  5   T[1] = 0
\x20  7  p0  6   P[1][1] = 0
\x20  8  p0  7   P[1][1] := 1
\x20  9  p1  2   T[1] := 1
\x20 10  p1  3   P[1][1] := 0
\x20 11  p1      aborts
\x20 12  p1  10  C[1][1] := ⊥
\x20 13  p1  11  T[1] = 1      -> out
\x20 then for ever
\x20 14  p0  8   P[1][0] = 0
"
    );
}

#[test]
fn models_that_exclude_deaths_or_aborts_are_refused() {
    let refused = |name: &str, n: usize, shape: Failures| match try_report_k(name, n, None, shape) {
        Err(Error::Model(why)) => why,
        other => panic!("{name}: {other:?}"),
    };
    let cannot = "this lock has no recovery (`reap`); check it without deaths";
    assert_eq!(refused("bakery", 2, DEATHS), cannot);
    assert_eq!(refused("bakery", 2, ABORTS), "this lock is not abortable; check it without aborts");
    assert_eq!(refused("bakery-reaped", 2, ABORTS), "this lock is not abortable; check it without aborts");
    assert_eq!(refused("bouncer", 3, DEATHS), "deaths apply to locks only; check a part without deaths");
    assert_eq!(refused("k-bakery", 9, ABORTS), "with aborts up to 8 processes can be checked, not 9");
    assert_eq!(
        refused("k-bakery", 6, |model| model.deaths().tso()),
        "with deaths and store buffers up to 5 processes can be checked, not 6"
    );
    assert_eq!(
        refused("k-bakery", 2, |model| model.deaths().symmetric()),
        "symmetry cannot be combined with deaths; check it without symmetry"
    );
    assert_eq!(
        refused("k-bakery", 2, |model| model.aborts().safe_registers()),
        "aborts are checked on atomic registers, not on safe ones"
    );
}
