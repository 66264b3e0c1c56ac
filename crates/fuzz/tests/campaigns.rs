//! Fixed seeds of every campaign, and seeds that once found a defect.
use doorway_fuzz::{
    campaigns::{NAMES, case},
    compare::{Job, compare},
    games::overtaken,
    setup::Setup,
};

/// Programs of each campaign.
const PROGRAMS: u64 = 12;

fn agree(campaign: &str, first: u64) {
    (first..first + PROGRAMS).for_each(|seed| agree_on(campaign, seed));
}

fn agree_on(campaign: &str, seed: u64) {
    let case = case(campaign, seed);
    let outcome = compare(&case.program, &case.setup, case.job);
    assert!(outcome.mismatches.is_empty(), "{campaign} {seed}: {:?}", outcome.mismatches);
}

#[test]
fn answers_agree_on_fixed_seeds() {
    std::thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || {
                for (at, campaign) in NAMES.iter().enumerate().filter(|(at, _)| at % 2 == half) {
                    agree(campaign, at as u64 * 1000);
                }
            });
        }
    });
}

/// Seeds that once found a defect: RMR bounds that were too small, and a comparison with the fifth `next`.
#[test]
fn answers_agree_on_seeds_that_once_found_a_defect() {
    for seed in [847, 946, 5_013] {
        agree_on("tickets-heavy", seed);
    }
}

#[test]
fn a_seed_always_gives_the_same_case() {
    for campaign in NAMES {
        let [first, second] = [0; 2].map(|_| case(campaign, 7));
        assert_eq!((first.program, first.setup, first.job), (second.program, second.setup, second.job));
    }
}

#[test]
fn bypass_bounds_agree() {
    for times in [1, 3, 20] {
        let outcome = compare(&overtaken(times), &Setup::new(2), Job::Check);
        assert!(outcome.complete && outcome.mismatches.is_empty(), "{:?}", outcome.mismatches);
    }
}
