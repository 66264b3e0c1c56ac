//! What the documents show is what there is.
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use doorway_algorithms::{About, Extent, Finds, Kind, Pinned, Status, registry};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Every `$ doorway …` of a `console` block, with what the document says it prints. With `UPDATE` it is written anew.
#[test]
fn the_commands_in_documents_print_what_is_shown() {
    for (name, at_least) in [("README.md", 4), ("docs/checking.md", 8)] {
        let text = document(name);
        let mut printed = String::new();
        let mut seen = 0;
        for (index, piece) in text.split("```console\n").enumerate() {
            if index == 0 {
                printed += piece;
                continue;
            }
            let (block, rest) = piece.split_once("```").expect("a block ends");
            let mut sessions = block.split("$ doorway ");
            printed += &format!("```console\n{}", sessions.next().unwrap_or_default());
            for session in sessions {
                let (command, _) = session.split_once('\n').expect("a command is followed by what it prints");
                let output = Command::new(env!("CARGO_BIN_EXE_doorway")).args(command.split(' ')).output().unwrap();
                printed += &format!("$ doorway {command}\n{}", String::from_utf8(output.stdout).unwrap());
                seen += 1;
            }
            printed += &format!("```{rest}");
        }
        if env::var_os("UPDATE").is_some() {
            fs::write(root().join(name), &printed).expect("the document can be written");
        } else {
            assert_eq!(printed, text, "{name}: `UPDATE=1 cargo test -p doorway-cli --test documents` writes it anew");
        }
        assert!(seen >= at_least, "only {seen} commands were found in {name}");
    }
}

/// The pictures of the README are drawn by the program. With `UPDATE` they are drawn anew.
#[test]
fn the_pictures_are_those_of_the_program() {
    let growth = ["rmr", "yang-anderson", "--model", "dsm", "--grow", "2..64", "--plot"];
    for (name, arguments) in [
        ("docs/pictures/fast-path.svg", &["check", "fast-path", "--property", "exclusion", "--svg"][..]),
        ("docs/pictures/yang-anderson.svg", &growth[..]),
    ] {
        let drawn = env::temp_dir().join(format!("doorway-picture-{}.svg", std::process::id()));
        let done = Command::new(env!("CARGO_BIN_EXE_doorway")).args(arguments).arg(&drawn).output().unwrap();
        assert!(done.status.code() < Some(2), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        let picture = fs::read_to_string(&drawn).unwrap();
        fs::remove_file(&drawn).unwrap();
        if env::var_os("UPDATE").is_some() {
            fs::write(root().join(name), &picture).expect("the picture can be written");
        }
        let hint = "`UPDATE=1 cargo test -p doorway-cli --test documents` draws it anew";
        assert!(document(name) == picture, "{name}: {hint}");
        assert!(document("README.md").contains(&format!("]({name})")), "{name}");
    }
}

#[test]
fn the_lock_of_the_contributing_guide_is_the_example() {
    let example = document("crates/checker/examples/own_lock.rs");
    let (_, code) = example.split_once('\n').expect("it starts with a line on what it is");
    assert!(document("CONTRIBUTING.md").contains(code));
}

/// A document that names a test which does not exist proves nothing.
#[test]
fn every_test_that_a_document_names_exists() {
    let mut sources = String::new();
    read_all(&root().join("crates"), &mut sources);
    let functions: BTreeSet<&str> =
        sources.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<', ' ']).next()).collect();
    for name in ["docs/trust.md", "docs/tests.md", "docs/adding-a-memory.md", "docs/adding-a-property.md", "LIMITS.md"]
    {
        let text = document(name);
        let quoted = text.split('`').skip(1).step_by(2);
        let is_test = |word: &&str| {
            word.matches('_').count() >= 3
                && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        for test in quoted.filter(is_test) {
            assert!(functions.contains(test), "{name} names `{test}`, which does not exist");
        }
    }
}

/// Every file that a document links to exists.
#[test]
fn every_link_between_documents_leads_somewhere() {
    let folder = |path: &Path| fs::read_dir(path).unwrap().map(|file| file.unwrap().path()).collect::<Vec<_>>();
    let documents = [folder(&root()), folder(&root().join("docs"))].concat();
    for path in documents.iter().filter(|path| path.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let is_local = !link.is_empty() && !link.contains("://") && !link.contains(' ');
            assert!(!is_local || path.parent().unwrap().join(link).exists(), "{}: {link}", path.display());
        }
    }
}

fn read_all(folder: &Path, text: &mut String) {
    for file in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        if file.is_dir() {
            read_all(&file, text);
        } else if file.extension().is_some_and(|ending| ending == "rs") {
            *text += &fs::read_to_string(&file).unwrap();
        }
    }
}

