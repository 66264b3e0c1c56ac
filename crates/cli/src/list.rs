//! `doorway list`
use std::fmt::Write;

use clap::Args;
use doorway_algorithms::{About, Status, registry};
use serde_json::{Value, json};

use crate::{
    json,
    lookup::find,
    output::{Answer, HOLDS, Trouble},
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Shows everything about this algorithm
    name: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    let text = match (&arguments.name, arguments.json) {
        (Some(name), false) => details(find(name)?),
        (Some(name), true) => format!("{:#}\n", as_json(find(name)?)),
        (None, false) => table(),
        (None, true) => {
            let list: Vec<Value> = registry::all().iter().map(|about| as_json(about)).collect();
            format!("{:#}\n", Value::from(list))
        }
    };
    Ok(Answer { text, code: HOLDS })
}

/// A line for each algorithm, and for a broken one why.
fn table() -> String {
    let all = registry::all();
    let width = all.iter().map(|about| about.name.len()).max().unwrap_or(0);
    all.iter().fold(String::new(), |mut text, about| {
        let About { name, source, kind, .. } = about;
        let kind = kind.to_string();
        let (status, why) = match about.status() {
            Status::Correct => ("correct", String::new()),
            Status::Broken(why) => ("broken", format!("    {why}\n")),
        };
        // Writing to a String cannot fail.
        let _ = write!(text, "{name:<width$}  {kind:<11} {status:<7} {source}\n{why}");
        text
    })
}

fn details(about: &About) -> String {
    let processes = about.processes.to_string();
    let list = |items: Vec<String>| items.join(", ");
    let claims = list(about.claims.iter().map(ToString::to_string).collect());
    let tolerates = list(about.tolerates.iter().map(|condition| condition.name().to_string()).collect());
    let primitives = about.primitives.join(", ");
    let remote = about.remote.map_or(String::new(), |remote| format!("{} (cc), {} (dsm)", remote.cc, remote.dsm));
    let status = about.status().to_string();
    let kind = about.kind.to_string();
    let aliases = about.aliases.join(", ");
    let rows = [
        ("", about.title),
        ("source", about.source),
        ("also called", &aliases),
        ("kind", &kind),
        ("processes", &processes),
        ("status", &status),
        ("claims", &claims),
        ("also under", &tolerates),
        ("primitives", &primitives),
        ("remote memory references", &remote),
        ("departures", about.departures),
        ("remark", about.remark),
    ];
    rows.iter().filter(|(_, text)| !text.is_empty()).fold(format!("{}: ", about.name), |mut all, (head, text)| {
        // Writing to a String cannot fail.
        let _ = match *head {
            "" => writeln!(all, "{text}"),
            head => writeln!(all, "  {head}: {text}"),
        };
        all
    })
}

fn as_json(about: &About) -> Value {
    let (status, why) = json::status(about);
    json!({
        "name": about.name,
        "aliases": about.aliases,
        "title": about.title,
        "source": about.source,
        "kind": about.kind.to_string(),
        "status": status,
        "why_broken": why,
        "default_n": about.default_n,
        "primitives": about.primitives,
        "local_spin": {
            "cc": about.local_spin.map(|spin| spin.cc),
            "dsm": about.local_spin.map(|spin| spin.dsm),
        },
        "claims": about.claims.iter().map(json::claim).collect::<Vec<_>>(),
        "tolerates": about.tolerates.iter().map(|condition| condition.name()).collect::<Vec<_>>(),
        "departures": about.departures,
        "remark": about.remark,
    })
}
