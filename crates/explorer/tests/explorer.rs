//! The data of the page against the checker, and the server against requests that it must refuse.
use std::{
    collections::HashSet,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    thread,
};

use doorway_algorithms::{About, registry};
use doorway_catalogue::{Surveyor, check, find, subject};
use doorway_checker::{Choice, Stepper};
use doorway_explorer::{Report, Scenario, execution, found, graph, serve};
use serde_json::Value;

/// The largest graph that the tests of every run walk; the long ones walk all that a report contains.
const SMALL: usize = 1_200;
const LARGEST: usize = 20_000;

/// Walks every edge of a graph beside the checker; returns the number of states that the checker tells apart.
fn walk(scenario: &Scenario, graph: &Value) -> usize {
    let subject = subject(scenario.about, scenario.size);
    let name = scenario.about.name;
    let states = graph["states"].as_array().unwrap();
    let mut left = vec![(0, Stepper::new(&subject, &scenario.model()).unwrap())];
    let mut known = HashSet::from([0]);
    let mut told_apart = HashSet::new();
    while let Some((at, stepper)) = left.pop() {
        told_apart.insert(stepper.state_fingerprint());
        let choices = stepper.choices().unwrap();
        let texts: Vec<String> = choices.iter().map(Choice::to_string).collect();
        let shown: Vec<&str> =
            states[at]["choices"].as_array().unwrap().iter().map(|choice| choice["choice"].as_str().unwrap()).collect();
        assert_eq!(texts, shown, "{name}, state {at}");
        let edges = graph["next"][at].as_array().unwrap();
        assert_eq!(edges.len(), choices.len(), "{name}, state {at}");
        for (choice, edge) in choices.into_iter().zip(edges) {
            let (step, target) =
                (&graph["steps"][edge[0].as_u64().unwrap() as usize], edge[1].as_u64().unwrap() as usize);
            let mut next = stepper.clone();
            let taken = next.take(choice).unwrap();
            assert_eq!(
                (&step["access"], &step["line"]),
                (&taken.access.into(), &taken.line.into()),
                "{name}, state {at}"
            );
            assert_eq!(step["to"], taken.sections[1].to_string(), "{name}, state {at}");
            let reached = &states[target];
            assert_eq!(reached["registers"], Value::from(next.state().unwrap().values), "{name}, state {at}");
            let violated: Vec<&str> = next.violated_by_step().iter().map(|violated| violated.property.name()).collect();
            let breaks = step["breaks"].as_array().into_iter().flatten();
            let breaks: Vec<&str> = breaks.map(|it| it["property"].as_str().unwrap()).collect();
            assert_eq!(breaks, violated, "{name}, state {at}");
            if known.insert(target) {
                left.push((target, next));
            }
        }
    }
    assert_eq!(known.len(), states.len(), "{name}: every state is reached");
    told_apart.len()
}

/// Walks the graphs of these algorithms that have at most `most` states; returns how many there are.
fn walk_all(algorithms: impl Iterator<Item = &'static About>, most: usize) -> usize {
    let mut walked = 0;
    for about in algorithms.filter(|about| !about.sequential) {
        let all = Scenario::surveyed(about);
        let mut once = all;
        once.passages = Some(1);
        // As a report has them: one graph at most.
        let found = [all, once].into_iter().find_map(|scenario| Some((scenario, graph(&scenario, most).unwrap()?)));
        if let Some((scenario, graph)) = found {
            let states = walk(&scenario, &graph);
            // With a cap, which none of these reaches, the search tells tickets apart by their numbers, as the graph does.
            let report = check(about, scenario.size, &scenario.model().ticket_cap(100)).unwrap();
            assert_eq!(states as u64, report.states, "{}", about.name);
            walked += 1;
        }
    }
    walked
}

#[test]
fn small_graphs_are_those_of_the_checker() {
    let walked = walk_all(registry::all().iter().copied(), SMALL);
    assert!(walked >= 20, "{walked}");
}

#[test]
#[ignore = "2 minutes"]
fn every_graph_of_a_report_is_that_of_the_checker() {
    let walked = walk_all(registry::all().iter().copied(), LARGEST);
    assert!(walked >= 40, "{walked}");
}

/// Every counterexample that is shown is an execution that the stepper takes, and ends as it says.
#[test]
fn every_counterexample_shown_can_be_followed() {
    let mut followed = 0;
    for about in registry::all() {
        let scenario = Scenario::surveyed(about);
        let found = found(&scenario, 20_000, |model| model).unwrap();
        for property in found["properties"].as_array().unwrap() {
            let shown = &property["execution"];
            let (Some(choices), true) = (shown["choices"].as_str(), property["verdict"] == "fails") else { continue };
            let name = format!("{}: {}", about.name, property["property"]);
            let whole = execution(&scenario, choices).unwrap();
            assert!(whole["refused"].is_null(), "{name}: {}", whole["refused"]);
            let steps = whole["steps"].as_array().unwrap();
            assert_eq!(steps.len(), choices.split('.').count(), "{name}");
            let text = shown["text"].as_str().unwrap();
            assert!(steps.iter().all(|step| text.contains(step["access"].as_str().unwrap())), "{name}");
            let last = whole["states"].as_array().unwrap().last().unwrap();
            let broken: Vec<&Value> = last["broken"].as_array().unwrap().iter().map(|it| &it["property"]).collect();
            let is_of_a_prefix = ["exclusion", "fcfs", "k-fcfs", "assignment", "rule"];
            if is_of_a_prefix.contains(&property["property"].as_str().unwrap()) {
                assert!(broken.contains(&&property["property"]), "{name}: {broken:?}");
            }
            followed += 1;
        }
    }
    assert!(followed > 100, "{followed}");
}

