//! `doorway bench`.
use crate::{doorway, json, refused, text};

#[test]
fn a_wrong_bench_is_refused() {
    refused(
        &["bench", "--only", "ours,futex"],
        "no lock is called `futex`; try `ours`, `std`, `peers`, `catalogue` or a name of `doorway bench --list`",
    );
    refused(
        &["bench", "--seconds", "soon"],
        "invalid value 'soon' for '--seconds <S>': expected a number of seconds, such as 120 or 0.5; see `doorway bench --help`",
    );
    refused(
        &["bench", "--seconds", "0"],
        "invalid value '0' for '--seconds <S>': expected a number of seconds, such as 120 or 0.5; see `doorway bench --help`",
    );
    refused(
        &["bench", "--plot", "/nowhere/bench.svg"],
        "cannot write `/nowhere/bench.svg`: No such file or directory (os error 2); give another path",
    );
    if cfg!(not(feature = "peers")) {
        refused(
            &["bench", "--only", "peers"],
            "`peers` are not part of this build; `cargo run --release --features peers -- bench` has them",
        );
    }
}

#[test]
fn a_wrong_matrix_is_refused() {
    refused(
        &["bench", "--matrix", "--threads", "5"],
        "no cell matches; `--threads` is 2, 4, 8, 16, 32 or 64, or with a long critical section 3, 9 or 33, and `-k` is 1, \
         or 4 if that is less",
    );
    refused(
        &["bench", "--matrix", "--plot", "/nowhere/matrix.svg"],
        "cannot write `/nowhere/matrix.svg`: No such file or directory (os error 2); give another path",
    );
}

/// Short, and nothing is said about times: only that everything is there.
#[test]
fn a_matrix_prints_maps_json_and_a_picture() {
    let file = std::env::temp_dir().join(format!("doorway-matrix-{}.svg", std::process::id()));
    let only = ["bench", "--matrix", "--threads", "9", "--seconds", "1", "--only", "ours,std"];
    let output = doorway(&[&only[..], &["--plot", file.to_str().unwrap()]].concat());
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let maps = text(&output.stdout);
    for part in ["k = 1, one thread with 100 us in it\n", "entries, x std", "share of the long one"] {
        assert!(maps.contains(part), "{part:?} is not in\n{maps}");
    }
    let svg = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("k = 4, one thread with 100 us in it: entries, x std"));

    let matrix = json(&[&only[..], &["--json"]].concat());
    let cells = matrix["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 12, "k = 1 and 4, two critical sections, three remainders");
    for cell in cells {
        assert_eq!((&cell["threads"], &cell["long_us"], &cell["excludes"]), (&9.into(), &100.into(), &true.into()));
        assert_eq!(cell["locks"].as_array().unwrap().len(), 2, "{cell}");
        for field in ["over_std", "over_fifo", "longest_wait_over_std", "cpu_over_std", "long_share"] {
            assert!(cell.get(field).is_some(), "{field} is not in {cell}");
        }
    }
}

/// Tasks need tokio's runtime, which only a build with other crates' locks has.
#[test]
#[cfg(not(feature = "peers"))]
fn tasks_are_refused_without_a_runtime() {
    refused(
        &["bench", "--tasks"],
        "tokio's runtime is not part of this build; `cargo run --release --features peers -- bench --tasks` has it",
    );
}

#[test]
fn the_locks_that_can_be_measured_are_listed() {
    let output = doorway(&["bench", "--list"]);
    assert_eq!(output.status.code(), Some(0));
    let names: Vec<&str> = text(&output.stdout).lines().filter_map(|line| line.split(' ').next()).collect();
    for name in ["doorway-mutex", "doorway-semaphore", "std-mutex", "std-condvar", "bakery", "ticket-k"] {
        assert!(names.contains(&name), "`{name}` is not in the list");
    }
    for broken in ["lock-one", "afek-no-e", "anderson-moir-dsm-late", "dolev-gafni-shavit-single", "peterson-polite"] {
        assert!(!names.contains(&broken), "`{broken}` is broken");
    }
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
    for part in [
        "uncontended, k = 1\n",
        "8 threads, k = 1, 50 ns in the critical section, 200 ns in the remainder\n",
        "\n* doorway-mutex ",
        "\n  bakery ",
    ] {
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
            ["k", "threads", "ns_uncontended", "ops_per_s", "overtaken_p999", "wait_p999_ns", "cpu_us_per_op", "jain"]
        {
            assert!(row.get(field).is_some(), "{field} is not in {row}");
        }
        assert_eq!(row["excludes"], true);
    }
}
