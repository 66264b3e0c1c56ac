//! Algorithms as data: what the source says, what is claimed, and what was found.
use std::sync::Arc;

use doorway_algorithms::{About, Claim, Condition, Finds, Kind, LocalSpin, registry};
use doorway_catalogue::{Agreement, Comparison, Grown, Row, check, claims, class, compare, glance};
use doorway_checker::{Bound, Cost, FailedCas, Finding, Property, Report};
use doorway_simulator::{Growth, Variable};
use serde_json::{Value, json};

use crate::{
    Scenario,
    execution::{choices, execution, text},
    scenario::Offers,
    source,
};

/// What is known of an algorithm without checking it.
///
/// ```
/// let peterson = doorway_catalogue::find("peterson").unwrap();
/// let value = doorway_explorer::algorithm(peterson);
/// assert_eq!(value["text"][0]["text"], "flag[i] := true");
/// assert_eq!(value["status"], "correct");
/// ```
#[must_use]
pub fn algorithm(about: &'static About) -> Value {
    let scenario = Scenario::of(about);
    let offers = Offers::of(about, scenario.size);
    let source::Header { lines, notes } = source::header(registry::file(about));
    let lines: Vec<Value> = lines.into_iter().map(|(line, text)| json!({ "line": line, "text": text })).collect();
    json!({
        "name": about.name,
        "title": about.title,
        "source": about.source,
        "remark": about.remark,
        "kind": match about.kind {
            Kind::Mutex => "mutex",
            Kind::KExclusion => "k-exclusion",
            Kind::Part => "part",
        },
        "status": about.status().name(),
        "why": about.status().why(),
        "processes": about.processes.to_string(),
        "n": scenario.size.n,
        "k": (about.kind != Kind::Part).then_some(scenario.size.k),
        "primitives": about.primitives,
        "tolerates": Condition::ALL.iter().filter(|&&it| about.tolerates(it)).map(|it| short(*it)).collect::<Vec<_>>(),
        "offers": { "deaths": offers.deaths, "aborts": offers.aborts, "safe": offers.safe },
        "local_spin": about.local_spin.map(|LocalSpin { cc, dsm }| json!({ "cc": cc, "dsm": dsm })),
        "text": lines,
        "notes": notes,
        "claims": about.claims.iter().map(claim).collect::<Vec<_>>(),
        "found": null,
        "curves": [],
        "graph": false,
    })
}

/// The name of a condition as an option of a [`Scenario`].
fn short(condition: Condition) -> &'static str {
    match condition {
        Condition::SafeRegisters => "safe",
        other => other.name(),
    }
}

fn claim(claim: &Claim) -> Value {
    json!({
        "property": claim.property.name(),
        "claimed": claim.claimed.name(),
        "bound": claimed_bound(claim),
        "conditions": claim.under.iter().map(|condition| short(*condition)).collect::<Vec<_>>(),
    })
}

/// A claimed bound: a number or `unbounded`.
fn claimed_bound(claim: &Claim) -> Option<Value> {
    claim.claimed.bound().map(|bound| bound.map_or_else(|| json!("unbounded"), |bound| json!(bound)))
}

/// Checks a scenario, with at most this number of states, and says what was found.
///
/// ```
/// use doorway_explorer::{Scenario, found};
///
/// let scenario = Scenario::parse([("algorithm", "fast-path")])?;
/// let value = found(&scenario, 100_000, |model| model)?;
/// assert_eq!(value["properties"][0]["verdict"], "fails");
/// assert_eq!(value["properties"][0]["agrees"], true); // it is claimed to fail
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// As [`doorway_checker::check`].
pub fn found(
    scenario: &Scenario,
    limit: u64,
    shape: impl FnOnce(doorway_checker::Model) -> doorway_checker::Model,
) -> Result<Value, String> {
    let model = shape(scenario.model().max_states(limit));
    let report = check(scenario.about, scenario.size, &model).map_err(text)?;
    let claims = claims(scenario.about, &model);
    Ok(of_report(scenario, &claims, &compare(&claims, &report), &report))
}

/// What a survey found about an algorithm, with its counterexamples.
pub(crate) fn of_row(row: &Row) -> Value {
    let scenario = Scenario::surveyed(row.about);
    let claims = claims(row.about, &scenario.model());
    let mut value = of_report(&scenario, &claims, &row.compared, &row.report);
    value["crashes"] = json!(row.crashes);
    value["remote"] = json!(row.remote.map(|[cc, dsm]| json!({ "cc": bound(cc), "dsm": bound(dsm) })));
    value["grown"] = row.grown.iter().map(grown).collect();
    value["tso"] =
        json!(row.tso.map(|[fences, plain]| { json!({ "fences": fences.to_string(), "plain": plain.to_string() }) }));
    value["safe"] = json!(row.safe.map(|kept| kept.to_string()));
    value
}

fn of_report(scenario: &Scenario, claims: &[Claim], compared: &Comparison, report: &Report) -> Value {
    let properties: Vec<Value> =
        report.findings.iter().map(|finding| property(scenario, claims, compared, finding)).collect();
    json!({
        "n": scenario.size.n,
        "k": scenario.as_json()["k"],
        "states": report.states,
        "transitions": report.transitions,
        "depth": report.depth,
        "seconds": report.seconds,
        "complete": report.incomplete.is_none(),
        "reason": report.incomplete,
        "command": scenario.command(),
        "properties": properties,
    })
}

