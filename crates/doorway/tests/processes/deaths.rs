//! Processes that are killed, stopped or forked.
use std::{
    fs,
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use doorway::process::Semaphore;
use doorway_memory::Memory;

use crate::support::{Board, DEAD, Directory, LONG, Random, SHORT, TestProcess, signal, threads_of, until};

#[test]
fn the_next_waiter_reaps_a_dead_holder() {
    let directory = Directory::new();
    let path = directory.file("kill");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    for _ in 0..5 {
        let mut holder = TestProcess::start(&format!("hold|{}|1", path.display()));
        assert_eq!(holder.line(), "entered");
        let mut waiter = TestProcess::start(&format!("hold|{}|1", path.display()));
        until(|| semaphore.waiters().len() == 1);
        holder.child.kill().unwrap();
        assert_eq!(waiter.line(), "entered");
        waiter.child.kill().unwrap();
        waiter.child.wait().unwrap();
        assert!(!semaphore.holders()[0].alive);
        assert!(semaphore.try_acquire().unwrap().is_some(), "`try_acquire` reaps dead holders too");
    }
}

/// Only root may choose the next pid; for other users this test ends at once, with a message.
#[test]
fn a_reused_pid_is_not_taken_for_the_dead_process() {
    let directory = Directory::new();
    let path = directory.file("reuse");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let mut holder = TestProcess::start(&format!("hold|{}|1", path.display()));
    assert_eq!(holder.line(), "entered");
    let pid = holder.child.id();
    holder.child.kill().unwrap();
    holder.child.wait().unwrap();
    let Some(mut other) = start_with_pid(pid) else {
        eprintln!("not tested: `/proc/sys/kernel/ns_last_pid` cannot be written");
        return;
    };
    let seen = &semaphore.holders()[0];
    assert_eq!((seen.pid, seen.alive), (pid, false));
    let mut waiter = TestProcess::start(&format!("hold|{}|1", path.display()));
    assert_eq!(waiter.line(), "entered");
    assert!(other.try_wait().unwrap().is_none(), "the process with the reused pid was alive all the time");
    other.kill().unwrap();
    other.wait().unwrap();
}

/// Starts a sleeping process with this pid, which must be free; `None` if this user may not choose pids.
fn start_with_pid(pid: u32) -> Option<Child> {
    for _ in 0..1000 {
        fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).ok()?;
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        if child.id() == pid {
            return Some(child);
        }
        // Another process took the pid.
        child.kill().unwrap();
        child.wait().unwrap();
    }
    panic!("other processes took the pid a thousand times");
}

#[test]
fn dead_waiters_do_not_block_the_queue() {
    let directory = Directory::new();
    let path = directory.file("kill");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    let mut waiters: Vec<TestProcess> = (1..=4)
        .map(|count| {
            let waiter = TestProcess::start(&format!("hold|{}|1", path.display()));
            until(|| semaphore.waiters().len() == count);
            waiter
        })
        .collect();
    for dead in [0, 2] {
        waiters[dead].child.kill().unwrap();
        waiters[dead].child.wait().unwrap();
    }
    drop(permit);
    for alive in [1, 3] {
        assert_eq!(waiters[alive].line(), "entered");
        waiters[alive].resume();
    }
    assert!(semaphore.acquire_timeout(LONG).unwrap().is_some());
}

#[test]
fn a_row_of_dead_processes_is_reaped_at_once() {
    let directory = Directory::new();
    let path = directory.file("row");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let processes: Vec<TestProcess> = (1..=6)
        .map(|count| {
            let process = TestProcess::start(&format!("hold|{}|1", path.display()));
            until(|| semaphore.holders().len() + semaphore.waiters().len() == count);
            process
        })
        .collect();
    drop(processes); // kills them
    assert!(semaphore.try_acquire().unwrap().is_some());
    assert!(semaphore.waiters().is_empty());
}

#[test]
fn kills_at_random_moments_break_neither_exclusion_nor_capacity() {
    kill_at_random(150, 5, 2);
}

#[test]
#[ignore = "10,000 kills: 2 minutes"]
fn ten_thousand_kills_of_sixteen_processes_break_nothing() {
    kill_at_random(5_000, 16, 2);
}

