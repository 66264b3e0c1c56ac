//! Writes a workspace in which the catalogue has all its mutants, and builds it.
//!
//! Each function becomes a choice between its body and the bodies of its mutants (mutant schemata), so that one build
//! contains all mutants. An environment variable selects the active mutant. Mutants that do not compile are left out.
use std::{
    collections::BTreeSet,
    env, fs, io,
    ops::Range,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::rewrite::{self, Mutant};

/// The environment variable with the number of the active mutant; without it, the originals run.
pub const ACTIVE: &str = "DOORWAY_MUTANT";

/// The environment variable with the path of a file, to which the number of each function that runs is appended.
pub const TOUCHED: &str = "DOORWAY_TOUCHED";

/// The sources of the catalogue, below the root of the repository.
const ALGORITHMS: &str = "crates/algorithms/src";

/// The folders of the catalogue that have mutants.
const FOLDERS: [&str; 4] = ["mutex", "kexclusion", "parts", "blocks"];

/// The most compilations to find the mutants that do not compile: type errors hide borrow errors.
const MAX_ROUNDS: usize = 8;

/// A mutant with its number and its place in the catalogue.
#[derive(Clone, Debug)]
pub struct Numbered {
    /// The number, from 1 on.
    pub id: usize,
    /// The file without its folder, for example `bakery.rs`.
    pub file: String,
    /// The name of the function.
    pub function: String,
    /// The number of the function.
    pub function_id: usize,
    /// The change.
    pub mutant: Mutant,
}

impl Numbered {
    /// A name for the mutant that does not depend on numbers and lines.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{} {}: {}", self.file, self.function, self.mutant.description)
    }
}

/// A built copy of the catalogue with its mutants.
#[derive(Debug)]
pub struct Workspace {
    /// The folder of the copy.
    pub folder: PathBuf,
    /// The program that runs a check of a mutant.
    pub runner: PathBuf,
    /// The mutants that compile.
    pub mutants: Vec<Numbered>,
    /// The number of mutants that do not compile.
    pub uncompilable: usize,
}

/// A file of the catalogue and its functions.
struct Source {
    path: PathBuf,
    name: String,
    text: String,
    functions: Vec<rewrite::Function>,
}

/// The place of a mutant in the copy: a file and its lines.
struct Placed {
    path: PathBuf,
    lines: Range<usize>,
    id: usize,
}

/// Writes and builds the workspace below `folder`, from the repository at `root`.
///
/// # Errors
/// If a file cannot be read or written, or the copy does not compile without mutants.
pub fn build(root: &Path, folder: &Path) -> io::Result<Workspace> {
    let copy = folder.join("algorithms");
    fs::create_dir_all(&copy)?;
    let algorithms = root.join(ALGORITHMS);
    let sources = read_sources(&algorithms)?;
    write_manifests(root, folder)?;
    copy_folder(&algorithms, &copy.join("src"))?;
    let all = number(&sources);
    let mut refused: BTreeSet<usize> = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        let placed = write_sources(&sources, &all, &refused, &algorithms, &copy.join("src"))?;
        let errors = compile_errors(folder)?;
        if errors.is_empty() {
            let runner = build_runner(folder)?;
            let uncompilable = refused.len();
            let mut mutants: Vec<Numbered> = all.into_iter().filter(|mutant| !refused.contains(&mutant.id)).collect();
            drop_equal_results(&mut mutants);
            return Ok(Workspace { folder: folder.to_path_buf(), runner, mutants, uncompilable });
        }
        let before = refused.len();
        for (file, line, message) in &errors {
            let culprit = placed.iter().find(|placed| placed.path.ends_with(file) && placed.lines.contains(line));
            match culprit {
                Some(placed) => refused.insert(placed.id),
                None => return Err(io::Error::other(format!("{file}:{line} is in no mutant: {message}"))),
            };
        }
        if refused.len() == before {
            break;
        }
    }
    Err(io::Error::other("the copy does not compile, although the mutants with errors were left out"))
}

