//! The semaphore of processes: real ones, that come, wait, give up, are stopped and killed.
//!
//! A test runs this very program again for every process it needs, with a role in its environment: see [`role`].
#![cfg(target_os = "linux")]
use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::FileExt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::{self, Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use doorway::process::{Error, Permit, Semaphore};
use doorway_memory::{Memory, Space};
use doorway_shm::{File, Location, Plan, Reg, Shared};

const ROLE: &str = "DOORWAY_TEST_ROLE";

/// Long enough for anything that happens at all; nothing is asserted about how long it takes.
const LONG: Duration = Duration::from_secs(60);

/// Long enough to see that nothing happens, as far as that can be seen.
const SHORT: Duration = Duration::from_millis(60);

/// Not a test, but what the processes of the tests run.
#[test]
#[allow(clippy::zombie_processes, reason = "a child that outlives us is what is tested")]
fn role() {
    let Ok(role) = env::var(ROLE) else { return };
    let words: Vec<&str> = role.split('|').collect();
    let open = |path: &str, k: &str| Semaphore::open(path, k.parse().unwrap()).unwrap();
    match words[..] {
        ["hold", path, k] => hold(open(path, k)),
        ["log", path, k, board, number] => {
            let semaphore = open(path, k);
            let (board, mut m) = Board::open(board);
            let _permit = semaphore.acquire().unwrap();
            let at = m.fetch_add(&board.entries, 1).unwrap();
            m.write(&board.flags[at as usize], number.parse().unwrap()).unwrap();
        }
        ["visit", path, k, board, number] => {
            let (semaphore, number) = (open(path, k), number.parse::<usize>().unwrap());
            thread::scope(|scope| {
                for place in places(number) {
                    let semaphore = &semaphore;
                    scope.spawn(move || visit(semaphore, board, place));
                }
            });
        }
        ["count", path, board, times] => {
            let semaphore = open(path, "1");
            let (board, mut m) = Board::open(board);
            for _ in 0..times.parse().unwrap() {
                let _permit = semaphore.acquire().unwrap();
                let seen = m.read(&board.entries).unwrap();
                m.write(&board.entries, seen + 1).unwrap();
            }
        }
        ["parent", path, inherits] => {
            let semaphore = open(path, "1");
            let permit = semaphore.acquire().unwrap();
            if inherits == "inherits" {
                permit.keep_in_child().unwrap();
            }
            let child = Command::new("sleep").arg("600").spawn().unwrap();
            say(&child.id().to_string());
            wait_for_line();
        }
        ["fork", path] => fork(path),
        _ => panic!("no role `{role}`"),
    }
    process::exit(0);
}

fn hold(semaphore: Semaphore) {
    let _permit = semaphore.acquire().unwrap();
    say("inside");
    wait_for_line();
}

/// Goes in and out until it is killed. Says in its flag that it is inside, by an odd number that it never uses again; whoever
/// sees too many inside waits to see whether they live: then their flags change, and not to what the one who kills has
/// written.
fn visit(semaphore: &Semaphore, board: &str, number: usize) {
    let (board, mut m) = Board::open(board);
    let mut random = Random(u64::from(process::id()) << 8 | number as u64);
    let mut visits = m.read(&board.visits[number]).unwrap();
    loop {
        let permit = match random.below(8) {
            0 => semaphore.try_acquire().unwrap(),
            1 => semaphore.acquire_timeout(Duration::from_micros(random.below(2000))).unwrap(),
            _ => Some(semaphore.acquire().unwrap()),
        };
        let Some(_permit) = permit else { continue };
        visits += 1;
        m.write(&board.visits[number], visits).unwrap();
        m.write(&board.flags[number], 2 * visits + 1).unwrap();
        m.fence().unwrap();
        let others: Vec<(usize, u64)> = (0..PLACES * THREADS)
            .filter(|&other| other != number)
            .map(|other| (other, m.read(&board.flags[other]).unwrap()))
            .filter(|(_, flag)| flag % 2 == 1)
            .collect();
        if others.len() >= semaphore.k() {
            let late = Instant::now() + Duration::from_secs(5);
            let was_alive = |m: &mut Shared, (other, flag)| {
                loop {
                    match m.read(&board.flags[other]).unwrap() {
                        DEAD => return false,
                        now if now != flag || Instant::now() > late => return true,
                        _ => thread::yield_now(),
                    }
                }
            };
            let alive = others.iter().filter(|&&other| was_alive(&mut m, other)).count();
            if alive >= semaphore.k() {
                m.fetch_add(&board.violations, 1).unwrap();
            }
        }
        (0..random.below(300)).for_each(|_| std::hint::spin_loop());
        m.write(&board.flags[number], 2 * visits).unwrap();
        m.fetch_add(&board.entries, 1).unwrap();
    }
}

#[allow(unsafe_code, reason = "forks")]
fn fork(path: &str) {
    let semaphore = Semaphore::open(path, 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    // SAFETY: the child has this thread alone, and what it does needs no other.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_refused = matches!(semaphore.acquire(), Err(Error::Forked { .. }));
        drop(permit);
        drop(semaphore);
        let again = Semaphore::open(path, 1).unwrap();
        let is_held = again.try_acquire().unwrap().is_none() && again.holders().len() == 1;
        process::exit(if is_refused && is_held { 17 } else { 1 });
    }
    let mut status = 0;
    // SAFETY: it is our child, and the status ours.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(libc::WEXITSTATUS(status), 17);
    assert_eq!(semaphore.holders().len(), 1);
    drop(permit);
    assert!(semaphore.holders().is_empty());
    assert!(semaphore.try_acquire().unwrap().is_some());
    say("well");
}

// Places, order, and who may go in.

#[test]
fn what_can_be_sent_and_shared_is_what_users_expect() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Semaphore>();
    sync::<Semaphore>();
    send::<Permit<'_>>();
    sync::<Permit<'_>>();
    send::<Error>();
}

