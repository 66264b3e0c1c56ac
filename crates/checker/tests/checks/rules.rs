//! An algorithm that breaks a rule of the interface is told so, by name; it is never looped on for ever.
use std::{
    cell::Cell,
    ops::ControlFlow::{Break, Continue},
};

use doorway_checker::{Error, Fault, Handle, Model, Property, Registers, Section, View, check};
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
    let (line, fault) = ("7".to_string(), Fault::EndlessAccesses(300));
    let error = Error::Broken { process: 1, section: Section::Wait, line, fault, execution: None };
    assert_eq!(
        error.to_string(),
        "process 1 in `wait`, line 7, made more than 300 accesses outside `turns`; \
         write the loop with `turns`, `fold` or `spin`"
    );
}

/// A lock of one flag, with something added to each of its sections.
struct Flag<M: Memory, D, W, E> {
    flag: M::Reg<bool>,
    doorway: D,
    wait: W,
    exit: E,
}

impl<D: Fn(&mut View) -> Step, W: Fn(bool) -> bool, E: Fn(&mut View, &Handle<bool>) -> Step> Exclusion<View>
    for Flag<View, D, W, E>
{
    type Place = ();
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

/// The lock of one flag as it should be.
fn flag_lock() -> impl FnOnce(&mut Registers) -> FlagLock {
    |space| Flag { flag: space.shared("flag", false), doorway: |_| Ok(()), wait: |taken| !taken, exit: unlock }
}

type Unlock = fn(&mut View, &Handle<bool>) -> Step;
type FlagLock = Flag<View, fn(&mut View) -> Step, fn(bool) -> bool, Unlock>;

fn error_of<A: Exclusion<View>>(make: impl FnOnce(&mut Registers) -> A) -> Error {
    check(&Model::new(2), make).expect_err("it breaks a rule")
}

fn fault_of<A: Exclusion<View>>(make: impl FnOnce(&mut Registers) -> A) -> Fault {
    match error_of(make) {
        Error::Broken { fault, .. } => fault,
        other => panic!("{other}"),
    }
}

#[test]
fn the_lock_that_the_next_tests_break_keeps_every_rule() {
    assert!(check(&Model::new(2), flag_lock()).unwrap().holds(Property::DeadlockFreedom));
}

/// Known steps are run once more at the end, in another order.
#[test]
fn a_cell_outside_the_memory_is_detected() {
    let unlocked = Cell::new(0);
    let tires = |m: &mut View, flag: &Handle<bool>| {
        unlocked.set(unlocked.get() + 1);
        if unlocked.get() > 8 { m.at("5").write(flag, true) } else { unlock(m, flag) }
    };
    let fault = fault_of(|space| Flag {
        flag: space.shared("flag", false),
        doorway: |_: &mut View| Ok(()),
        wait: |taken: bool| !taken,
        exit: tires,
    });
    assert_eq!(fault, Fault::Nondeterminism);
}

#[test]
fn a_predicate_that_changes_its_mind_is_detected() {
    let asked = Cell::new(0);
    let moody = |taken: bool| {
        asked.set(asked.get() + 1);
        !taken && asked.get() % 5 != 0
    };
    let fault = fault_of(|space| Flag {
        flag: space.shared("flag", false),
        doorway: |_: &mut View| Ok(()),
        wait: moody,
        exit: unlock as Unlock,
    });
    assert_eq!(fault, Fault::Nondeterminism);
}

/// What differs from one run to the next: in a place, or in an update.
struct Moody<M: Memory> {
    x: M::Reg<u64>,
    runs: Cell<u64>,
    in_place: bool,
}

impl<M: Memory> Exclusion<M> for Moody<M> {
    type Place = u64;
    fn doorway(&self, m: &mut M, _: Pid) -> Result<u64, M::Halt> {
        self.runs.set(self.runs.get() + 1);
        let mood = self.runs.get() / 4 % 2;
        m.update(&self.x, |x| if self.in_place { x } else { mood })?;
        Ok(if self.in_place { mood } else { 0 })
    }
    fn wait(&self, m: &mut M, _: Pid, place: &u64) -> Result<(), M::Halt> {
        m.write(&self.x, *place)
    }
    fn exit(&self, m: &mut M, _: Pid, _: &u64) -> Result<(), M::Halt> {
        m.write(&self.x, 0)
    }
}

#[test]
fn a_place_or_an_update_that_differs_from_run_to_run_is_detected() {
    for in_place in [false, true] {
        let fault = fault_of(|space| Moody { x: space.shared("x", 0), runs: Cell::new(0), in_place });
        assert_eq!(fault, Fault::Nondeterminism, "in the place: {in_place}");
    }
}

/// A lock whose doorway is given by the test; its only register is a process number or nobody.
struct Doorway<F>(Handle<Option<usize>>, F);

impl<F: Fn(&Handle<Option<usize>>, &mut View) -> Step> Exclusion<View> for Doorway<F> {
    type Place = ();
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

fn doorway_error(doorway: impl Fn(&Handle<Option<usize>>, &mut View) -> Step) -> Error {
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
fn turns_whose_state_grows_without_an_access_are_ended() {
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
fn a_swallowed_halt_is_reported_where_it_was_swallowed() {
    let error = doorway_error(|owner, m| {
        let _ = m.at("7").read(owner);
        Ok(())
    });
    let Error::Broken { section, line, fault, .. } = error else { panic!("{error}") };
    assert_eq!((section, line.as_str(), fault), (Section::Doorway, "7", Fault::SwallowedHalt));
}

#[test]
fn a_panic_comes_with_the_execution_that_leads_to_it() {
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

/// Shows nothing of itself.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shy(bool);

impl std::fmt::Debug for Shy {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("no comment")
    }
}

impl Value for Shy {
    fn to_word(self) -> u64 {
        self.0.into()
    }
    fn of_word(word: u64) -> Shy {
        Shy(word != 0)
    }
}

#[test]
fn a_value_whose_debug_panics_does_not_end_the_check() {
    struct OfShy<M: Memory>(M::Reg<Shy>);
    impl<M: Memory> Exclusion<M> for OfShy<M> {
        type Place = ();
        fn doorway(&self, m: &mut M, _: Pid) -> Result<(), M::Halt> {
            m.write(&self.0, Shy(true))
        }
        fn wait(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
            m.read(&self.0).map(|_| ())
        }
        fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
            m.write(&self.0, Shy(false))
        }
    }
    let report = check(&Model::new(2), |space| OfShy(space.shared("x", Shy(false)))).unwrap();
    let execution = report.finding(Property::Exclusion).run.as_ref().unwrap().to_string();
    assert!(execution.contains("x := (its Debug panics)"), "{execution}");
}

#[test]
fn a_property_of_something_else_is_refused() {
    let error = check(&Model::new(2).only([Property::Rule]), flag_lock()).unwrap_err();
    assert!(error.to_string().starts_with("`rule` is not a property of this lock; it has exclusion, "), "{error}");
    let error = check(&Model::new(2).only([Property::Exclusion, Property::Assignment]), flag_lock()).unwrap_err();
    assert!(error.to_string().starts_with("`assignment` is not"), "{error}");
}

#[test]
fn models_in_which_everything_would_hold_are_refused() {
    let flawed = [Model::new(2).k(5), Model::new(2).passages(0), Model::new(2).passages_in_all(0)];
    for model in flawed {
        let error = check(&model, flag_lock()).unwrap_err();
        assert!(matches!(error, Error::Model(_)), "{error}");
    }
}

#[test]
fn the_advice_fits_the_number_of_processes() {
    let stopped = |n| check(&Model::new(n).max_states(1), flag_lock()).unwrap().incomplete.unwrap();
    assert!(stopped(2).ends_with("raise --max-states or lower -n"), "{}", stopped(2));
    assert!(stopped(1).ends_with("raise --max-states"), "{}", stopped(1));
}
