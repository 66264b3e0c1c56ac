//! Programs on which the checker was once wrong.
use doorway_fuzz::{
    compare::{Job, compare},
    games::{overtaken, ticket_games},
    lang::Program,
    setup::Setup,
};

fn agree(program: &Program, setup: &Setup, job: Job) {
    let outcome = compare(program, setup, job);
    assert!(outcome.mismatches.is_empty(), "{program}{:?}", outcome.mismatches);
}

fn game(nexts: usize, name: &str) -> Program {
    ticket_games(nexts).into_iter().find(|(named, _)| *named == name).expect("there is such a game").1
}

#[test]
fn bypass_bounds_beyond_255_agree() {
    agree(&overtaken(300), &Setup { max_states: 20_000, ..Setup::new(2) }, Job::Check);
}

#[test]
fn a_first_step_with_several_successors_counts_the_worst() {
    for job in [Job::Dsm, Job::Cc(true), Job::Cc(false)] {
        agree(&game(1, "frozen"), &Setup::new(2), job);
    }
}

#[test]
fn comparing_with_a_far_next_agrees() {
    for nexts in 4..=6 {
        for name in ["further", "beyond"] {
            agree(&game(nexts, name), &Setup::new(2), Job::Check);
        }
    }
}

#[test]
fn games_agree() {
    for nexts in 1..=4 {
        for (_, program) in ticket_games(nexts) {
            agree(&program, &Setup::new(2), Job::Check);
        }
    }
}