#[test]
fn the_table_of_algorithms_is_the_registry() {
    let path = root().join("docs/algorithms.md");
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, algorithms()).expect("the table can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == algorithms(), "`UPDATE=1 cargo test -p doorway-cli --test documents` writes docs/algorithms.md");
}

/// The table of algorithms: what is claimed and what is pinned, by kind.
fn algorithms() -> String {
    let of = |kind: Option<Kind>| {
        registry::all().iter().filter(move |about| match (about.status(), kind) {
            (Status::Broken(_), kind) => kind.is_none(),
            (Status::Correct, kind) => Some(about.kind) == kind,
        })
    };
    let mut text = format!(
        "# Algorithms\n\n\
         Generated from the registry by `UPDATE=1 cargo test -p doorway-cli --test documents`; `doorway list NAME` says \
         more.\n\n\
         The {} algorithms, their sources and what is pinned in their files: the number of states of a search, complete \
         unless passages of each process are limited, the same with store buffers, and the exact worst-case \
         number of remote memory references of a passage in the CC and the DSM model. The properties are defined in the \
         [glossary](glossary.md).\n",
        registry::all().len()
    );
    for (title, kind) in
        [("Mutual exclusion", Some(Kind::Mutex)), ("k-exclusion", Some(Kind::KExclusion)), ("Parts", Some(Kind::Part))]
    {
        text += &format!(
            "\n## {title}\n\n| name | what it is | source | processes | claims | also under | states | with store buffers | RMRs \
             cc, dsm |\n|---|---|---|---|---|---|---|---|---|\n"
        );
        of(kind).for_each(|about| text += &row(about));
    }
    text += "\n## Broken\n\nAlgorithms that the texts show to be inadequate, and deliberate mistakes. Each file ends with \
             the execution that refutes it.\n\n| name | what it is | source | why it is broken | fails |\n|---|---|---|---|---|\n";
    for about in of(None) {
        let About { name, title, source, defect, .. } = about;
        let fails: Vec<String> = about
            .claims
            .iter()
            .filter(|claim| claim.claimed == doorway_algorithms::Claimed::Fails)
            .map(|claim| claim.to_string().trim_start_matches("not ").to_string())
            .collect();
        text += &format!("| `{name}` | {title} | {source} | {defect} | {} |\n", fails.join(", "));
    }
    text
}

fn row(about: &About) -> String {
    let n = about.processes;
    let claims: Vec<String> = about.claims.iter().map(ToString::to_string).collect();
    let under: Vec<&str> = about.tolerates.iter().map(|condition| condition.name()).collect();
    let number = |bound: Option<u32>| bound.map_or("∞".to_string(), |bound| bound.to_string());
    let size = |pinned: &Pinned| {
        let k = pinned.k.map_or(String::new(), |k| format!(" k={k}"));
        let passages = match pinned.extent {
            Extent::Surveyed => about.survey.passages(),
            Extent::Passages(passages) => Some(passages),
            Extent::Whole | Extent::InAll(_) => None,
        };
        let passages = match passages {
            Some(1) => ", 1 passage".to_string(),
            Some(many) => format!(", {many} passages"),
            None => String::new(),
        };
        format!("n={}{k}{passages}", pinned.n)
    };
    let states = |fenced: bool| {
        let plain = |pinned: &&Pinned| pinned.crashes == 0 && pinned.n == about.default_n;
        about.pinned.iter().filter(plain).find_map(|pinned| match pinned.finds {
            Finds::States(states) if !fenced && pinned.under.is_empty() => Some((pinned, states)),
            Finds::Fenced(states, _) if fenced && pinned.under.len() == 1 => Some((pinned, states)),
            _ => None,
        })
    };
    let shown = |found: Option<(&Pinned, u64)>| {
        found.map_or(String::new(), |(pinned, states)| format!("{} ({})", thousands(states), size(pinned)))
    };
    let remote = about.pinned.iter().rev().find_map(|pinned| match pinned.finds {
        Finds::Remote(cc, dsm) => Some(format!("{}, {} ({})", number(cc), number(dsm), size(pinned))),
        _ => None,
    });
    format!(
        "| `{}` | {} | {} | {n} | {} | {} | {} | {} | {} |\n",
        about.name,
        about.title,
        about.source,
        claims.join(", "),
        under.join(", "),
        shown(states(false)),
        shown(states(true)),
        remote.unwrap_or_default(),
    )
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}
