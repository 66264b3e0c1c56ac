//! `doorway package DIR`: writes the manual pages and the completions of shells, for packages.
//!
//! Both are generated from the parser. Only a build with the feature `package` has this command: the parser does not
//! know it, and the program that users install contains none of it.
mod diagnostics;
mod roff;

#[cfg(feature = "package")]
use std::ffi::OsString;
use std::{fs, io, path::Path};

use clap::{Command, CommandFactory, ValueHint};
use clap_complete::Shell;
use clap_mangen::Man;

#[cfg(feature = "package")]
use crate::output::{Answer, Failure, HOLDS};
use crate::{Arguments, run};

/// The name of the program, and so of the completions.
const PROGRAM: &str = "doorway";

/// The sections of `doorway-run.1` that the parser does not know.
const RUN: &str = include_str!("run.roff");

/// The environment of the commands that find semaphores by name.
const ENVIRONMENT: &str = "\
.SH ENVIRONMENT
.TP
\\fBDOORWAY_DIR\\fR
The directory of names, an absolute path. Default: \\fI/tmp/doorway\\-UID\\fR.
";

/// The environment of the commands that print results in colour.
const COLOUR: &str = "\
.SH ENVIRONMENT
.TP
\\fBNO_COLOR\\fR
If it is not empty, terminals get no colour.
";

/// Writes `man/*.1` and `completions/*` to a directory, which is created if it does not exist.
#[cfg(feature = "package")]
pub(crate) fn generate(directory: Option<OsString>) -> Result<Answer, Failure> {
    let directory =
        directory.ok_or_else(|| Failure("there is no directory; write `doorway package DIR`".to_string()))?;
    write(directory.as_ref()).map_err(|error| {
        Failure(format!("cannot write to `{}`: {error}; give another directory", directory.display()))
    })?;
    Ok(Answer { text: String::new(), code: HOLDS })
}

fn write(directory: &Path) -> io::Result<()> {
    let (man, completions) = (directory.join("man"), directory.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    for (name, text) in pages()? {
        fs::write(man.join(name), text)?;
    }
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut parser(), PROGRAM, &completions)?;
    }
    Ok(())
}

/// The parser, without hidden options, and with what only the pages and the completions need.
fn parser() -> Command {
    Arguments::command().mut_subcommand("run", |command| {
        let shown = command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned();
        Command::new("run")
            .about(run::ABOUT)
            .override_usage("doorway run [OPTIONS] NAME [--] CMD [ARG]...\ndoorway run [OPTIONS] NAME -c LINE")
            .args(shown)
            .mut_arg("command", |command| command.value_hint(ValueHint::CommandWithArguments))
    })
}

/// The file names and the texts of the manual pages.
fn pages() -> io::Result<Vec<(String, String)>> {
    let mut parser = parser();
    parser.build();
    let commands = parser.get_subcommands().filter(|command| !command.is_hide_set());
    [&parser].into_iter().chain(commands).map(page).collect()
}

fn page(command: &Command) -> io::Result<(String, String)> {
    let is_run = command.get_name() == "run";
    let man = Man::new(for_a_page(command.clone()));
    let mut bytes = Vec::new();
    man.render_name_section(&mut bytes)?;
    man.render_synopsis_section(&mut bytes)?;
    if is_run {
        bytes.extend(roff::part(RUN, "DESCRIPTION").bytes());
    } else {
        man.render_description_section(&mut bytes)?;
    }
    man.render_options_section(&mut bytes)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut bytes)?;
    }
    let file = man.get_filename();
    let text = [
        title(file.trim_end_matches(".1")),
        roff::without_backticks(&String::from_utf8(bytes).expect("the parser's texts are UTF-8")),
        sections(command.get_name()),
        see_also(command.get_name()),
    ];
    Ok((file, text.concat()))
}

/// The title; and no word is hyphenated, so that messages, options and paths can be searched for and copied.
fn title(name: &str) -> String {
    let name = roff::escaped(&name.to_uppercase());
    format!(".TH {name} 1 \"\" \"{PROGRAM} {}\" \"Doorway Manual\"\n.nh\n.if n .ad l\n", env!("CARGO_PKG_VERSION"))
}

/// The command with the usage of its help text, which does not repeat every option, and a full stop after what it does.
fn for_a_page(mut command: Command) -> Command {
    let usage = command.render_usage().to_string();
    let lines: Vec<&str> = usage.trim_start_matches("Usage:").lines().map(str::trim).collect();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let stop = if about.ends_with('?') { "" } else { "." };
    command.override_usage(lines.join("\n")).long_about(about + stop)
}

