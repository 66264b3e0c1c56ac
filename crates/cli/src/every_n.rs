//! `doorway check --every-n`
use std::fmt::Write;

use doorway_algorithms::About;
use doorway_catalogue::subject;
use doorway_checker::{EveryN, MAX_PROCESSES, Model, Property, Report, Undecided, every_n_observed};
use serde_json::{Value, json};

use crate::{
    limits::Limits,
    lookup::find_lock,
    output::{Answer, Failure, HOLDS, UNDECIDED},
    progress::{Watcher, interrupted, watched},
    screen::Screen,
};

/// The most processes for which a violation is looked for in real executions.
const MOST: usize = 6;

/// The most states of such a search, unless another limit is given.
const STATES: u64 = 5_000_000;

pub(crate) fn run(about: &'static About, k: usize, limits: &Limits, as_json: bool) -> Result<Answer, Failure> {
    find_lock(about.name, "exclusion")?;
    let watcher = Watcher::new(&format!("{} for every n", about.name));
    let make = |n: usize| Some(subject(about, about.size(Some(n), Some(k)).ok()?));
    let found = every_n_observed(k, make, &mut |views| {
        watcher.say(&format!("{views} views"));
        !interrupted()
    })?;
    watcher.done();
    let real = match found.undecided {
        Some(Undecided::Crowded(_)) => smallest(about, k, limits)?,
        _ => Real::NotSought,
    };
    let text = if as_json {
        format!("{:#}\n", as_value(about, &found, &real))
    } else {
        Screen::of_stdout().with_sentences_folded(&as_text(about, &found, &real))
    };
    Ok(Answer { text, code: if found.holds() { HOLDS } else { UNDECIDED } })
}

/// What is known of real executions in which there are too many holders.
enum Real {
    NotSought,
    /// None was found for this many processes or fewer.
    None(usize),
    /// The smallest number of processes for which there is one.
    Found(usize, Box<Report>),
}

fn smallest(about: &'static About, k: usize, limits: &Limits) -> Result<Real, Failure> {
    let mut last = 0;
    for n in k + 1..=MOST.min(MAX_PROCESSES) {
        let Ok(size) = about.size(Some(n), Some(k)) else { continue };
        let model = limits.apply(Model::new(n).k(k).only([Property::Exclusion]).max_states(STATES));
        let report = watched(about.name, model, |model| doorway_catalogue::check(about, size, &model))?;
        if report.fails(Property::Exclusion) {
            return Ok(Real::Found(n, Box::new(report)));
        }
        if report.incomplete.is_some() {
            break;
        }
        last = n;
    }
    Ok(Real::None(last))
}

fn as_text(about: &About, found: &EveryN, real: &Real) -> String {
    let mut text = format!("{} k={}: {found}\n", about.name, found.k);
    if let Some(order) = &found.order {
        let _ = writeln!(text, "{order}");
    }
    if let Some(Undecided::Crowded(steps)) = &found.undecided {
        text.push_str("the steps that lead to it, and where the processes of the view are then:\n");
        for (i, step) in steps.iter().enumerate() {
            let _ = writeln!(text, "{:4}  {step}", i + 1);
        }
    }
    match real {
        Real::NotSought => {}
        Real::None(0) => text.push_str("real executions were not searched completely even for the fewest processes\n"),
        Real::None(n) => {
            let _ = writeln!(text, "no real execution of {n} processes or fewer has too many holders");
        }
        Real::Found(n, report) => {
            let _ = write!(text, "with {n} processes, and not with fewer, a real execution has: {report}");
        }
    }
    text
}

fn names(properties: &[Property]) -> Vec<String> {
    properties.iter().map(Property::to_string).collect()
}

fn as_value(about: &About, found: &EveryN, real: &Real) -> Value {
    let (why, steps) = match &found.undecided {
        Some(Undecided::Crowded(steps)) => (Some("too many holders in a view".to_string()), Some(steps.clone())),
        Some(_) => (Some(found.to_string()), None),
        None => (None, None),
    };
    let fails_for = if let Real::Found(n, _) = real { Some(*n) } else { None };
    json!({
        "algorithm": about.name,
        "k": found.k,
        "every_n": found.holds(),
        "m": found.m,
        "views": found.views,
        "holds": found.order.as_ref().map(|order| names(&order.holds)),
        "not_decided": found.order.as_ref().map(|order| names(&order.open)),
        "undecided": why,
        "steps": steps,
        "fails_for": fails_for,
    })
}
