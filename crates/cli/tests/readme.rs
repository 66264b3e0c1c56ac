//! The table of algorithms in README.md is the registry's.
use std::{fs, path::Path};

use doorway_algorithms::{Kind, registry};

const START: &str =
    "<!-- algorithms: generated; `UPDATE=1 cargo test -p doorway-cli --test readme` writes it anew -->\n";
const END: &str = "<!-- end of algorithms -->\n";

fn table() -> String {
    let head = "| name | what it is | source | processes |\n|---|---|---|---|\n".to_string();
    registry::all().iter().fold(head, |table, about| {
        let n = match about.processes {
            doorway_algorithms::Processes::Exactly(n) => n.to_string(),
            doorway_algorithms::Processes::AtLeast(n) => format!("{n} or more"),
        };
        let title = match about.kind {
            Kind::Part => format!("{} (part)", about.title),
            _ => about.title.to_string(),
        };
        format!("{table}| `{}` | {title} | {} | {n} |\n", about.name, about.source)
    })
}

#[test]
fn the_table_of_the_readme_is_the_registry() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(&path).expect("there is a README");
    let (before, rest) = readme.split_once(START).expect("the table has a start");
    let (found, after) = rest.split_once(END).expect("the table has an end");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, format!("{before}{START}{}{END}{after}", table())).expect("README can be written");
    } else {
        assert_eq!(found, table(), "`UPDATE=1 cargo test -p doorway-cli --test readme` writes it anew");
    }
}
