//! The section DIAGNOSTICS of `doorway-run.1`: each message, its exit status, and what it says about the semaphore.
use std::{
    io::{self, ErrorKind},
    path::PathBuf,
};

use doorway::process::Error;

use super::roff::escaped;

/// Numbers that stand for a placeholder until the message is made.
const K: usize = 900_001;
const OTHER: usize = 900_002;
const N: usize = 900_003;

/// Every why of [`Error::Name`], [`Error::Directory`] and [`Error::Garbage`].
const NAMES: [&str; 5] =
    ["is empty", "contains a null character", "is a directory", "has more than 200 bytes", "begins with a dot"];
const DIRECTORIES: [&str; 4] = [
    "is not an absolute path, but the value of DOORWAY_DIR",
    "is not a directory",
    "belongs to another user",
    "is accessible to other users",
];
const FILES: [&str; 9] = [
    "is a link, and links are not followed here",
    "is a directory",
    "is not a regular file",
    "is too short for a semaphore",
    "is not a semaphore",
    "is for another algorithm",
    "is damaged: its checksum is wrong",
    "is damaged: its capacity or number of slots is out of range",
    "is damaged: it has been truncated",
];

/// The messages of `doorway run` itself, with the exit status of each.
const RUN: [(&str, &str, &str); 9] = [
    (
        "no permit of `NAME` was free within TIME: held by PID (CMD) for TIME",
        "75, or that of -E",
        "Without the time if the caller did not wait. Not with -q.",
    ),
    ("cannot run `CMD`: ERROR", "127 if CMD was not found, else 126", ""),
    ("there is no command; write `doorway run NAME CMD`: see `doorway run --help`", "2", ""),
    (
        "there is no command; doorway does not lock descriptors as `flock N` does: see `doorway run --help`",
        "2",
        "NAME consists of digits, and there is no command.",
    ),
    ("`-c` takes one line for the shell, in quotes: see `doorway run --help`", "2", ""),
    ("`OPTION` is neither an option nor a command: see `doorway run --help`", "2", "OPTION comes after NAME."),
    ("there are no shared permits; `-k K` lets K commands run at a time", "2", "-s of flock was given."),
    ("there is nothing to unlock: a permit is released when its command ends", "2", "-u of flock was given."),
    ("ERROR", "2", "Signals cannot be handled, or the command cannot be waited for."),
];

/// The words of messages that stand for something else.
const PLACEHOLDERS: [&str; 13] =
    ["ERROR", "OPTION", "MESSAGE", "COMMAND", "NAME", "PATH", "TIME", "PID", "CMD", "WHY", "OTHER", "K", "N"];

/// The section.
pub(super) fn section() -> String {
    let mut text = String::from(
        ".SH DIAGNOSTICS\n\
         A message is one line on standard error that begins with \\fBdoorway:\\fR.\n\
         Words in italics stand for a name, a path, a number, or the error of a system call.\n\
         .SS \"Of doorway run\"\n",
    );
    for (message, status, remark) in RUN {
        text += &entry(message, status, remark);
    }
    text += ".SS \"Of doorway run, status, resize and forget\"\n";
    text +=
        &entry("MESSAGE; see `doorway COMMAND --help`", "2", "An option or argument is missing, unknown or not valid.");
    for (error, remark) in errors() {
        text += &entry(&message_of(&error), "2", &remark);
    }
    text += &entry("cannot write to standard output: ERROR; redirect it elsewhere", "2", "");
    text += ".PP\n\\fBdoorway status\\fR without a name and \\fBdoorway forget \\-\\-unused\\fR print the message of a \
             file that cannot be used, go on with the next, and exit with 0.\n";
    text
}

/// Every error of the semaphore that the commands can print, and a remark on it.
fn errors() -> Vec<(Error, String)> {
    let path = || PathBuf::from("PATH");
    let error = |kind| io::Error::new(kind, "ERROR");
    let why = |all: &[&str]| format!("WHY: {}.", all.join("; "));
    vec![
        (Error::Name { name: "NAME".into(), why: "WHY" }, why(&NAMES)),
        (Error::Directory { path: path(), why: "WHY" }, why(&DIRECTORIES)),
        (Error::Missing { path: path() }, "Of status, resize and forget.".to_string()),
        (Error::Size { k: K, max: N }, "Of run and resize.".to_string()),
        (Error::OtherK { path: path(), file: OTHER, asked: K }, "Of run.".to_string()),
        (Error::InUse { path: path() }, "Of forget.".to_string()),
        (Error::Garbage { path: path(), why: "WHY" }, why(&FILES)),
        (Error::Version { path: path(), file: OTHER as u64, supported: N as u64 }, String::new()),
        (Error::Damaged { path: path() }, "Of run and resize.".to_string()),
        (Error::Full { path: path(), bytes: N, source: error(ErrorKind::StorageFull) }, String::new()),
        (Error::Full { path: path(), bytes: N, source: error(ErrorKind::FileTooLarge) }, String::new()),
        (
            Error::Io { path: path(), doing: "open", source: error(ErrorKind::PermissionDenied) },
            "Also with another verb: create, read, map, lock, extend, remove.".to_string(),
        ),
    ]
}

