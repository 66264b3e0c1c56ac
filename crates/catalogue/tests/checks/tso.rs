//! Store buffers: the reorderings that they allow, and the fences that prevent them.
use crate::common::{bounded, locks, report, report_k, surveyed, try_report_k};
use doorway_algorithms::{Finds, Status};
use doorway_catalogue::{Agreement, compare};
use doorway_checker::{Model, Property, Step, check_part};
use doorway_memory::{Memory, Part, Pid, Space};

/// A litmus test: the accesses of two or four processes to `x` and `y`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Litmus {
    /// Each process writes one register and reads the other.
    StoreBuffering,
    /// The same with a fence in between.
    StoreBufferingFenced,
    /// The same with a swap instead of a write.
    StoreBufferingSwapped,
    /// As the first one, and each process reads the register it has written before it reads the other.
    StoreBufferingSeen,
    /// One process writes `x` and then `y`, the other reads them in the opposite order.
    MessagePassing,
    /// Each process reads one register and writes the other.
    LoadBuffering,
    /// Two processes write one register each, two read both in different orders.
    IndependentReads,
}

struct Registers<M: Memory> {
    x: M::Reg<u64>,
    y: M::Reg<u64>,
    litmus: Litmus,
}

impl<M: Memory> Part<M> for Registers<M> {
    /// The values read, one digit each.
    type Outcome = u64;

    fn call(&self, m: &mut M, p: Pid) -> Result<u64, M::Halt> {
        let (mine, other) = if p.is_multiple_of(2) { (&self.x, &self.y) } else { (&self.y, &self.x) };
        match (self.litmus, p) {
            (Litmus::StoreBuffering, _) => {
                m.write(mine, 1)?;
                m.read(other)
            }
            (Litmus::StoreBufferingFenced, _) => {
                m.write(mine, 1)?;
                m.fence()?;
                m.read(other)
            }
            (Litmus::StoreBufferingSwapped, _) => {
                m.swap(mine, 1)?;
                m.read(other)
            }
            (Litmus::StoreBufferingSeen, _) => {
                m.write(mine, 1)?;
                Ok(10 * m.read(mine)? + m.read(other)?)
            }
            (Litmus::MessagePassing, 0) => {
                m.write(&self.x, 1)?;
                m.write(&self.y, 1)?;
                Ok(0)
            }
            (Litmus::MessagePassing, _) => Ok(10 * m.read(&self.y)? + m.read(&self.x)?),
            (Litmus::LoadBuffering, _) => {
                let seen = m.read(other)?;
                m.write(mine, 1)?;
                Ok(seen)
            }
            (Litmus::IndependentReads, 0 | 1) => {
                m.write(mine, 1)?;
                Ok(0)
            }
            (Litmus::IndependentReads, _) => Ok(10 * m.read(mine)? + m.read(other)?),
        }
    }

    /// Forbids the one outcome that is not sequentially consistent.
    fn rule(&self, latest: &[Option<u64>]) -> Result<(), String> {
        let odd: &[Option<u64>] = match self.litmus {
            Litmus::StoreBuffering | Litmus::StoreBufferingFenced | Litmus::StoreBufferingSwapped => {
                &[Some(0), Some(0)]
            }
            Litmus::StoreBufferingSeen => &[Some(10), Some(10)],
            Litmus::MessagePassing => &[Some(0), Some(10)],
            Litmus::LoadBuffering => &[Some(1), Some(1)],
            Litmus::IndependentReads => &[Some(0), Some(0), Some(10), Some(10)],
        };
        if latest == odd { Err("the outcome is not sequentially consistent".to_string()) } else { Ok(()) }
    }
}

fn is_explained(litmus: Litmus, shape: impl FnOnce(Model) -> Model) -> bool {
    let n = if litmus == Litmus::IndependentReads { 4 } else { 2 };
    let report = check_part(&shape(Model::new(n)), |space| Registers {
        x: space.shared("x", 0),
        y: space.shared("y", 0),
        litmus,
    });
    let report = report.expect("the algorithm keeps the rules");
    assert_eq!(report.incomplete, None);
    report.holds(Property::Rule)
}

