//! `doorway run`, `status` and `forget`, with processes as users have them.
#![cfg(target_os = "linux")]

use std::{
    fs,
    io::Read,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::{CommandExt, ExitStatusExt},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// A runtime directory of its own for each test.
struct Home(PathBuf);

impl Home {
    fn new() -> Home {
        static HOMES: AtomicUsize = AtomicUsize::new(0);
        let home = HOMES.fetch_add(1, Relaxed);
        let path = std::env::temp_dir().join(format!("doorway-run-{}-{home}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Home(path)
    }

    fn doorway(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_doorway"));
        command.args(arguments).env("XDG_RUNTIME_DIR", &self.0).stdin(Stdio::null());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.doorway(arguments).output().unwrap()
    }

    fn code(&self, arguments: &[&str]) -> Option<i32> {
        self.output(arguments).status.code()
    }

    fn status(&self, name: &str) -> Value {
        let output = self.output(&["status", "--json", name]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Starts one that stays inside until it is killed, or ended by `end`.
    fn start(&self, arguments: &[&str]) -> Child {
        self.doorway(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Looks until it is so; how long that may take says only when to give up.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(30), "for 30 s it was not so that {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

fn pids(people: &Value) -> Vec<u64> {
    people.as_array().unwrap().iter().map(|person| person["pid"].as_u64().unwrap()).collect()
}

fn signal(process: &Child, signal: &str) {
    let pid = process.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

/// Children of a process, as the kernel lists them.
fn children(process: &Child) -> Vec<u32> {
    let pid = process.id();
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    listed.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn is_alive(pid: u32) -> bool {
    // A zombie has ended.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

#[test]
fn the_exit_code_is_the_commands() {
    let home = Home::new();
    assert_eq!(home.code(&["run", "gpu", "--", "true"]), Some(0));
    assert_eq!(home.code(&["run", "gpu", "--", "sh", "-c", "exit 7"]), Some(7));
    assert_eq!(home.code(&["run", "gpu", "--", "sh", "-c", "kill -9 $$"]), Some(128 + 9));
    assert_eq!(home.code(&["run", "gpu", "--", "no-such-program-anywhere"]), Some(127));
    let plain = home.path("plain");
    fs::write(&plain, "not a program").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    let output = home.output(&["run", "gpu", "--", plain.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(126));
    assert!(text(&output.stderr).starts_with("doorway: cannot run `"), "{}", text(&output.stderr));
}

#[test]
fn arguments_are_passed_as_they_are() {
    let home = Home::new();
    let output = home.output(&["run", "-k", "2", "gpu", "--", "printf", "[%s]", "a b", "$HOME", "", "*", "--", "-n"]);
    assert_eq!(text(&output.stdout), "[a b][$HOME][][*][--][-n]");
}

#[test]
fn who_finds_no_place_in_time_says_so() {
    let home = Home::new();
    let mut holder = home.start(&["run", "gpu", "--", "sleep", "1000"]);
    until("it is inside", || home.code(&["run", "-n", "gpu", "--", "true"]) == Some(75));
    assert_eq!(home.code(&["run", "-n", "-E", "9", "gpu", "--", "true"]), Some(9));
    assert_eq!(home.code(&["run", "-w", "0.01", "gpu", "--", "true"]), Some(75));
    signal(&holder, "-TERM");
    holder.wait().unwrap();
    assert_eq!(home.code(&["run", "-n", "gpu", "--", "true"]), Some(0));
    assert_eq!(home.code(&["run", "-w", "5", "gpu", "--", "true"]), Some(0));
}

#[test]
fn wrong_calls_are_refused() {
    let home = Home::new();
    assert_eq!(home.code(&["run", "-k", "2", "gpu", "--", "true"]), Some(0));
    for (arguments, says) in [
        (&["run", "-k", "3", "gpu", "--", "true"][..], "lets 2 in at a time, not 3"),
        (&["run", "gpu"], "CMD"),
        (&["run", "-k", "0", "gpu", "--", "true"], "0"),
        (&["run", "-w", "soon", "gpu", "--", "true"], "soon"),
        (&["run", ".hidden", "--", "true"], "is no name"),
        (&["run", "/no/such/directory/x", "--", "true"], "/no/such/directory/x"),
        (&["status", "nothing"], "does not exist"),
        (&["forget", "nothing"], "does not exist"),
    ] {
        let output = home.output(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(says), "{arguments:?}: {}", text(&output.stderr));
    }
    assert_eq!(home.code(&["run", "gpu", "--", "true"]), Some(0), "without -k it is as it is");
    assert_eq!(home.status("gpu")["k"], 2);
}

#[test]
fn garbage_is_not_overwritten() {
    let home = Home::new();
    let path = home.path("precious");
    fs::write(&path, "somebody's thesis").unwrap();
    let output = home.output(&["run", path.to_str().unwrap(), "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("nothing was changed"), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's thesis");
}

#[test]
fn the_queue_can_be_looked_at_and_is_served_in_order() {
    let home = Home::new();
    let log = home.path("log");
    let job = |i: usize| {
        let script =
            format!("echo {i} >> {}; while [ ! -e {}/{i} ]; do sleep 0.01; done", log.display(), home.0.display());
        home.start(&["run", "-k", "2", "gpu", "--", "sh", "-c", &script])
    };
    let mut jobs = Vec::new();
    for i in 0..6 {
        jobs.push(job(i));
        let there = || {
            home.status("gpu")["holders"].as_array().unwrap().len()
                + home.status("gpu")["waiters"].as_array().unwrap().len()
        };
        until("it is in line", || home.path("doorway").join("gpu").exists() && there() == i + 1);
    }
    let status = home.status("gpu");
    assert_eq!(pids(&status["holders"]), [u64::from(jobs[0].id()), jobs[1].id().into()]);
    let line: Vec<u64> = jobs[2..].iter().map(|job| job.id().into()).collect();
    assert_eq!(pids(&status["waiters"]), line);
    assert!(status["waiters"][0]["command"].as_str().unwrap().starts_with("sh -c 'echo 2"));
    let shown = text(&home.output(&["status", "gpu"]).stdout);
    assert!(shown.starts_with("gpu: 2 of 2 inside, 4 in line\n"), "{shown}");
    let all: Value = serde_json::from_slice(&home.output(&["status", "--json"]).stdout).unwrap();
    assert_eq!(all[0]["name"], "gpu");
    assert_eq!(home.code(&["forget", "gpu"]), Some(2), "it is in use");
    for (i, mut job) in jobs.into_iter().enumerate() {
        fs::write(home.path(&i.to_string()), "").unwrap();
        assert_eq!(job.wait().unwrap().code(), Some(0));
        let started = || fs::read_to_string(&log).unwrap().lines().count();
        until("the next one has started", || started() == (i + 3).min(6));
    }
    let order: Vec<usize> = fs::read_to_string(&log).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(order[2..], [2, 3, 4, 5]);
    assert_eq!(home.code(&["forget", "gpu"]), Some(0));
    assert!(!home.path("doorway").join("gpu").exists());
}

#[test]
fn signals_go_to_the_command() {
    let home = Home::new();
    let ready = home.path("ready");
    let script =
        format!("trap 'exit 33' USR1; trap 'exit 44' INT; touch {}; while :; do sleep 0.01; done", ready.display());
    for (name, code) in [("-USR1", 33), ("-INT", 44)] {
        let mut wrapper = home.start(&["run", "gpu", "--", "sh", "-c", &script]);
        until("it is ready", || ready.exists());
        signal(&wrapper, name);
        assert_eq!(wrapper.wait().unwrap().code(), Some(code));
        fs::remove_file(&ready).unwrap();
    }
    let mut wrapper =
        home.start(&["run", "gpu", "--", "sh", "-c", &format!("touch {}; exec sleep 1000", ready.display())]);
    until("it is ready", || ready.exists());
    signal(&wrapper, "-TERM");
    assert_eq!(wrapper.wait().unwrap().code(), Some(128 + 15));
}

/// Who waits has no command yet and simply ends.
#[test]
fn who_is_ended_in_line_leaves_it() {
    let home = Home::new();
    let mut holder = home.start(&["run", "gpu", "--", "sleep", "1000"]);
    until("it is inside", || {
        home.path("doorway").join("gpu").exists() && pids(&home.status("gpu")["holders"]).len() == 1
    });
    let mut waiter = home.start(&["run", "gpu", "--", "true"]);
    until("it is in line", || pids(&home.status("gpu")["waiters"]).len() == 1);
    // Not SIGINT, which is ignored in what a script has started in the background.
    signal(&waiter, "-TERM");
    assert_eq!(waiter.wait().unwrap().signal(), Some(15));
    let mut next = home.start(&["run", "gpu", "--", "true"]);
    signal(&holder, "-TERM");
    holder.wait().unwrap();
    assert_eq!(next.wait().unwrap().code(), Some(0));
}

#[test]
fn a_command_keeps_the_place_if_only_the_wrapper_is_killed() {
    let home = Home::new();
    let mut wrapper = home.start(&["run", "gpu", "--", "sleep", "1000"]);
    until("the command runs", || children(&wrapper).len() == 1);
    let command = children(&wrapper)[0];
    signal(&wrapper, "-KILL");
    wrapper.wait().unwrap();
    assert!(is_alive(command));
    assert_eq!(home.code(&["run", "-w", "0.3", "gpu", "--", "true"]), Some(75), "the command goes on");
    assert_eq!(home.status("gpu")["holders"][0]["alive"], true);
    let mut next = home.start(&["run", "gpu", "--", "true"]);
    assert!(Command::new("kill").args(["-KILL", &command.to_string()]).status().unwrap().success());
    assert_eq!(next.wait().unwrap().code(), Some(0));
}

#[test]
fn with_close_it_does_not() {
    let home = Home::new();
    let mut wrapper = home.start(&["run", "--close", "gpu", "--", "sleep", "1000"]);
    until("the command runs", || children(&wrapper).len() == 1);
    let command = children(&wrapper)[0];
    signal(&wrapper, "-KILL");
    wrapper.wait().unwrap();
    assert_eq!(home.code(&["run", "-w", "20", "gpu", "--", "true"]), Some(0));
    assert!(is_alive(command));
    assert!(Command::new("kill").args(["-KILL", &command.to_string()]).status().unwrap().success());
}

/// The command holds no descriptor but its own three with `--close`, and one more without.
#[test]
fn what_the_command_inherits_is_as_said() {
    let home = Home::new();
    let count = |arguments: &[&str]| {
        let mut child = home.doorway(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut listed = String::new();
        child.stdout.take().unwrap().read_to_string(&mut listed).unwrap();
        child.wait().unwrap();
        listed.lines().filter(|line| line.contains("gpu")).count()
    };
    let list = "ls -l /proc/self/fd";
    assert_eq!(count(&["run", "gpu", "--", "sh", "-c", list]), 1);
    assert_eq!(count(&["run", "--close", "gpu", "--", "sh", "-c", list]), 0);
}

#[test]
fn a_path_is_taken_as_it_is() {
    let home = Home::new();
    let path = home.path("lock");
    let path: &Path = &path;
    assert_eq!(home.code(&["run", path.to_str().unwrap(), "--", "true"]), Some(0));
    assert!(path.exists() && !home.path("doorway").exists());
    assert_eq!(home.code(&["forget", path.to_str().unwrap()]), Some(0));
    assert!(!path.exists());
}

/// A path that both may open is one line for both; one that the other may not is refused. Wants to be root, to be two users.
#[test]
fn two_users_can_share_a_path() {
    const ANOTHER: u32 = 65534;
    let home = Home::new();
    if fs::metadata(&home.0).unwrap().uid() != 0 {
        eprintln!("only root can be two users: nothing was tried");
        return;
    }
    fs::set_permissions(&home.0, fs::Permissions::from_mode(0o777)).unwrap();
    // A copy, since the other may not get to where it was built.
    let program = home.path("doorway");
    fs::copy(env!("CARGO_BIN_EXE_doorway"), &program).unwrap();
    let path = home.path("shared").to_str().unwrap().to_string();
    let as_another = |arguments: &[&str]| {
        Command::new(&program).args(arguments).uid(ANOTHER).gid(ANOTHER).env_remove("XDG_RUNTIME_DIR").output().unwrap()
    };
    assert_eq!(home.code(&["run", &path, "--", "true"]), Some(0));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let refused = as_another(&["run", &path, "--", "true"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("Permission denied"), "{}", text(&refused.stderr));

    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let mut holder = home.start(&["run", &path, "--", "sleep", "1000"]);
    until("it is inside", || home.status(&path)["holders"].as_array().unwrap().len() == 1);
    assert_eq!(as_another(&["run", "-n", &path, "--", "true"]).status.code(), Some(75));
    signal(&holder, "-TERM");
    holder.wait().unwrap();
    assert_eq!(as_another(&["run", "-w", "20", &path, "--", "true"]).status.code(), Some(0));
}
