//! The whole graph of a scenario, if it is small: then every choice can be taken without the checker.
use std::collections::HashMap;

use doorway_catalogue::subject;
use doorway_checker::{Error, Stepper, Violated};
use serde_json::{Value, json};

use crate::{
    Scenario,
    execution::{registers, state, step, text},
    source::Lines,
};

/// The graph of all executions, or `None` if it has more than `most` states.
///
/// A state contains everything on which the page depends: besides what the checker counts as a state, the caches and the
/// order of arrival. What has been violated depends on the execution; a step tells what it violates.
///
/// ```
/// use doorway_explorer::{Scenario, graph};
///
/// let scenario = Scenario::parse([("algorithm", "peterson")])?;
/// let graph = graph(&scenario, 10_000)?.unwrap();
/// assert_eq!(graph["states"].as_array().unwrap().len(), graph["next"].as_array().unwrap().len());
/// assert!(doorway_explorer::graph(&scenario, 10)?.is_none());
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// As [`execution`](crate::execution).
pub fn graph(scenario: &Scenario, most: usize) -> Result<Option<Value>, String> {
    let subject = subject(scenario.about, scenario.size);
    let first = Stepper::new(&subject, &scenario.model()).map_err(text)?;
    let registers = registers(&first);
    let lines = Lines::of(scenario.about);
    let mut known = HashMap::from([(first.fingerprint(), 0)]);
    let mut states = vec![timeless(state(&first, &lines)?)];
    let (mut steps, mut numbers) = (Vec::new(), HashMap::new());
    let mut next = Vec::new();
    let mut left = std::collections::VecDeque::from([first]);
    while let Some(from) = left.pop_front() {
        let mut edges = Vec::new();
        for choice in from.choices().map_err(text)? {
            let mut to = from.clone();
            let mut taken = match to.take(choice) {
                Ok(step) => step,
                // The execution ends here: the algorithm cannot go on.
                Err(Error::Broken { .. }) => return Ok(None),
                Err(error) => return Err(text(error)),
            };
            taken.from = None; // depends on the execution
            let breaks = violations(to.violated_by_step());
            let number = *numbers.entry((taken.clone(), breaks.to_string())).or_insert_with(|| {
                steps.push(timeless_step(step(&taken), breaks));
                steps.len() - 1
            });
            let target = match known.get(&to.fingerprint()) {
                Some(&target) => target,
                None if states.len() == most => return Ok(None),
                None => {
                    known.insert(to.fingerprint(), states.len());
                    states.push(timeless(state(&to, &lines)?));
                    left.push_back(to);
                    states.len() - 1
                }
            };
            edges.push([number, target]);
        }
        next.push(edges);
    }
    Ok(Some(json!({
        "model": scenario.as_json(),
        "registers": registers,
        "steps": steps,
        "states": states,
        "next": next,
    })))
}

/// A state without what depends on the execution that leads to it.
fn timeless(mut state: Value) -> Value {
    state.as_object_mut().expect("a state is an object").remove("broken");
    state
}

fn timeless_step(mut step: Value, breaks: Value) -> Value {
    step.as_object_mut().expect("a step is an object").remove("from");
    if breaks != json!([]) {
        step["breaks"] = breaks;
    }
    step
}

fn violations(violated: &[Violated]) -> Value {
    violated.iter().map(|violated| json!({ "property": violated.property.name(), "note": violated.note })).collect()
}
