//! An algorithm that violates a rule of the interface is reported with the name of the rule; the check never loops
//! for ever.
use std::{
    ops::ControlFlow::{Break, Continue},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use doorway_checker::{Error, Fault, Handle, Model, Property, Registers, Section, View, check};
use doorway_memory::{Exclusion, Memory, Pid, Space, Ticket, Value};

/// A lock whose `wait` the test provides.
struct Waiting<F> {
    registers: Shared,
    wait: F,
}

struct Shared {
    x: Handle<u64>,
    ticket: Vec<Handle<Ticket>>,
}

type Step = Result<(), <View as Memory>::Halt>;

impl<F: Fn(&Shared, &mut View, Pid) -> Step + Send + Sync> Exclusion<View> for Waiting<F> {
    type Place = ();
    type Inside = ();
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

/// The fault of a lock with this `wait`.
fn fault(wait: impl Fn(&Shared, &mut View, Pid) -> Step + Send + Sync) -> Fault {
    let error = check(&Model::new(2), |space| Waiting {
        registers: Shared { x: space.shared("x", 0), ticket: space.per_process("ticket", 2, Ticket::ZERO) },
        wait,
    });
    match error.expect_err("the lock violates a rule") {
        Error::Broken { section: Section::Wait, fault, .. } => fault,
        other => panic!("{other}"),
    }
}

#[test]
fn a_process_that_depends_on_anything_but_what_it_reads_is_detected() {
    let runs = AtomicU64::new(1);
    let fault = fault(move |Shared { x, ticket }, m, p| {
        if runs.fetch_add(1, Relaxed).is_multiple_of(3) {
            m.read(x).map(|_| ())
        } else {
            m.read(&ticket[p]).map(|_| ())
        }
    });
    assert_eq!(fault, Fault::Nondeterminism);
}

#[test]
fn a_value_that_changes_between_replays_is_detected() {
    let runs = AtomicU64::new(1);
    let fault = fault(move |Shared { x, .. }, m, _| m.write(x, runs.fetch_add(1, Relaxed)));
    assert_eq!(fault, Fault::Nondeterminism);
}

#[test]
fn a_loop_without_turns_is_detected() {
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
fn a_halt_that_is_not_propagated_is_detected() {
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
fn a_panic_is_reported_and_not_propagated() {
    let fault = fault(|Shared { x, .. }, m, p| {
        m.read(x)?;
        assert!(p > 0, "process {p} is not welcome");
        Ok(())
    });
    assert_eq!(fault, Fault::Panicked("process 0 is not welcome".to_string()));
}

#[test]
fn arithmetic_with_tickets_is_detected() {
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
fn arithmetic_with_the_zero_ticket_is_detected() {
    struct Jumping<M: Memory>(M::Reg<Option<Ticket>>);
    impl<M: Memory> Exclusion<M> for Jumping<M> {
        type Place = ();
        type Inside = ();
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
fn the_message_names_the_process_the_section_the_line_and_the_remedy() {
    let (line, fault) = ("7".to_string(), Fault::EndlessAccesses(300));
    let error = Error::Broken { process: 1, section: Section::Wait, line, fault, execution: None };
    assert_eq!(
        error.to_string(),
        "process 1 in `wait`, line 7, made more than 300 accesses outside `turns`; \
         write the loop with `turns`, `fold` or `spin`"
    );
}

/// A lock with one flag, whose sections the test can modify.
struct Flag<M: Memory, D, W, E> {
    flag: M::Reg<bool>,
    doorway: D,
    wait: W,
    exit: E,
}

impl<D, W, E> Exclusion<View> for Flag<View, D, W, E>
where
    D: Fn(&mut View) -> Step + Send + Sync,
    W: Fn(bool) -> bool + Send + Sync,
    E: Fn(&mut View, &Handle<bool>) -> Step + Send + Sync,
{
    type Place = ();
    type Inside = ();
    fn doorway(&self, m: &mut View, _: Pid) -> Step {
        (self.doorway)(m)
    }
    fn wait(&self, m: &mut View, _: Pid, (): &()) -> Step {
        m.at("2").until(&self.flag, |_| true)?;
        m.spin(|m| {
            let free = m.at("3").test(&self.flag, |taken| (self.wait)(taken))?;
            Ok(free && m.at("4").compare_swap(&self.flag, false, true)?)
        })
    }
    fn exit(&self, m: &mut View, _: Pid, (): &()) -> Step {
        (self.exit)(m, &self.flag)
    }
}

fn unlock(m: &mut View, flag: &Handle<bool>) -> Step {
    m.at("5").write(flag, false)
}

/// The lock with one flag, unmodified.
fn flag_lock() -> impl FnOnce(&mut Registers) -> FlagLock {
    |space| Flag { flag: space.shared("flag", false), doorway: |_| Ok(()), wait: |taken| !taken, exit: unlock }
}

type Unlock = fn(&mut View, &Handle<bool>) -> Step;
type FlagLock = Flag<View, fn(&mut View) -> Step, fn(bool) -> bool, Unlock>;

fn error_of<A: Exclusion<View>>(make: impl FnOnce(&mut Registers) -> A) -> Error {
    check(&Model::new(2), make).expect_err("the lock violates a rule")
}

fn fault_of<A: Exclusion<View>>(make: impl FnOnce(&mut Registers) -> A) -> Fault {
    match error_of(make) {
        Error::Broken { fault, .. } => fault,
        other => panic!("{other}"),
    }
}

#[test]
fn the_unmodified_flag_lock_keeps_every_rule() {
    assert!(check(&Model::new(2), flag_lock()).unwrap().holds(Property::DeadlockFreedom));
}

/// At the end of a search known steps are run once more, in another order.
#[test]
fn a_cell_outside_the_memory_is_detected() {
    let unlocked = AtomicU64::new(0);
    let stops_unlocking = |m: &mut View, flag: &Handle<bool>| {
        if unlocked.fetch_add(1, Relaxed) >= 8 { m.at("5").write(flag, true) } else { unlock(m, flag) }
    };
    let fault = fault_of(|space| Flag {
        flag: space.shared("flag", false),
        doorway: |_: &mut View| Ok(()),
        wait: |taken: bool| !taken,
        exit: stops_unlocking,
    });
    assert_eq!(fault, Fault::Nondeterminism);
}

#[test]
fn an_inconsistent_predicate_is_detected() {
    let calls = AtomicU64::new(1);
    let inconsistent = |taken: bool| !calls.fetch_add(1, Relaxed).is_multiple_of(5) && !taken;
    let fault = fault_of(|space| Flag {
        flag: space.shared("flag", false),
        doorway: |_: &mut View| Ok(()),
        wait: inconsistent,
        exit: unlock as Unlock,
    });
    assert_eq!(fault, Fault::Nondeterminism);
}

/// A lock that differs from one run of its code to the next: in the place it returns, or in an update.
struct Inconsistent<M: Memory> {
    x: M::Reg<u64>,
    runs: AtomicU64,
    in_place: bool,
}

impl<M: Memory> Exclusion<M> for Inconsistent<M> {
    type Place = u64;
    type Inside = ();
    fn doorway(&self, m: &mut M, _: Pid) -> Result<u64, M::Halt> {
        let varying = self.runs.fetch_add(1, Relaxed) / 4 % 2;
        m.update(&self.x, |x| if self.in_place { x } else { varying })?;
        Ok(if self.in_place { varying } else { 0 })
    }
    fn wait(&self, m: &mut M, _: Pid, place: &u64) -> Result<(), M::Halt> {
        m.write(&self.x, *place)
    }
    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.write(&self.x, 0)
    }
}

#[test]
fn a_place_or_an_update_that_varies_is_detected() {
    for in_place in [false, true] {
        let fault = fault_of(|space| Inconsistent { x: space.shared("x", 0), runs: AtomicU64::new(1), in_place });
        assert_eq!(fault, Fault::Nondeterminism, "in the place: {in_place}");
    }
}

/// A lock whose doorway the test provides; its only register holds a process number or none.
struct Doorway<F>(Handle<Option<usize>>, F);

impl<F: Fn(&Handle<Option<usize>>, &mut View) -> Step + Send + Sync> Exclusion<View> for Doorway<F> {
    type Place = ();
    type Inside = ();
    fn doorway(&self, m: &mut View, _: Pid) -> Step {
        (self.1)(&self.0, m)
    }
    fn wait(&self, m: &mut View, _: Pid, (): &()) -> Step {
        m.at("8").read(&self.0).map(|_| ())
    }
    fn exit(&self, _: &mut View, _: Pid, (): &()) -> Step {
        Ok(())
    }
}

fn doorway_error(doorway: impl Fn(&Handle<Option<usize>>, &mut View) -> Step + Send + Sync) -> Error {
    error_of(|space| Doorway(space.shared("owner", None), doorway))
}

#[test]
fn a_value_that_does_not_fit_its_word_is_detected() {
    let error = doorway_error(|owner, m| m.at("7").write(owner, Some(usize::MAX)));
    assert!(matches!(&error, Error::Broken { fault: Fault::NotAWord(value), .. } if value.contains("Some")), "{error}");
    let error = doorway_error(|owner, m| m.at("7").update(owner, |_| Some(usize::MAX)).map(|_| ()));
    assert!(matches!(error, Error::Broken { fault: Fault::NotAWord(_), .. }), "{error}");
}

#[test]
fn a_register_of_another_space_is_detected() {
    let other = Registers::default().shared("owner", None::<usize>);
    let error = doorway_error(move |_, m| m.read(&other).map(|_| ()));
    assert!(matches!(error, Error::Broken { fault: Fault::ForeignRegister, .. }), "{error}");
}

#[test]
fn turns_whose_state_grows_without_an_access_are_detected() {
    let error = doorway_error(|_, m| {
        m.turns(Vec::<u64>::new(), |_, list| {
            Ok(if list.len() > 1 << 30 { Break(()) } else { Continue([list, vec![1]].concat()) })
        })
    });
    assert!(matches!(error, Error::Broken { fault: Fault::EndlessTurns(_), .. }), "{error}");
}

#[test]
fn five_hundred_accesses_in_a_row_are_not_a_loop() {
    let report = check(&Model::new(1), |space| {
        let many = |owner: &Handle<Option<usize>>, m: &mut View| (0..500).try_for_each(|_| m.read(owner).map(|_| ()));
        Doorway(space.shared("owner", None), many)
    });
    assert!(report.unwrap().holds(Property::Exclusion));
}

#[test]
fn a_swallowed_halt_is_reported_with_its_line() {
    let error = doorway_error(|owner, m| {
        let _ = m.at("7").read(owner);
        Ok(())
    });
    let Error::Broken { section, line, fault, .. } = error else { panic!("{error}") };
    assert_eq!((section, line.as_str(), fault), (Section::Doorway, "7", Fault::SwallowedHalt));
}

#[test]
fn a_panic_is_reported_with_the_execution_that_leads_to_it() {
    for only in [vec![], vec![Property::Exclusion]] {
        let error = check(&Model::new(2).only(only), |space| {
            let fragile = |owner: &Handle<Option<usize>>, m: &mut View| {
                let before = m.at("1").swap(owner, Some(0))?;
                assert!(before.is_none(), "somebody is there");
                Ok(())
            };
            Doorway(space.shared("owner", None), fragile)
        })
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "process 0 in `doorway`, line 1, panicked: somebody is there; before that\n\
             \x20  1  p1  1  swap(owner, 0) = ⊥\n"
        );
    }
}

/// A value whose `Debug` panics.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PanickingDebug(bool);

impl std::fmt::Debug for PanickingDebug {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("no comment")
    }
}

impl Value for PanickingDebug {
    fn to_word(self) -> u64 {
        self.0.into()
    }
    fn of_word(word: u64) -> PanickingDebug {
        PanickingDebug(word != 0)
    }
}

#[test]
fn a_value_whose_debug_panics_does_not_end_the_check() {
    struct OfPanickingDebug<M: Memory>(M::Reg<PanickingDebug>);
    impl<M: Memory> Exclusion<M> for OfPanickingDebug<M> {
        type Place = ();
        type Inside = ();
        fn doorway(&self, m: &mut M, _: Pid) -> Result<(), M::Halt> {
            m.write(&self.0, PanickingDebug(true))
        }
        fn wait(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
            m.read(&self.0).map(|_| ())
        }
        fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
            m.write(&self.0, PanickingDebug(false))
        }
    }
    let report = check(&Model::new(2), |space| OfPanickingDebug(space.shared("x", PanickingDebug(false)))).unwrap();
    let execution = report.finding(Property::Exclusion).execution.as_ref().unwrap().to_string();
    assert!(execution.contains("x := (its Debug panics)"), "{execution}");
}

#[test]
fn a_property_that_the_lock_does_not_have_is_refused() {
    let error = check(&Model::new(2).only([Property::Rule]), flag_lock()).unwrap_err();
    assert!(error.to_string().starts_with("`rule` is not a property of this lock; it has exclusion, "), "{error}");
    let error = check(&Model::new(2).only([Property::Exclusion, Property::Assignment]), flag_lock()).unwrap_err();
    assert!(error.to_string().starts_with("`assignment` is not"), "{error}");
}

#[test]
fn models_in_which_every_property_holds_trivially_are_refused() {
    let flawed = [Model::new(2).k(5), Model::new(2).passages(0), Model::new(2).passages_in_all(0)];
    for model in flawed {
        let error = check(&model, flag_lock()).unwrap_err();
        assert!(matches!(error, Error::Model(_)), "{error}");
    }
}

#[test]
fn the_advice_depends_on_the_number_of_processes() {
    let stopped = |n| check(&Model::new(n).max_states(1), flag_lock()).unwrap().incomplete.unwrap();
    let as_one = "raise the limit on states, count states as one (`forget`, `merge`), or check it with fewer processes";
    assert!(stopped(2).ends_with(as_one), "{}", stopped(2));
    assert!(
        stopped(1).ends_with("raise the limit on states, or count states as one (`forget`, `merge`)"),
        "{}",
        stopped(1)
    );
}