#[test]
fn a_read_can_overtake_a_write_of_another_register() {
    for litmus in [Litmus::StoreBuffering, Litmus::StoreBufferingSeen] {
        assert!(is_explained(litmus, |model| model), "{litmus:?}");
        assert!(!is_explained(litmus, Model::tso), "{litmus:?}");
        assert!(is_explained(litmus, Model::tso_with_fences_everywhere), "{litmus:?}");
    }
}

#[test]
fn a_read_does_not_overtake_a_fence_or_a_read_modify_write() {
    assert!(is_explained(Litmus::StoreBufferingFenced, Model::tso));
    assert!(!is_explained(Litmus::StoreBufferingFenced, Model::tso_without_fences));
    assert!(is_explained(Litmus::StoreBufferingSwapped, Model::tso_without_fences));
}

#[test]
fn nothing_else_is_seen_out_of_order() {
    for litmus in [Litmus::MessagePassing, Litmus::LoadBuffering, Litmus::IndependentReads] {
        assert!(is_explained(litmus, Model::tso_without_fences), "{litmus:?}");
    }
}

/// Without fences, the correct locks that are still as claimed are those that have none, of read-modify-writes mostly.
/// A broken lock can be as claimed all the same.
#[test]
fn without_fences_exactly_the_locks_that_have_none_are_as_claimed() {
    let mut without_exclusion = 0;
    for about in locks().filter(|about| about.holds(Property::Exclusion)) {
        let checked = |shape: &dyn Fn(Model) -> Model| {
            try_report_k(about.name, about.default_n, None, |model| shape(bounded(about, model)).tso_without_fences())
        };
        let is_as_claimed = match checked(&|model| model.only([Property::Exclusion]).max_states(500_000)) {
            Err(error) => {
                assert!(error.to_string().contains("panicked"), "{}: {error}", about.name);
                false
            }
            Ok(report) if report.fails(Property::Exclusion) => {
                without_exclusion += 1;
                false
            }
            Ok(report) => {
                let few = |model: Model| if report.stopped { model.passages(2) } else { model };
                let report = checked(&few).unwrap_or_else(|error| panic!("{}: {error}", about.name));
                let claims: Vec<_> = about.claims.iter().copied().filter(|claim| claim.under.is_empty()).collect();
                compare(&claims, &report).overall() == Agreement::Agrees
            }
        };
        let has_fences = about.pinned.iter().any(|pinned| matches!(pinned.finds, Finds::Fenced(_, 1..)));
        let is_right = is_as_claimed != has_fences || (is_as_claimed && about.status() != Status::Correct);
        assert!(is_right, "{}: as claimed: {is_as_claimed}", about.name);
    }
    assert!(without_exclusion >= 32, "only {without_exclusion} lose exclusion");
}

/// The classic: neither process reads the other's flag, which is still in a store buffer.
#[test]
fn peterson_without_fences_does_not_exclude() {
    let report = report("peterson", 2, Model::tso_without_fences);
    let execution = report.finding(Property::Exclusion).execution.as_ref().expect("the property fails");
    assert_eq!(
        execution.to_string(),
        "\
\x20  1  p0  8   flag[0] := true
\x20  2  p0  9   victim := 0
\x20  3  p0  10  flag[1] = false  -> inside
\x20  4  p1  8   flag[1] := true
\x20  5  p1  9   victim := 1
\x20  6  p1  10  flag[0] = false  -> inside
"
    );
}

/// A process does not wait for ever for a write in a store buffer: every buffer is emptied eventually, even that of a
/// crashed process.
#[test]
fn a_write_of_a_crashed_process_becomes_visible_eventually() {
    for name in ["anderson-moir", "k-bakery-fife"] {
        let progress = [Property::Exclusion, Property::DeadlockFreedom, Property::StarvationFreedom];
        let report = report_k(name, 3, Some(2), |model| model.passages(1).tso().crashes(1).only(progress));
        assert!(progress.iter().all(|&property| report.holds(property)), "{name}: {report}");
    }
    let report = report("peterson", 2, |model| model.tso().crashes(1).only([Property::StarvationFreedom]));
    let execution = report.finding(Property::StarvationFreedom).execution.as_ref().expect("a holder may crash");
    let (_, cycle) = execution.steps.split_at(execution.cycle_at.expect("starvation is shown by a lasso"));
    assert!(cycle.iter().all(|step| !step.access.ends_with("becomes visible")), "{execution}");
}