#[test]
fn threads_of_one_process_exclude_each_other() {
    let directory = Directory::new();
    for k in [1, 2] {
        let semaphore = Semaphore::open(directory.file(&format!("threads{k}")), k).unwrap();
        let (inside, entries) = (AtomicUsize::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..5 {
                scope.spawn(|| {
                    for _ in 0..400 {
                        let _permit = semaphore.acquire().unwrap();
                        assert!(inside.fetch_add(1, SeqCst) < k);
                        entries.fetch_add(1, SeqCst);
                        inside.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(entries.into_inner(), 2000);
    }
}

#[test]
fn two_handles_in_one_process_are_as_good_as_two_processes() {
    let directory = Directory::new();
    let path = directory.file("handles");
    let (one, other) = (Semaphore::open(&path, 1).unwrap(), Semaphore::open(&path, 1).unwrap());
    let permit = one.acquire().unwrap();
    assert!(other.try_acquire().unwrap().is_none());
    drop(permit);
    let permit = other.try_acquire().unwrap();
    assert!(permit.is_some());
    assert!(one.acquire_timeout(SHORT).unwrap().is_none());
}

#[test]
fn no_update_is_lost_between_processes() {
    const TIMES: u64 = 2000;
    let directory = Directory::new();
    let (path, board) = (directory.file("count"), directory.file("board"));
    let (registers, mut m) = Board::create(&board);
    let text = format!("count|{}|{}|{TIMES}", path.display(), board.display());
    let children: Vec<Player> = (0..4).map(|_| Player::start(&text)).collect();
    children.into_iter().for_each(Player::ends_well);
    assert_eq!(m.read(&registers.entries), Ok(4 * TIMES));
}

#[test]
fn waiters_go_in_as_they_came() {
    let directory = Directory::new();
    for k in [1, 2] {
        for round in 0..5 {
            let (path, board) = (directory.file(&format!("order{k}")), directory.file(&format!("board{k}{round}")));
            let (registers, mut m) = Board::create(&board);
            let semaphore = Semaphore::open(&path, k).unwrap();
            let mut permits: Vec<Permit<'_>> = (0..k).map(|_| semaphore.acquire().unwrap()).collect();
            let mut waiters = Vec::new();
            for number in 1..=6 {
                let text = format!("log|{}|{k}|{}|{number}", path.display(), board.display());
                waiters.push(Player::start(&text));
                until(|| semaphore.waiters().len() == number);
            }
            let pids: Vec<u32> = waiters.iter().map(|waiter| waiter.child.id()).collect();
            assert_eq!(semaphore.waiters().iter().map(|waiter| waiter.pid).collect::<Vec<u32>>(), pids);
            assert!(semaphore.waiters().iter().all(|waiter| waiter.alive && waiter.what.contains("role")));
            permits.pop(); // one place is free, for one after the other
            waiters.into_iter().for_each(Player::ends_well);
            let entered: Vec<u64> = (0..6).map(|at| m.read(&registers.flags[at]).unwrap()).collect();
            assert_eq!(entered, [1, 2, 3, 4, 5, 6]);
        }
    }
}

#[test]
fn who_gives_up_leaves_no_hole_in_the_line() {
    let directory = Directory::new();
    let path = directory.file("timeout");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    thread::scope(|scope| {
        let late = scope.spawn(|| semaphore.acquire_timeout(SHORT).unwrap().is_none());
        until(|| semaphore.waiters().len() == 1);
        let patient = scope.spawn(|| drop(semaphore.acquire_timeout(LONG).unwrap().unwrap()));
        assert!(late.join().unwrap());
        until(|| semaphore.waiters().len() == 1);
        drop(permit);
        patient.join().unwrap();
    });
    assert!(semaphore.waiters().is_empty() && semaphore.holders().is_empty());
    assert!(semaphore.acquire_deadline(Instant::now()).unwrap().is_some(), "who need not wait is never late");
}

#[test]
fn of_those_who_try_at_once_as_many_succeed_as_there_is_room_for() {
    let directory = Directory::new();
    for k in [1, 2] {
        let path = directory.file(&format!("try{k}"));
        let handles: Vec<Semaphore> = (0..3).map(|_| Semaphore::open(&path, k).unwrap()).collect();
        for _ in 0..200 {
            let start = std::sync::Barrier::new(handles.len());
            let end = std::sync::Barrier::new(handles.len());
            let entered = AtomicUsize::new(0);
            thread::scope(|scope| {
                for handle in &handles {
                    scope.spawn(|| {
                        start.wait();
                        let permit = handle.try_acquire().unwrap();
                        entered.fetch_add(usize::from(permit.is_some()), SeqCst);
                        end.wait();
                    });
                }
            });
            assert!((1..=k).contains(&entered.into_inner()));
        }
    }
}

#[test]
fn a_panic_inside_makes_room() {
    let directory = Directory::new();
    let semaphore = Semaphore::open(directory.file("panic"), 1).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _permit = semaphore.acquire().unwrap();
        panic!("inside");
    }));
    assert!(panicked.is_err());
    assert!(semaphore.try_acquire().unwrap().is_some());
}

#[test]
fn more_than_there_are_slots_wait_for_a_slot() {
    let directory = Directory::new();
    let (path, board) = (directory.file("slots"), directory.file("board"));
    let (registers, mut m) = Board::create(&board);
    let semaphore = Semaphore::open_with(&path, 1, 3).unwrap();
    assert_eq!(semaphore.slots(), 3);
    let permit = semaphore.acquire().unwrap();
    let text = format!("count|{}|{}|50", path.display(), board.display());
    let children: Vec<Player> = (0..6).map(|_| Player::start(&text)).collect();
    until(|| semaphore.waiters().len() == 2);
    let other = Semaphore::open(&path, 1).unwrap();
    assert!(other.acquire_timeout(SHORT).unwrap().is_none());
    drop(permit);
    drop((other, semaphore));
    children.into_iter().for_each(Player::ends_well);
    assert_eq!(m.read(&registers.entries), Ok(300));
}

// Dying.

#[test]
fn whoever_dies_inside_leaves_its_place_to_the_next() {
    let directory = Directory::new();
    let path = directory.file("kill");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    for _ in 0..5 {
        let mut holder = Player::start(&format!("hold|{}|1", path.display()));
        assert_eq!(holder.line(), "inside");
        let mut waiter = Player::start(&format!("hold|{}|1", path.display()));
        until(|| semaphore.waiters().len() == 1);
        holder.child.kill().unwrap();
        assert_eq!(waiter.line(), "inside");
        waiter.child.kill().unwrap();
        waiter.child.wait().unwrap();
        assert!(!semaphore.holders()[0].alive);
        assert!(semaphore.try_acquire().unwrap().is_some(), "who only tries finds the dead too");
    }
}

/// Needs to be root, who may say which pid comes next; others see it end at once, with a word.
#[test]
fn another_process_with_the_pid_of_a_dead_one_is_not_taken_for_it() {
    let directory = Directory::new();
    let path = directory.file("reuse");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let mut holder = Player::start(&format!("hold|{}|1", path.display()));
    assert_eq!(holder.line(), "inside");
    let pid = holder.child.id();
    holder.child.kill().unwrap();
    holder.child.wait().unwrap();
    let Some(mut other) = start_with_pid(pid) else {
        eprintln!("not tested: `/proc/sys/kernel/ns_last_pid` cannot be written");
        return;
    };
    let seen = &semaphore.holders()[0];
    assert_eq!((seen.pid, seen.alive), (pid, false));
    let mut waiter = Player::start(&format!("hold|{}|1", path.display()));
    assert_eq!(waiter.line(), "inside");
    assert!(other.try_wait().unwrap().is_none(), "it lived all the time");
    other.kill().unwrap();
    other.wait().unwrap();
}

/// A process that sleeps and has this pid, which must be free; `None` if we may not choose.
fn start_with_pid(pid: u32) -> Option<Child> {
    for _ in 0..1000 {
        fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).ok()?;
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        if child.id() == pid {
            return Some(child);
        }
        // Somebody else was faster.
        child.kill().unwrap();
        child.wait().unwrap();
    }
    panic!("a thousand times somebody else took the pid");
}

#[test]
fn whoever_dies_in_line_leaves_no_hole() {
    let directory = Directory::new();
    let path = directory.file("kill");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    let mut waiters: Vec<Player> = (1..=4)
        .map(|there| {
            let waiter = Player::start(&format!("hold|{}|1", path.display()));
            until(|| semaphore.waiters().len() == there);
            waiter
        })
        .collect();
    for dead in [0, 2] {
        waiters[dead].child.kill().unwrap();
        waiters[dead].child.wait().unwrap();
    }
    drop(permit);
    for alive in [1, 3] {
        assert_eq!(waiters[alive].line(), "inside");
        waiters[alive].tell();
    }
    assert!(semaphore.acquire_timeout(LONG).unwrap().is_some());
}

#[test]
fn killed_at_any_moment_never_too_many_are_inside_and_no_place_is_lost() {
    kill_at_random(150);
}

#[test]
#[ignore = "10,000 kills: 1 minute"]
fn the_same_ten_thousand_times() {
    kill_at_random(5_000);
}

/// Kills so many, for k = 1 and again for k = 2.
fn kill_at_random(kills: usize) {
    let directory = Directory::new();
    for k in [1, 2] {
        let (path, board) = (directory.file(&format!("kills{k}")), directory.file(&format!("board{k}")));
        let (registers, mut m) = Board::create(&board);
        let text = |number: usize| format!("visit|{}|{k}|{}|{number}", path.display(), board.display());
        let mut players: Vec<Player> = (0..PLACES).map(|number| Player::start(&text(number))).collect();
        let mut random = Random(4711 + k as u64);
        for kill in 0..kills {
            // So that there is something to kill, wherever it is: the others must have gone on after the last one died.
            let before = m.read(&registers.entries).unwrap();
            let mut seen = before;
            let late = Instant::now() + LONG;
            while seen < before + 3 {
                seen = m.read(&registers.entries).unwrap();
                assert!(Instant::now() < late, "nobody goes in any more, after {kill} kills");
                thread::sleep(Duration::from_micros(random.below(700)));
            }
            let number = random.below(PLACES as u64) as usize;
            players[number].child.kill().unwrap();
            players[number].child.wait().unwrap();
            places(number).for_each(|place| m.write(&registers.flags[place], DEAD).unwrap());
            players[number] = Player::start(&text(number));
        }
        for (number, player) in players.iter_mut().enumerate() {
            player.child.kill().unwrap();
            player.child.wait().unwrap();
            places(number).for_each(|place| m.write(&registers.flags[place], DEAD).unwrap());
        }
        assert_eq!(m.read(&registers.violations), Ok(0), "k = {k}");
        let semaphore = Semaphore::open(&path, k).unwrap();
        let permits: Vec<_> = (0..k).map(|_| semaphore.acquire_timeout(LONG).unwrap().unwrap()).collect();
        assert!(semaphore.try_acquire().unwrap().is_none());
        drop(permits);
    }
}

#[test]
fn who_is_stopped_keeps_its_place() {
    let directory = Directory::new();
    let path = directory.file("stop");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let mut holder = Player::start(&format!("hold|{}|1", path.display()));
    assert_eq!(holder.line(), "inside");
    holder.signal(libc::SIGSTOP);
    assert!(semaphore.acquire_timeout(SHORT).unwrap().is_none());
    let mut waiter = Player::start(&format!("hold|{}|1", path.display()));
    until(|| semaphore.waiters().len() == 1);
    waiter.signal(libc::SIGSTOP);
    holder.signal(libc::SIGCONT);
    holder.tell();
    assert!(semaphore.acquire_timeout(SHORT).unwrap().is_none(), "it is the stopped one's turn");
    waiter.signal(libc::SIGCONT);
    assert_eq!(waiter.line(), "inside");
    waiter.signal(libc::SIGSTOP);
    assert!(semaphore.try_acquire().unwrap().is_none());
    waiter.child.kill().unwrap();
    assert!(semaphore.acquire_timeout(LONG).unwrap().is_some());
}

#[test]
fn a_forked_child_has_nothing_of_its_parents() {
    let directory = Directory::new();
    let mut player = Player::start(&format!("fork|{}", directory.file("fork").display()));
    assert_eq!(player.line(), "well");
}

#[test]
fn a_child_that_inherits_the_place_keeps_it_and_no_other_does() {
    let directory = Directory::new();
    for inherits in ["inherits", "does not"] {
        let path = directory.file(inherits);
        let mut parent = Player::start(&format!("parent|{}|{inherits}", path.display()));
        let child: i32 = parent.line().parse().unwrap();
        parent.child.kill().unwrap();
        parent.child.wait().unwrap();
        let semaphore = Semaphore::open(&path, 1).unwrap();
        let entered = semaphore.acquire_timeout(SHORT).unwrap().is_some();
        assert_eq!(entered, inherits != "inherits");
        signal(child, libc::SIGKILL);
        assert!(semaphore.acquire_timeout(LONG).unwrap().is_some());
    }
}

// The file.

#[test]
fn what_is_no_semaphore_is_refused_and_left_as_it_is() {
    let directory = Directory::new();
    let path = directory.file("file");
    let good = {
        drop(Semaphore::open(&path, 2).unwrap());
        fs::read(&path).unwrap()
    };
    let refused = |bytes: &[u8], why: &str| {
        fs::write(&path, bytes).unwrap();
        let error = Semaphore::open(&path, 2).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(error.contains(&format!("`{}`", path.display())), "{error}");
        assert!(Semaphore::existing(&path).is_err() && Semaphore::forget(&path).is_err());
        assert!(fs::read(&path).unwrap() == bytes, "nothing is changed");
    };
    refused(b"", "is too short");
    refused(b"precious", "is too short");
    refused(&[7; 100_000], "is something else");
    refused(&good[..good.len() - 1], "truncated");
    refused(&good[..4096], "truncated");
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    refused(&with(8, 0), "has format 0, and this program knows 1");
    refused(&with(8, 2), "has format 2, and this program knows 1");
    refused(&with(16, 5), "checksum");
    refused(&with(24, 9), "checksum");
    fs::write(&path, &good).unwrap();
    let error = Semaphore::open(&path, 3).unwrap_err().to_string();
    assert!(error.contains("lets 2 in at a time, not 3"), "{error}");
    drop(Semaphore::open(&path, 2).unwrap().acquire().unwrap());
    let error = Semaphore::open(&directory.0, 2).unwrap_err().to_string();
    assert!(error.contains("is a directory"), "{error}");
    assert!(Semaphore::open(&path, 0).is_err() && Semaphore::open_with(&path, 1, 2000).is_err());
    assert!(Semaphore::open("", 1).is_err() && Semaphore::open("..", 1).is_err());
}

#[test]
fn a_name_is_in_a_directory_of_the_users_own() {
    let name = format!("test-{}", process::id());
    let semaphore = Semaphore::open(&name, 1).unwrap();
    let directory = semaphore.path().parent().unwrap().to_owned();
    use std::os::unix::fs::MetadataExt;
    assert_eq!(fs::metadata(&directory).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(semaphore.path()).unwrap().mode() & 0o777, 0o600);
    drop(semaphore);
    Semaphore::forget(&name).unwrap();
    let link = directory.join(&name);
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    let error = Semaphore::open(&name, 1).unwrap_err().to_string();
    fs::remove_file(link).unwrap();
    assert!(error.contains("is a link"), "{error}");
}

#[test]
fn who_waits_goes_over_to_the_file_that_has_replaced_the_old_one() {
    let directory = Directory::new();
    let path = directory.file("replaced");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    let mut waiter = Player::start(&format!("hold|{}|1", path.display()));
    until(|| semaphore.waiters().len() == 1);
    fs::remove_file(&path).unwrap();
    let new = Semaphore::open(&path, 1).unwrap();
    let inside = new.acquire().unwrap(); // nobody can know of those inside the old one
    drop(permit);
    until(|| new.waiters().len() == 1);
    drop(inside);
    assert_eq!(waiter.line(), "inside");
    assert_eq!(new.holders().len(), 1);
    thread::sleep(Duration::from_millis(150));
    assert!(semaphore.acquire_timeout(SHORT).unwrap().is_none(), "this handle has gone over too");
}

/// Forgets what nobody uses. A test beside this one that starts a program has our files open in there too, between fork and exec.
fn forget(path: &Path) {
    let is_forgotten = |_| match Semaphore::forget(path) {
        Err(Error::InUse { .. }) => {
            thread::sleep(Duration::from_millis(1));
            false
        }
        result => result.is_ok(),
    };
    assert!((0..1000).any(is_forgotten));
}

#[test]
fn what_is_forgotten_is_not_in_use() {
    let directory = Directory::new();
    let path = directory.file("forget");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    Semaphore::forget(&path).unwrap(); // it is open, but nobody has been inside
    assert!(!path.exists());
    let permit = semaphore.acquire().unwrap();
    assert!(path.exists(), "who comes later makes it anew");
    assert!(matches!(Semaphore::forget(&path), Err(Error::InUse { .. })));
    drop(permit);
    assert!(matches!(Semaphore::forget(&path), Err(Error::InUse { .. })), "its slot is kept");
    drop(semaphore);
    forget(&path);
    assert!(matches!(Semaphore::forget(&path), Err(Error::Missing { .. })));
}

#[test]
fn a_full_disk_is_an_error_and_leaves_nothing() {
    let directory = Directory::new();
    let mounted = |arguments: &[&str]| Command::new("mount").args(arguments).stderr(Stdio::null()).status();
    let target = directory.0.to_str().unwrap();
    if !mounted(&["-t", "tmpfs", "-o", "size=32k", "none", target]).is_ok_and(|status| status.success()) {
        eprintln!("skipped: only root can mount a small disk");
        return;
    }
    let error = Semaphore::open(directory.file("full"), 1).map(drop);
    let left = fs::read_dir(&directory.0).unwrap().count();
    assert!(Command::new("umount").arg(target).status().unwrap().success());
    assert!(matches!(&error, Err(Error::Full { .. })), "{error:?}");
    assert_eq!(left, 0);
}

#[test]
fn whatever_a_file_at_rest_holds_it_is_refused_or_works() {
    let directory = Directory::new();
    let path = directory.file("fuzz");
    let mut random = Random(99);
    for round in 0..300 {
        if round % 50 == 0 {
            let _ = fs::remove_file(&path);
            drop(Semaphore::open_with(&path, 2, 5).unwrap());
        }
        let good = fs::read(&path).unwrap();
        damage(&path, &mut random, if round % 2 == 0 { 0..good.len() } else { 4096..good.len() });
        if let Ok(semaphore) = Semaphore::open(&path, 2) {
            let permits: Vec<_> = (0..2).map(|_| semaphore.acquire_timeout(LONG).unwrap().unwrap()).collect();
            assert_eq!(semaphore.holders().len(), 2);
            let other = Semaphore::open(&path, 2).unwrap();
            assert!(other.try_acquire().unwrap().is_none());
            assert!(other.acquire_timeout(Duration::from_millis(1)).unwrap().is_none());
            drop(permits);
        } else {
            fs::write(&path, good).unwrap();
        }
    }
}

/// How many are inside is anyone's guess then.
#[test]
fn whatever_happens_to_a_file_in_use_nothing_crashes_or_hangs() {
    let directory = Directory::new();
    let mut random = Random(5);
    for round in 0..60 {
        let path = directory.file(&format!("damaged{round}"));
        let (one, other) = (Semaphore::open_with(&path, 1, 4).unwrap(), Semaphore::open(&path, 1).unwrap());
        let permit = one.acquire().unwrap();
        for _ in 0..3 {
            damage(&path, &mut random, 4096..fs::metadata(&path).unwrap().len() as usize);
            let _ = other.acquire_timeout(Duration::from_millis(2));
            let _ = other.try_acquire();
            let _ = (other.holders(), other.waiters());
        }
        drop(permit);
        let _ = one.acquire_timeout(Duration::from_millis(2));
        drop((one, other));
        drop(Semaphore::open(&path, 1).unwrap().acquire_timeout(LONG).unwrap().unwrap());
    }
}

#[test]
fn a_ticket_that_was_never_drawn_is_an_error() {
    let directory = Directory::new();
    let path = directory.file("ticket");
    let (one, other) = (Semaphore::open(&path, 1).unwrap(), Semaphore::open(&path, 1).unwrap());
    let permit = one.acquire().unwrap();
    let bytes = fs::metadata(&path).unwrap().len();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    // The tickets are the first registers, of which there are 64 + 2 * 64 * 63, up to the end of a page.
    let first = bytes - (64 + 2 * 64 * 63_u64 * 8 + 64 * 7).next_multiple_of(4096);
    file.write_all_at(&u64::MAX.to_le_bytes(), first).unwrap();
    assert!(matches!(other.acquire_timeout(SHORT), Err(Error::Damaged { .. })));
    drop(permit);
    drop((one, other));
    assert!(Semaphore::open(&path, 1).unwrap().try_acquire().unwrap().is_some());
}

/// Replaces some bytes in this range.
fn damage(path: &Path, random: &mut Random, range: std::ops::Range<usize>) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    for _ in 0..1 + random.below(40) {
        let at = range.start + random.below(range.len() as u64 - 8) as usize;
        let word = match random.below(4) {
            0 => u64::MAX,
            1 => random.below(5),
            2 => 1 << random.below(64),
            _ => random.below(u64::MAX),
        };
        let at = if random.below(2) == 0 { at } else { at / 8 * 8 };
        file.write_all_at(&word.to_le_bytes(), at as u64).unwrap();
    }
}

