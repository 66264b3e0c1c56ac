//! `doorway list` and `doorway survey`.
use crate::{doorway, json, refused, text};

#[test]
fn the_list_has_every_algorithm_with_its_claims() {
    let list = json(&["list", "--json"]);
    let list = list.as_array().expect("it is an array");
    assert_eq!(list.len(), doorway_algorithms::registry::all().len());
    for field in
        ["name", "title", "source", "kind", "primitives", "local_spin", "status", "why_broken", "claims", "tolerates"]
    {
        assert!(list.iter().all(|about| about.get(field).is_some()), "no `{field}`");
    }
    let bakery = list.iter().find(|about| about["name"] == "bakery").expect("it is there");
    let fcfs = serde_json::json!({ "property": "fcfs", "claimed": "holds", "conditions": [] });
    assert!(bakery["claims"].as_array().unwrap().contains(&fcfs));
    assert_eq!((&bakery["status"], &bakery["why_broken"]), (&"correct".into(), &serde_json::Value::Null));
    let reaped = json(&["list", "bakery-reaped", "--json"]);
    assert_eq!((&reaped["status"], &reaped["claims"][2]["conditions"][0]), (&"broken".into(), &"deaths".into()));
}

#[test]
fn the_list_names_the_status_of_every_algorithm_in_100_columns() {
    let output = doorway(&["list"]);
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    let marked = |mark: &str| lines.iter().filter(|line| line.starts_with(mark)).count();
    let all = doorway_algorithms::registry::all();
    let broken = all.iter().filter(|about| about.status() != doorway_algorithms::Status::Correct).count();
    assert_eq!((marked("✓ "), marked("✗ ")), (all.len() - broken, broken));
    assert!(broken > 20 && lines.iter().all(|line| line.chars().count() <= 100));
    for about in all {
        let mark = if about.status() == doorway_algorithms::Status::Correct { '✓' } else { '✗' };
        let name = format!("{mark} {} ", about.name);
        assert_eq!(lines.iter().filter(|line| line.starts_with(&name)).count(), 1, "{name}");
    }
    let why = lines.iter().position(|line| line.starts_with("✗ lock-one ")).expect("it is there") + 1;
    assert_eq!(lines[why].trim(), "it deadlocks if both processes compete");
    let details = doorway(&["list", "lock-one"]);
    assert!(text(&details.stdout).contains("  status: broken: it deadlocks if both processes compete\n"));
}

#[test]
fn the_details_of_every_algorithm_fit_100_columns() {
    for name in ["log-k", "afek", "danek-golab-adaptive", "k-bakery-fife-reset"] {
        let details = doorway(&["list", name]);
        assert!(text(&details.stdout).lines().all(|line| line.chars().count() <= 100), "{name}");
    }
}

#[test]
fn a_survey_of_some_algorithms_has_the_details_of_each() {
    let output = doorway(&["survey", "peterson", "bouncer", "flaky"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let printed = text(&output.stdout);
    for part in [
        "peterson: Peterson's lock\n  source                    Herlihy & Shavit, Fig. 2.6\n",
        "\n  exclusion                 holds             ✓ holds\n",
        "\n  bypass                    1 in all          0, 1 in all\n",
        "\n  RMRs, dsm                 ∞                 ∞\n",
        "\n    without fences          -                 ✗ no exclusion\n",
        "\n\nbouncer: the bouncer\n",
        "\n  status                    broken: `busy` can stay set without a holder, and then all processes",
        "\n  starvation-freedom        fails             ✗ fails, for process 0, 1, 2\n",
    ] {
        assert!(printed.contains(part), "{part:?} is not in\n{printed}");
    }
    assert!(printed.lines().all(|line| line.chars().count() <= 100), "{printed}");
    assert!(printed.contains("\n3 algorithms, ") && printed.ends_with(" s: all as claimed.\n"), "{printed}");

    let list = json(&["survey", "peterson", "bouncer", "--json"]);
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|row| row["algorithm"].as_str().unwrap()).collect();
    assert_eq!(names, ["peterson", "bouncer"]);
    assert_eq!(doorway(&["survey", "bakery", "--max-states", "50"]).status.code(), Some(2));
}

#[test]
fn a_survey_of_an_unknown_or_too_large_algorithm_is_refused() {
    refused(&["survey", "petersen"], "no algorithm is called `petersen`; did you mean `peterson`?");
    refused(
        &["survey", "mcs", "danek-golab"],
        "`danek-golab` is too large for a survey; try `doorway check danek-golab --passages 1`",
    );
}
