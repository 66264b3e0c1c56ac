//! Waiting on a terminal, indices, re-entry, the habits of flock(1), resizing and forgetting.
use std::{collections::BTreeSet, fs, process::Stdio};

use crate::{Home, children, is_alive, pids, signal, text, until};

#[test]
fn a_command_finds_its_name_its_index_and_the_capacity() {
    let home = Home::new();
    let script = "echo $DOORWAY_NAME $DOORWAY_INDEX $DOORWAY_K; while [ ! -e \"$0\" ]; do sleep 0.01; done";
    let end = home.path("end");
    let words = ["run", "-k", "3", "gpu", "sh", "-c", script, end.to_str().unwrap()];
    let jobs: Vec<_> = (0..3).map(|_| home.doorway(&words).stdout(Stdio::piped()).spawn().unwrap()).collect();
    until("all three run", || home.has("gpu") && pids(&home.status("gpu")["holders"]).len() == 3);
    fs::write(&end, "").unwrap();
    let said: BTreeSet<String> = jobs.into_iter().map(|job| text(&job.wait_with_output().unwrap().stdout)).collect();
    assert!(said.iter().map(String::as_str).eq(["gpu 0 3\n", "gpu 1 3\n", "gpu 2 3\n"]), "{said:?}");
}

#[test]
fn a_name_that_an_ancestor_holds_passes_through() {
    let home = Home::new();
    let nested = |outer: &[&str], inner: &str| {
        let line = format!("{} run {inner} gpu sh -c 'echo inside $DOORWAY_INDEX'", env!("CARGO_BIN_EXE_doorway"));
        let mut words = vec!["run"];
        words.extend(outer);
        words.extend(["gpu", "sh", "-c", &line]);
        home.output(&words)
    };
    for outer in [&[][..], &["-F"]] {
        let output = nested(outer, "-n");
        assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("inside 0\n", Some(0)), "{outer:?}");
    }
    assert_eq!(nested(&[], "-n --no-reentry").status.code(), Some(75));
    // A process that does not descend from the holder is not believed.
    let mut holder = home.start(&["run", "gpu", "sleep", "1000"]);
    until("it holds", || pids(&home.status("gpu")["holders"]).len() == 1);
    let forged =
        home.doorway(&["run", "-n", "gpu", "true"]).env("DOORWAY_NAME", "gpu").env("DOORWAY_INDEX", "0").status();
    assert_eq!(forged.unwrap().code(), Some(75));
    signal(&holder, "-TERM");
    holder.wait().unwrap();
}

#[test]
fn it_has_the_habits_of_flock() {
    let home = Home::new();
    let said = |arguments: &[&str]| text(&home.output(arguments).stdout);
    assert_eq!(said(&["run", "gpu", "echo", "-n", "a b"]), "a b");
    assert_eq!(said(&["run", "gpu", "--", "echo", "-n", "a"]), "a");
    assert_eq!(said(&["run", "-x", "gpu", "-c", "echo $((1 + 1)) 'a  b'"]), "2 a  b\n");
    assert_eq!(said(&["run", "-o", "-w", "5", "gpu", "echo", "x"]), "x\n");
    let help = home.output(&[]);
    assert_eq!(help.status.code(), Some(2));
    let commands = text(&help.stdout);
    let first = commands.lines().skip_while(|line| !line.starts_with("Commands:")).nth(1).unwrap();
    assert!(first.trim().starts_with("run "), "{first}");
}

#[test]
fn with_no_fork_the_command_itself_holds() {
    let home = Home::new();
    let mut command = home.start(&["run", "-F", "gpu", "sleep", "1000"]);
    until("it holds", || home.has("gpu") && pids(&home.status("gpu")["holders"]) == [u64::from(command.id())]);
    until("it is the command", || {
        fs::read_to_string(format!("/proc/{}/comm", command.id())).is_ok_and(|comm| comm.trim() == "sleep")
    });
    assert!(children(&command).is_empty());
    let mut next = home.start(&["run", "gpu", "true"]);
    until("one waits", || pids(&home.status("gpu")["waiters"]).len() == 1);
    signal(&command, "-KILL");
    command.wait().unwrap();
    assert_eq!(next.wait().unwrap().code(), Some(0));
    assert_eq!(home.code(&["run", "-F", "gpu", "no-such-program-anywhere"]), Some(127));
    assert_eq!(home.code(&["run", "-n", "gpu", "true"]), Some(0));
}

#[test]
fn a_refusal_names_the_holders() {
    let home = Home::new();
    let mut holder = home.start(&["run", "gpu", "sleep", "1000"]);
    until("it holds", || home.has("gpu") && pids(&home.status("gpu")["holders"]).len() == 1);
    for options in [&["-n"][..], &["-w", "0.1"]] {
        let words = [&["run"], options, &["gpu", "true"]].concat();
        let said = text(&home.output(&words).stderr);
        assert!(said.starts_with("doorway: no permit of `gpu` was free"), "{said}");
        assert!(said.contains(&format!("held by {} (sleep 1000) for ", holder.id())), "{said}");
        assert_eq!(said.lines().count(), 1);
        let words = [&["run", "-q"], options, &["gpu", "true"]].concat();
        assert_eq!(text(&home.output(&words).stderr), "");
    }
    signal(&holder, "-TERM");
    holder.wait().unwrap();
}