// What the tests are made of.

/// So many processes visit at once, each with so many threads.
const PLACES: usize = 5;
const THREADS: usize = 2;

/// The numbers of a process' threads.
fn places(number: usize) -> std::ops::Range<usize> {
    number * THREADS..(number + 1) * THREADS
}

/// The flag of one who was killed.
const DEAD: u64 = 0;

/// What the processes of a test write for each other to see.
struct Board {
    entries: Reg<u64>,
    violations: Reg<u64>,
    flags: Vec<Reg<u64>>,
    visits: Vec<Reg<u64>>,
}

impl Board {
    fn plan() -> (Plan, Board) {
        let mut plan = Plan::new();
        let entries = plan.shared("entries", 0);
        let violations = plan.shared("violations", 0);
        let (flags, visits) = (plan.array("flag", PLACES * THREADS, 0), plan.array("visits", PLACES * THREADS, 0));
        (plan, Board { entries, violations, flags, visits })
    }

    fn create(path: &Path) -> (Board, Shared) {
        File::open_or_create(&Location::path(path), 1, 2, |_| Board::plan().0).unwrap();
        Board::open(path)
    }

    fn open(path: impl AsRef<Path>) -> (Board, Shared) {
        let file = File::open(&Location::path(path.as_ref()), &|_, _| Board::plan().0).unwrap();
        (Board::plan().1, file.memory(0))
    }
}