#[test]
#[ignore = "2,000 kills: 2 minutes"]
fn two_thousand_kills_among_two_hundred_waiters_break_nothing() {
    kill_at_random(1_000, 50, 4);
}

/// Kills this many processes for k = 1, and again for k = 2, among `count` processes with `threads` threads each.
fn kill_at_random(kills: usize, count: usize, threads: usize) {
    let directory = Directory::new();
    for k in [1, 2] {
        let (path, board) = (directory.file(&format!("kills{k}")), directory.file(&format!("board{k}")));
        let (registers, mut m) = Board::create(&board);
        let text = |number: usize| format!("compete|{}|{k}|{}|{number}|{threads}", path.display(), board.display());
        let mut processes: Vec<TestProcess> = (0..count).map(|number| TestProcess::start(&text(number))).collect();
        let mut random = Random(4711 + k as u64);
        for kill in 0..kills {
            // The others must have entered again since the last kill, so that the next victim can be in any section.
            let before = m.read(&registers.entries).unwrap();
            let mut seen = before;
            let late = Instant::now() + LONG;
            while seen < before + 3 {
                seen = m.read(&registers.entries).unwrap();
                assert!(Instant::now() < late, "no process enters any more, after {kill} kills");
                thread::sleep(Duration::from_micros(random.below(700)));
            }
            let number = random.below(count as u64) as usize;
            processes[number].child.kill().unwrap();
            processes[number].child.wait().unwrap();
            threads_of(number, threads).for_each(|thread| m.write(&registers.flags[thread], DEAD).unwrap());
            processes[number] = TestProcess::start(&text(number));
        }
        for (number, process) in processes.iter_mut().enumerate() {
            process.child.kill().unwrap();
            process.child.wait().unwrap();
            threads_of(number, threads).for_each(|thread| m.write(&registers.flags[thread], DEAD).unwrap());
        }
        assert_eq!(m.read(&registers.violations), Ok(0), "k = {k}");
        let semaphore = Semaphore::open(&path, k).unwrap();
        let permits: Vec<_> = (0..k).map(|_| semaphore.acquire_timeout(LONG).unwrap().unwrap()).collect();
        assert!(semaphore.try_acquire().unwrap().is_none());
        drop(permits);
    }
}

#[test]
fn a_stopped_process_keeps_its_permit_or_position() {
    let directory = Directory::new();
    let path = directory.file("stop");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let mut holder = TestProcess::start(&format!("hold|{}|1", path.display()));
    assert_eq!(holder.line(), "entered");
    holder.signal(libc::SIGSTOP);
    assert!(semaphore.acquire_timeout(SHORT).unwrap().is_none());
    let mut waiter = TestProcess::start(&format!("hold|{}|1", path.display()));
    until(|| semaphore.waiters().len() == 1);
    waiter.signal(libc::SIGSTOP);
    holder.signal(libc::SIGCONT);
    holder.resume();
    assert!(semaphore.acquire_timeout(SHORT).unwrap().is_none(), "it is the stopped waiter's turn");
    waiter.signal(libc::SIGCONT);
    assert_eq!(waiter.line(), "entered");
    waiter.signal(libc::SIGSTOP);
    assert!(semaphore.try_acquire().unwrap().is_none());
    waiter.child.kill().unwrap();
    assert!(semaphore.acquire_timeout(LONG).unwrap().is_some());
}

#[test]
fn a_forked_child_has_no_permit_of_its_parent() {
    let directory = Directory::new();
    let mut process = TestProcess::start(&format!("fork|{}", directory.file("fork").display()));
    assert_eq!(process.line(), "passed");
}

/// A child has its parent's state of random numbers: with these alone it would choose the same life.
#[test]
fn a_dead_child_is_told_apart_from_the_process_that_forked_it() {
    let directory = Directory::new();
    let mut process = TestProcess::start(&format!("fork-and-die|{}", directory.file("fork").display()));
    assert_eq!(process.line(), "passed");
}

#[test]
fn only_a_child_that_inherits_the_descriptor_keeps_the_permit() {
    let directory = Directory::new();
    for inherits in ["inherits", "does not"] {
        let path = directory.file(inherits);
        let mut parent = TestProcess::start(&format!("parent|{}|{inherits}", path.display()));
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
