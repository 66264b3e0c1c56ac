//! The checks on the originals: every claimed property holds, and the outcomes are pinned in `outcomes.txt`.
//!
//! `UPDATE=1 cargo test -p doorway-mutants originals` writes that file; a number that changes needs a reason.
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
    time::Duration,
};

use doorway_algorithms::{Claim, Claimed};
use doorway_catalogue::{Agreement, claims, compare};
use doorway_memory::Property;
use doorway_mutants::{
    checks::{Check, Tier, checks},
    run::{Found, Limits, Outcome, find, model},
};

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outcomes.txt")
}

/// The pinned outcomes, by check.
fn pinned() -> BTreeMap<String, String> {
    let text = fs::read_to_string(file()).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    lines.map(|(check, found)| (check.to_string(), found.to_string())).collect()
}

/// Runs the checks of a tier on two threads, and returns their outcomes.
fn outcomes(tier: Tier) -> BTreeMap<String, String> {
    let limits = Limits { states: None, time: Duration::from_secs(3_600), threads: 1 };
    let left = Mutex::new(checks().iter().filter(|check| check.tier == tier));
    let found = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(check) = left.lock().unwrap().next() else { return };
                    let outcome = as_claimed(check, limits);
                    found.lock().unwrap().insert(check.to_string(), outcome);
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// The outcome of a check as a line, which must agree with the claims.
fn as_claimed(check: &Check, limits: Limits) -> String {
    let (about, found) = find(check, limits).unwrap_or_else(|why| panic!("{check}: {why}"));
    if let Found::Verdicts(report) = &found {
        let held: Vec<Claim> =
            claims(about, &model(check, limits)).into_iter().filter(|claim| claim.claimed == Claimed::Holds).collect();
        let differing: Vec<Property> = compare(&held, report).those(Agreement::Differs).collect();
        assert!(differing.is_empty(), "{check}: {differing:?}");
    }
    let outcome = found.outcome(about);
    let Outcome::Decided { states, cut, verdicts, .. } = &outcome else { panic!("{check}: {outcome}") };
    assert_eq!(*cut, check.max_states.is_some(), "{check} is complete unless it has a limit");
    let verdicts: Vec<String> = verdicts.iter().map(|(name, verdict)| format!("{name} {verdict}")).collect();
    format!("{states} states, {}", verdicts.join(", "))
}

fn agrees_with_the_pinned(tier: Tier) {
    let (mut pinned, found) = (pinned(), outcomes(tier));
    if env::var_os("UPDATE").is_some_and(|value| value == "1") {
        pinned.extend(found);
        let lines: Vec<String> = pinned.iter().map(|(check, found)| format!("{check}: {found}\n")).collect();
        return fs::write(file(), lines.concat()).unwrap();
    }
    for (check, found) in found {
        assert_eq!(pinned.get(&check), Some(&found), "{check}");
    }
}

#[test]
fn quick_checks_find_what_is_pinned() {
    agrees_with_the_pinned(Tier::Quick);
}

#[test]
#[ignore = "3 minutes, 3 GB"]
fn slow_checks_find_what_is_pinned() {
    agrees_with_the_pinned(Tier::Slow);
}
