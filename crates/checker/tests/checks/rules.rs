//! An algorithm that breaks a rule of the interface is told so, by name; it is never looped on for ever.
use std::{
    cell::Cell,
    ops::ControlFlow::{Break, Continue},
};

use doorway_checker::{Error, Fault, Handle, Model, Section, View, check};
use doorway_memory::{Exclusion, Memory, Pid, Space, Ticket, Value};

/// A lock whose `wait` is given by the test.
struct Waiting<F> {
    registers: Shared,
    wait: F,
}

struct Shared {
    x: Handle<u64>,
    ticket: Vec<Handle<Ticket>>,
}

type Step = Result<(), <View as Memory>::Halt>;

impl<F: Fn(&Shared, &mut View, Pid) -> Step> Exclusion<View> for Waiting<F> {
    type Place = ();
    fn doorway(&self, m: &mut View, p: Pid) -> Result<(), <View as Memory>::Halt> {
        let other = m.read(&self.registers.ticket[1 - p])?;
        m.write(&self.registers.ticket[p], other.next())
    }
    fn wait(&self, m: &mut View, p: Pid, (): &()) -> Step {
        (self.wait)(&self.registers, m, p)
    }
    fn exit(&self, m: &mut View, p: Pid, (): &()) -> Step {
        m.write(&self.registers.ticket[p], Ticket::ZERO)
    }
}

/// What is wrong with a lock that waits like this.
fn fault(wait: impl Fn(&Shared, &mut View, Pid) -> Step) -> Fault {
    let error = check(&Model::new(2), |space| Waiting {
        registers: Shared { x: space.shared("x", 0), ticket: space.per_process("ticket", 2, Ticket::ZERO) },
        wait,
    });
    match error.expect_err("it breaks a rule") {
        Error::Broken { section: Section::Wait, fault, .. } => fault,
        other => panic!("{other}"),
    }
}

#[test]
fn a_process_that_depends_on_anything_but_what_it_reads_is_detected() {
    let runs = Cell::new(0);
    let fault = fault(move |Shared { x, ticket }, m, p| {
        runs.set(runs.get() + 1);
        if runs.get() % 3 == 0 { m.read(x).map(|_| ()) } else { m.read(&ticket[p]).map(|_| ()) }
    });
    assert_eq!(fault, Fault::Nondeterminism);
}

#[test]
fn a_value_that_changes_between_replays_is_detected() {
    let runs = Cell::new(0);
    let fault = fault(move |Shared { x, .. }, m, _| {
        runs.set(runs.get() + 1);
        m.write(x, runs.get())
    });
    assert_eq!(fault, Fault::Nondeterminism);
}

#[test]
fn a_loop_that_is_not_made_of_turns_is_detected() {
    let fault = fault(|Shared { x, .. }, m, _| {
        while m.read(x)? == 0 {}
        Ok(())
    });
    assert!(matches!(fault, Fault::EndlessAccesses(_)));
}

#[test]
fn turns_without_an_access_are_detected() {
    let fault = fault(|_, m, _| m.turns(0_u64, |_, i| Ok(if i == u64::MAX { Break(()) } else { Continue(i + 1) })));
    assert!(matches!(fault, Fault::EndlessTurns(_)));
}

#[test]
fn a_halt_that_is_not_passed_on_is_detected() {
    let once = fault(|Shared { x, .. }, m, _| {
        let _ = m.read(x);
        Ok(())
    });
    assert_eq!(once, Fault::SwallowedHalt);
    let for_ever = fault(|Shared { x, .. }, m, _| {
        while m.read(x).is_err() {}
        Ok(())
    });
    assert_eq!(for_ever, Fault::SwallowedHalt);
}

#[test]
fn a_panic_is_reported_and_not_passed_on() {
    let fault = fault(|Shared { x, .. }, m, p| {
        m.read(x)?;
        assert!(p > 0, "process {p} is not welcome");
        Ok(())
    });
    assert_eq!(fault, Fault::Panicked("process 0 is not welcome".to_string()));
}

#[test]
fn a_process_that_counts_with_tickets_is_detected() {
    let two_at_once = fault(|Shared { ticket, .. }, m, p| {
        let seen = m.read(&ticket[1 - p])?;
        m.write(&ticket[p], seen.next().next())
    });
    assert_eq!(two_at_once, Fault::TicketArithmetic);
    let arithmetic = fault(|Shared { x, ticket }, m, p| {
        let seen = m.read(&ticket[1 - p])?;
        m.write(x, seen.to_word() % 3)
    });
    assert_eq!(arithmetic, Fault::TicketArithmetic);
}

#[test]
fn the_first_ticket_of_all_must_be_the_first_or_the_next_too() {
    struct Jumping<M: Memory>(M::Reg<Option<Ticket>>);
    impl<M: Memory> Exclusion<M> for Jumping<M> {
        type Place = ();
        fn doorway(&self, m: &mut M, _: Pid) -> Result<(), M::Halt> {
            m.write(&self.0, Some(Ticket::ZERO.next().next()))
        }
        fn wait(&self, _: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
            Ok(())
        }
        fn exit(&self, _: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
            Ok(())
        }
    }
    let error = check(&Model::new(2), |space| Jumping(space.shared("ticket", None)));
    assert!(matches!(error, Err(Error::Broken { fault: Fault::TicketArithmetic, .. })));
}

#[test]
fn the_message_names_the_process_the_section_and_the_way_out() {
    let error = Error::Broken { process: 1, section: Section::Wait, fault: Fault::EndlessAccesses(300) };
    assert_eq!(
        error.to_string(),
        "process 1 in `wait` made more than 300 accesses outside `turns`; write the loop with `turns`, `fold` or `spin`"
    );
}
