//! Tests of `doorway run`, `status`, `resize` and `forget` with real processes and signals.
#![cfg(target_os = "linux")]

mod cron;
mod features;

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

/// A directory for each test, with one for names in it.
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
        command.args(arguments).env("DOORWAY_DIR", self.path("doorway")).stdin(Stdio::null());
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

    /// Starts the command in the background.
    fn start(&self, arguments: &[&str]) -> Child {
        self.doorway(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A copy of the program that every user can execute, for root to act as other users; `None` for other users.
    fn program_for_all(&self) -> Option<PathBuf> {
        if fs::metadata(&self.0).unwrap().uid() != 0 {
            eprintln!("skipped: only root can act as several users");
            return None;
        }
        fs::set_permissions(&self.0, fs::Permissions::from_mode(0o755)).unwrap();
        let program = self.path("program");
        // By another process: a file that is open for writing cannot be executed, and a child that another test starts at this
        // moment would have the descriptor too.
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_doorway")).arg(&program).status().unwrap();
        assert!(copied.success());
        Some(program)
    }

    /// Whether there is a semaphore of this name.
    fn has(&self, name: &str) -> bool {
        self.path("doorway").join(name).exists()
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

/// Polls until the condition holds, and fails after 30 s.
fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(30), "after 30 s it does not hold that {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// The process ids of holders or waiters.
fn pids(participants: &Value) -> Vec<u64> {
    participants.as_array().unwrap().iter().map(|participant| participant["pid"].as_u64().unwrap()).collect()
}

fn signal(process: &Child, signal: &str) {
    let pid = process.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

/// The children of a process, from `/proc`.
fn children(process: &Child) -> Vec<u32> {
    let pid = process.id();
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    listed.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn is_alive(pid: u32) -> bool {
    // A zombie is dead.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

#[test]
fn exits_with_the_exit_code_of_the_command() {
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
fn passes_arguments_on_unchanged() {
    let home = Home::new();
    let output = home.output(&["run", "-k", "2", "gpu", "--", "printf", "[%s]", "a b", "$HOME", "", "*", "--", "-n"]);
    assert_eq!(text(&output.stdout), "[a b][$HOME][][*][--][-n]");
}

#[test]
fn exits_with_the_conflict_code_if_no_permit_is_free_in_time() {
    let home = Home::new();
    let mut holder = home.start(&["run", "gpu", "--", "sleep", "1000"]);
    until("the semaphore has a holder", || home.code(&["run", "-n", "gpu", "--", "true"]) == Some(75));
    assert_eq!(home.code(&["run", "-n", "-E", "9", "gpu", "--", "true"]), Some(9));
    assert_eq!(home.code(&["run", "-w", "0.01", "gpu", "--", "true"]), Some(75));
    signal(&holder, "-TERM");
    holder.wait().unwrap();
    assert_eq!(home.code(&["run", "-n", "gpu", "--", "true"]), Some(0));
    assert_eq!(home.code(&["run", "-w", "5", "gpu", "--", "true"]), Some(0));
}

#[test]
fn refuses_wrong_calls_with_a_message() {
    let home = Home::new();
    assert_eq!(home.code(&["run", "-k", "2", "gpu", "--", "true"]), Some(0));
    for (arguments, says) in [
        (&["run", "-k", "3", "gpu", "--", "true"][..], "has capacity 2, not 3"),
        (&["run", "gpu"], "there is no command"),
        (&["run", "9"], "does not lock descriptors"),
        (&["run", "-s", "gpu", "true"], "there are no shared permits"),
        (&["run", "-u", "gpu", "true"], "there is nothing to unlock"),
        (&["run", "gpu", "--nope", "true"], "`--nope` is neither an option nor a command"),
        (&["run", "gpu", "-c", "one", "two"], "takes one line for the shell"),
        (&["run", "-k", "3000", "x", "--", "true"], "capacity 3000 is out of range; it must be from 1 to 2047"),
        (&["run", "--nope", "gpu", "true"], "see `doorway run --help`"),
        (&["resize", "gpu", "0"], "see `doorway resize --help`"),
        (&["resize", "gpu", "2048"], "out of range"),
        (&["resize", "nothing", "2"], "does not exist"),
        (&["run", "-k", "0", "gpu", "--", "true"], "0"),
        (&["run", "-w", "soon", "gpu", "--", "true"], "soon"),
        (&["run", ".hidden", "--", "true"], "begins with a dot"),
        (&["run", "/no/such/directory/x", "--", "true"], "/no/such/directory/x"),
        (&["status", "nothing"], "does not exist"),
        (&["forget", "nothing"], "does not exist"),
    ] {
        let output = home.output(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(says), "{arguments:?}: {}", text(&output.stderr));
    }
    assert_eq!(home.code(&["run", "gpu", "--", "true"]), Some(0), "without -k the capacity stays");
    assert_eq!(home.status("gpu")["k"], 2);
}

#[test]
fn does_not_overwrite_a_foreign_file() {
    let home = Home::new();
    let path = home.path("precious");
    fs::write(&path, "somebody's thesis").unwrap();
    let output = home.output(&["run", path.to_str().unwrap(), "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("nothing was changed"), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's thesis");
}

#[test]
fn status_shows_the_queue_and_waiters_enter_in_order() {
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
        let participants = || {
            home.status("gpu")["holders"].as_array().unwrap().len()
                + home.status("gpu")["waiters"].as_array().unwrap().len()
        };
        until("the job has arrived", || home.has("gpu") && participants() == i + 1);
    }
    let status = home.status("gpu");
    assert_eq!(pids(&status["holders"]), [u64::from(jobs[0].id()), jobs[1].id().into()]);
    let waiters: Vec<u64> = jobs[2..].iter().map(|job| job.id().into()).collect();
    assert_eq!(pids(&status["waiters"]), waiters);
    assert!(status["waiters"][0]["command"].as_str().unwrap().starts_with("sh -c 'echo 2"));
    let shown = text(&home.output(&["status", "gpu"]).stdout);
    assert!(shown.starts_with("gpu: 2 of 2 holders, 4 waiting\n"), "{shown}");
    let all: Value = serde_json::from_slice(&home.output(&["status", "--json"]).stdout).unwrap();
    assert_eq!(all[0]["name"], "gpu");
    assert_eq!(home.code(&["forget", "gpu"]), Some(2), "the semaphore is in use");
    for (i, mut job) in jobs.into_iter().enumerate() {
        fs::write(home.path(&i.to_string()), "").unwrap();
        assert_eq!(job.wait().unwrap().code(), Some(0));
        let started = || fs::read_to_string(&log).unwrap().lines().count();
        until("the next job has started", || started() == (i + 3).min(6));
    }
    let order: Vec<usize> = fs::read_to_string(&log).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(order[2..], [2, 3, 4, 5]);
    assert_eq!(home.code(&["forget", "gpu"]), Some(0));
    assert!(!home.has("gpu"));
}

#[test]
fn forwards_signals_to_the_command() {
    let home = Home::new();
    let ready = home.path("ready");
    let script =
        format!("trap 'exit 33' USR1; trap 'exit 44' USR2; touch {}; while :; do sleep 0.01; done", ready.display());
    for (name, code) in [("-USR1", 33), ("-USR2", 44)] {
        let mut wrapper = home.start(&["run", "gpu", "--", "sh", "-c", &script]);
        until("the command is ready", || ready.exists());
        signal(&wrapper, name);
        assert_eq!(wrapper.wait().unwrap().code(), Some(code));
        fs::remove_file(&ready).unwrap();
    }
    let mut wrapper =
        home.start(&["run", "gpu", "--", "sh", "-c", &format!("touch {}; exec sleep 1000", ready.display())]);
    until("the command is ready", || ready.exists());
    signal(&wrapper, "-TERM");
    assert_eq!(wrapper.wait().unwrap().code(), Some(128 + 15));
}

/// A waiter has started no command yet, so a signal ends it.
#[test]
fn a_killed_waiter_leaves_the_queue() {
    let home = Home::new();
    let mut holder = home.start(&["run", "gpu", "--", "sleep", "1000"]);
    until("the semaphore has a holder", || home.has("gpu") && pids(&home.status("gpu")["holders"]).len() == 1);
    let mut waiter = home.start(&["run", "gpu", "--", "true"]);
    until("the semaphore has a waiter", || pids(&home.status("gpu")["waiters"]).len() == 1);
    // Not SIGINT, which processes that a script starts in the background ignore.
    signal(&waiter, "-TERM");
    assert_eq!(waiter.wait().unwrap().signal(), Some(15));
    let mut next = home.start(&["run", "gpu", "--", "true"]);
    signal(&holder, "-TERM");
    holder.wait().unwrap();
    assert_eq!(next.wait().unwrap().code(), Some(0));
}

#[test]
fn a_command_keeps_the_permit_if_only_the_wrapper_is_killed() {
    let home = Home::new();
    let mut wrapper = home.start(&["run", "gpu", "--", "sleep", "1000"]);
    until("the command runs", || children(&wrapper).len() == 1);
    let command = children(&wrapper)[0];
    signal(&wrapper, "-KILL");
    wrapper.wait().unwrap();
    assert!(is_alive(command));
    assert_eq!(home.code(&["run", "-w", "0.3", "gpu", "--", "true"]), Some(75), "the command still runs");
    assert_eq!(home.status("gpu")["holders"][0]["alive"], true);
    let mut next = home.start(&["run", "gpu", "--", "true"]);
    assert!(Command::new("kill").args(["-KILL", &command.to_string()]).status().unwrap().success());
    assert_eq!(next.wait().unwrap().code(), Some(0));
}

#[test]
fn with_close_a_killed_wrapper_releases_the_permit() {
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

/// With `--close` it inherits none.
#[test]
fn a_command_inherits_one_descriptor_of_the_file_unless_closed() {
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
fn a_name_with_a_slash_is_the_path_of_the_file() {
    let home = Home::new();
    let path = home.path("lock");
    let path: &Path = &path;
    assert_eq!(home.code(&["run", path.to_str().unwrap(), "--", "true"]), Some(0));
    assert!(path.exists() && !home.path("doorway").exists());
    assert_eq!(home.code(&["forget", path.to_str().unwrap()]), Some(0));
    assert!(!path.exists());
}

/// A file that only one user may open is refused to the other. The test needs root to act as two users.
#[test]
fn two_users_share_a_file_that_both_may_open() {
    const OTHER_USER: u32 = 65534;
    let home = Home::new();
    let Some(program) = home.program_for_all() else { return };
    let path = home.path("shared").to_str().unwrap().to_string();
    let as_other_user = |arguments: &[&str]| {
        Command::new(&program)
            .args(arguments)
            .uid(OTHER_USER)
            .gid(OTHER_USER)
            .env_remove("DOORWAY_DIR")
            .output()
            .unwrap()
    };
    assert_eq!(home.code(&["run", &path, "--", "true"]), Some(0));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let refused = as_other_user(&["run", &path, "--", "true"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("Permission denied"), "{}", text(&refused.stderr));

    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let mut holder = home.start(&["run", &path, "--", "sleep", "1000"]);
    until("the semaphore has a holder", || home.status(&path)["holders"].as_array().unwrap().len() == 1);
    assert_eq!(as_other_user(&["run", "-n", &path, "--", "true"]).status.code(), Some(75));
    signal(&holder, "-TERM");
    holder.wait().unwrap();
    assert_eq!(as_other_user(&["run", "-w", "20", &path, "--", "true"]).status.code(), Some(0));
}
