//! `doorway check`.
use serde_json::Value;

use crate::{doorway, json, refused, text};

#[test]
fn peterson_excludes_on_tso_only_with_its_fence() {
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
fn deaths_and_aborts_are_refused_for_locks_without_recovery_or_abort() {
    refused(
        &["check", "bakery", "--deaths"],
        "`bakery` has no recovery (`reap`); leave out `--deaths`, or try `k-bakery`, `k-bakery-fife`, \
         `fischer-queue`, `fischer-queue-copied`, `fischer-queue-names`",
    );
    refused(
        &["check", "peterson", "--aborts"],
        "`peterson` is not abortable; leave out `--aborts`, or try `yang-anderson`, `ticket-async`, `k-bakery`, \
         `k-bakery-fife`, `fischer-queue`, `fischer-queue-copied`, `fischer-queue-names`",
    );
    refused(
        &["check", "bouncer", "--deaths"],
        "`bouncer` has no recovery (`reap`); leave out `--deaths`, or try `k-bakery`, `k-bakery-fife`, \
         `fischer-queue`, `fischer-queue-copied`, `fischer-queue-names`",
    );
    refused(
        &["check", "k-bakery", "--deaths", "--registers", "safe"],
        "`k-bakery`: deaths are checked on atomic registers, not on safe ones",
    );
    let checked = |arguments: &[&str]| {
        let output = doorway(&[&["check"], arguments].concat());
        (output.status.code(), text(&output.stdout).to_string())
    };
    let (code, answer) = checked(&["k-bakery", "-n", "2", "--deaths", "--aborts"]);
    assert_eq!(code, Some(0));
    assert!(answer.starts_with("k-bakery n=2 k=1 with deaths and aborts: exclusion, "), "{answer}");
    assert!(answer.ends_with("(5061 states)\nas claimed: Danek 2010, Fig. 2\n"), "{answer}");
    let (code, answer) = checked(&["bakery-reaped", "--deaths"]);
    assert_eq!(code, Some(0), "that it fails is what is claimed");
    assert!(answer.contains("   7  p1      dies\n") && answer.contains("\nas claimed: "), "{answer}");
    assert_eq!(checked(&["bakery-reaped", "--deaths", "--property", "deadlock-freedom"]).0, Some(1));
    let (code, answer) = checked(&["k-bakery-fife-reset", "--deaths", "--passages-in-all", "5"]);
    assert_eq!(code, Some(0));
    assert!(answer.contains("exclusion FAILS in 38 steps\n") && answer.contains("\nas claimed: "), "{answer}");

    let with = json(&["check", "k-bakery", "-n", "2", "--deaths", "--json"]);
    assert_eq!((&with["deaths"], &with["aborts"], &with["states"]), (&true.into(), &false.into(), &3491.into()));
    assert_eq!(json(&["check", "bakery", "--json"])["deaths"], false);
}

#[test]
fn every_n_is_decided_or_not_at_all() {
    let output = doorway(&["check", "ticket-k", "-k", "2", "--every-n"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        text(&output.stdout),
        "ticket-k k=2: exclusion holds for every n (m = 3, 5458 views)\n\
         k-fcfs, fife hold for every n (11320 views with the order of arrivals); fcfs not decided\n"
    );
    let output = doorway(&["check", "bakery", "--every-n"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        text(&output.stdout),
        "bakery k=1: exclusion holds for every n (m = 2, 2596 views)\n\
         fcfs, k-fcfs, fife hold for every n (3384 views with the order of arrivals)\n"
    );
    let found = json(&["check", "gottlieb", "-k", "1", "--every-n", "--json"]);
    assert_eq!((&found["every_n"], &found["m"], &found["views"]), (&true.into(), &2.into(), &14.into()));
    assert_eq!((&found["holds"], &found["not_decided"][0]), (&Vec::<String>::new().into(), &"fcfs".into()));

    for (name, why) in [
        ("k-bakery", "its registers depend on the number of processes"),
        ("log-k", "its registers depend on the number of processes"),
        ("colored-ticket", "it is not made for every number of processes"),
        ("fischer-queue-names", "or on more than the order of their numbers"),
    ] {
        let output = doorway(&["check", name, "--every-n"]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(text(&output.stdout).contains(why), "{}", text(&output.stdout));
    }
    refused(
        &["check", "ticket", "--every-n", "-n", "3"],
        "the argument '--every-n' cannot be used with '-n <N>'; see `doorway check --help`",
    );
}

#[test]
fn expiries_show_when_two_believe_to_be_holders() {
    let output = doorway(&["check", "fischer-queue", "-n", "2", "-k", "1", "--expiries"]);
    assert_eq!(output.status.code(), Some(0), "that exclusion fails is what is claimed");
    let answer = text(&output.stdout);
    assert!(answer.starts_with("fischer-queue n=2 k=1 with expiries: "), "{answer}");
    assert!(answer.contains("   4  p0     is taken for dead\n"), "{answer}");

    let fenced = |arguments: &[&str]| doorway(&[&["check"], arguments, &["--property", "fenced"]].concat());
    assert_eq!(fenced(&["fischer-queue-names", "-n", "2", "-k", "1", "--expiries"]).status.code(), Some(0));
    let wrong = ["fischer-queue-arrival-tokens", "-n", "3", "-k", "2", "--expiries", "--passages-in-all", "2"];
    assert_eq!(fenced(&wrong).status.code(), Some(1));
    let with = json(&["check", "fischer-queue", "-n", "2", "-k", "1", "--expiries", "--json"]);
    assert_eq!((&with["expiries"], &with["states"]), (&true.into(), &86.into()));

    refused(
        &["check", "bakery", "--expiries"],
        "`bakery` has no recovery (`reap`); leave out `--expiries`, or try `k-bakery`, `k-bakery-fife`, `fischer-queue`, \
         `fischer-queue-copied`, `fischer-queue-names`",
    );
    refused(
        &["check", "fischer-queue-names", "--property", "fenced"],
        "`fenced` is about expiries, for a lock with tokens; add `--expiries`, or try `fischer-queue-names`",
    );
}

#[test]
fn the_first_line_names_safe_registers_and_symmetry() {
    let first = |arguments: &[&str]| {
        let output = doorway(arguments);
        (output.status.code(), text(&output.stdout).lines().next().unwrap_or_default().to_string())
    };
    let (code, line) = first(&["check", "bakery", "-n", "2", "--registers", "safe"]);
    assert_eq!(code, Some(0));
    assert!(line.starts_with("bakery n=2 on safe registers: exclusion, ") && line.ends_with("(817 states)"), "{line}");
    let (code, line) = first(&["check", "k-bakery", "-n", "2", "--registers", "safe", "--property", "exclusion"]);
    assert_eq!(code, Some(1));
    assert!(line.starts_with("k-bakery n=2 k=1 on safe registers: exclusion FAILS"), "{line}");
    assert_eq!(
        first(&["check", "k-bakery", "-n", "2", "--registers", "safe"]).0,
        Some(0),
        "that exclusion fails is claimed"
    );
    let (code, line) = first(&["check", "ticket-k", "-n", "4", "-k", "2", "--symmetry"]);
    assert_eq!(code, Some(0));
    assert!(line.starts_with("ticket-k n=4 k=2 modulo symmetry: ") && line.ends_with("(186 states)"), "{line}");
    let (code, line) = first(&["check", "k-bakery", "-n", "2", "--forget"]);
    assert_eq!(code, Some(0));
    assert!(line.starts_with("k-bakery n=2 k=1 modulo forgotten values: ") && line.ends_with("(149 states)"), "{line}");
    let (code, line) = first(&["check", "filter", "-n", "3", "--forget"]);
    assert_eq!(code, Some(0));
    assert!(line.starts_with("filter n=3 modulo forgotten values: ") && line.ends_with("(1142 states)"), "{line}");
    refused(
        &["check", "fischer-queue-names", "--expiries", "--forget"],
        "`fischer-queue-names`: with expiries nothing can be forgotten; check one without the other",
    );
    refused(
        &["check", "mcs", "--registers", "safe"],
        "`mcs`: process 0 in `doorway`, line 2, changes `tail` in one step; a safe register can only be read and written",
    );
    refused(
        &["check", "bakery", "--symmetry"],
        "`bakery`: its processes use their numbers, so they are not all alike; check it without symmetry",
    );
}

#[test]
fn the_first_line_of_a_check_says_which_properties_hold() {
    let output = doorway(&["check", "peterson"]);
    assert_eq!(
        text(&output.stdout),
        "peterson n=2: exclusion, deadlock-freedom, starvation-freedom, fcfs, k-fcfs, fife, bounded-exit, wait-free-doorway hold; \
         bypass at most 0 (1 counting earlier arrivals) (32 states)\n\
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
    let first = &deadlock["trace"][0];
    assert_eq!(
        (&first["process"], &first["line"], &first["access"]),
        (&0.into(), &"7".into(), &"flag[0] := true".into())
    );
    assert_eq!((&first["choice"], &first["section"], &first["to"]), (&"0".into(), &"remainder".into(), &"wait".into()));
    assert_eq!(answer["properties"]["exclusion"]["verdict"], "holds");
    assert_eq!(answer["properties"]["bypass"]["bound"], 0);
    assert_eq!(json(&["check", "filter", "--json"])["properties"]["bypass"]["bound"], Value::Null);

    let partial = json(&["check", "filter", "--passages", "1", "--json"]);
    assert_eq!(partial["complete"], false);
    assert_eq!(partial["reason"], "each process makes at most 1 passage");
}

#[test]
fn crashes_are_compared_with_what_is_claimed() {
    let code = |arguments: &[&str]| doorway(arguments).status.code();
    assert_eq!(code(&["check", "filter-k", "--crashes", "1"]), Some(0), "one of two holders may crash");
    assert_eq!(code(&["check", "peterson", "--crashes", "1"]), Some(0), "no progress is claimed with crashes");
    assert_eq!(code(&["check", "peterson", "--crashes", "1", "--property", "starvation-freedom"]), Some(1));
    refused(
        &["check", "bouncer", "--crashes", "1"],
        "`bouncer` is a part and is checked without crashes; leave out `--crashes`",
    );
    refused(&["check", "peterson", "--crashes", "3"], "`peterson`: at most 2 of 2 processes can crash, not 3");
}

#[test]
fn too_little_memory_ends_in_a_message() {
    let output = doorway(&["check", "filter", "-n", "5", "--max-memory", "20M"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stdout).contains(
            "raise the limit on memory, count states as one (`forget`, `merge`), or check it with fewer processes"
        ),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn options_that_exclude_each_other_are_refused() {
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
        "`ticket-k`: symmetry cannot be combined with store buffers; check it without symmetry",
    );
}

#[test]
fn counterexamples_are_lists_in_pipes_and_lanes_on_demand() {
    let check = |arguments: &[&str]| text(&doorway(&[&["check"], arguments].concat()).stdout).to_string();
    let list = check(&["lock-one"]);
    assert!(list.contains("\n   1  p0  7  flag[0] := true\n"), "{list}");
    assert_eq!(check(&["lock-one", "--lanes", "auto"]), list);
    assert_eq!(check(&["lock-one", "--lanes", "never"]), list);
    let lanes = "\
deadlock-freedom FAILS in 2 steps, and stays so
       │ p0                 │ p1
     1 │ 7  flag[0] := true │
     2 │                    │ 7  flag[1] := true
 ┌ then for ever
 │   3 │ 8  flag[1] = true  │
 └   4 │                    │ 8  flag[0] = true
as claimed: Herlihy & Shavit, Fig. 2.4
";
    let (_, shown) = list.split_once('\n').unwrap();
    let always = check(&["lock-one", "--lanes", "always"]);
    assert_eq!(always.split_once('\n').unwrap(), (list.split_once('\n').unwrap().0, lanes), "{shown}");
    // A thick edge from the entry of a holder on, and a word.
    let two_holders = check(&["fast-path", "--property", "exclusion", "--lanes", "always"]);
    for line in [
        "     9 ┃ 10  flag[1] = false  -> inside │\n",
        "    10 ┃                                │ 8  y := 1\n",
        "    11 ┃                                ┃ 9  x = 1   -> inside\n",
    ] {
        assert!(two_holders.contains(line), "{line} is not in\n{two_holders}");
    }
}
