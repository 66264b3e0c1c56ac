//! Regression tests: small locks for which a verdict or a bound was once wrong.

use std::ops::ControlFlow::{Break, Continue};

use doorway_checker::{
    Bound, Cost, Error, FailedCas, Fault, Model, Property, Registers, Verdict, check, remote_references,
};
use doorway_memory::{Exclusion, Memory, Pid, Space, Ticket};

/// While `x` is zero, process 0 only sets `go`, and process 1 increments `y` until it reads that `go` is set; then it
/// sets `x` to one, and `y` stays. From then on a passage of process 0 costs three more if `y` is more than one above
/// the next of `x`.
struct Frozen<M: Memory> {
    x: M::Reg<Ticket>,
    y: M::Reg<Ticket>,
    go: M::Reg<bool>,
    z: M::Reg<bool>,
}

impl<M: Memory> Frozen<M> {
    fn new(space: &mut impl Space<Mem = M>) -> Self {
        Frozen {
            x: space.shared("x", Ticket::ZERO),
            y: space.shared("y", Ticket::ZERO),
            go: space.shared("go", false),
            z: space.shared("z", false),
        }
    }
}

impl<M: Memory> Exclusion<M> for Frozen<M> {
    type Place = ();
    type Inside = ();
    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        if p == 1 {
            if m.read(&self.go)? {
                return m.write(&self.x, Ticket::ZERO.next());
            }
            let y = m.read(&self.y)?;
            return m.write(&self.y, y.next());
        }
        // The first step takes the next of the ticket that it reads, so it has several successors.
        let seen = m.call(|m| {
            let x = m.read(&self.x)?;
            Ok(if x == Ticket::ZERO { x } else { x.next() })
        })?;
        if seen == Ticket::ZERO {
            return m.write(&self.go, true);
        }
        if m.test(&self.y, |y| y > seen && y != seen.next())? {
            for _ in 0..3 {
                m.write(&self.z, true)?;
            }
        }
        Ok(())
    }
    fn wait(&self, _: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        Ok(())
    }
    fn exit(&self, _: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        Ok(())
    }
}

/// The bound is the maximum over all successors of the first step, and its execution follows the worst one.
#[test]
fn a_first_step_with_several_successors_costs_as_much_as_the_worst_of_them() {
    let found = remote_references(&Model::new(2), Cost::Dsm, Frozen::new).unwrap();
    assert_eq!(found.per_process[0].bound, Bound::AtMost(5));
    assert!(found.is_exact());
    let execution = found.per_process[0].execution.as_ref().unwrap();
    assert!(execution.steps[execution.steps.len() - 5..].iter().all(|step| step.process == 0), "{execution}");
    let real = remote_references(&Model::new(2).ticket_cap(8), Cost::Dsm, Frozen::new).unwrap();
    assert_eq!(real.per_process[0].bound, Bound::AtMost(5));
}

/// If the first read of a safe register returns a value that was never written, the passage costs five more.
struct Flicker<M: Memory> {
    x: M::Reg<bool>,
    z: M::Reg<bool>,
}

impl<M: Memory> Exclusion<M> for Flicker<M> {
    type Place = ();
    type Inside = ();
    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        if p == 1 {
            return m.write(&self.x, false);
        }
        if m.read(&self.x)? {
            for _ in 0..5 {
                m.read(&self.z)?;
            }
        }
        Ok(())
    }
    fn wait(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.read(&self.z).map(|_| ())
    }
    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.read(&self.z).map(|_| ())
    }
}

#[test]
fn a_first_read_of_a_register_being_written_costs_as_much_as_the_worst_value() {
    let make = |space: &mut Registers| Flicker { x: space.shared("x", false), z: space.shared("z", false) };
    let model = Model::new(2).safe_registers();
    for (cost, bound) in [(Cost::Dsm, 8), (Cost::Cc(FailedCas::Counts), 2)] {
        let found = remote_references(&model, cost, make).unwrap();
        assert_eq!(found.per_process[0].bound, Bound::AtMost(bound), "{cost:?}");
        assert!(found.is_exact());
    }
}

/// Process 0 waits until process 1 has entered `most` times; process 1 counts its entries and then waits for process 0.
struct BypassedBy<M: Memory> {
    entries: M::Reg<u64>,
    most: u64,
}

