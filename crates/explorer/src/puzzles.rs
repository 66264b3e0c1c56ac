//! Puzzles: to break a broken algorithm, in as few steps as there are.
use doorway_algorithms::{About, Finds, Pinned};
use doorway_memory::Property;
use serde_json::{Value, json};

use crate::Scenario;

/// The puzzles of an algorithm: for each pinned counterexample that ends, to find one as short. The tests show that none
/// is shorter.
pub(crate) fn of(about: &'static About) -> Vec<Value> {
    let puzzle = |pinned: &Pinned| {
        let Finds::Counterexample(property, text) = pinned.finds else { return None };
        let scenario = Scenario::pinned(about, pinned)?;
        Some(json!({
            "model": scenario.as_json(),
            "property": property.name(),
            "goal": goal(property, scenario.size.k)?,
            "shortest": steps(text)?,
        }))
    };
    about.pinned.iter().filter(|pinned| !about.sequential && pinned.takes.is_none()).filter_map(puzzle).collect()
}

/// The number of steps, from the first line of a counterexample: `exclusion FAILS in 11 steps`.
fn steps(text: &str) -> Option<usize> {
    let words: Vec<&str> = text.lines().next()?.split_whitespace().collect();
    let at = words.iter().rposition(|word| word.starts_with("step"))?;
    words.get(at.checked_sub(1)?)?.parse().ok()
}

/// What to reach, in words; none if that is not a matter of finitely many steps.
fn goal(property: Property, k: usize) -> Option<String> {
    Some(match property {
        Property::Exclusion if k == 1 => "two processes are in the critical section".to_string(),
        Property::Exclusion => format!("{} processes are in the critical section", k + 1),
        Property::Fcfs => "a process enters before one that had completed the doorway when it started".to_string(),
        Property::KFcfs => format!("a process enters before {k} others that had completed the doorway when it started"),
        Property::Assignment => "two holders have the same name, or one has none below k".to_string(),
        Property::Rule => "the results of the calls contradict each other".to_string(),
        _ => return None,
    })
}