/// A process with a role.
struct Player {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Player {
    fn start(role: &str) -> Player {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "role", "--nocapture"]).env(ROLE, role);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Player { child, input, output }
    }

    /// What it says next.
    fn line(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it has ended without a word");
            // What comes before is the test harness'.
            if let Some((_, said)) = line.split_once('@') {
                return said.trim().to_owned();
            }
        }
    }

    /// Tells it to go on.
    fn tell(&mut self) {
        writeln!(self.input).unwrap();
    }

    fn signal(&self, signal: i32) {
        self::signal(self.child.id() as i32, signal);
    }

    fn ends_well(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[allow(unsafe_code, reason = "sends a signal")]
fn signal(pid: i32, signal: i32) {
    // SAFETY: it touches no memory; the pid is that of a process we have started and not waited for, or of a child of such a
    // one.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

fn say(line: &str) {
    println!("@{line}");
}

fn wait_for_line() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

fn until(holds: impl Fn() -> bool) {
    let late = Instant::now() + LONG;
    while !holds() {
        assert!(Instant::now() < late, "it does not happen");
        thread::sleep(Duration::from_micros(300));
    }
}

/// A directory for one test.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Directory {
        static DIRECTORIES: AtomicU64 = AtomicU64::new(0);
        let name = format!("doorway-processes-{}-{}", process::id(), DIRECTORIES.fetch_add(1, SeqCst));
        let path = env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Directory(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % end
    }
}
