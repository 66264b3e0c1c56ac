//! `doorway list` and `doorway survey`.
use crate::{doorway, json, text};

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
    let broken = lines.iter().filter(|line| line.contains(" broken ")).count();
    assert_eq!(lines.len() - broken, doorway_algorithms::registry::all().len(), "a broken one has two lines");
    assert!(broken > 20 && lines.iter().all(|line| line.chars().count() <= 100));
    assert!(lines.contains(&"    it deadlocks if both processes compete"));
    let details = doorway(&["list", "lock-one"]);
    assert!(text(&details.stdout).contains("  status: broken: it deadlocks if both processes compete\n"));
}
