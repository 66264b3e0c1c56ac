//! What a command may meet in a cron job, in a service or on a shared machine: each test failed once.
use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown, symlink},
        process::CommandExt,
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use crate::{Home, children, pids, signal, text, until};

/// The signals that a command ignores, as the kernel shows them.
const SHOW_IGNORED: [&str; 3] = ["grep", "SigIgn", "/proc/self/status"];

/// Runs a shell line in which `"$D"` is the program.
fn shell(home: &Home, line: &str) -> std::process::Output {
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("D", env!("CARGO_BIN_EXE_doorway")).env("DOORWAY_DIR", home.path("doorway"));
    command.current_dir(&home.0).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn ignored_signals_stay_ignored_in_the_command() {
    let home = Home::new();
    for traps in ["trap '' HUP", "trap '' HUP INT QUIT TERM USR1 USR2 PIPE", "true"] {
        let shown = |line: String| text(&shell(&home, &line).stdout);
        let direct = shown(format!("{traps}; {}", SHOW_IGNORED.join(" ")));
        assert!(direct.starts_with("SigIgn:"), "{direct}");
        assert_eq!(shown(format!("{traps}; \"$D\" run gpu -- {}", SHOW_IGNORED.join(" "))), direct, "{traps}");
        assert_eq!(shown(format!("{traps}; \"$D\" run -F gpu -- {}", SHOW_IGNORED.join(" "))), direct, "{traps}");
    }
}

#[test]
fn a_signal_that_was_ignored_from_the_start_does_not_end_the_wrapper() {
    let home = Home::new();
    let mut wrapper = Command::new("sh");
    wrapper.args(["-c", "trap '' HUP; exec \"$D\" run gpu -- sleep 1000"]);
    wrapper.env("D", env!("CARGO_BIN_EXE_doorway")).env("DOORWAY_DIR", home.path("doorway"));
    let mut wrapper = wrapper.stdin(Stdio::null()).spawn().unwrap();
    until("the command runs", || children(&wrapper).len() == 1);
    signal(&wrapper, "-HUP");
    signal(&wrapper, "-TERM");
    assert_eq!(wrapper.wait().unwrap().code(), Some(128 + 15));
}

/// Otherwise the file of the semaphore would get the number of the stream, and messages would overwrite it.
#[test]
fn a_closed_stream_is_not_taken_by_the_file() {
    let home = Home::new();
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let refused = shell(&home, &format!("\"$D\" run ./gpu -- no-such-command {closed}"));
        assert_eq!(refused.status.code(), Some(127), "{closed}");
        assert_eq!(shell(&home, "\"$D\" status ./gpu").status.code(), Some(0), "{closed}");
        let streams = shell(&home, &format!("\"$D\" run ./gpu -- readlink /proc/self/fd/0 /proc/self/fd/1 {closed}"));
        assert!(!text(&streams.stdout).contains("gpu"), "{closed}");
    }
}

/// A parent that blocks SIGCHLD, as some services do.
#[test]
#[allow(unsafe_code, reason = "blocks a signal in the child")]
fn a_wrapper_returns_although_sigchld_is_blocked() {
    let home = Home::new();
    let mut command = home.doorway(&["run", "gpu", "--", "true"]);
    // SAFETY: between fork and exec only functions that are safe in a signal handler are called: these three are.
    unsafe {
        command.pre_exec(|| {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGCHLD);
            libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            Ok(())
        });
    }
    assert_eq!(command.output().unwrap().status.code(), Some(0));
}

