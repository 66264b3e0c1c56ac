//! The checks that mutants are put to, on the originals: all that is claimed holds, and what was found is pinned in
//! `outcomes.txt`. `UPDATE=1 cargo test -p doorway-mutants originals` writes it; a number that changes needs its reason.
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
    time::Duration,
};

use doorway_algorithms::{Claim, registry};
use doorway_mutants::{
    checks::{CHECKS, Check, Tier},
    run::{Limits, Outcome, run},
};

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outcomes.txt")
}

/// What is pinned, by check.
fn pinned() -> BTreeMap<String, String> {
    let text = fs::read_to_string(file()).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    lines.map(|(check, found)| (check.to_string(), found.to_string())).collect()
}

/// Runs the checks of a tier on both cores, and returns what they found.
fn outcomes(tier: Tier) -> BTreeMap<String, String> {
    let limits = Limits { states: None, time: Duration::from_secs(3_600), threads: 1 };
    let left = Mutex::new(CHECKS.iter().filter(|check| check.tier == tier));
    let found = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(check) = left.lock().unwrap().next() else { return };
                    let outcome = as_claimed(check, &run(check, limits));
                    found.lock().unwrap().insert(check.to_string(), outcome);
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// An outcome in a line, which must be as claimed.
fn as_claimed(check: &Check, outcome: &Outcome) -> String {
    let Outcome::Decided { states, cut, verdicts, .. } = outcome else { panic!("{check}: {outcome}") };
    assert_eq!(*cut, check.max_states.is_some(), "{check} is complete unless it has a limit");
    for claim in registry::find(check.algorithm).unwrap().claims {
        let Claim::Holds(property) = claim else { continue };
        let verdict = verdicts.iter().find(|(name, _)| *name == property.to_string());
        let is_as_claimed = |verdict: &str| verdict == "holds" || *cut && verdict == "unknown";
        assert!(verdict.is_none_or(|(_, verdict)| is_as_claimed(verdict)), "{check}: {outcome}");
    }
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
