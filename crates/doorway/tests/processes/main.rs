//! The process semaphore, with real processes that acquire, wait, abort, are stopped and are killed.
//!
//! A test runs this program again for every process it needs, with a role in its environment: see [`role`].
#![cfg(target_os = "linux")]
mod deaths;
mod file;
mod order;
mod support;
mod tasks;

use std::{
    env,
    path::Path,
    process::{self, Command},
    task::{Poll, Waker},
    thread,
    time::{Duration, Instant},
};

use doorway::process::{Error, Semaphore};
use doorway_memory::Memory;
use doorway_shm::Shared;

use support::{Board, DEAD, LONG, MAX_THREADS, ROLE, Random, say, threads_of, wait_for_line};

/// Not a test, but the entry point of the processes that the tests start.
#[test]
#[allow(clippy::zombie_processes, reason = "a child that outlives its parent is what is tested")]
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
        ["compete", path, k, board, number, threads] => {
            let semaphore = open(path, k);
            thread::scope(|scope| {
                for thread in threads_of(number.parse().unwrap(), threads.parse().unwrap()) {
                    let semaphore = &semaphore;
                    scope.spawn(move || compete(semaphore, board, thread));
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
        ["chdir", path, elsewhere] => {
            env::set_current_dir(Path::new(path).parent().unwrap()).unwrap();
            let name = format!("./{}", Path::new(path).file_name().unwrap().to_str().unwrap());
            let (one, other) = (open(&name, "1"), open(&name, "1"));
            let _permit = one.acquire().unwrap();
            env::set_current_dir(elsewhere).unwrap();
            thread::sleep(Duration::from_millis(150)); // after that a caller checks where the path leads
            say(if other.try_acquire().unwrap().is_none() { "excluded" } else { "entered" });
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
        ["fork-and-die", path] => fork_and_die(path),
        ["fork-await", path] => fork_while_awaiting(path),
        ["await", path, places] => {
            let semaphore = open(path, "1");
            let mut places: Vec<_> = (0..places.parse().unwrap()).map(|_| semaphore.acquire_async()).collect();
            assert!(places.iter_mut().all(|place| tasks::poll(place, Waker::noop()).is_pending()));
            say("waiting");
            wait_for_line();
        }
        _ => panic!("no role `{role}`"),
    }
    process::exit(0);
}

fn hold(semaphore: Semaphore) {
    let _permit = semaphore.acquire().unwrap();
    say("entered");
    wait_for_line();
}

/// Enters and leaves until it is killed.
///
/// A holder's flag is an odd number that is never used again. A thread that sees flags of k or more other holders
/// waits to find out whether those are alive: the flag of a live holder changes, and not to `DEAD`, which the killer
/// writes.
fn compete(semaphore: &Semaphore, board: &str, number: usize) {
    let (board, mut m) = Board::open(board);
    let mut random = Random(u64::from(process::id()) << 8 | number as u64);
    let mut passages = m.read(&board.passages[number]).unwrap();
    loop {
        let permit = match random.below(8) {
            0 => semaphore.try_acquire().unwrap(),
            1 => semaphore.acquire_timeout(Duration::from_micros(random.below(2000))).unwrap(),
            2 | 3 => Some(tasks::block_on(semaphore.acquire_async()).unwrap()),
            4 => match tasks::poll(&mut semaphore.acquire_async(), Waker::noop()) {
                Poll::Ready(permit) => Some(permit.unwrap()),
                Poll::Pending => None, // and the future is dropped
            },
            _ => Some(semaphore.acquire().unwrap()),
        };
        let Some(_permit) = permit else { continue };
        passages += 1;
        m.write(&board.passages[number], passages).unwrap();
        m.write(&board.flags[number], 2 * passages + 1).unwrap();
        m.fence().unwrap();
        let others: Vec<(usize, u64)> = (0..MAX_THREADS)
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
        m.write(&board.flags[number], 2 * passages).unwrap();
        m.fetch_add(&board.entries, 1).unwrap();
    }
}

/// A place of the parent is refused in the child, and stays that of the parent.
#[allow(unsafe_code, reason = "forks")]
fn fork_while_awaiting(path: &str) {
    let semaphore = Semaphore::open(path, 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    let mut place = semaphore.arrive().unwrap();
    assert!(tasks::poll(&mut place, Waker::noop()).is_pending());
    // SAFETY: the child has only this thread, and does nothing that needs another.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = |polled: Poll<Result<_, _>>| matches!(polled, Poll::Ready(Err(Error::Forked { .. })));
        let is_refused = refused(tasks::poll(&mut place, Waker::noop()))
            && refused(tasks::poll(&mut semaphore.acquire_async(), Waker::noop()))
            && matches!(semaphore.arrive(), Err(Error::Forked { .. }));
        drop(place);
        drop(permit);
        drop(semaphore);
        process::exit(if is_refused { 17 } else { 1 });
    }
    let mut status = 0;
    // SAFETY: `status` is a local integer, which the call fills in; the call keeps no pointer to it.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    say(if libc::WEXITSTATUS(status) == 17 { "refused" } else { "not refused" });
    assert_eq!((semaphore.holders().len(), semaphore.waiters().len()), (1, 1));
    drop(permit);
    drop(tasks::block_on(place).unwrap());
}

#[allow(unsafe_code, reason = "forks")]
fn fork(path: &str) {
    let semaphore = Semaphore::open(path, 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    // SAFETY: the child has only this thread, and does nothing that needs another.
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
    // SAFETY: the pid is that of a child of this process, and the status is a local variable.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(libc::WEXITSTATUS(status), 17);
    assert_eq!(semaphore.holders().len(), 1);
    drop(permit);
    assert!(semaphore.holders().is_empty());
    assert!(semaphore.try_acquire().unwrap().is_some());
    say("passed");
}

/// Both processes open the file after the fork, and the child dies as a holder.
#[allow(unsafe_code, reason = "forks")]
fn fork_and_die(path: &str) {
    drop(Semaphore::open(path, 1).unwrap()); // creates the file, with a random number
    // SAFETY: the child has only this thread, and does nothing that needs another.
    let child = unsafe { libc::fork() };
    let semaphore = Semaphore::open(path, 1).unwrap();
    if child == 0 {
        std::mem::forget(semaphore.acquire().unwrap());
        process::abort();
    }
    // SAFETY: the pid is that of a child of this process, and no status is asked for.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    assert!(semaphore.acquire_timeout(LONG).unwrap().is_some());
    say("passed");
}