#[test]
fn a_dangling_link_leads_to_the_file_that_is_created() {
    let home = Home::new();
    let (link, target) = (home.path("link"), home.path("target"));
    symlink("target", &link).unwrap();
    assert_eq!(home.code(&["run", "-n", link.to_str().unwrap(), "--", "true"]), Some(0));
    assert!(target.exists());
    assert_eq!(home.code(&["forget", link.to_str().unwrap()]), Some(0));
    assert!(!target.exists() && link.symlink_metadata().is_ok(), "the file is removed, not the link");
    symlink("round", home.path("round")).unwrap();
    let output = home.output(&["run", "-n", home.path("round").to_str().unwrap(), "--", "true"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    symlink("nowhere/at/all", home.path("lost")).unwrap();
    let output = home.output(&["run", "-n", home.path("lost").to_str().unwrap(), "--", "true"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

/// The process is stopped after its n-th call of `fcntl`, for each n: wherever that is, others enter.
#[test]
fn a_process_that_is_stopped_while_it_takes_a_slot_blocks_nobody() {
    if Command::new("strace").arg("-V").output().is_err() {
        eprintln!("skipped: there is no strace");
        return;
    }
    let home = Home::new();
    let path = home.path("gate");
    for call in 1..=4 {
        let mut stopped = Command::new("strace");
        stopped.args(["-qq", "-o", "/dev/null", "-e", &format!("inject=fcntl:signal=SIGSTOP:when={call}")]);
        stopped.args([env!("CARGO_BIN_EXE_doorway"), "run", "-k", "2", path.to_str().unwrap(), "--", "true"]);
        let mut stopped = stopped.process_group(0).stdin(Stdio::null()).spawn().unwrap();
        // It may also end before that call.
        let is_stopped = |stopped: &Child| {
            let stat = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            children(stopped).first().map(stat).is_some_and(|stat| stat.contains(") T ") || stat.contains(") t "))
        };
        let mut has_ended = false;
        for _ in 0..2000 {
            has_ended = stopped.try_wait().unwrap().is_some();
            if has_ended || is_stopped(&stopped) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        for _ in 0..3 {
            assert_eq!(home.code(&["run", "-k", "2", "-w", "20", path.to_str().unwrap(), "--", "true"]), Some(0));
        }
        if !has_ended {
            let group = format!("-{}", stopped.id());
            assert!(Command::new("kill").args(["-KILL", "--", &group]).status().unwrap().success());
            stopped.wait().unwrap();
        }
    }
}

/// A job of cron has no `XDG_RUNTIME_DIR`, and one with it must use the same name.
#[test]
fn a_name_does_not_depend_on_the_runtime_directory() {
    let home = Home::new();
    let runtime = home.path("runtime");
    fs::create_dir(&runtime).unwrap();
    let name = format!("test-{}", std::process::id());
    let code = |arguments: &[&str], runtime: Option<&PathBuf>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_doorway"));
        command.args(arguments).env_remove("XDG_RUNTIME_DIR").env_remove("DOORWAY_DIR");
        command.envs(runtime.map(|runtime| ("XDG_RUNTIME_DIR", runtime))).output().unwrap().status.code()
    };
    assert_eq!(code(&["run", &name, "true"], Some(&runtime)), Some(0));
    assert_eq!(code(&["status", &name], None), Some(0), "it is the same name without the directory");
    assert_eq!(code(&["forget", &name], Some(&runtime)), Some(0));
    assert_eq!(fs::read_dir(&runtime).unwrap().count(), 0, "nothing is left in a directory of perhaps another user");
}

#[test]
fn what_a_terminal_would_obey_is_escaped_and_long_commands_end_in_an_ellipsis() {
    let home = Home::new();
    let name = "x\u{1b}[2J";
    let line = format!("exec sleep 1000 # \u{1b}]0;title\u{7}\r\n{}", "long ".repeat(60));
    let mut holder = home.start(&["run", name, "--", "sh", "-c", &line]);
    until("it holds", || {
        home.output(&["status", name]).stdout.contains(&b'\n') && pids(&home.status(name)["holders"]).len() == 1
    });
    for arguments in [&["status", name][..], &["status"]] {
        let shown = text(&home.output(arguments).stdout);
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
        assert_eq!(shown.lines().count(), 2, "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 100) && shown.trim_end().ends_with('…'), "{shown}");
    }
    signal(&holder, "-KILL");
    holder.wait().unwrap();
    // The command survived the wrapper.
    let left = home.status(name)["holders"][0]["pid"].as_u64().unwrap();
    assert!(Command::new("kill").args(["-KILL", &left.to_string()]).status().unwrap().success());
}

#[test]
fn a_foreign_file_among_the_names_does_not_hide_the_others() {
    let home = Home::new();
    assert_eq!(home.code(&["run", "gpu", "--", "true"]), Some(0));
    fs::write(home.path("doorway").join("thesis"), "words").unwrap();
    let output = home.output(&["status"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), "gpu: 0 of 1 holders, 0 waiting\n");
    assert!(text(&output.stderr).contains("thesis` is too short"), "{}", text(&output.stderr));
    let output = home.output(&["forget", "--unused"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "gpu\n".to_string()));
    assert_eq!(fs::read_to_string(home.path("doorway").join("thesis")).unwrap(), "words");
}

#[test]
fn a_full_standard_error_changes_no_exit_code() {
    let home = Home::new();
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let code = |arguments: &[&str]| home.doorway(arguments).stderr(full()).status().unwrap().code();
    assert_eq!(code(&["run", "gpu", "--", "no-such-program-anywhere"]), Some(127));
    assert_eq!(code(&["run", ".x", "--", "true"]), Some(2));
}

#[test]
fn a_small_limit_on_file_sizes_is_an_error_and_not_a_signal() {
    let home = Home::new();
    let output = shell(&home, "ulimit -f 8; exec \"$D\" run gpu -- true");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("ulimit -f"), "{}", text(&output.stderr));
}

#[test]
fn a_long_path_and_a_long_name_are_refused_or_work() {
    let home = Home::new();
    let long = home.path(&"n".repeat(255));
    assert_eq!(home.code(&["run", long.to_str().unwrap(), "--", "true"]), Some(0));
    let output = home.output(&["run", &"n".repeat(201), "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("has more than 200 bytes"), "{}", text(&output.stderr));
}

#[test]
fn a_kill_while_the_file_is_created_leaves_no_draft() {
    let home = Home::new();
    for i in 0..40 {
        let mut command = home.start(&["run", &format!("n{i}"), "--", "true"]);
        std::thread::sleep(std::time::Duration::from_micros(100 * i));
        signal(&command, "-KILL");
        command.wait().unwrap();
    }
    let names = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let drafts = fs::read_dir(home.path("doorway")).unwrap().map(|entry| names(entry.unwrap()));
    assert!(drafts.into_iter().all(|name| name.starts_with('n')));
}

#[test]
fn the_status_of_a_file_that_may_only_be_read_is_shown() {
    const OTHER_USER: u32 = 65534;
    let home = Home::new();
    let path = home.path("shared").to_str().unwrap().to_string();
    assert_eq!(home.code(&["run", &path, "--", "true"]), Some(0));
    let Some(program) = home.program_for_all() else { return };
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let run =
        |arguments: &[&str]| Command::new(&program).args(arguments).uid(OTHER_USER).gid(OTHER_USER).output().unwrap();
    assert_eq!(run(&["status", &path]).status.code(), Some(0));
    assert_eq!(run(&["run", &path, "--", "true"]).status.code(), Some(2));
}

/// As `docs/running.md` describes it: a directory whose group passes on to its files.
#[test]
fn a_group_shares_a_path_and_others_look_only_if_they_may_read() {
    const GROUP: u32 = 54321;
    let home = Home::new();
    let Some(program) = home.program_for_all() else { return };
    let set = |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let shared = home.path("shared");
    fs::create_dir(&shared).unwrap();
    chown(&shared, None, Some(GROUP)).unwrap();
    set(&shared, 0o2770);
    let path = shared.join("gpu");
    let run = |user: u32, group: u32, words: &str| {
        let line = format!("umask 007; exec {} {words}", program.display());
        Command::new("sh").args(["-c", &line]).uid(user).gid(group).output().unwrap()
    };
    let (run_true, status) = (format!("run -n {} true", path.display()), format!("status {}", path.display()));
    assert_eq!(run(54001, GROUP, &run_true).status.code(), Some(0));
    let found = fs::metadata(&path).unwrap();
    assert_eq!((found.uid(), found.gid(), found.mode() & 0o777), (54001, GROUP, 0o660));
    assert_eq!(run(54002, GROUP, &run_true).status.code(), Some(0), "a member of the group");
    let stranger = |words: &str| {
        let output = run(54003, 54003, words);
        (output.status.code(), text(&output.stderr).contains("Permission denied"))
    };
    assert_eq!((stranger(&run_true), stranger(&status)), ((Some(2), true), (Some(2), true)));
    set(&shared, 0o2775);
    set(&path, 0o664);
    assert_eq!((stranger(&run_true), stranger(&status)), ((Some(2), true), (Some(0), false)));
}

#[test]
fn it_runs_without_proc() {
    let home = Home::new();
    let line = "umount -l /proc 2>/dev/null || exit 99; \"$D\" run gpu -- true && \"$D\" status gpu";
    let output = shell(&home, &format!("unshare -m sh -c '{line}' || exit $?"));
    if matches!(output.status.code(), Some(1 | 99 | 127)) && output.stdout.is_empty() {
        eprintln!("skipped: only root can unmount /proc");
        return;
    }
    assert_eq!(text(&output.stdout), "gpu: 0 of 1 holders, 0 waiting\n", "{}", text(&output.stderr));
}
