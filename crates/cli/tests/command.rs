//! The command as a user meets it: what goes to which stream, and the exit code.
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
fn a_wrong_call_is_told_what_is_wrong_and_the_way_out() {
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
        "invalid value 'many' for '-n <N>': invalid digit found in string; `doorway --help` shows how",
    );
    refused(
        &["check", "bakery", "--max-memory", "much"],
        "invalid value 'much' for '--max-memory <SIZE>': a size is a number with K, M, G or T, such as 8G; \
         `doorway --help` shows how",
    );
    refused(&[], "say what to do: `doorway survey`, `doorway list` or `doorway check NAME`");
    refused(
        &["chek"],
        "unrecognized subcommand 'chek'; tip: a similar subcommand exists: 'check'; `doorway --help` shows how",
    );
}

#[test]
fn what_does_not_go_together_is_said() {
    refused(
        &["check", "bakery", "--no-fences"],
        "without store buffers fences do nothing; add `--memory tso`, or leave out `--no-fences`",
    );
    refused(
        &["check", "bakery", "--memory", "tso", "--registers", "safe"],
        "`bakery`: a safe register has no store buffer before it; check one without the other",
    );
    refused(
        &["check", "ticket-k", "--memory", "tso", "--symmetry"],
        "`ticket-k`: with store buffers processes cannot be counted as alike; check it without symmetry",
    );
}

#[test]
fn store_buffers_are_survived_with_fences_and_not_without() {
    let with = json(&["check", "peterson", "--memory", "tso", "--json"]);
    assert_eq!((&with["memory"], with["fences"].as_array().unwrap().len()), (&"tso".into(), 1));
    assert_eq!(with["properties"]["exclusion"]["verdict"], "holds");
    let without = json(&["check", "peterson", "--memory", "tso", "--no-fences", "--json"]);
    assert_eq!(without["properties"]["exclusion"]["verdict"], "fails");
    let code = |arguments: &[&str]| doorway(arguments).status.code();
    assert_eq!(code(&["check", "peterson", "--memory", "tso"]), Some(0));
    assert_eq!(code(&["check", "peterson", "--memory", "tso", "--no-fences", "--property", "exclusion"]), Some(1));
}

#[test]
fn deaths_and_abandons_are_for_algorithms_that_are_made_for_them() {
    refused(
        &["check", "bakery", "--deaths"],
        "who dies in `bakery` cannot be reaped; leave out `--deaths`, or try `k-bakery` or `k-bakery-fife`",
    );
    refused(
        &["check", "peterson", "--abandons"],
        "who waits in `peterson` cannot give up; leave out `--abandons`, or try `yang-anderson` or `k-bakery` or `k-bakery-fife`",
    );
    refused(
        &["check", "bouncer", "--deaths"],
        "who dies in `bouncer` cannot be reaped; leave out `--deaths`, or try `k-bakery` or `k-bakery-fife`",
    );
    refused(
        &["check", "k-bakery", "--deaths", "--registers", "safe"],
        "`k-bakery`: deaths are checked on atomic registers, not on safe ones",
    );
    let checked = |arguments: &[&str]| {
        let output = doorway(&[&["check"], arguments].concat());
        (output.status.code(), text(&output.stdout).to_string())
    };
    let (code, answer) = checked(&["k-bakery", "-n", "2", "--deaths", "--abandons"]);
    assert_eq!(code, Some(0));
    assert!(answer.starts_with("k-bakery n=2 k=1 with deaths and abandons: exclusion, "), "{answer}");
    assert!(answer.ends_with("(5061 states)\nas claimed: Danek 2010, Fig. 2\n"), "{answer}");
    let (code, answer) = checked(&["bakery-reaped", "--deaths"]);
    assert_eq!(code, Some(0), "that it fails is what is claimed");
    assert!(answer.contains("   7  p1      dies\n") && answer.contains("\nas claimed: "), "{answer}");
    assert_eq!(checked(&["bakery-reaped", "--deaths", "--property", "deadlock-freedom"]).0, Some(1));
    let (code, answer) = checked(&["k-bakery-fife-reset", "--deaths", "--passages-in-all", "5"]);
    assert_eq!(code, Some(0));
    assert!(answer.contains("exclusion FAILS in 38 steps\n") && answer.contains("\nas claimed: "), "{answer}");

    let with = json(&["check", "k-bakery", "-n", "2", "--deaths", "--json"]);
    assert_eq!((&with["deaths"], &with["abandons"], &with["states"]), (&true.into(), &false.into(), &3491.into()));
    assert_eq!(json(&["check", "bakery", "--json"])["deaths"], false);
}

