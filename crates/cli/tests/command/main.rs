//! The command as a user meets it: standard output, standard error and the exit code.
mod bench;
mod catalogue;
mod check;
mod explore;
mod measure;
#[cfg(target_os = "linux")]
mod terminal;

use std::{
    fs::OpenOptions,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

fn doorway(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_doorway")).args(arguments).output().expect("it can be run")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it is text")
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_slice(&doorway(arguments).stdout).expect("it is JSON")
}

/// A wrong call: nothing on standard output, one line on standard error, exit code 2.
#[track_caller]
fn refused(arguments: &[&str], message: &str) {
    let output = doorway(arguments);
    assert_eq!(text(&output.stderr), format!("doorway: {message}\n"));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_wrong_call_gets_an_error_that_names_the_way_out() {
    refused(&["check", "petersen"], "no algorithm is called `petersen`; did you mean `peterson`?");
    refused(&["check", "sieve"], "no algorithm is called `sieve`; `doorway list` shows them all");
    refused(
        &["check", "peterson", "-n", "3"],
        "`peterson` is for 2 processes, not 3; for more try `filter` or `bakery`",
    );
    refused(&["check", "bakery", "-n", "1"], "`bakery` needs at least 2 processes, not 1; try -n 2");
    refused(&["check", "bakery", "-n", "11"], "`bakery` can be checked for at most 10 processes, not 11; try -n 4");
    refused(&["check", "bakery", "-k", "2"], "`bakery` is mutual exclusion, so k is 1, not 2; leave out -k");
    refused(&["check", "bouncer", "-k", "2"], "`bouncer` is a part and has no k; leave out -k");
    refused(
        &["check", "bakery", "--property", "fairness"],
        "no property is called `fairness`; the properties are exclusion, deadlock-freedom, starvation-freedom, fcfs, \
         k-fcfs, fife, bypass, bounded-exit, wait-free-doorway",
    );
    refused(
        &["check", "bouncer", "--property", "fcfs"],
        "`fcfs` is not a property of `bouncer`; it has rule, wait-free",
    );
    refused(
        &["check", "bakery", "-n", "many"],
        "invalid value 'many' for '-n <N>': invalid digit found in string; see `doorway check --help`",
    );
    refused(
        &["check", "bakery", "--max-memory", "much"],
        "invalid value 'much' for '--max-memory <SIZE>': a size is a number with K, M, G or T, such as 8G; \
         see `doorway check --help`",
    );
    refused(
        &["chek"],
        "unrecognized subcommand 'chek'; tip: a similar subcommand exists: 'check'; see `doorway --help`",
    );
}

#[test]
fn an_unwritable_output_is_an_error_and_a_closed_one_is_not() {
    let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = Command::new(env!("CARGO_BIN_EXE_doorway")).arg("list").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("doorway: cannot write to standard output: "));

    let mut child = Command::new(env!("CARGO_BIN_EXE_doorway"))
        .arg("list")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((text(&output.stderr), output.status.code()), ("", Some(0)));
}
