//! The views of all reachable states of a few processes are in the set.
use rustc_hash::FxHashSet;

use super::{
    super::{
        Closed, Precision, closed,
        config::{Config, UNKNOWN},
        every_n,
        kept::Kept,
        made,
        process::Processes,
        views::Views,
        with_dead_words,
    },
    bakery, gottlieb, labels, queue, test_and_set, ticket_k, ticket_lock,
};
use crate::{Model, Property, Subject};

/// Every reachable state of `n` processes has its views in the set, for the fewest also with the order of arrivals; and there are
/// as many states as the ordinary search finds.
fn is_covered(k: usize, n: usize, make: impl Fn(usize) -> Option<Subject>) {
    let m = every_n(k, &make).unwrap().m;
    let states = views_are_in_the_set(k, m, n, &make, false);
    if n == m + 1 {
        views_are_in_the_set(k, m, n, &make, true);
    }

    let subject = make(n).unwrap();
    let is_alike = subject.program.is_symmetric();
    if n <= crate::symmetry::MOST && (is_alike || !has_queue(&subject)) {
        let mut model = Model::new(n).k(k).only([Property::Exclusion]);
        if is_alike {
            model = model.symmetric();
        }
        let found = subject.check(&model).unwrap().states;
        // Numbers of a tally that are alike count once here.
        assert!(found == states || is_alike && has_tally(&subject) && found > states, "{found}, {states}");
    }
}

fn has_tally(subject: &Subject) -> bool {
    subject.registers.list.iter().any(|register| (register.kind.tally)(register.init).is_some())
}

fn has_queue(subject: &Subject) -> bool {
    subject.registers.list.iter().any(|register| (register.kind.queue)(register.init).is_some())
}

fn views_are_in_the_set(k: usize, m: usize, n: usize, make: &impl Fn(usize) -> Option<Subject>, observes: bool) -> u64 {
    // The search of `every_n` refines until it decides; the set is that of the last attempt.
    let mut precision = Precision { m: k + 1, is_forgetful: true, kept: Kept::NONE };
    let mut found = closed(make, k, precision, false, &mut |_| true).unwrap();
    while found.undecided.is_some() {
        precision = precision.next(k, &found).unwrap();
        found = closed(make, k, precision, false, &mut |_| true).unwrap();
    }
    assert_eq!(precision.m, m);
    let Closed { views, undecided } = closed(make, k, precision, observes, &mut |_| true).unwrap();
    assert_eq!(undecided, None);
    views_of_all_states_are_in_the_set(&mut views.unwrap(), m, n)
}

/// A state, and for each process the own registers that its views have forgotten, as bits. These depend on the execution: such a
/// register stays forgotten until it is written.
type Instrumented = (Config, Vec<u8>);

/// Asserts it for all reachable states of `n` processes, and returns how many there are.
pub(super) fn views_of_all_states_are_in_the_set(views: &mut Views, m: usize, n: usize) -> u64 {
    views.is_exact = true;
    let mut waiting = vec![initial(views, n)];
    let mut found = FxHashSet::from_iter(waiting.iter().cloned());
    while let Some(from) = waiting.pop() {
        assert_in_the_set(views, &from, m);
        for mover in 0..n {
            for after in steps(views, &from, mover) {
                if found.insert(after.clone()) {
                    waiting.push(after);
                }
            }
        }
    }
    found.into_iter().map(|(state, _)| state).collect::<FxHashSet<Config>>().len() as u64
}

/// Asserts it for the states of random executions of `n` processes.
pub(super) fn views_of_random_states_are_in_the_set(views: &mut Views, m: usize, n: usize) {
    const EXECUTIONS: usize = 20;
    const STEPS: usize = 5_000;
    views.is_exact = true;
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |bound: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % bound
    };
    for _ in 0..EXECUTIONS {
        let mut state = initial(views, n);
        for _ in 0..STEPS {
            let mut after = steps(views, &state, below(n));
            let chosen = below(after.len());
            state = after.swap_remove(chosen);
            assert_in_the_set(views, &state, m);
        }
    }
}

