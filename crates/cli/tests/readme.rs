//! What the documents show is what there is.
use std::{fs, path::Path, process::Command};

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
            doorway_algorithms::Processes::Between(least, most) => format!("{least} to {most}"),
        };
        let title = match about.kind {
            Kind::Part => format!("{} (part)", about.title),
            _ => about.title.to_string(),
        };
        format!("{table}| `{}` | {title} | {} | {n} |\n", about.name, about.source)
    })
}

fn document(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).expect("the document is there")
}

/// Every `$ doorway …` of the README, with what it says it prints.
#[test]
fn the_commands_of_the_readme_print_what_it_says() {
    let readme = document("README.md");
    let blocks = readme.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let sessions = blocks.flat_map(|block| block.split("$ doorway ").skip(1)).map(str::to_string);
    let mut seen = 0;
    for session in sessions {
        let (command, shown) = session.split_once('\n').expect("a command is followed by what it prints");
        let output = Command::new(env!("CARGO_BIN_EXE_doorway")).args(command.split(' ')).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), shown, "doorway {command}");
        seen += 1;
    }
    assert!(seen >= 4, "only {seen} commands were found");
}

#[test]
fn the_lock_of_the_contributing_guide_is_the_example() {
    let example = document("crates/checker/examples/own_lock.rs");
    let (_, code) = example.split_once('\n').expect("it starts with a line on what it is");
    assert!(document("CONTRIBUTING.md").contains(code));
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