impl<M: Memory> Exclusion<M> for BypassedBy<M> {
    type Place = ();
    type Inside = ();
    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        if p == 0 { m.write(&self.entries, 0) } else { Ok(()) }
    }
    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        let most = self.most;
        if p == 0 {
            return m.until(&self.entries, move |entries| entries >= most);
        }
        m.until(&self.entries, move |entries| entries < most)
    }
    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        if p == 0 { Ok(()) } else { m.fetch_add(&self.entries, 1).map(|_| ()) }
    }
}

#[test]
fn bypass_bounds_beyond_a_byte_are_exact() {
    for most in [254, 255, 256, 300, 1_000] {
        let model = Model::new(2).only([Property::Bypass]);
        let make = |space: &mut Registers| BypassedBy { entries: space.shared("entries", most), most };
        let bypass = check(&model, make).unwrap().finding(Property::Bypass).bypass.unwrap();
        assert_eq!(bypass.late, Bound::AtMost(most as u32));
    }
}

/// Process 1 increments `c`. Process 0 reads it twice, and does not wait for the lock if it has grown by exactly `by`.
struct Further<M: Memory> {
    c: M::Reg<Ticket>,
    lock: M::Reg<bool>,
    by: usize,
}

impl<M: Memory> Further<M> {
    fn new(space: &mut impl Space<Mem = M>, by: usize) -> Self {
        Further { c: space.shared("c", Ticket::ZERO), lock: space.shared("lock", false), by }
    }
}

impl<M: Memory> Exclusion<M> for Further<M> {
    type Place = bool;
    type Inside = bool;
    fn doorway(&self, m: &mut M, p: Pid) -> Result<bool, M::Halt> {
        if p == 1 {
            let c = m.read(&self.c)?;
            m.write(&self.c, c.next())?;
            return Ok(false);
        }
        let (first, by) = (m.read(&self.c)?, self.by);
        m.test(&self.c, move |c| c == (0..by).fold(first, |ticket, _| ticket.next()))
    }
    fn wait(&self, m: &mut M, _: Pid, &rushes: &bool) -> Result<bool, M::Halt> {
        if !rushes {
            m.spin(|m| m.compare_swap(&self.lock, false, true))?;
        }
        Ok(rushes)
    }
    fn exit(&self, m: &mut M, _: Pid, &rushes: &bool) -> Result<(), M::Halt> {
        if rushes { Ok(()) } else { m.write(&self.lock, false) }
    }
}

/// Up to the third `next` the search distinguishes distances; beyond, the lock is refused. It is never reported to
/// exclude.
#[test]
fn a_comparison_with_any_further_ticket_is_followed_or_refused() {
    for by in 1..40 {
        let found = check(&Model::new(2).only([Property::Exclusion]), |space| Further::new(space, by));
        match found {
            Ok(report) => assert!(by < 4 && report.fails(Property::Exclusion), "by {by}: {report}"),
            Err(error) => {
                assert!(by >= 4, "by {by}: {error}");
                assert!(matches!(error, Error::Broken { process: 0, fault: Fault::TicketArithmetic, .. }), "{error}");
            }
        }
    }
}

/// Process 1 increments a ticket. Process 0 reads it, and counts up to it before it enters.
struct Counting<M: Memory> {
    top: M::Reg<Ticket>,
    z: M::Reg<bool>,
}

impl<M: Memory> Exclusion<M> for Counting<M> {
    type Place = Ticket;
    type Inside = ();
    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        let top = m.read(&self.top)?;
        if p == 1 {
            m.write(&self.top, top.next())?;
        }
        Ok(top)
    }
    fn wait(&self, m: &mut M, p: Pid, &top: &Ticket) -> Result<(), M::Halt> {
        if p == 1 {
            return Ok(());
        }
        m.turns(Ticket::ZERO, |m, count| {
            if count == top {
                return Ok(Break(()));
            }
            m.read(&self.z)?;
            Ok(Continue(count.next()))
        })
    }
    fn exit(&self, _: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        Ok(())
    }
}

/// Each iteration reduces the distance, so the loop ends. (That it always ends is not decided: that would take
/// numbers.)
#[test]
fn a_loop_that_counts_up_to_a_ticket_is_not_reported_as_a_deadlock() {
    let make = |space: &mut Registers| Counting { top: space.shared("top", Ticket::ZERO), z: space.shared("z", false) };
    let report = check(&Model::new(2), make).unwrap();
    for property in [Property::DeadlockFreedom, Property::StarvationFreedom] {
        let finding = report.finding(property);
        assert_eq!(finding.verdict, Verdict::Unknown, "{report}");
        assert!(finding.note.contains("tickets"), "{report}");
    }
}