/// The states after a step, and the own registers that are forgotten then: those that were and are not written, and those that
/// do not fit the local state.
fn steps(views: &mut Views, (state, forgotten): &Instrumented, mover: usize) -> Vec<Instrumented> {
    let written = views.written(state, mover).unwrap();
    let mut before = forgotten.clone();
    if let Some((owner, family)) = written {
        before[owner] &= !(1 << family);
    }
    let after = views.steps(state, mover).unwrap();
    after.into_iter().map(|after| instrumented(views, after, before.clone())).collect()
}

/// The initial state, and what is forgotten of it.
fn initial(views: &mut Views, n: usize) -> Instrumented {
    let mut initial = views.initial(n).unwrap();
    assert_eq!(initial.len(), 1);
    instrumented(views, initial.remove(0), vec![0; n])
}

/// A state, renumbered, in which some own registers are forgotten and those that do not fit the local state.
fn instrumented(views: &mut Views, state: Config, forgotten: Vec<u8>) -> Instrumented {
    let state = views.normal(state).unwrap();
    let view = without_forgotten(views, &(state.clone(), forgotten));
    let is_forgotten = |own: &[u32]| (0..views.families()).fold(0, |set, i| set | u8::from(own[i] == UNKNOWN) << i);
    // If members are sorted, then they have no registers of their own.
    (state, view.members.iter().map(|member| is_forgotten(&member.own)).collect())
}

/// What views have of a state, of all processes.
fn without_forgotten(views: &mut Views, (state, forgotten): &Instrumented) -> Config {
    let mut state = state.clone();
    for (member, forgotten) in std::iter::zip(&mut state.members, forgotten) {
        (0..views.families()).filter(|family| forgotten >> family & 1 == 1).for_each(|i| member.own[i] = UNKNOWN);
    }
    views.is_exact = false;
    let normal = views.normal(state).unwrap();
    views.is_exact = true;
    normal
}

/// Asserts that all views of a state are in the set.
fn assert_in_the_set(views: &mut Views, state: &Instrumented, m: usize) {
    let all = without_forgotten(views, state);
    assert!(are_in_the_set(views, &all, m), "{state:?}");
}

fn are_in_the_set(views: &mut Views, state: &Config, m: usize) -> bool {
    if state.members.len() == m {
        views.is_exact = false;
        let view = views.normal(state.clone()).unwrap();
        views.is_exact = true;
        return views.contains(&view);
    }
    (0..state.members.len()).all(|left_out| are_in_the_set(views, &state.without(left_out), m))
}

#[test]
fn views_of_reachable_states_are_in_the_set() {
    for n in 3..=6 {
        is_covered(1, n, ticket_lock);
        is_covered(1, n, test_and_set);
    }
    is_covered(2, 4, ticket_k(2));
    for k in 1..=2 {
        (k + 2..=6).for_each(|n| is_covered(k, n, gottlieb(k)));
        (k + 2..=6).for_each(|n| is_covered(k, n, queue(k)));
    }
}

#[test]
fn views_of_three_processes_with_their_own_registers_are_in_the_set() {
    is_covered(1, 3, bakery);
    is_covered(1, 3, labels);
}

/// Views of two processes in which all words with tickets or tallies are taken for dead.
pub(super) fn with_all_words_dead(make: impl Fn(usize) -> Option<Subject>) -> Views {
    let processes = Processes::new(made(&make, 1, 2).unwrap(), 2).and_then(|it| with_dead_words(it, 1));
    let mut processes = processes.unwrap();
    processes.suppose_all_dead();
    Views::new(processes, 1, 2).unwrap()
}

/// Words on which steps depend are not forgotten, even if they are all taken for dead at first.
#[test]
fn steps_that_depend_on_forgotten_words_are_noticed() {
    for make in [ticket_lock, bakery, labels] {
        let mut views = with_all_words_dead(make);
        assert_eq!(views.close(100_000, &mut |_| true).unwrap(), None);
        views_of_all_states_are_in_the_set(&mut views, 2, 3);
    }
}

#[test]
#[ignore = "2 minutes"]
fn views_of_more_reachable_states_are_in_the_set() {
    is_covered(2, 5, ticket_k(2));
    is_covered(1, 4, bakery);
}
