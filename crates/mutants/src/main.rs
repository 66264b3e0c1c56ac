//! `doorway-mutants`: refutes the mutants of the catalogue.
use std::{io, path::PathBuf, process::ExitCode};

use clap::Parser;
use doorway_mutants::{
    campaign::{Campaign, Options},
    checks::{Tier, checks},
    table, workspace,
};

/// Refutes every mutant of the catalogue, or of the algorithms named.
#[derive(Parser)]
struct Arguments {
    /// Algorithms or parts, by the name of their file; all if none is named
    names: Vec<String>,
    /// Runs the checks that take minutes too
    #[arg(long)]
    long: bool,
    /// Runs quick checks only
    #[arg(long, conflicts_with = "long")]
    quick: bool,
    /// Rewrites docs/mutants.md
    #[arg(long)]
    write: bool,
    /// Runs checks that take fewer seconds than this on refuted mutants too, to compare checks
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    all_below: f64,
    /// Number of processes that run at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

fn main() -> ExitCode {
    match campaign(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn campaign(arguments: &Arguments) -> io::Result<ExitCode> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let names: Vec<String> = arguments.names.iter().map(|name| name.to_lowercase().replace('-', "_") + ".rs").collect();
    eprintln!("building the mutants");
    let workspace = workspace::build(&root, &target.join("mutants"))?;
    let all = workspace.mutants.len();
    eprintln!("{all} mutants compile, {} do not", workspace.uncompilable);
    let wanted: Vec<_> =
        workspace.mutants.iter().filter(|mutant| names.is_empty() || names.contains(&mutant.file)).collect();
    if let Some(unknown) = names.iter().find(|name| !wanted.iter().any(|mutant| mutant.file == **name)) {
        let name = unknown.trim_end_matches(".rs").replace('_', "-");
        return Err(io::Error::other(format!(
            "`{name}` has no mutants; name a file of mutex, kexclusion, parts or blocks"
        )));
    }
    let most = match (arguments.quick, arguments.long) {
        (true, _) => Tier::Quick,
        (_, true) => Tier::Long,
        _ => Tier::Slow,
    };
    let options = Options { most, all_below: arguments.all_below, jobs: arguments.jobs };
    let campaign = Campaign::new(&root, &workspace, options)?;
    let references = campaign.references(|check| {
        let file = check.algorithm.replace('-', "_") + ".rs";
        names.is_empty() || names.contains(&file) || names.iter().any(|name| !is_algorithm(name))
    })?;
    let fates = campaign.fates(&wanted, &references)?;
    let results = table::Results::new(&fates, &references, workspace.uncompilable);
    print!("{}", results.summary());
    if arguments.write {
        std::fs::create_dir_all(root.join("docs"))?;
        std::fs::write(root.join("docs/mutants.md"), results.document())?;
    }
    Ok(if results.is_clean(names.is_empty()) { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Whether the file of this name is an algorithm with checks of its own. The checks of its users cover any other file.
fn is_algorithm(file: &str) -> bool {
    checks().iter().any(|check| check.algorithm.replace('-', "_") + ".rs" == file)
}
