//! The machine conforms to what every memory promises, and suspends a busy-waiting process.
use std::{
    mem,
    ops::ControlFlow::{Break, Continue},
};

use doorway_memory::{
    Cost, FailedCas, Home, Local, Memory, Name, Space,
    conformance::{self, Harness},
};

use super::{Halt, Machine, Permit, Stopped};

/// Stops before every access, so that every access is replayed as often as possible.
struct OneByOne;

impl Harness for OneByOne {
    type Space = Machine;

    fn complete<A, R: Local>(
        &self,
        make: impl Fn(&mut Machine) -> A,
        body: impl Fn(&A, &mut Machine) -> Result<R, Halt>,
    ) -> R {
        let mut machine = Machine::new(Cost::Cc(FailedCas::Counts));
        let registers = make(&mut machine);
        machine.prepare(1, None);
        loop {
            machine.resume(0, Permit::One);
            machine.enter_section();
            if let Ok(result) = body(&registers, &mut machine) {
                return result;
            }
        }
    }
}

#[test]
fn the_machine_conforms() {
    conformance::all(&OneByOne);
}

/// Runs a body as process 0 until it ends or is suspended, for `steps` steps at most; returns how it stopped.
fn run(machine: &mut Machine, steps: usize, body: impl Fn(&mut Machine) -> Result<(), Halt>) -> Option<Stopped> {
    for _ in 0..steps {
        machine.resume(0, Permit::One);
        machine.enter_section();
        if body(machine).is_ok() {
            return None;
        }
        if machine.stopped() == Stopped::Suspended {
            break;
        }
    }
    Some(machine.stopped())
}

#[test]
fn a_busy_waiting_process_is_suspended_until_a_register_it_read_is_written() {
    let mut machine = Machine::new(Cost::Cc(FailedCas::Counts));
    let flags = machine.array("flag", 3, false);
    machine.prepare(2, None);
    let wait = |m: &mut Machine| m.spin(|m| m.all(3, |m, i| m.test(&flags[i], |up| i < 2 || up)));
    assert_eq!(run(&mut machine, 100, wait), Some(Stopped::Suspended));
    assert_eq!((machine.accesses, machine.tape.remote), (3, 3));

    let mine = mem::take(&mut machine.tape);
    machine.resume(1, Permit::One);
    machine.enter_section();
    assert_eq!(machine.write(&flags[0], false), Ok(()));
    assert_eq!(machine.woken, [0], "its copy is invalid, even though the value is the same");

    machine.tape = mine;
    assert_eq!(run(&mut machine, 100, wait), Some(Stopped::Suspended));
    assert_eq!((machine.accesses, machine.tape.remote), (3 + 1 + 3, 3 + 1));
}

/// The first iteration reads `version` before and after another process writes it, so the next one is not the same.
#[test]
fn an_iteration_that_has_seen_two_values_of_a_register_is_not_busy_waiting() {
    let mut machine = Machine::new(Cost::Cc(FailedCas::Counts));
    let version = machine.shared("version", 0_u64);
    machine.prepare(2, None);
    let wait = |m: &mut Machine| m.spin(|m| Ok(m.read(&version)? == m.read(&version)?));
    machine.resume(0, Permit::One);
    machine.enter_section();
    assert!(wait(&mut machine).is_err(), "it is stopped before its second read");
    let mine = mem::take(&mut machine.tape);
    machine.resume(1, Permit::One);
    machine.enter_section();
    assert_eq!(machine.write(&version, 1), Ok(()));
    machine.tape = mine;
    assert_eq!(run(&mut machine, 100, wait), None, "the second iteration reads the same value twice");
}

#[test]
fn without_caches_busy_waiting_is_remote_unless_at_home() {
    for (home, spins_remotely) in [(Home::Of(0), false), (Home::Of(1), true), (Home::Nobody, true)] {
        let mut machine = Machine::new(Cost::Dsm);
        let flag = machine.register(Name::new("flag"), home, false);
        machine.prepare(2, None);
        let stopped = run(&mut machine, 100, |m| m.spin(|m| m.test(&flag, |up| up)));
        assert_eq!((stopped, machine.tape.spins_remotely), (Some(Stopped::Suspended), spins_remotely), "{home:?}");
    }
}

#[test]
fn an_iteration_that_writes_or_changes_the_state_is_not_busy_waiting() {
    let mut machine = Machine::new(Cost::Dsm);
    let (x, flag) = (machine.shared("x", 0_u64), machine.shared("flag", false));
    machine.prepare(1, None);
    let retry = |m: &mut Machine| m.spin(|m| Ok(m.fetch_add(&x, 1)? == 10 || m.test(&flag, |up| up)?));
    assert_eq!(run(&mut machine, 100, retry), None);
    machine.leave_section();
    let count = |m: &mut Machine| {
        m.turns(0_u64, |m, i| Ok(if m.test(&flag, |up| up)? || i == 10 { Break(()) } else { Continue(i + 1) }))
    };
    assert_eq!(run(&mut machine, 100, count), None);
}

#[test]
fn local_reads_can_be_batched_into_one_step() {
    let mut machine = Machine::new(Cost::Cc(FailedCas::Counts));
    let x = machine.shared("x", 0_u64);
    machine.prepare(1, None);
    machine.batches_local_reads = true;
    let body = |m: &mut Machine| m.fold(5, (), |m, (), _| m.test(&x, |_| true).map(|_| ()));
    machine.resume(0, Permit::One);
    machine.enter_section();
    assert_eq!(body(&mut machine), Ok(()), "the first read is remote, the others are local");
    assert_eq!(machine.tape.remote, 1);
}
