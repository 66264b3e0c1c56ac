//! `doorway rmr` and `doorway cover`.
use serde_json::Value;

use crate::{doorway, json, refused, text};

#[test]
fn the_covering_argument_refutes_too_few_registers() {
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
    let step = &made["trace"][4];
    assert_eq!((&step["process"], &step["line"], &step["access"]), (&0.into(), &"2".into(), &"x := 0".into()));

    let answer = json(&["cover", "k-bakery", "-n", "2", "--json"]);
    assert_eq!((&answer["outcome"], &answer["covering_states"]), (&"escapes".into(), &30.into()));
    assert_eq!(answer["construction"]["uncovered"], serde_json::json!(["Ticket[1]", "Want[1][0]"]));
}

#[test]
fn the_covering_argument_is_about_locks_of_reads_and_writes() {
    let only = "the covering argument is about locks that only read and write; try `bakery`";
    refused(&["cover", "mcs"], &format!("`mcs` uses swap, and {only}"));
    refused(&["cover", "ticket-k"], &format!("`ticket-k` uses fetch-and-add, and {only}"));
    refused(&["cover", "bouncer"], "`bouncer` is a part and has no critical section; try a lock, such as `bakery`");
    refused(
        &["cover", "peterson", "-n", "3"],
        "`peterson` is for 2 processes, not 3; for more try `filter` or `bakery`",
    );
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
        "peterson n=2, cc: exactly 6 remote memory references in the worst passage, 102 states\n"
    );
    refused(&["rmr", "bouncer"], "`bouncer` is a part and has no passages; try a lock, such as `bakery`");
}

#[test]
fn growth_is_reported_in_the_variable_that_grows() {
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
fn a_simulation_depends_on_its_seed_only() {
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
fn series_that_cannot_be_measured_are_refused() {
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
        "k is less than n, and 64 is not less than 64; take more processes",
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
        "cannot write `/nonexistent/curve.svg`: No such file or directory (os error 2); give another path",
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