/// The message, with its placeholders.
fn message_of(error: &Error) -> String {
    let numbers = [(K, "K"), (OTHER, "OTHER"), (N, "N")];
    numbers.iter().fold(error.to_string(), |text, (number, word)| text.replace(&number.to_string(), word))
}

fn entry(message: &str, status: &str, remark: &str) -> String {
    let remark = if remark.is_empty() { String::new() } else { format!("{}\n", marked(remark, "\\fR")) };
    format!(".PP\n\\fB{}\\fR\n.RS 4\nExit status {}.\n{remark}.RE\n", marked(message, "\\fB"), escaped(status))
}

/// The text for troff, with its placeholders in italics; `font` is that of the other words.
fn marked(text: &str, font: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut marked = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        marked += &match PLACEHOLDERS.contains(&word) {
            true => format!("\\fI{word}{font}"),
            false => escaped(word),
        };
        let next = after.find(is_letter).unwrap_or(after.len());
        marked += &escaped(&after[..next]);
        rest = &after[next..];
    }
    marked
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    fn source(path: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The source, without the line breaks in string literals.
    fn joined(paths: &[&str]) -> String {
        let text: String = paths.iter().map(|path| source(path)).collect();
        text.split("\\\n").map(str::trim_start).collect()
    }

    #[test]
    fn messages_of_run_are_those_of_its_source() {
        const MARKS: &str = "`():;,";
        // The source joins these to what comes before.
        const JOINED: [&str; 3] = ["within", "held", "see"];
        let code = joined(&["cli/src/run/mod.rs", "cli/src/run/command.rs", "cli/src/run/waiting.rs"]);
        let code: String = code.chars().filter(|&c| !MARKS.contains(c)).collect();
        for (message, _, _) in RUN {
            let mut pieces = vec![String::new()];
            for word in message.split(|c| c == ' ' || MARKS.contains(c)).filter(|word| !word.is_empty()) {
                match pieces.last_mut() {
                    _ if PLACEHOLDERS.contains(&word) || word.starts_with('-') => pieces.push(String::new()),
                    Some(piece) if !piece.is_empty() && !JOINED.contains(&word) => *piece += &format!(" {word}"),
                    _ => pieces.push(word.to_string()),
                }
            }
            for piece in pieces {
                assert!(code.contains(&piece), "`{message}` is not a message of `doorway run`: no `{piece}`");
            }
        }
    }

    #[test]
    fn every_error_of_the_semaphore_is_listed() {
        let code = source("shm/src/error.rs");
        let (_, variants) = code.split_once("pub enum Error {").expect("the enumeration");
        let (variants, _) = variants.split_once("\n}").expect("its end");
        let listed: Vec<String> = errors().iter().map(|(error, _)| format!("{error:?}")).collect();
        let is_variant =
            |line: &&str| line.strip_prefix("    ").is_some_and(|name| name.starts_with(char::is_alphabetic));
        let names: Vec<&str> =
            variants.lines().filter(is_variant).filter_map(|line| line.trim().split([' ', ',', '(']).next()).collect();
        assert!(names.len() >= 10, "{names:?}");
        // No command forks before it has opened the file.
        for name in names.into_iter().filter(|name| *name != "Forked") {
            assert!(listed.iter().any(|error| error.starts_with(name)), "`{name}` is not in the section DIAGNOSTICS");
        }
    }

    #[test]
    fn every_reason_of_an_error_is_one_of_the_source() {
        let code = joined(&["shm/src/location.rs", "shm/src/mapping.rs", "shm/src/header.rs", "shm/src/file.rs"]);
        for why in NAMES.iter().chain(&DIRECTORIES).chain(&FILES) {
            assert!(code.contains(&format!("\"{why}\"")), "no file is refused because it `{why}`");
        }
    }

    #[test]
    fn numbers_of_messages_become_placeholders() {
        let error = Error::OtherK { path: "PATH".into(), file: OTHER, asked: K };
        assert_eq!(message_of(&error), "`PATH` has capacity OTHER, not K; ask for OTHER, or change it with `resize`");
    }

    #[test]
    fn placeholders_are_in_italics() {
        assert_eq!(marked("run `CMD`: a-b", "\\fB"), "run \\(ga\\fICMD\\fB\\(ga: a\\-b");
    }
}
