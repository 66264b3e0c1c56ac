//! `doorway cover`
use clap::Args;
use doorway_algorithms::About;
use doorway_checker::{Covering, Model, Outcome};
use serde_json::{Value, json};

use crate::{
    json,
    limits::Limits,
    lookup::{Processes, find_lock, title},
    output::{Answer, FAILS, Failure, HOLDS, UNDECIDED},
    progress::watched,
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The lock, of reads and writes; `doorway list` shows them all
    name: String,
    #[command(flatten)]
    processes: Processes,
    #[command(flatten)]
    limits: Limits,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let about = find_lock(&arguments.name, "critical section")?;
    if let Some(stronger) = about.primitives.iter().find(|primitive| !["read", "write"].contains(primitive)) {
        let why = "the covering argument is about locks that only read and write";
        return Err(Failure(format!("`{}` uses {stronger}, and {why}; try `bakery`", about.name)));
    }
    let size = arguments.processes.with_k(about, Some(1))?;
    let model = arguments.limits.apply(Model::new(size.n));
    let found = watched(about.name, model, |model| doorway_catalogue::covering(about, size, &model))?;
    let text = if arguments.json {
        format!("{:#}\n", as_json(about, &found))
    } else {
        format!("{}: {found}", title(about, size))
    };
    let code = match found.outcome {
        Outcome::Escapes => HOLDS,
        Outcome::TwoInside | Outcome::Deadlock => FAILS,
        Outcome::Unknown => UNDECIDED,
    };
    Ok(Answer { text, code })
}

fn as_json(about: &About, found: &Covering) -> Value {
    let outcome = match found.outcome {
        Outcome::TwoInside => "two-inside",
        Outcome::Deadlock => "deadlock",
        Outcome::Escapes => "escapes",
        Outcome::Unknown => "unknown",
    };
    let construction = found.construction.as_ref().map(|made| {
        let covers = made.covers.iter().map(|(p, register)| json!({ "process": p, "register": register }));
        json!({
            "covers": covers.collect::<Vec<_>>(),
            "alone": made.alone,
            "writes": made.writes,
            "uncovered": made.uncovered,
            "trace": json::steps(&made.execution),
            "cycle_at": made.execution.cycle_at,
            "solo": [made.solo.start, made.solo.end],
            "overwriting": [made.overwriting.start, made.overwriting.end],
        })
    });
    json!({
        "algorithm": about.name,
        "n": found.n,
        "outcome": outcome,
        "needed": found.n,
        "registers": found.registers,
        "covering_states": found.covering_states,
        "construction": construction,
        "states": found.states,
        "seconds": found.seconds,
        "complete": found.incomplete.is_none(),
        "reason": found.incomplete,
    })
}