/// Drops `Ok(true)` and `Ok(false)` where `Ok(())` compiles too: then the result is not used.
fn drop_equal_results(mutants: &mut Vec<Numbered>) {
    let keys: BTreeSet<String> = mutants.iter().map(Numbered::key).collect();
    mutants.retain(|mutant| {
        let key = mutant.key();
        let same = ["`Ok(true)`", "`Ok(false)`"].iter().find_map(|other| key.strip_suffix(other));
        same.is_none_or(|start| !keys.contains(&format!("{start}`Ok(())`")))
    });
}

/// Every mutant of the catalogue of the repository at `root`, whether or not it compiles.
///
/// # Errors
/// If a file cannot be read.
pub fn mutants(root: &Path) -> io::Result<Vec<Numbered>> {
    read_sources(&root.join(ALGORITHMS)).map(|sources| number(&sources))
}

fn read_sources(algorithms: &Path) -> io::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for folder in FOLDERS {
        let mut paths: Vec<PathBuf> = fs::read_dir(algorithms.join(folder))?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        paths.sort();
        for path in paths {
            let text = fs::read_to_string(&path)?;
            let functions =
                rewrite::functions(&text).map_err(|error| io::Error::other(format!("{path:?}: {error}")))?;
            let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
            sources.push(Source { path, name, text, functions });
        }
    }
    Ok(sources)
}

fn number(sources: &[Source]) -> Vec<Numbered> {
    let mut all = Vec::new();
    let functions = sources.iter().flat_map(|source| source.functions.iter().map(move |function| (source, function)));
    for (function_id, (source, function)) in functions.enumerate() {
        for mutant in &function.mutants {
            let (file, function) = (source.name.clone(), function.name.clone());
            all.push(Numbered { id: all.len() + 1, file, function, function_id, mutant: mutant.clone() });
        }
    }
    all
}

/// Writes the files with all mutants except the refused ones.
fn write_sources(
    sources: &[Source],
    all: &[Numbered],
    refused: &BTreeSet<usize>,
    from: &Path,
    to: &Path,
) -> io::Result<Vec<Placed>> {
    let mut placed = Vec::new();
    let mut function_id = 0;
    for source in sources {
        let relative = source.path.strip_prefix(from).map_err(io::Error::other)?;
        let mut text = String::new();
        let mut at = 0;
        for function in &source.functions {
            let mine = |mutant: &&Numbered| mutant.function_id == function_id && !refused.contains(&mutant.id);
            text += &source.text[at..function.body.start];
            text += &format!("{{ match crate::mutant::active({function_id}) {{\n");
            for mutant in all.iter().filter(mine) {
                let first = 1 + text.matches('\n').count();
                text += &format!("{} => {}\n", mutant.id, mutant.mutant.apply(&source.text, &function.body));
                let lines = first..1 + text.matches('\n').count();
                placed.push(Placed { path: to.join(relative), lines, id: mutant.id });
            }
            text += &format!("_ => {}\n}} }}", &source.text[function.body.clone()]);
            at = function.body.end;
            function_id += 1;
        }
        text += &source.text[at..];
        fs::write(to.join(relative), text)?;
    }
    let library = fs::read_to_string(from.join("lib.rs"))?;
    let count = function_id.max(1);
    fs::write(
        to.join("lib.rs"),
        format!("#![allow(warnings)]\n{library}\n{}", CHOICE.replace("COUNT", &count.to_string())),
    )?;
    Ok(placed)
}

