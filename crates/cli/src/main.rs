//! `doorway`: run commands in line; list, check, measure and survey the algorithms.
mod bench;
mod check;
mod cover;
mod grow;
mod limits;
mod list;
mod output;
mod plot;
mod progress;
mod rmr;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod status;
mod survey;

use std::{env, process::ExitCode};

use clap::{Parser, Subcommand, error::ErrorKind};

use output::{Answer, Trouble};

/// Commands in line, so many at a time; and the fair locks behind it, each algorithm written once: run it, check it completely,
/// read its counterexamples.
#[derive(Parser)]
#[command(name = "doorway", version, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[cfg(target_os = "linux")]
    #[command(about = run::ABOUT)]
    Run(run::Arguments),
    /// Shows who is inside and who waits, in order
    #[cfg(target_os = "linux")]
    Status(status::Arguments),
    /// Removes what is left of a line that nobody uses
    #[cfg(target_os = "linux")]
    Forget(status::Forget),
    /// Lists the algorithms, where they come from and what is claimed of them
    List(list::Arguments),
    /// Checks an algorithm: every run of it, every property
    Check(check::Arguments),
    /// Applies the covering argument to a lock of reads and writes: has it enough registers?
    Cover(cover::Arguments),
    /// Computes the worst-case remote references of one passage, exactly; or how they grow
    Rmr(rmr::Arguments),
    /// Measures locks side by side: ours, the standard library's, and other people's
    Bench(bench::Arguments),
    /// Checks the whole catalogue, and prints what the texts claim beside what was found
    Survey(survey::Arguments),
}

// `doorway run` alone: a command that is run a thousand times should not each time learn what else there is.
#[cfg(target_os = "linux")]
#[derive(Parser)]
#[command(name = "doorway run", bin_name = "doorway run", about = run::ABOUT)]
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

fn main() -> ExitCode {
    let answer = match parse() {
        Ok(command) => match command {
            #[cfg(target_os = "linux")]
            Command::Run(arguments) => run::run(&arguments),
            #[cfg(target_os = "linux")]
            Command::Status(arguments) => status::run(&arguments),
            #[cfg(target_os = "linux")]
            Command::Forget(arguments) => status::forget(&arguments),
            Command::List(arguments) => list::run(&arguments),
            Command::Check(arguments) => check::run(&arguments),
            Command::Cover(arguments) => cover::run(&arguments),
            Command::Rmr(arguments) => rmr::run(&arguments),
            Command::Bench(arguments) => bench::run(&arguments),
            Command::Survey(arguments) => survey::run(&arguments),
        },
        Err(error) => explain(&error),
    };
    match answer.and_then(Answer::print) {
        Ok(code) => code,
        Err(Trouble(message)) => {
            eprintln!("doorway: {message}");
            ExitCode::from(output::UNDECIDED)
        }
    }
}

/// What clap says, on one line; help and version as they are.
fn explain(error: &clap::Error) -> Result<Answer, Trouble> {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Answer { text, code: 0 }),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Trouble("say what to do: `doorway survey`, `doorway list` or `doorway check NAME`".to_string()))
        }
        _ => {
            // The message, and what clap suggests; the usage is for --help.
            let lines: Vec<&str> = text
                .lines()
                .map(str::trim)
                .take_while(|line| !line.starts_with("Usage:"))
                .filter(|l| !l.is_empty())
                .collect();
            let message = lines.join("; ").replace(":;", ":");
            let message = message.strip_prefix("error: ").unwrap_or(&message).to_string();
            let message = message.replace("; For more information, try '--help'.", "");
            Err(Trouble(format!("{message}; `doorway --help` shows how")))
        }
    }
}
