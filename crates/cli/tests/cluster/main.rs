//! Tests of `doorway run --on etcd://...` on a real cluster: processes that are killed, stopped and cut off.
mod catalogue;
mod leader;
mod partitions;
mod servers;
mod soak;
mod tls;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread::sleep,
    time::{Duration, Instant},
};

use doorway::cluster::testing::Cluster;
use serde_json::Value;

/// A cluster, and a directory for what commands write.
struct Site {
    cluster: Cluster,
    directory: PathBuf,
}

impl Site {
    fn new() -> Site {
        Site::with(Cluster::start())
    }

    fn with(cluster: Cluster) -> Site {
        static SITES: AtomicUsize = AtomicUsize::new(0);
        let site = SITES.fetch_add(1, SeqCst);
        let directory = env::temp_dir().join(format!("doorway-cluster-{}-{site}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        Site { cluster, directory }
    }

    fn doorway(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_doorway"));
        command.args(words).env("DOORWAY_ON", self.cluster.address().to_string()).stdin(Stdio::null());
        command
    }

    fn output(&self, words: &[&str]) -> Output {
        self.doorway(words).output().unwrap()
    }

    fn start(&self, words: &[&str]) -> Child {
        self.doorway(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn status(&self, name: &str) -> Value {
        let output = self.output(&["status", "--json", name]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

/// The lines that are about the call, without the warning about the server's version.
fn complaints(output: &Output) -> String {
    let is_warning = |line: &&str| line.contains("can end leases that are renewed");
    text(&output.stderr).lines().filter(|line| !is_warning(line)).map(|line| format!("{line}\n")).collect()
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        sleep(Duration::from_millis(10));
    }
}

/// A command that writes the time into a file again and again.
fn heartbeat(path: &Path) -> String {
    format!("while :; do date +%s%N >> {}; sleep 0.01; done", path.display())
}

/// The times in such a file, in seconds.
fn beats(path: &Path) -> Vec<f64> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| line.parse::<f64>().ok()).map(|nanoseconds| nanoseconds / 1e9).collect()
}

#[test]
fn a_command_runs_with_index_and_token_and_its_exit_code_is_passed_on() {
    let site = Site::new();
    let line = "echo $DOORWAY_NAME $DOORWAY_INDEX $DOORWAY_K; test $DOORWAY_TOKEN -gt 0; exit $((3 + $?))";
    let output = site.output(&["run", "-k", "2", "gpu", "-c", line]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(3), "gpu 0 2\n"), "{}", text(&output.stderr));
    assert_eq!(site.output(&["run", "gpu", "sh", "-c", "kill -TERM $$"]).status.code(), Some(143));
    assert_eq!(site.output(&["run", "gpu", "no-such-command"]).status.code(), Some(127));
    let forgotten = site.output(&["forget", "gpu"]);
    assert!(forgotten.status.success(), "{}", text(&forgotten.stderr));
    let missing = site.output(&["status", "gpu"]);
    assert_eq!(
        (missing.status.code(), text(&missing.stderr)),
        (Some(2), "doorway: there is no semaphore `gpu` on etcd\n")
    );
}

#[test]
fn holders_and_waiters_are_shown_with_their_machines() {
    let site = Site::new();
    let mut holder = site.start(&["run", "lock", "sleep", "100"]);
    eventually("it holds", || {
        site.output(&["status", "lock"]).status.success() && site.status("lock")["holders"][0].is_object()
    });
    let mut waiter = site.start(&["run", "lock", "true"]);
    eventually("it waits", || site.status("lock")["waiters"][0].is_object());
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_string();
    let status = site.status("lock");
    assert_eq!((&status["holders"][0]["host"], &status["holders"][0]["index"]), (&host.as_str().into(), &0.into()));
    assert_eq!(status["holders"][0]["command"], "sleep 100");
    let shown = text(&site.output(&["status", "lock"]).stdout).to_string();
    assert!(
        shown.starts_with("lock: 1 of 1 holders, 1 waiting\n") && shown.contains(&format!("{host}:{}", holder.id())),
        "{shown}"
    );

    let refused = site.output(&["run", "-n", "lock", "true"]);
    assert_eq!(refused.status.code(), Some(75));
    let complaint = complaints(&refused);
    assert!(complaint.starts_with(&format!("doorway: no permit of `lock` was free: held by {host}:")), "{complaint}");
    assert_eq!(site.output(&["run", "-w", "0.2", "lock", "true"]).status.code(), Some(75));
    assert_eq!(site.output(&["forget", "lock"]).status.code(), Some(2));

    // SIGTERM is forwarded, and the next one enters.
    assert!(Command::new("kill").arg(holder.id().to_string()).status().unwrap().success());
    assert_eq!(holder.wait().unwrap().code(), Some(143));
    assert!(waiter.wait().unwrap().success());
}

#[test]
fn a_name_that_an_ancestor_holds_passes_through() {
    let site = Site::new();
    let program = env!("CARGO_BIN_EXE_doorway");
    let output = site.output(&["run", "lock", "sh", "-c", &format!("{program} run -q lock echo inner; :")]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "inner\n"), "{}", text(&output.stderr));
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let site = Site::new();
    assert!(site.output(&["run", "-k", "2", "gpu", "true"]).status.success());
    let refused = |words: &[&str]| {
        let output = site.output(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        complaints(&output)
    };
    assert_eq!(
        refused(&["run", "-k", "3", "gpu", "true"]),
        "doorway: `gpu` has capacity 2, not 3; ask for 2, or forget it while no process uses it\n"
    );
    assert_eq!(
        refused(&["run", "-F", "gpu", "true"]),
        "doorway: on etcd a process of doorway renews the lease; leave out `-F`\n"
    );
    assert!(refused(&["run", "a/b", "true"]).contains("`a/b` cannot be a name on etcd"));
    assert!(refused(&["resize", "gpu", "3"]).contains("cannot be changed while it is in use"));
    let unreachable = refused(&["run", "--on", "etcd://127.0.0.1:1", "gpu", "true"]);
    assert!(unreachable.starts_with("doorway: no server of `etcd://127.0.0.1:1` answers: "), "{unreachable}");
    assert!(refused(&["run", "--on", "127.0.0.1", "gpu", "true"]).contains("write `etcd://host:2379,host:2379`"));
}

#[test]
fn after_a_killed_wrapper_its_command_ends_and_the_next_enters_when_the_lease_ends() {
    let site = Site::new();
    let (first, second) = (site.path("first"), site.path("second"));
    let mut holder = site.start(&["run", "--ttl", "2", "lock", "sh", "-c", &heartbeat(&first)]);
    eventually("it runs", || !beats(&first).is_empty());
    let mut waiter =
        site.start(&["run", "--ttl", "2", "lock", "sh", "-c", &format!("date +%s%N > {}", second.display())]);
    eventually("it waits", || site.status("lock")["waiters"][0].is_object());
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(waiter.wait().unwrap().success());
    let (last, entered) = (*beats(&first).last().unwrap(), beats(&second)[0]);
    assert!(last < entered, "the command of the killed wrapper ran until {last}, the next entered at {entered}");
}

/// No server answers for a while: the command is ended, and says so by its exit code.
#[test]
fn a_command_ends_before_its_lease_does() {
    let site = Site::new();
    let path = site.path("beats");
    let mut holder = site.start(&["run", "--ttl", "2", "lock", "sh", "-c", &heartbeat(&path)]);
    eventually("it runs", || !beats(&path).is_empty());
    let signal = |signal: &str| {
        for server in 0..3 {
            let pid = site.cluster.pid(server).to_string();
            assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        }
    };
    signal("-STOP");
    let ended = holder.wait().unwrap();
    signal("-CONT");
    assert_eq!(ended.code(), Some(76));
    let count = beats(&path).len();
    sleep(Duration::from_millis(100));
    assert_eq!(beats(&path).len(), count, "the command has ended with it");
    site.cluster.wait_until_it_answers();
    assert!(site.output(&["run", "--ttl", "2", "lock", "true"]).status.success());
}

#[test]
fn round_trips_are_counted_beside_the_exact_bound() {
    let site = Site::new();
    let on = site.cluster.address().to_string();
    let output = site.output(&["rmr", "fischer-queue", "-n", "3", "-k", "2", "--on", &on, "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let counted: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&counted["model"], &counted["round_trips"]["uncontended"]), (&"dsm".into(), &2.into()));
    let output = site.output(&["rmr", "peterson", "--on", &on]);
    let shown = text(&output.stdout);
    assert!(shown.starts_with("peterson n=2, on etcd: 4 round trips in a passage alone; "), "{shown}");
    assert!(shown.contains("\npeterson n=2, dsm: remote memory references are unbounded"), "{shown}");
    assert_eq!(site.cluster.etcdctl(&["get", "--prefix", "doorway-rmr/"]), "", "no key is left behind");
}

/// The first server of the address does not answer, or nobody leads for a moment.
#[test]
fn any_server_that_answers_is_enough() {
    let mut site = Site::new();
    site.cluster.kill_server(0);
    let output = site.output(&["run", "-q", "gpu", "true"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let leader = site.cluster.leader_without(0);
    site.cluster.start_server(0);
    site.cluster.kill_server(leader);
    let output = site.output(&["run", "-q", "gpu", "true"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

/// A wrong password, a user that may only read, and a full database.
#[test]
fn a_cluster_that_refuses_is_told_with_the_way_out() {
    let site = Site::with(Cluster::of(1));
    for words in [
        &["user", "add", "root:secret"][..],
        &["role", "add", "root"],
        &["user", "grant-role", "root", "root"],
        &["role", "add", "reader"],
        &["role", "grant-permission", "reader", "--prefix=true", "read", "doorway/"],
        &["user", "add", "reader:weak"],
        &["user", "grant-role", "reader", "reader"],
        &["auth", "enable"],
    ] {
        site.cluster.etcdctl(words);
    }
    let refused = |user: &str| {
        let output = site.doorway(&["run", "gpu", "true"]).env("ETCDCTL_USER", user).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{user}");
        complaints(&output)
    };
    assert!(refused("root").contains("ETCDCTL_USER has no password"));
    for user in ["root:wrong", "reader:weak"] {
        let complaint = refused(user);
        assert!(complaint.starts_with("doorway: etcd refuses the request: "), "{user}: {complaint}");
        assert!(complaint.ends_with("set ETCDCTL_USER=name:password of a user that may read and write `doorway/`\n"));
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    }
    let output = site.doorway(&["run", "gpu", "true"]).env("ETCDCTL_USER", "root:secret").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_full_database_is_told_and_nothing_is_lost() {
    let site = Site::with(Cluster::with(&["--quota-backend-bytes", "200000"]));
    assert!(site.output(&["run", "gpu", "true"]).status.success());
    let large = "x".repeat(10_000);
    while site.cluster.try_etcdctl(&["put", "large", &large]).is_ok() {}
    let output = site.output(&["run", "gpu", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaints(&output).starts_with("doorway: etcd's database is full; "), "{}", complaints(&output));
    assert_eq!(site.status("gpu")["k"], 1);
}