/// A cycle that shows a deadlock or starvation leaves no write in a store buffer for ever.
#[test]
fn in_every_lasso_with_store_buffers_each_write_arrives() {
    for about in locks().filter(|about| about.default_n <= 3 && about.lacks(Property::StarvationFreedom)) {
        let wanted = [Property::DeadlockFreedom, Property::StarvationFreedom];
        let report = surveyed(about, |model| model.tso().only(wanted));
        for execution in report.findings.iter().filter_map(|finding| finding.execution.as_ref()) {
            let (prefix, cycle) =
                execution.steps.split_at(execution.cycle_at.expect("a liveness property fails in a cycle"));
            for p in 0..about.default_n {
                let visible = |step: &&Step| step.process == p && step.access.ends_with("becomes visible");
                let writes = |step: &&Step| step.process == p && step.access.contains(":=") && !visible(step);
                let left = |steps: &[Step]| steps.iter().filter(writes).count() - steps.iter().filter(visible).count();
                assert_eq!(left(cycle), 0, "{}: {execution}", about.name);
                assert!(left(prefix) == 0 || cycle.iter().any(|step| visible(&step)), "{}: {execution}", about.name);
            }
        }
    }
}

#[test]
fn models_that_exclude_store_buffers_are_refused() {
    let why = |name, shape: fn(Model) -> Model| try_report_k(name, 2, None, shape).unwrap_err().to_string();
    assert_eq!(
        why("bakery", |model| model.tso().safe_registers()),
        "a safe register has no store buffer before it; check one without the other"
    );
    assert_eq!(
        why("ticket-k", |model| model.tso().symmetric()),
        "symmetry cannot be combined with store buffers; check it without symmetry"
    );
    let nine = try_report_k("filter", 9, None, Model::tso).unwrap_err();
    assert_eq!(nine.to_string(), "with store buffers up to 8 processes can be checked, not 9");
}

/// An algorithm that keeps writing without a fence is checked only up to a full store buffer.
#[test]
fn the_report_says_if_a_store_buffer_was_full() {
    let report = report("lock-one", 2, Model::tso_without_fences);
    assert_eq!(
        report.incomplete.as_deref(),
        Some("store buffers of 16 writes were full, and executions that need longer ones were not explored")
    );
}

/// The parking protocol of native threads loses no wake-up, and needs its barrier for that. (With it, everything is as
/// claimed: that is pinned.)
#[test]
fn no_wake_up_is_lost_and_the_barrier_is_needed_for_it() {
    let with = report("ticket-sleeping", 2, Model::tso);
    let [barrier] = with.fences[..] else { panic!("there is one: {:?}", with.fences) };
    assert!(with.holds(Property::DeadlockFreedom), "{with}");
    let without = report("ticket-sleeping", 2, |model| model.tso_without_fence(barrier));
    assert!(without.holds(Property::Exclusion) && without.fails(Property::DeadlockFreedom), "{without}");
}

/// So does the protocol of suspended tasks. It needs its barrier, and the fence of a release that has met a task before.
#[test]
fn no_task_is_left_suspended_and_both_fences_are_needed_for_it() {
    let with = report("ticket-async", 2, Model::tso);
    assert_eq!(with.fences.len(), 2, "the barrier and the fence: {:?}", with.fences);
    assert!(with.holds(Property::DeadlockFreedom), "{with}");
    for &fence in &with.fences {
        let without = report("ticket-async", 2, |model| model.tso_without_fence(fence));
        assert!(without.holds(Property::Exclusion) && without.fails(Property::DeadlockFreedom), "{without}");
    }
}
