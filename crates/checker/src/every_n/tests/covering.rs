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

/// Asserts it for all reachable states of `n` processes, and returns how many there are.
pub(super) fn views_of_all_states_are_in_the_set(views: &mut Views, m: usize, n: usize) -> u64 {
    views.is_exact = true;
    let mut waiting = views.initial(n).unwrap();
    assert_eq!(waiting.len(), 1);
    let mut states = FxHashSet::from_iter(waiting.iter().cloned());
    while let Some(state) = waiting.pop() {
        assert_in_the_set(views, &state, m);
        for mover in 0..n {
            for after in views.steps(&state, mover).unwrap() {
                let after = views.normal(after).unwrap();
                if states.insert(after.clone()) {
                    waiting.push(after);
                }
            }
        }
    }
    states.len() as u64
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
        let mut state = views.initial(n).unwrap().swap_remove(0);
        for _ in 0..STEPS {
            let mut after = views.steps(&state, below(n)).unwrap();
            let chosen = below(after.len());
            state = views.normal(after.swap_remove(chosen)).unwrap();
            assert_in_the_set(views, &state, m);
        }
    }
}

/// Asserts that all views of a state are in the set.
///
/// An own register that a process has forgotten stays so until it is written, even if its ticket happens to be one that the process
/// needs later. Which are forgotten in that way the state does not tell; but it has to be the same in all of its views.
fn assert_in_the_set(views: &mut Views, state: &Config, m: usize) {
    let own = (0..state.members.len()).flat_map(|p| (0..views.families()).map(move |family| (p, family)));
    let has_ticket = |&(p, family): &(usize, usize)| {
        let slot = views.shared() + family;
        let tickets = views.processes.tables.value_tickets(slot, state.members[p].own[family]).without_zero();
        let known = views.processes.tables.local(state.members[p].local).tickets;
        views.is_forgetful && !tickets.is_empty() && tickets.without(known).is_empty()
    };
    let doubtful: Vec<(usize, usize)> = own.filter(has_ticket).collect();
    let is_in_the_set = (0..1_usize << doubtful.len()).any(|forgotten| {
        let mut state = state.clone();
        for (_, &(p, family)) in doubtful.iter().enumerate().filter(|(i, _)| forgotten >> i & 1 == 1) {
            state.members[p].own[family] = UNKNOWN;
        }
        are_in_the_set(views, &state, m)
    });
    assert!(is_in_the_set, "{state:?}");
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

/// Words on which steps depend are not forgotten, even if they are all taken for dead at first.
#[test]
fn steps_that_depend_on_forgotten_words_are_noticed() {
    for make in [ticket_lock, bakery, labels] {
        let processes = Processes::new(made(&make, 1, 2).unwrap(), 2).and_then(|it| with_dead_words(it, 1));
        let mut processes = processes.unwrap();
        processes.suppose_all_dead();
        let mut views = Views::new(processes, 1, 2).unwrap();
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
