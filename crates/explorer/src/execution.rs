//! Executions as data.
use std::fmt::Display;

use doorway_catalogue::subject;
use doorway_checker::{Choice, Error, State, Step, Stepper};
use doorway_memory::Home;
use serde_json::{Value, json};

use crate::{Scenario, source::Lines};

/// The longest execution that is followed. It is far longer than anybody clicks.
const LONGEST: usize = 10_000;

/// The execution that takes these choices, which are separated by dots. If one of them is not possible, the steps before
/// it, and why.
///
/// ```
/// use doorway_explorer::{Scenario, execution};
///
/// let scenario = Scenario::parse([("algorithm", "peterson")])?;
/// let value = execution(&scenario, "0.1.7")?;
/// assert_eq!(value["steps"][1]["access"], "flag[1] := true");
/// assert_eq!(value["states"].as_array().unwrap().len(), 3);
/// assert_eq!(value["refused"]["at"], 2);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// If the options do not fit together, or the algorithm breaks a rule of the interface.
pub fn execution(scenario: &Scenario, choices: &str) -> Result<Value, String> {
    let subject = subject(scenario.about, scenario.size);
    let mut stepper = Stepper::new(&subject, &scenario.model()).map_err(text)?;
    let lines = Lines::of(scenario.about);
    let mut states = vec![state(&stepper, &lines)?];
    let mut steps = Vec::new();
    let mut refused = None;
    for choice in choices.split('.').filter(|choice| !choice.is_empty()) {
        let refuse = |why: String| Some(json!({ "at": steps.len(), "choice": choice, "why": why }));
        if steps.len() == LONGEST {
            refused = refuse(format!("an execution of more than {LONGEST} steps is not followed"));
            break;
        }
        match choice.parse::<Choice>().map_err(Error::Choice).and_then(|choice| stepper.take(choice)) {
            Ok(taken) => steps.push(step(&taken)),
            Err(Error::Choice(why)) => {
                refused = refuse(why);
                break;
            }
            Err(error) => {
                refused = refuse(format!("the algorithm breaks a rule: {error}"));
                break;
            }
        }
        states.push(state(&stepper, &lines)?);
    }
    Ok(json!({
        "model": scenario.as_json(),
        "registers": registers(&stepper),
        "steps": steps,
        "states": states,
        "refused": refused,
    }))
}

/// The registers of an execution.
pub(crate) fn registers(stepper: &Stepper<'_>) -> Vec<Value> {
    let home = |home: Home| match home {
        Home::Of(p) => Some(p),
        Home::Nobody => None,
    };
    stepper.registers().map(|(name, at)| json!({ "name": name.to_string(), "home": home(at) })).collect()
}

/// A state with its choices, and what has been violated.
pub(crate) fn state(stepper: &Stepper<'_>, lines: &Lines) -> Result<Value, String> {
    let State { processes, values, writers, buffers, .. } = stepper.state().map_err(text)?;
    let processes: Vec<Value> = processes
        .iter()
        .map(|process| {
            json!({
                "section": process.section.to_string(),
                "line": process.line,
                "next": process.next,
                "row": process.line.as_deref().zip(process.file).and_then(|(line, file)| lines.row(line, file)),
                "crashed": process.is_crashed,
            })
        })
        .collect();
    let mut choices = Vec::new();
    for choice in stepper.choices().map_err(text)? {
        choices.push(json!({
            "choice": choice.to_string(),
            "process": choice.process(),
            "kind": choice.kind(),
            "text": stepper.describe(choice).map_err(text)?,
        }));
    }
    let broken = stepper
        .violated()
        .iter()
        .map(|violated| json!({ "property": violated.property.name(), "note": violated.note, "at": violated.at }));
    let mut value = json!({
        "processes": processes,
        "registers": values,
        "choices": choices,
        "broken": broken.collect::<Vec<_>>(),
    });
    if !writers.is_empty() {
        value["writers"] = json!(writers);
    }
    if !buffers.is_empty() {
        value["buffers"] = json!(buffers);
    }
    Ok(value)
}

/// A step.
///
/// ```
/// use doorway_algorithms::mutex::peterson::Peterson;
/// use doorway_checker::{Choice, Model, Stepper, Subject};
///
/// let peterson = Subject::lock(Peterson::new);
/// let step = Stepper::new(&peterson, &Model::new(2))?.take(Choice::Step(1))?;
/// assert_eq!(doorway_explorer::step(&step)["access"], "flag[1] := true");
/// # Ok::<(), doorway_checker::Error>(())
/// ```
#[must_use]
pub fn step(step: &Step) -> Value {
    json!({
        "choice": step.choice.to_string(),
        "process": step.process,
        "kind": step.choice.kind(),
        "line": step.line,
        "access": step.access,
        "section": step.sections[0].to_string(),
        "to": step.sections[1].to_string(),
        "arrives": step.arrives,
        "register": step.register,
        "reads": step.reads,
        "writes": step.writes,
        "from": step.from,
        "remote": step.remote.map(|remote| json!({ "cc": remote.cc, "dsm": remote.dsm })),
    })
}

/// The choices of steps, separated by dots.
pub(crate) fn choices(steps: &[Step]) -> String {
    let choices: Vec<String> = steps.iter().map(|step| step.choice.to_string()).collect();
    choices.join(".")
}

pub(crate) fn text(error: impl Display) -> String {
    error.to_string()
}