/// `script` makes a terminal.
#[test]
fn a_waiter_on_a_terminal_shows_its_position() {
    if std::process::Command::new("script").arg("-V").output().is_err() {
        eprintln!("skipped: there is no script(1)");
        return;
    }
    let home = Home::new();
    let mut holder = home.start(&["run", "gpu", "sleep", "1000"]);
    until("it holds", || home.has("gpu") && pids(&home.status("gpu")["holders"]).len() == 1);
    let line = format!("{} run gpu echo done", env!("CARGO_BIN_EXE_doorway"));
    let mut script = std::process::Command::new("script");
    script.args(["-qfec", &line, "/dev/null"]).env("DOORWAY_DIR", home.path("doorway")).stdin(Stdio::null());
    let waiter = script.stdout(Stdio::piped()).spawn().unwrap();
    until("it waits", || pids(&home.status("gpu")["waiters"]).len() == 1);
    std::thread::sleep(std::time::Duration::from_millis(900));
    let pid = holder.id();
    signal(&holder, "-TERM");
    holder.wait().unwrap();
    let output = waiter.wait_with_output().unwrap();
    let said = text(&output.stdout);
    assert!(said.contains(&format!("gpu: 1 of 1 waiting; held by {pid} (sleep 1000) for ")), "{said:?}");
    assert!(said.ends_with("\r\u{1b}[Kdone\r\n"), "the line is gone before the command writes: {said:?}");
}

#[test]
fn a_dead_wrapper_is_shown_with_the_command_that_still_holds() {
    let home = Home::new();
    let mut wrapper = home.start(&["run", "gpu", "sleep", "1000"]);
    until("the command runs", || children(&wrapper).len() == 1);
    let command = children(&wrapper)[0];
    until("it holds", || pids(&home.status("gpu")["holders"]) == [u64::from(wrapper.id())]);
    signal(&wrapper, "-KILL");
    wrapper.wait().unwrap();
    assert_eq!(pids(&home.status("gpu")["holders"]), [u64::from(command)]);
    assert!(is_alive(command));
    let mut next = home.start(&["run", "gpu", "true"]);
    assert!(std::process::Command::new("kill").arg(command.to_string()).status().unwrap().success());
    assert_eq!(next.wait().unwrap().code(), Some(0));
}

#[test]
fn a_capacity_changes_while_it_is_in_use() {
    let home = Home::new();
    let mut jobs: Vec<_> = (0..2).map(|_| home.start(&["run", "gpu", "sleep", "1000"])).collect();
    until("one waits", || home.has("gpu") && pids(&home.status("gpu")["waiters"]).len() == 1);
    assert_eq!(home.code(&["resize", "gpu", "2"]), Some(0));
    until("both hold", || pids(&home.status("gpu")["holders"]).len() == 2);
    assert_eq!(home.code(&["resize", "gpu", "1"]), Some(0));
    assert_eq!(
        (home.status("gpu")["k"].as_u64(), home.code(&["run", "-k", "1", "-n", "gpu", "true"])),
        (Some(1), Some(75))
    );
    for job in &mut jobs {
        signal(job, "-TERM");
        job.wait().unwrap();
    }
    assert_eq!(home.code(&["run", "-n", "gpu", "true"]), Some(0));
    assert_eq!(home.code(&["run", "-n", "-k", "2", "gpu", "true"]), Some(2), "the new capacity stays");
}

#[test]
fn a_hundred_attempts_at_once_fill_a_capacity_of_a_hundred() {
    let home = Home::new();
    let end = home.path("end");
    let script = "while [ ! -e \"$0\" ]; do sleep 0.05; done";
    let words = ["run", "-n", "-k", "100", "gpu", "sh", "-c", script, end.to_str().unwrap()];
    let jobs: Vec<_> = (0..100).map(|_| home.start(&words)).collect();
    until("all hold", || home.has("gpu") && pids(&home.status("gpu")["holders"]).len() == 100);
    assert_eq!(home.code(&["run", "-n", "gpu", "true"]), Some(75));
    fs::write(&end, "").unwrap();
    assert!(jobs.into_iter().all(|mut job| job.wait().unwrap().code() == Some(0)));
}

#[test]
fn a_hundred_waiting_commands_are_shown_and_served_in_order() {
    let home = Home::new();
    let log = home.path("log");
    let mut holder = home.start(&["run", "gpu", "sleep", "1000"]);
    until("it holds", || home.has("gpu") && pids(&home.status("gpu")["holders"]).len() == 1);
    let mut jobs = Vec::new();
    for i in 0..100 {
        jobs.push(home.start(&["run", "gpu", "-c", &format!("echo {i} >> {}", log.display())]));
        until("it waits", || pids(&home.status("gpu")["waiters"]).len() == i + 1);
    }
    let waiting: Vec<u64> = jobs.iter().map(|job| job.id().into()).collect();
    assert_eq!(pids(&home.status("gpu")["waiters"]), waiting);
    signal(&holder, "-TERM");
    holder.wait().unwrap();
    assert!(jobs.into_iter().all(|mut job| job.wait().unwrap().code() == Some(0)));
    let order: Vec<usize> = fs::read_to_string(&log).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    assert!(order.into_iter().eq(0..100));
}

#[test]
fn unused_names_are_forgotten_and_used_ones_are_kept() {
    let home = Home::new();
    for name in ["a", "b", "c"] {
        assert_eq!(home.code(&["run", name, "true"]), Some(0));
    }
    let mut holder = home.start(&["run", "b", "sleep", "1000"]);
    until("it holds", || pids(&home.status("b")["holders"]).len() == 1);
    assert_eq!(text(&home.output(&["forget", "--unused"]).stdout), "a\nc\n");
    assert_eq!(text(&home.output(&["status"]).stdout).lines().next(), Some("b: 1 of 1 holders, 0 waiting"));
    assert_eq!((home.code(&["forget"]), home.code(&["forget", "--unused", "a"])), (Some(2), Some(2)));
    signal(&holder, "-TERM");
    holder.wait().unwrap();
}
