//! `doorway list`
use std::fmt::Write;

use clap::Args;
use doorway_algorithms::{About, registry};
use serde_json::{Value, json};

use crate::output::{Answer, HOLDS, Trouble};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    let all = registry::all();
    let text = if arguments.json {
        let list: Vec<Value> = all.iter().map(|about| as_json(about)).collect();
        format!("{:#}\n", Value::from(list))
    } else {
        let name = all.iter().map(|about| about.name.len()).max().unwrap_or(0);
        let source = all.iter().map(|about| about.source.chars().count()).max().unwrap_or(0);
        all.iter().fold(String::new(), |mut text, about| {
            let About { name: called, source: from, kind, title, .. } = about;
            let kind = kind.to_string();
            let _ = writeln!(text, "{called:<name$}  {kind:<11}  {from:<source$}  {title}"); // a String takes it all
            text
        })
    };
    Ok(Answer { text, code: HOLDS })
}

fn as_json(about: &About) -> Value {
    json!({
        "name": about.name,
        "aliases": about.aliases,
        "title": about.title,
        "source": about.source,
        "kind": about.kind.to_string(),
        "default_n": about.default_n,
        "primitives": about.primitives,
        "local_spin": {
            "cc": about.local_spin.map(|spin| spin.cc),
            "dsm": about.local_spin.map(|spin| spin.dsm),
        },
        "claims": about.claims.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "remark": about.remark,
    })
}
