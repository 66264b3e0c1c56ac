//! The locks of the catalogue on etcd: registers are keys, and passages of all processes take place there.
use std::{
    process::{Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use doorway::cluster::testing::Cluster;
use serde_json::Value;

use crate::{Site, text};

/// The locks of the catalogue.
fn locks() -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_doorway")).args(["list", "--json"]).output().unwrap();
    let all: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    all.into_iter().filter(|about| about["kind"] != "part").collect()
}

/// Runs `doorway rmr --on`, and ends it if it hangs. The exact bound is not of interest here, so few states are searched.
fn passages(site: &Site, name: &str, size: &[&str]) -> Output {
    let on = site.cluster.address().to_string();
    let mut words = vec!["rmr", name, "--json", "--max-states", "100", "--on", &on];
    words.extend(size);
    let mut child = site.doorway(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            panic!("{name} {size:?} hangs");
        }
        sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// Every lock makes passages, or says why it does not. Returns the numbers of both.
fn all_run(site: &Site, size: impl Fn(&Value) -> Vec<&'static str>) -> (usize, usize) {
    let (mut run, mut refused) = (0, 0);
    for about in locks() {
        let name = about["name"].as_str().unwrap();
        let output = passages(site, name, &size(&about));
        let complaint = text(&output.stderr);
        if output.stdout.is_empty() {
            let why = format!(
                "doorway: `{name}` may deadlock, so that its passages on etcd may never end; leave out `--on`\n"
            );
            assert_eq!((output.status.code(), complaint), (Some(2), &*why));
            assert_eq!(about["status"], "broken", "{name}");
            refused += 1;
            continue;
        }
        let counted: Value = serde_json::from_slice(&output.stdout).unwrap();
        let trips = &counted["round_trips"];
        assert!(trips["uncontended"].as_u64() >= Some(2), "{name}: {trips} {complaint}");
        assert!(trips["worst"].as_f64() >= trips["mean"].as_f64(), "{name}: {trips}");
        run += 1;
    }
    assert_eq!(site.cluster.etcdctl(&["get", "--prefix", "doorway-rmr/"]), "", "no key is left behind");
    (run, refused)
}

#[test]
fn every_lock_of_the_catalogue_runs_on_etcd() {
    let site = Site::with(Cluster::of(1));
    let of_two = |about: &Value| if about["kind"] == "mutex" { vec!["-n", "2"] } else { vec!["-n", "2", "-k", "1"] };
    let (run, refused) = all_run(&site, of_two);
    println!("{run} locks run, {refused} may deadlock");
    assert!(run >= 55, "{run} run, {refused} are refused");
}

#[test]
#[ignore = "20 seconds"]
fn every_lock_of_the_catalogue_runs_on_three_servers_with_more_processes() {
    let site = Site::new();
    let of_three = |about: &Value| match about["kind"].as_str() {
        Some("mutex") => vec![],
        _ => vec!["-n", "3", "-k", "2"],
    };
    let (run, refused) = all_run(&site, of_three);
    println!("{run} locks run, {refused} may deadlock");
}