/// The module of the copy that returns the active mutant.
const CHOICE: &str = r#"
extern crate std;
#[allow(missing_docs)]
pub mod mutant {
    use std::{fs::OpenOptions, io::Write, string::String, sync::{OnceLock, atomic::{AtomicBool, Ordering::Relaxed}}};
    static ACTIVE: OnceLock<(usize, Option<String>)> = OnceLock::new();
    static TOUCHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
    pub fn active(function: usize) -> usize {
        let (active, touched) = ACTIVE.get_or_init(|| {
            let active = std::env::var("DOORWAY_MUTANT").ok().and_then(|number| number.parse().ok());
            (active.unwrap_or(0), std::env::var("DOORWAY_TOUCHED").ok())
        });
        if let Some(path) = touched && !TOUCHED[function].swap(true, Relaxed) {
            let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
            file.write_all(std::format!("{function}\n").as_bytes()).unwrap();
        }
        *active
    }
}
"#;

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Writes the manifests of the copy of the algorithms, and of the crates that are compiled with it instead of with the
/// originals, from their own sources.
fn write_manifests(root: &Path, folder: &Path) -> io::Result<()> {
    let crates = root.join("crates");
    // The algorithms are compiled where their types are known: in the catalogue.
    let unoptimised = ["algorithms", "catalogue", "mutants"].map(|package| {
        format!(
            "[profile.release.package.doorway-{package}]\n\
             opt-level = 0\noverflow-checks = true\ndebug-assertions = true\n"
        )
    });
    fs::write(
        folder.join("Cargo.toml"),
        "[workspace]\nmembers = [\"algorithms\", \"catalogue\", \"runner\"]\nresolver = \"3\"\n\
         [profile.release]\ndebug = false\nincremental = false\n"
            .to_string()
            + &unoptimised.concat(),
    )?;
    let package = |name: &str, sections: &str, dependencies: &[String]| {
        let head = format!("[package]\nname = \"doorway-{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        format!("{head}{sections}[dependencies]\n{}\n", dependencies.join("\n"))
    };
    let original = |name: &str| format!("doorway-{name} = {{ path = {:?} }}", crates.join(name));
    let copied = |name: &str| format!("doorway-{name} = {{ path = \"../{name}\" }}");
    let library = |name: &str| format!("[lib]\npath = {:?}\n", crates.join(name).join("src/lib.rs"));
    let program = format!("[[bin]]\nname = \"runner\"\npath = {:?}\n", crates.join("mutants/src/bin/runner.rs"));
    let manifests = [
        ("algorithms", package("algorithms", "", &[original("memory")])),
        (
            "catalogue",
            package(
                "catalogue",
                &library("catalogue"),
                &[copied("algorithms"), original("checker"), original("memory"), original("simulator")],
            ),
        ),
        (
            "runner",
            package(
                "mutants",
                &(library("mutants") + &program),
                &[
                    copied("algorithms"),
                    copied("catalogue"),
                    original("checker"),
                    original("memory"),
                    "proc-macro2 = { version = \"1\", features = [\"span-locations\"] }".to_string(),
                    "serde_json = \"1\"".to_string(),
                    "syn = { version = \"3\", features = [\"full\", \"visit\"] }".to_string(),
                ],
            ),
        ),
    ];
    for (member, manifest) in manifests {
        fs::create_dir_all(folder.join(member))?;
        fs::write(folder.join(member).join("Cargo.toml"), manifest)?;
    }
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).map(|_| ())
}

fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(env::var("CARGO").unwrap_or("cargo".to_string()));
    cargo.current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
    cargo
}

/// The errors of the copy: file, line, message.
fn compile_errors(folder: &Path) -> io::Result<Vec<(String, usize, String)>> {
    let output = cargo(folder)
        .args(["check", "--release", "--quiet", "-p", "doorway-algorithms", "--message-format=json"])
        .output()?;
    let mut errors = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let message = &message["message"];
        if message["level"] != "error" {
            continue;
        }
        let text = message["message"].as_str().unwrap_or_default();
        let spans = message["spans"].as_array().map_or(&[][..], Vec::as_slice);
        let primary = spans.iter().filter(|span| span["is_primary"] == true);
        for span in primary {
            let file = span["file_name"].as_str().unwrap_or_default().trim_start_matches("algorithms/").to_string();
            errors.push((file, span["line_start"].as_u64().unwrap_or(0) as usize, text.to_string()));
        }
    }
    if errors.is_empty() && !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(errors)
}

fn build_runner(folder: &Path) -> io::Result<PathBuf> {
    let status =
        cargo(folder).args(["build", "--release", "--quiet", "-p", "doorway-mutants", "--bin", "runner"]).status()?;
    if !status.success() {
        return Err(io::Error::other("the runner does not compile"));
    }
    Ok(folder.join("target/release/runner"))
}