/// The sections about the exit status, the environment, files, examples and diagnostics.
fn sections(name: &str) -> String {
    match name {
        "run" => format!("{}{}", roff::part(RUN, "REST"), diagnostics::section()),
        "status" | "resize" | "forget" => {
            let statuses = [("0", "Done."), ("2", "The call was wrong, or the file cannot be used.")];
            let diagnostics = ".SH DIAGNOSTICS\nThe messages are those of \\fBdoorway\\-run\\fR(1).\n";
            format!("{}{ENVIRONMENT}{diagnostics}", exit_status(&statuses))
        }
        PROGRAM => {
            exit_status(&[
                ("0", "Done; and what was asked for holds."),
                ("1", "Something fails that is claimed, or that was asked for."),
                ("2", "Something is undecided, or the call was wrong."),
            ]) + "\\fBdoorway run\\fR exits with the status of its command.\n"
                + COLOUR
        }
        "check" => exit_status(&[
            ("0", "Everything is as claimed; with \\fB\\-\\-property\\fR, every property asked for holds."),
            ("1", "Something is not as claimed; with \\fB\\-\\-property\\fR, a property fails."),
            ("2", "A property is undecided, or the call was wrong."),
        ]),
        "cover" => exit_status(&[
            ("0", "The lock is not refuted."),
            ("1", "The lock is refuted."),
            ("2", "Undecided, or the call was wrong."),
        ]),
        "survey" => exit_status(&[
            ("0", "Everything is as claimed."),
            ("1", "Something is not as claimed."),
            ("2", "Something is undecided, the survey was interrupted, or the call was wrong."),
        ]),
        "bench" => exit_status(&[
            ("0", "Measured."),
            ("1", "A lock had more holders than its capacity."),
            ("2", "Interrupted, or the call was wrong."),
        ]),
        "rmr" => exit_status(&[("0", "Measured."), ("2", "The search ended early, or the call was wrong.")]),
        _ => exit_status(&[("0", "Done."), ("2", "The call was wrong.")]),
    }
}

fn exit_status(statuses: &[(&str, &str)]) -> String {
    let entries: Vec<String> =
        statuses.iter().map(|(status, meaning)| format!(".TP\n\\fB{status}\\fR\n{meaning}\n")).collect();
    format!(".SH \"EXIT STATUS\"\n{}.PP\n", entries.concat())
}

fn see_also(name: &str) -> String {
    let others = match name {
        PROGRAM => "\\fBdoorway\\-run\\fR(1), \\fBdoorway\\-status\\fR(1), \\fBdoorway\\-check\\fR(1)",
        "run" => {
            "\\fBdoorway\\fR(1), \\fBdoorway\\-status\\fR(1), \\fBdoorway\\-resize\\fR(1), \
             \\fBdoorway\\-forget\\fR(1), \\fBflock\\fR(1)"
        }
        "status" | "resize" | "forget" => "\\fBdoorway\\fR(1), \\fBdoorway\\-run\\fR(1)",
        _ => "\\fBdoorway\\fR(1)",
    };
    format!(".SH \"SEE ALSO\"\n{others}\n")
}

#[cfg(test)]
mod tests {
    use std::{env, process};

    use super::*;

    fn page_of(name: &str) -> String {
        let found = pages().unwrap().into_iter().find(|(file, _)| file == name);
        found.unwrap_or_else(|| panic!("there is no page {name}")).1
    }

    #[test]
    fn every_subcommand_and_every_option_has_a_help_text() {
        let mut parser = Arguments::command();
        parser.build();
        for command in [&parser].into_iter().chain(parser.get_subcommands()) {
            assert!(command.get_about().is_some(), "`{}` has no help text", command.get_name());
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!help.is_empty(), "`{}` of `{}` has no help text", argument.get_id(), command.get_name());
            }
        }
    }

    #[test]
    fn every_subcommand_has_a_manual_page() {
        let pages = pages().unwrap();
        for command in Arguments::command().get_subcommands() {
            let name = format!("doorway-{}.1", command.get_name());
            let (_, text) = pages.iter().find(|(file, _)| *file == name).expect(&name);
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "\"EXIT STATUS\"", "\"SEE ALSO\""] {
                assert!(text.contains(&format!(".SH {section}\n")), "{name} has no section {section}");
            }
        }
        assert!(page_of("doorway.1").contains(r"doorway\-run(1)"));
    }

    #[test]
    fn the_page_of_run_has_every_section() {
        let text = page_of("doorway-run.1");
        for section in ["\"EXIT STATUS\"", "ENVIRONMENT", "FILES", "EXAMPLES", "DIAGNOSTICS"] {
            assert_eq!(text.matches(&format!("\n.SH {section}\n")).count(), 1, "{section}");
        }
    }

    #[test]
    fn pages_and_completions_are_written_to_the_directory() {
        let directory = env::temp_dir().join(format!("doorway-package-{}", process::id()));
        write(&directory).unwrap();
        for file in ["man/doorway.1", "man/doorway-run.1", "completions/doorway.bash", "completions/_doorway"] {
            assert!(fs::metadata(directory.join(file)).unwrap().len() > 500, "{file}");
        }
        let fish = fs::read_to_string(directory.join("completions/doorway.fish")).unwrap();
        assert!(fish.contains("nonblock") && !fish.contains("unlock"), "hidden options are not offered");
        fs::remove_dir_all(directory).unwrap();
    }
}
