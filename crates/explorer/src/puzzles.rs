//! Puzzles: to break a broken algorithm, in as few steps as there are.
use std::collections::HashSet;

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

/// A puzzle that can be played in a graph. If the graph is one of limited passages, it has an execution as short.
pub(crate) fn within(puzzle: Value, graph: &Value) -> Option<Value> {
    let mut limited = puzzle;
    limited["model"]["passages"] = graph["model"]["passages"].clone();
    let is_same =
        limited["model"] == graph["model"] && shortest(graph, &limited["property"]) == limited["shortest"].as_u64();
    is_same.then_some(limited)
}

/// The number of steps of the shortest execution in a graph that violates a property.
fn shortest(graph: &Value, property: &Value) -> Option<u64> {
    let edges = |state: usize| graph["next"][state].as_array().into_iter().flatten();
    let index = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let breaks = |step: &Value| step["breaks"].as_array().into_iter().flatten().any(|it| it["property"] == *property);
    let mut known = HashSet::from([0]);
    let mut states = vec![0];
    let mut steps = 0;
    while !states.is_empty() {
        steps += 1;
        let mut next = Vec::new();
        for edge in states.iter().flat_map(|&state| edges(state)) {
            if breaks(&graph["steps"][index(&edge[0])]) {
                return Some(steps);
            }
            if known.insert(index(&edge[1])) {
                next.push(index(&edge[1]));
            }
        }
        states = next;
    }
    None
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