#[test]
fn an_execution_is_followed_as_far_as_it_goes() {
    let scenario = Scenario::parse([("algorithm", "fast-path")]).unwrap();
    for (choices, at, why) in [
        ("0.9", 1, "`9` cannot happen in this state; possible: 0, 1"),
        ("0.0.x", 2, "`x` is no choice; one is a process, as in `0`, or `0=1`, `b0`, `d0`, `a0`, `e0`, `c0`"),
    ] {
        let value = execution(&scenario, choices).unwrap();
        assert_eq!((value["refused"]["at"].as_u64(), value["refused"]["why"].as_str()), (Some(at), Some(why)));
        assert_eq!(value["states"].as_array().unwrap().len() as u64, at + 1);
    }
}

#[test]
fn wrong_options_are_refused_with_the_way_out() {
    let refused = |options: &[(&str, &str)]| Scenario::parse(options.iter().copied()).unwrap_err();
    assert_eq!(refused(&[("n", "2")]), "an algorithm is missing; name one with `algorithm=`");
    assert_eq!(refused(&[("algorithm", "petersen")]), "no algorithm is called `petersen`; did you mean `peterson`?");
    assert!(refused(&[("algorithm", "peterson"), ("n", "3")]).contains("2 processes"));
    assert_eq!(
        refused(&[("algorithm", "peterson"), ("deaths", "true")]),
        "`peterson` has no recovery (`reap`); leave out deaths"
    );
    assert!(refused(&[("algorithm", "peterson"), ("color", "red")]).starts_with("there is no option `color`"));
    assert_eq!(refused(&[("algorithm", "peterson"), ("tso", "maybe")]), "`tso` is `true` or `false`, not `maybe`");
}

/// Sends a request to the server; returns what it answers.
fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_server_answers_its_own_page_only() {
    let server = serve(0).unwrap();
    let address = server.address();
    thread::spawn(move || server.run());
    let get = |host: &str, path: &str| {
        ask(address, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    };
    let own = address.to_string();
    let page = get(&own, "/");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("script-src 'self'"), "{page}");
    assert!(!page.contains("unsafe"), "{page}");
    assert!(get(&format!("localhost:{}", address.port()), "/page.js").starts_with("HTTP/1.1 200"));
    for other in ["example.org", "127.0.0.1", "127.0.0.1:1", ""] {
        let refused = get(other, "/api/report");
        assert!(refused.starts_with("HTTP/1.1 421") || refused.starts_with("HTTP/1.1 400"), "{other}: {refused}");
        assert!(!refused.contains("algorithms"), "{other}");
    }
    for method in ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"] {
        let refused = ask(
            address,
            &format!("{method} /api/report HTTP/1.1\r\nHost: {own}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        );
        assert!(refused.starts_with("HTTP/1.1 405"), "{method}: {refused}");
    }
    let answer = get(&own, "/api/execution?algorithm=peterson&choices=0.1");
    assert!(answer.contains("flag[1] := true"), "{answer}");
    let refused = get(&own, "/api/execution?algorithm=peterson&n=3");
    assert!(refused.starts_with("HTTP/1.1 400") && refused.contains("\"error\""), "{refused}");
    assert!(get(&own, "/nothing").starts_with("HTTP/1.1 404"));
}

/// The server answers single steps while a check runs, and the check ends.
#[test]
fn a_large_check_does_not_block_the_server() {
    let server = serve(0).unwrap();
    let address = server.address();
    thread::spawn(move || server.run());
    let get =
        |path: &str| ask(address, &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"));
    let path = "/api/found?algorithm=filter&n=5&limit=300000";
    let large = thread::spawn(move || {
        ask(address, &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"))
    });
    assert!(get("/api/execution?algorithm=peterson").starts_with("HTTP/1.1 200"));
    let answer = large.join().unwrap();
    assert!(answer.contains("\"complete\":false") && answer.contains("stopped at"), "{}", &answer[..400]);
}

#[test]
fn a_report_is_one_file_that_loads_nothing() {
    let mut report = Report::default();
    for name in ["fast-path", "peterson", "ticket"] {
        report.add(Surveyor::default().row(find(name).unwrap()).unwrap()).unwrap();
    }
    let html = report.html();
    assert!(html.contains("id=\"graph-fast-path\"") && html.contains("id=\"graph-peterson\""));
    // With tickets there are infinitely many states: the graph is that of one passage, and what was found comes with its
    // executions.
    let data = report.as_json();
    assert_eq!(data["algorithms"][2]["graph_model"]["passages"], 1);
    let with_execution = |it: &Value| it["execution"]["full"]["states"].is_array() || it["execution"].is_null();
    assert!(data["algorithms"][2]["found"]["properties"].as_array().unwrap().iter().all(with_execution));
    for loads in ["src=", "url(http", "import(", "@import"] {
        assert!(!html.replace("src={", "").contains(loads), "{loads}");
    }
    assert!(html.contains("script-src 'sha256-") && !html.contains("unsafe-inline"));
    assert_eq!(data["puzzles"][0]["shortest"], 11);
}
