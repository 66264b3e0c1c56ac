//! The command `doorway`: runs commands in order of arrival; lists, checks, measures and surveys the algorithms.
#![cfg_attr(all(target_os = "linux", not(test)), no_main)]
mod bench;
mod check;
#[cfg(all(target_os = "linux", feature = "etcd"))]
mod cluster;
mod cover;
mod estimate;
mod every_n;
mod explore;
mod grow;
mod json;
mod lanes;
mod limits;
mod list;
mod lookup;
mod matrix;
mod on;
mod output;
#[cfg(all(target_os = "linux", any(test, feature = "package")))]
mod package;
mod plot;
mod progress;
mod rmr;
#[cfg(all(target_os = "linux", feature = "etcd"))]
mod round_trips;
#[cfg(target_os = "linux")]
mod run;
mod screen;
#[cfg(all(target_os = "linux", not(test)))]
mod start;
#[cfg(target_os = "linux")]
mod status;
mod survey;
mod tasks;
#[cfg(target_os = "linux")]
mod words;

use std::env;

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};

use output::{Answer, Failure};

/// Runs commands in order of arrival, at most k at a time; checks and measures the lock algorithms behind that
#[derive(Parser)]
#[command(name = "doorway", version, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[cfg(target_os = "linux")]
    #[command(about = run::ABOUT, after_help = run::EXAMPLES)]
    Run(run::Arguments),
    /// Shows the holders and the waiters of semaphores, in order
    #[cfg(target_os = "linux")]
    Status(status::Arguments),
    /// Changes the capacity of a semaphore, also while it is in use
    #[cfg(target_os = "linux")]
    Resize(status::Resize),
    /// Removes the files of semaphores that no process uses
    #[cfg(target_os = "linux")]
    Forget(status::Forget),
    /// Lists the algorithms, their sources, and whether they are correct or why they are broken
    List(list::Arguments),
    /// Checks every execution of an algorithm, for every property
    Check(check::Arguments),
    /// Applies the covering argument to a lock of reads and writes: does it have enough registers?
    Cover(cover::Arguments),
    /// Computes the exact worst-case number of remote memory references of a passage, or how it grows
    Rmr(rmr::Arguments),
    /// Measures locks side by side: those of doorway, of the standard library and of other crates
    Bench(bench::Arguments),
    /// Checks the whole catalogue, and prints what the sources claim beside what was found
    Survey(survey::Arguments),
    /// Shows executions step by step in a browser: you are the scheduler
    Explore(explore::Arguments),
    /// Writes the catalogue, what was found, executions and curves into one page that needs no network
    Report(explore::ReportArguments),
}

// The parser of `doorway run` alone. It starts a command, perhaps thousands of times, and building the parsers of the
// other subcommands would delay each start.
#[cfg(target_os = "linux")]
#[derive(Parser)]
#[command(name = "doorway run", bin_name = "doorway run", about = run::ABOUT, after_help = run::EXAMPLES)]
struct Run {
    #[command(flatten)]
    arguments: run::Arguments,
}

fn parse() -> Result<Command, clap::Error> {
    #[cfg(target_os = "linux")]
    if env::args_os().nth(1).is_some_and(|word| word == "run") {
        return Run::try_parse_from(env::args_os().skip(1)).map(|run| Command::Run(run.arguments));
    }
    Arguments::try_parse().map(|arguments| arguments.command)
}

#[cfg(any(not(target_os = "linux"), test))]
fn main() -> std::process::ExitCode {
    answer().into()
}

/// Does what the arguments ask for, and returns the exit code.
fn answer() -> u8 {
    #[cfg(all(target_os = "linux", feature = "package"))]
    if env::args_os().nth(1).is_some_and(|word| word == "package") {
        return finish(package::generate(env::args_os().nth(2)));
    }
    let answer = match parse() {
        Ok(command) => match command {
            #[cfg(target_os = "linux")]
            Command::Run(arguments) => run::run(&arguments),
            #[cfg(target_os = "linux")]
            Command::Status(arguments) => status::run(&arguments),
            #[cfg(target_os = "linux")]
            Command::Resize(arguments) => status::resize(&arguments),
            #[cfg(target_os = "linux")]
            Command::Forget(arguments) => status::forget(&arguments),
            Command::List(arguments) => list::run(&arguments),
            Command::Check(arguments) => check::run(&arguments),
            Command::Cover(arguments) => cover::run(&arguments),
            Command::Rmr(arguments) => rmr::run(&arguments),
            Command::Bench(arguments) => bench::run(&arguments),
            Command::Survey(arguments) => survey::run(&arguments),
            Command::Explore(arguments) => explore::run(&arguments),
            Command::Report(arguments) => explore::report(&arguments),
        },
        Err(error) => explain(&error),
    };
    finish(answer)
}

/// Prints the answer, or the reason why there is none, and returns the exit code.
fn finish(answer: Result<Answer, Failure>) -> u8 {
    match answer.and_then(Answer::print) {
        Ok(code) => code,
        Err(Failure(message)) => {
            output::complain(&message);
            output::UNDECIDED
        }
    }
}

/// Puts an error of clap on one line. Help and version are answers, and stay unchanged.
fn explain(error: &clap::Error) -> Result<Answer, Failure> {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Answer { text, code: 0 }),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Ok(Answer { text, code: output::UNDECIDED }),
        _ => {
            // The message and clap's tips, without the usage, which `--help` prints.
            let lines: Vec<&str> = text
                .lines()
                .map(str::trim)
                .take_while(|line| !line.starts_with("Usage:"))
                .filter(|l| !l.is_empty())
                .collect();
            let message = lines.join("; ").replace(":;", ":");
            let message = message.strip_prefix("error: ").unwrap_or(&message).to_string();
            let message = message.replace("; For more information, try '--help'.", "");
            let is_known = |word: &String| Arguments::command().find_subcommand(word).is_some();
            let subcommand = env::args().nth(1).filter(is_known).map_or(String::new(), |word| format!(" {word}"));
            Err(Failure(format!("{message}; see `doorway{subcommand} --help`")))
        }
    }
}