#[test]
fn safe_registers_and_symmetry_are_said_on_the_first_line() {
    let first = |arguments: &[&str]| {
        let output = doorway(arguments);
        (output.status.code(), text(&output.stdout).lines().next().unwrap_or_default().to_string())
    };
    let (code, line) = first(&["check", "bakery", "-n", "2", "--registers", "safe"]);
    assert_eq!(code, Some(0));
    assert!(line.starts_with("bakery n=2 on safe registers: exclusion, ") && line.ends_with("(980 states)"), "{line}");
    let (code, line) = first(&["check", "k-bakery", "-n", "2", "--registers", "safe", "--property", "exclusion"]);
    assert_eq!(code, Some(1));
    assert!(line.starts_with("k-bakery n=2 k=1 on safe registers: exclusion FAILS"), "{line}");
    assert_eq!(first(&["check", "k-bakery", "-n", "2", "--registers", "safe"]).0, Some(0), "nothing is claimed there");
    let (code, line) = first(&["check", "ticket-k", "-n", "4", "-k", "2", "--symmetry"]);
    assert_eq!(code, Some(0));
    assert!(line.starts_with("ticket-k n=4 k=2 modulo symmetry: ") && line.ends_with("(233 states)"), "{line}");
    refused(
        &["check", "mcs", "--registers", "safe"],
        "`mcs`: process 0 in `doorway`, line 2, changes `tail` in one step; a safe register can only be read and written",
    );
    refused(
        &["check", "bakery", "--symmetry"],
        "`bakery`: its processes look at their numbers, so they are not all alike; check it without symmetry",
    );
}

