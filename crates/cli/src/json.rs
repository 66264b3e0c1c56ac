//! The JSON of checks; `docs/json.md` is the contract.
use doorway_algorithms::{About, Claim, Kind, Size};
use doorway_checker::{Assumptions, Execution, Finding, Property, Report};
use serde_json::{Map, Value, json};

/// What a check found.
pub(crate) fn report(about: &About, size: Size, assumed: &Assumptions, report: &Report) -> Value {
    let properties: Map<String, Value> =
        report.findings.iter().map(|found| (found.property.name().to_string(), finding(found))).collect();
    json!({
        "algorithm": about.name,
        "n": size.n,
        "k": (about.kind != Kind::Part).then_some(size.k),
        "crashes": assumed.crashes,
        "registers": if assumed.safe_registers { "safe" } else { "atomic" },
        "memory": if assumed.tso { "tso" } else { "sc" },
        "states": report.states,
        "transitions": report.transitions,
        "depth": report.depth,
        "seconds": report.seconds,
        "bytes_per_state": report.bytes_per_state,
        "complete": report.incomplete.is_none(),
        "reason": report.incomplete,
        "properties": properties,
    })
}

fn finding(finding: &Finding) -> Value {
    let mut value = json!({
        "verdict": finding.verdict.name(),
        "trace": finding.execution.as_ref().map_or(Vec::new(), steps),
        "cycle_at": finding.execution.as_ref().and_then(|execution| execution.cycle_at),
        "processes": finding.processes,
        "note": finding.note,
    });
    if finding.property == Property::Bypass {
        value["bound"] = json!(finding.bypass.and_then(|bypass| bypass.late.number()));
        value["in_all"] = json!(finding.bypass.and_then(|bypass| bypass.in_all.number()));
    }
    value
}

/// The steps of an execution.
pub(crate) fn steps(execution: &Execution) -> Vec<Value> {
    execution.steps.iter().map(doorway_explorer::step).collect()
}

/// A claim: its property, what is claimed, and the conditions.
pub(crate) fn claim(claim: &Claim) -> Value {
    let conditions: Vec<&str> = claim.under.iter().map(|condition| condition.name()).collect();
    let mut value =
        json!({ "property": claim.property.name(), "claimed": claim.claimed.name(), "conditions": conditions });
    if let Some(bound) = claim.claimed.bound() {
        value["bound"] = json!(bound);
    }
    value
}