fn property(scenario: &Scenario, claims: &[Claim], compared: &Comparison, finding: &Finding) -> Value {
    let claim = claims.iter().find(|claim| claim.property == finding.property);
    let agrees = match compared.of(finding.property) {
        Some(Agreement::Agrees) => Some(true),
        Some(Agreement::Differs) => Some(false),
        Some(Agreement::Undecided) | None => None,
    };
    let execution = finding.execution.as_ref().map(|execution| {
        json!({
            "choices": choices(&execution.steps),
            "cycle_at": execution.cycle_at,
            "model": scenario.as_json(),
            "text": execution.to_string(),
        })
    });
    let mut value = json!({
        "property": finding.property.name(),
        "claimed": claim.map(|claim| claim.claimed.name()),
        "claimed_bound": claim.and_then(claimed_bound),
        "verdict": finding.verdict.name(),
        "bound": finding.bypass.map(|bypass| bound(bypass.late)),
        "agrees": agrees,
        "note": finding.note,
        "execution": execution,
    });
    if finding.property == Property::Bypass {
        value["in_all"] = json!(finding.bypass.map(|bypass| bound(bypass.in_all)));
    }
    value
}

/// The pinned counterexamples that a survey does not find: with failures, on other memories, or of other sizes.
pub(crate) fn counterexamples(about: &'static About) -> Result<Vec<Value>, String> {
    let mut all = Vec::new();
    for pinned in about.pinned.iter().filter(|pinned| !pinned.is_long()) {
        let Finds::Counterexample(property, _) = pinned.finds else { continue };
        let Some(scenario) = Scenario::pinned(about, pinned) else { continue };
        if scenario.as_json() == Scenario::surveyed(about).as_json() {
            continue;
        }
        let model = scenario.model().only([property]);
        let report = check(about, scenario.size, &model).map_err(text)?;
        let claims = claims(about, &model);
        let found = of_report(&scenario, &claims, &compare(&claims, &report), &report);
        all.extend(found["properties"].as_array().into_iter().flatten().cloned());
    }
    Ok(all)
}

/// Adds the whole execution to each counterexample: for a page that can neither ask the checker nor has the graph.
///
/// # Errors
/// As [`execution`].
pub(crate) fn add_executions(properties: &mut Value) -> Result<(), String> {
    for property in properties.as_array_mut().into_iter().flatten() {
        let shown = &mut property["execution"];
        if shown.is_null() {
            continue;
        }
        let options: Vec<(String, String)> = shown["model"]
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), value.as_str().map_or_else(|| value.to_string(), String::from)))
            .collect();
        let scenario = Scenario::parse(options.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
        shown["full"] = execution(&scenario, shown["choices"].as_str().unwrap_or_default())?;
    }
    Ok(())
}

/// A bound: a number, or `unbounded`.
fn bound(bound: Bound) -> Value {
    bound.number().map_or_else(|| json!("unbounded"), |number| json!(number))
}

fn grown(grown: &Grown) -> Value {
    let [cc, dsm] = &grown.class;
    json!({ "variable": grown.variable.to_string(), "cc": cc, "dsm": dsm })
}

/// How the remote memory references of a lock grow with the number of processes, in simulated executions; empty for a
/// part, and if nothing is claimed of them.
///
/// ```
/// let curves = doorway_explorer::curves(doorway_catalogue::find("mcs").unwrap());
/// assert_eq!((&curves[0]["cost"], &curves[0]["fitted"]), (&"cc".into(), &"Θ(1)".into()));
/// ```
#[must_use]
pub fn curves(about: &'static About) -> Vec<Value> {
    if about.kind == Kind::Part {
        return Vec::new();
    }
    let costs = [("cc", Cost::Cc(FailedCas::Counts)), ("dsm", Cost::Dsm)];
    let curve = |(name, cost)| Some(curve(about, name, &glance(about, cost, Variable::N, Arc::new(|| false))?));
    costs.into_iter().filter_map(curve).collect()
}

/// The curves that a survey has measured; those of [`curves`] if it has measured none.
pub(crate) fn curves_of_row(row: &Row) -> Vec<Value> {
    let curve = |cost, growth: &Option<Growth>| Some(curve(row.about, cost, growth.as_ref()?));
    let of = |grown: &Grown| {
        let [cc, dsm] = &grown.measured;
        [curve("cc", cc), curve("dsm", dsm)].into_iter().flatten().collect::<Vec<_>>()
    };
    if row.grown.is_empty() { curves(row.about) } else { row.grown.iter().flat_map(of).collect() }
}

fn curve(about: &About, cost: &str, growth: &Growth) -> Value {
    let claimed = about.remote.map(|claimed| if cost == "cc" { claimed.cc } else { claimed.dsm });
    let points = growth.points.iter().map(|(x, measured)| {
        json!({ "x": x, "worst": measured.worst, "mean": measured.mean, "truncated": measured.truncated })
    });
    json!({
        "variable": growth.variable.to_string(),
        "cost": cost,
        "fitted": class(about, growth),
        "claimed": claimed,
        "unbounded": growth.unbounded().is_some(),
        "points": points.collect::<Vec<_>>(),
    })
}
