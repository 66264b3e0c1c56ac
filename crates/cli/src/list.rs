//! `doorway list`
use clap::Args;
use doorway_algorithms::{About, Kind, Status, registry};
use serde_json::{Value, json};

use crate::{
    json,
    lookup::find,
    output::{Answer, Failure, HOLDS},
    screen::{BAD, GOOD, HEAD, PLAIN, Screen, WEAK, columns, cut},
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Shows everything about this algorithm
    name: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let screen = Screen::of_stdout();
    let text = match (&arguments.name, arguments.json) {
        (Some(name), false) => details(&screen, find(name)?),
        (Some(name), true) => format!("{:#}\n", as_json(find(name)?)),
        (None, false) => table(&screen),
        (None, true) => {
            let list: Vec<Value> = registry::all().iter().map(|about| as_json(about)).collect();
            format!("{:#}\n", Value::from(list))
        }
    };
    Ok(Answer { text, code: HOLDS })
}

/// The algorithms in sections: a line for each, and for a broken one a second line that says why.
fn table(screen: &Screen) -> String {
    let is = |kind: Kind| move |about: &&About| about.kind == kind && about.status() == Status::Correct;
    let of = |is_meant: &dyn Fn(&&About) -> bool| registry::all().iter().copied().filter(is_meant).collect::<Vec<_>>();
    let sections = [
        ("Mutual exclusion", of(&is(Kind::Mutex))),
        ("k-exclusion", of(&is(Kind::KExclusion))),
        ("Parts of locks", of(&is(Kind::Part))),
        ("Broken, as a check shows", of(&|about| about.status() != Status::Correct)),
    ];
    let name = columns_of(|about| about.name);
    let text = sections.map(|(head, algorithms)| {
        let lines: String = algorithms.into_iter().map(|about| line(screen, about, name)).collect();
        format!("{}\n{lines}\n", screen.paint(HEAD, head))
    });
    text.concat() + &screen.paint(WEAK, &screen.fold(0, "Marks: ✓ correct, ✗ broken. `doorway list NAME` says more."))
}

/// The widest of these texts.
fn columns_of(text: fn(&About) -> &'static str) -> usize {
    registry::all().iter().map(|about| columns(text(about))).max().unwrap_or(0)
}

/// The mark, the name in a column of its own, what the algorithm is, and the source if there is room.
fn line(screen: &Screen, about: &About, name: usize) -> String {
    /// The least columns for the title, and for the source.
    const TITLE: usize = 37;
    const SOURCE: usize = 27;
    let indent = 2 + name + 1;
    let room = screen.width.saturating_sub(indent);
    let (title, source) = match room.checked_sub(TITLE + 1 + SOURCE) {
        Some(spare) => {
            let source = SOURCE + (spare / 2).min(columns_of(|about| about.source) - SOURCE);
            ((room - 1 - source).min(columns_of(|about| about.title)), source)
        }
        None => (room, 0),
    };
    let shown = format!("{:<name$} {:<title$}", about.name, cut(about.title, title));
    let source = screen.paint(WEAK, &cut(about.source, source));
    match about.status() {
        Status::Correct => format!("{} {}\n", screen.paint(GOOD, "✓"), format!("{shown} {source}").trim_end()),
        Status::Broken(why) => {
            let why = screen.fold(indent, why);
            let first = format!("{} {}", screen.paint(BAD, "✗"), format!("{shown} {source}").trim_end());
            format!("{first}\n{:indent$}{}\n", "", screen.paint(WEAK, why.trim_end()))
        }
    }
}

fn details(screen: &Screen, about: &About) -> String {
    let list = |items: Vec<String>| items.join(", ");
    let claims = list(about.claims.iter().map(ToString::to_string).collect());
    let tolerates = list(about.tolerates.iter().map(|condition| condition.name().to_string()).collect());
    let remote = about.remote.map_or(String::new(), |remote| format!("{} (cc), {} (dsm)", remote.cc, remote.dsm));
    let rows = [
        ("source", about.source.to_string()),
        ("also called", about.aliases.join(", ")),
        ("kind", about.kind.to_string()),
        ("processes", about.processes.to_string()),
        ("status", about.status().to_string()),
        ("claims", claims),
        ("also under", tolerates),
        ("primitives", about.primitives.join(", ")),
        ("remote memory references", remote),
        ("departures", about.departures.to_string()),
        ("remark", about.remark.to_string()),
    ];
    let title = screen.fold(2, &format!("{}: {}", about.name, about.title));
    let rows = rows.iter().filter(|(_, text)| !text.is_empty());
    rows.fold(title.replacen(about.name, &screen.paint(HEAD, about.name), 1), |all, (head, text)| {
        let style = if *head == "status" && about.status() != Status::Correct { BAD } else { PLAIN };
        let folded = screen.fold(4, &format!("{head}: {text}"));
        format!("{all}  {}\n", screen.paint(style, folded.trim_end()))
    })
}

fn as_json(about: &About) -> Value {
    let (status, why) = (about.status().name(), about.status().why());
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
