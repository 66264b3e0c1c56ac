//! `doorway explore`, `doorway report` and pictures, as commands; the page itself is tested in a browser.
use std::{env, fs, net::TcpListener, process};

use crate::{doorway, refused};

#[test]
fn a_counterexample_is_drawn() {
    let path = env::temp_dir().join(format!("doorway-{}.svg", process::id()));
    let file = path.to_str().unwrap();
    assert_eq!(doorway(&["check", "fast-path", "--property", "exclusion", "--svg", file]).status.code(), Some(1));
    let svg = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    // A lane for each of two processes, a circle for each of 11 steps, and one read saw what the other process wrote.
    let count = |part: &str| svg.matches(part).count();
    assert_eq!((count("class=\"lane\""), count("<circle"), count("class=\"saw\"")), (2, 11, 1));
    assert_eq!(count("→ inside"), 2);

    let holds = doorway(&["check", "peterson", "--svg", file]);
    assert_eq!(holds.status.code(), Some(0));
    let said = String::from_utf8(holds.stderr).unwrap();
    assert_eq!(said, format!("doorway: nothing fails, so `{file}` is not written\n"));
    assert!(!path.exists());
}

#[test]
fn a_report_is_written_and_wrong_calls_are_refused() {
    let path = env::temp_dir().join(format!("doorway-{}.html", process::id()));
    let file = path.to_str().unwrap();
    let written = doorway(&["report", file, "lock-one"]);
    assert_eq!(written.status.code(), Some(0));
    assert!(String::from_utf8(written.stdout).unwrap().starts_with(&format!("{file}: 1 algorithm, ")));
    let html = fs::read_to_string(&path).unwrap();
    assert!(html.contains("id=\"graph-lock-one\"") && html.trim_end().ends_with("</html>"));
    let bench = doorway(&["report", file, "lock-one", "--bench", file]);
    assert_eq!(bench.status.code(), Some(2));
    assert!(String::from_utf8(bench.stderr).unwrap().contains("is not what `doorway bench --json` prints"));
    fs::remove_file(&path).unwrap();

    refused(&["report", file, "lock-on"], "no algorithm is called `lock-on`; did you mean `lock-one`?");
    let missing = "/no/such/folder/report.html";
    let unwritable = format!("cannot write `{missing}`: No such file or directory (os error 2); give another path");
    refused(&["report", missing, "lock-one"], &unwritable);
}

#[test]
fn a_port_in_use_is_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let message = format!("port {port} is in use; give another `--port`, or leave it out");
    refused(&["explore", "--port", &port], &message);
    refused(&["explore", "lock-on"], "no algorithm is called `lock-on`; did you mean `lock-one`?");
}