#[test]
fn a_check_says_on_its_first_line_what_holds() {
    let output = doorway(&["check", "peterson"]);
    assert_eq!(
        text(&output.stdout),
        "peterson n=2: exclusion, deadlock-freedom, starvation-freedom, fcfs, k-fcfs, fife, bounded-exit, wait-free-doorway hold; \
         bypass at most 0 (1 counting who came before) (32 states)\n\
         as claimed: Herlihy & Shavit, Fig. 2.6\n"
    );
    assert_eq!(text(&output.stderr), "", "progress is for terminals");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_exit_code_tells_the_verdict() {
    let code = |arguments: &[&str]| doorway(arguments).status.code();
    assert_eq!(code(&["check", "lock-one"]), Some(0), "it deadlocks, as its source says");
    assert_eq!(code(&["check", "lock-one", "--property", "exclusion"]), Some(0));
    assert_eq!(code(&["check", "lock-one", "--property", "deadlock-freedom"]), Some(1));
    assert_eq!(code(&["check", "filter", "-n", "4", "--max-states", "1000", "--property", "exclusion"]), Some(2));
    assert_eq!(code(&["check", "filter", "-n", "4", "--max-states", "1000"]), Some(2));
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let answer = json(&["check", "lock-one", "--json"]);
    for field in [
        "algorithm",
        "n",
        "k",
        "crashes",
        "registers",
        "memory",
        "states",
        "transitions",
        "seconds",
        "bytes_per_state",
        "complete",
        "properties",
    ] {
        assert!(answer.get(field).is_some(), "no `{field}`");
    }
    assert_eq!(
        (&answer["algorithm"], &answer["states"], &answer["complete"]),
        (&"lock-one".into(), &8.into(), &true.into())
    );
    let deadlock = &answer["properties"]["deadlock-freedom"];
    assert_eq!(deadlock["verdict"], "fails");
    assert_eq!(deadlock["cycle_at"], 2);
    assert_eq!(deadlock["trace"][0], serde_json::json!({ "process": 0, "line": "7", "access": "flag[0] := true" }));
    assert_eq!(answer["properties"]["exclusion"]["verdict"], "holds");
    assert_eq!(answer["properties"]["bypass"]["bound"], 0);
    assert_eq!(json(&["check", "filter", "--json"])["properties"]["bypass"]["bound"], Value::Null);

    let partial = json(&["check", "filter", "--passages", "1", "--json"]);
    assert_eq!(partial["complete"], false);
    assert_eq!(partial["reason"], "each process makes at most 1 passage");
}

#[test]
fn the_covering_argument_refutes_too_few_registers_and_says_how() {
    let code = |arguments: &[&str]| doorway(arguments).status.code();
    assert_eq!(code(&["cover", "two-registers", "-n", "2"]), Some(0));
    assert_eq!(code(&["cover", "flaky", "-n", "3"]), Some(1));
    assert_eq!(code(&["cover", "bakery", "--max-states", "10"]), Some(2));

    let answer = json(&["cover", "one-register", "--json"]);
    assert_eq!((&answer["outcome"], &answer["needed"]), (&"two-inside".into(), &2.into()));
    assert_eq!((&answer["registers"], &answer["complete"]), (&serde_json::json!(["x"]), &true.into()));
    let made = &answer["construction"];
    assert_eq!(made["covers"], serde_json::json!([{ "process": 0, "register": "x" }]));
    assert_eq!((&made["alone"], &made["uncovered"]), (&1.into(), &serde_json::json!([])));
    assert_eq!((&made["solo"], &made["overwriting"]), (&serde_json::json!([1, 4]), &serde_json::json!([4, 5])));
    assert_eq!(made["trace"][4], serde_json::json!({ "process": 0, "line": "2", "access": "x := 0" }));

    let answer = json(&["cover", "k-bakery", "-n", "2", "--json"]);
    assert_eq!((&answer["outcome"], &answer["covering_states"]), (&"escapes".into(), &30.into()));
    assert_eq!(answer["construction"]["uncovered"], serde_json::json!(["Ticket[1]", "Want[1][0]"]));
}

#[test]
fn the_covering_argument_is_about_locks_of_reads_and_writes() {
    let only = "the covering argument is about locks that only read and write; try `bakery`";
    refused(&["cover", "mcs"], &format!("`mcs` takes swap, and {only}"));
    refused(&["cover", "ticket-k"], &format!("`ticket-k` takes fetch-and-add, and {only}"));
    refused(&["cover", "bouncer"], "`bouncer` is a part, and nobody is inside it; try a lock, such as `bakery`");
    refused(
        &["cover", "peterson", "-n", "3"],
        "`peterson` is for 2 processes, not 3; for more try `filter` or `bakery`",
    );
}

#[test]
fn the_list_has_every_algorithm_with_its_claims() {
    let list = json(&["list", "--json"]);
    let list = list.as_array().expect("it is an array");
    assert_eq!(list.len(), doorway_algorithms::registry::all().len());
    for field in ["name", "title", "source", "kind", "primitives", "local_spin", "claims"] {
        assert!(list.iter().all(|about| about.get(field).is_some()), "no `{field}`");
    }
    let bakery = list.iter().find(|about| about["name"] == "bakery").expect("it is there");
    assert!(bakery["claims"].as_array().unwrap().contains(&"fcfs".into()));
    assert_eq!(text(&doorway(&["list"]).stdout).lines().count(), list.len());
}

#[test]
fn an_unwritable_output_is_trouble_and_a_closed_one_is_not() {
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

#[test]
fn crashes_are_counted_against_what_is_claimed() {
    let code = |arguments: &[&str]| doorway(arguments).status.code();
    assert_eq!(code(&["check", "filter-k", "--crashes", "1"]), Some(0), "one of two inside may stop");
    assert_eq!(code(&["check", "peterson", "--crashes", "1"]), Some(0), "nothing is claimed with crashes");
    assert_eq!(code(&["check", "peterson", "--crashes", "1", "--property", "starvation-freedom"]), Some(1));
    refused(
        &["check", "bouncer", "--crashes", "1"],
        "`bouncer` is a part and is checked without crashes; leave out `--crashes`",
    );
    refused(&["check", "peterson", "--crashes", "3"], "`peterson`: at most 2 of 2 processes can crash, not 3");
}

#[test]
fn remote_references_are_exact_or_unbounded() {
    let answer = json(&["rmr", "k-bakery", "-n", "2", "-k", "1", "--model", "dsm", "--json"]);
    assert_eq!(answer["worst"], 4);
    for field in ["bounded", "exact", "complete"] {
        assert_eq!(answer[field], true, "{field}");
    }
    assert_eq!(answer["per_process"], serde_json::json!([4, 4]));
    assert_eq!(json(&["rmr", "bakery", "-n", "2", "--model", "dsm", "--json"])["worst"], Value::Null);
    assert_eq!(
        text(&doorway(&["rmr", "peterson"]).stdout),
        "peterson n=2, cc: exactly 6 remote references in the worst passage, 136 states\n"
    );
    refused(&["rmr", "bouncer"], "`bouncer` is a part and has no passages; try a lock, such as `bakery`");
}

#[test]
fn growth_is_told_in_what_grows() {
    let by_n = json(&["rmr", "k-bakery", "--grow", "2..32", "--model", "dsm", "--json"]);
    for field in ["algorithm", "n", "k", "model", "seed", "points", "class", "residual", "mean_class", "complete"] {
        assert!(by_n.get(field).is_some(), "no `{field}`");
    }
    assert_eq!((&by_n["class"], &by_n["n"], &by_n["k"]), (&"O(N)".into(), &Value::Null, &2.into()));
    let points: Vec<(u64, u64)> = by_n["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| (point["n"].as_u64().unwrap(), point["worst"].as_u64().unwrap()))
        .collect();
    assert_eq!(points, [4, 8, 16, 32].map(|n| (n, 4 * (n - 1))), "with k = 2 there are more than two processes");
    assert!(by_n["points"][0]["mean"].is_number());

    let class = |arguments: &[&str]| json(&[arguments, &["--json"]].concat())["class"].clone();
    assert_eq!(class(&["rmr", "k-bakery", "--grow", "k=1..16", "-n", "32", "--model", "dsm"]), "O(1)");
    assert_eq!(class(&["rmr", "kim-anderson", "--grow", "c=1..64", "-n", "64"]), "O(min(c, log N))");
    assert_eq!(class(&["rmr", "jayanti-f-array-adaptive", "--grow", "2..64", "--contention", "1"]), "O(1)");
    assert_eq!(class(&["rmr", "yang-anderson", "--grow", "2..64"]), "O(log N)");
    assert_eq!(class(&["rmr", "mcs", "--grow", "2..64"]), "O(1)");
    assert_eq!(class(&["rmr", "ticket-k", "--grow", "2..64"]), "O(N)");
    let falling = doorway(&["rmr", "ticket-k", "--grow", "k=1..16", "-n", "32"]);
    assert!(
        text(&falling.stdout).starts_with("ticket-k n=32 k=1..16, cc: O(1), and falls\n"),
        "{}",
        text(&falling.stdout)
    );
    let unbounded = json(&["rmr", "bakery", "--grow", "2..8", "--model", "dsm", "--json"]);
    assert_eq!((&unbounded["class"], &unbounded["bounded"]), (&"unbounded".into(), &false.into()));
    assert_eq!((&unbounded["why"], &unbounded["residual"]), (&"busy-waits remotely".into(), &Value::Null));
}

#[test]
fn the_same_seed_prints_the_same_and_another_may_not() {
    let run = |seed| doorway(&["rmr", "tournament", "--grow", "2..16", "--seed", seed]).stdout;
    assert_eq!(text(&run("7")), text(&run("7")));
    assert_ne!(text(&run("7")), text(&run("8")));
    assert!(text(&run("7")).lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn a_curve_can_be_drawn() {
    let path = std::env::temp_dir().join(format!("doorway-{}.svg", std::process::id()));
    let output = doorway(&["rmr", "mcs", "--grow", "2..16", "--plot", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    let drawing = std::fs::read_to_string(&path).expect("it was written");
    std::fs::remove_file(&path).expect("it can be removed");
    assert!(drawing.starts_with("<svg") && drawing.ends_with("</svg>\n"), "{drawing}");
    assert_eq!(drawing.matches("<circle").count(), 2 * 4);
}

#[test]
fn what_cannot_grow_is_refused() {
    let tries = "try `--grow 2..1024`, `--grow k=1..32` or `--grow c=1..64`";
    refused(&["rmr", "bakery", "--grow", "5"], &format!("`5` is not a range; {tries}"));
    refused(&["rmr", "bakery", "--grow", "m=1..4"], &format!("`m` does not grow; {tries}"));
    refused(&["rmr", "bakery", "--grow", "8..2"], &format!("`8..2` does not rise from 1 or more; {tries}"));
    refused(
        &["rmr", "bakery", "--grow", "2..2048"],
        "`bakery` can be simulated for at most 1024 processes, not 2048; try `--grow 2..1024`",
    );
    refused(
        &["rmr", "peterson", "--grow", "2..8"],
        "`peterson` is for 2 processes, not 8; for more try `filter` or `bakery`",
    );
    refused(&["rmr", "bakery", "--grow", "k=1..4"], "`bakery` is mutual exclusion, so k is 1; let n or c grow");
    refused(&["rmr", "bakery", "--grow", "2..8", "-n", "4"], "`-n` is what grows; leave it out, or let k or c grow");
    refused(
        &["rmr", "k-bakery", "--grow", "k=1..64", "-n", "64"],
        "k is less than n, and 64 is not less than 64; raise -n",
    );
    refused(
        &["rmr", "bakery", "--grow", "c=1..64", "-n", "32"],
        "at most 32 of 32 processes can take part, not 64; take more processes",
    );
    refused(
        &["rmr", "k-bakery", "--grow", "2..4", "-k", "3"],
        "`k-bakery` with k=3 is for more than 3 processes; raise the range",
    );
    refused(
        &["rmr", "bakery", "--grow", "2..8", "--plot", "/nonexistent/curve.svg"],
        "cannot write `/nonexistent/curve.svg`: No such file or directory (os error 2); write it somewhere else",
    );
    refused(
        &["rmr", "bouncer", "--grow", "2..8"],
        "`bouncer` is a part and has no passages; try a lock, such as `bakery`",
    );
    for flag in ["--seed", "--contention", "--plot"] {
        assert_eq!(doorway(&["rmr", "bakery", flag, "3"]).status.code(), Some(2), "{flag} is for `--grow`");
    }
    assert_eq!(doorway(&["rmr", "bakery", "--grow", "2..8", "--max-states", "9"]).status.code(), Some(2));
}

/// What a survey could not decide it does not call a disagreement.
#[test]
fn a_survey_that_is_stopped_early_says_what_is_not_decided() {
    let output = doorway(&["survey", "--max-states", "100"]);
    assert_eq!(output.status.code(), Some(2));
    let last = text(&output.stdout).lines().last().unwrap();
    assert!(last.contains(": not decided: "), "{last}");
    // Table 1, with a row for each of its own.
    let rows =
        ["Fischer et al. [12]", "Peterson (DSM) [21]", "Danek and Lee (CC/DSM) [8]", "FIFE algorithm (Figure 2)"];
    for row in rows {
        assert_eq!(text(&output.stdout).matches(&format!(" {row} ")).count(), 1, "{row}");
    }
}

#[test]
fn too_little_memory_ends_in_a_message() {
    let output = doorway(&["check", "filter", "-n", "5", "--max-memory", "20M"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("raise --max-memory or lower -n"), "{}", text(&output.stdout));
}

#[test]
fn a_wrong_bench_is_told_what_is_wrong() {
    refused(
        &["bench", "--only", "ours,futex"],
        "no lock is called `futex`; try `ours`, `std`, `peers`, `catalogue` or a name of `doorway bench --list`",
    );
    refused(
        &["bench", "--seconds", "soon"],
        "invalid value 'soon' for '--seconds <S>': it is a number of seconds, such as 120 or 0.5; `doorway --help` shows how",
    );
    refused(
        &["bench", "--seconds", "0"],
        "invalid value '0' for '--seconds <S>': it is a number of seconds, such as 120 or 0.5; `doorway --help` shows how",
    );
    refused(
        &["bench", "--plot", "/nowhere/bench.svg"],
        "cannot write `/nowhere/bench.svg`: No such file or directory (os error 2); write it somewhere else",
    );
    if cfg!(not(feature = "peers")) {
        refused(
            &["bench", "--only", "peers"],
            "`peers` are not part of this build; `cargo run --release --features peers -- bench` has them",
        );
    }
}

#[test]
fn what_can_be_measured_is_listed() {
    let output = doorway(&["bench", "--list"]);
    assert_eq!(output.status.code(), Some(0));
    let names: Vec<&str> = text(&output.stdout).lines().filter_map(|line| line.split(' ').next()).collect();
    for name in ["doorway-mutex", "doorway-semaphore", "std-mutex", "std-condvar", "bakery", "ticket-k"] {
        assert!(names.contains(&name), "`{name}` is not in the list");
    }
    assert!(!names.contains(&"lock-one"), "what deadlocks cannot be measured");
    let only = doorway(&["bench", "--list", "--only", "bakery"]);
    assert_eq!(text(&only.stdout), "bakery                    catalogue  fifo\n");
}

/// Short, and nothing is said about times: only that everything is there.
#[test]
fn a_bench_prints_a_table_json_and_a_picture() {
    let file = std::env::temp_dir().join(format!("doorway-bench-{}.svg", std::process::id()));
    let only = ["bench", "--seconds", "0.3", "--only", "doorway-mutex,std-mutex,bakery"];
    let output = doorway(&[&only[..], &["--plot", file.to_str().unwrap()]].concat());
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let table = text(&output.stdout);
    for part in
        ["alone, k = 1\n", "8 threads, k = 1, 50 ns inside, 200 ns outside\n", "\n* doorway-mutex ", "\n  bakery "]
    {
        assert!(table.contains(part), "{part:?} is not in\n{table}");
    }
    assert!(!table.contains("k = 4"), "none of them is for k = 4:\n{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
    let svg = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("doorway-mutex (fifo)"));

    let rows = json(&["bench", "--json", "--seconds", "0.2", "--only", "doorway-semaphore"]);
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 6, "2, 8 and 16 threads, k = 1 and 4");
    for row in rows {
        assert_eq!(
            (&row["lock"], &row["ours"], &row["order"]),
            (&"doorway-semaphore".into(), &true.into(), &"fifo".into())
        );
        for field in
            ["k", "threads", "ns_uncontended", "ops_per_s", "passed_p999", "wait_p999_ns", "cpu_us_per_op", "jain"]
        {
            assert!(row.get(field).is_some(), "{field} is not in {row}");
        }
        assert_eq!(row["excludes"], true);
    }
}
