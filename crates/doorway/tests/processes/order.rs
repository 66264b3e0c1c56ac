//! Exclusion, order, aborts and slots.
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Barrier,
        atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Instant,
};

use doorway::process::{Error, Interrupter, Permit, Semaphore, Waiter};
use doorway_memory::Memory;

use crate::support::{Board, Directory, LONG, SHORT, TestProcess, until};

#[test]
fn semaphores_and_permits_are_send_and_sync() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Semaphore>();
    sync::<Semaphore>();
    send::<Permit<'_>>();
    sync::<Permit<'_>>();
    send::<Waiter<'_>>();
    send::<Interrupter>();
    send::<Error>();
}

/// Another thread waits in many short waits, some of which are interrupted, while later callers arrive and leave.
#[test]
fn a_place_keeps_its_position_when_a_wait_ends_early() {
    let directory = Directory::new();
    let semaphore = Semaphore::open(directory.file("place"), 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    let mut place = semaphore.line_up().unwrap();
    let interrupter = place.interrupter();
    let later = semaphore.line_up().unwrap();
    let (waits, is_over) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            loop {
                place = match place.wait_deadline(Some(Instant::now() + SHORT)).unwrap() {
                    Ok(permit) => {
                        assert_eq!(is_over.load(SeqCst), 1, "the permit was another caller's until then");
                        return permit;
                    }
                    Err(place) => place,
                };
                waits.fetch_add(1, SeqCst);
            }
        });
        until(|| waits.load(SeqCst) >= 3);
        drop(semaphore.line_up().unwrap());
        assert_eq!(semaphore.waiters().len(), 2, "a place that is dropped leaves the queue");
        let before = waits.load(SeqCst);
        until(|| {
            interrupter.interrupt();
            waits.load(SeqCst) >= before + 20
        });
        is_over.store(1, SeqCst);
        drop(permit);
        let _permit = waiter.join().unwrap();
        assert_eq!(semaphore.waiters().len(), 1, "the later place waits still");
    });
    drop(later.wait().unwrap());
    assert!(semaphore.holders().is_empty() && semaphore.waiters().is_empty());
}

#[test]
fn a_place_that_was_admitted_and_dropped_admits_the_next() {
    let directory = Directory::new();
    let semaphore = Semaphore::open(directory.file("admitted"), 1).unwrap();
    let (first, second) = (semaphore.line_up().unwrap(), semaphore.line_up().unwrap());
    assert!(first.is_admitted() && !second.is_admitted());
    drop(first);
    drop(second.wait().unwrap());
    assert!(semaphore.try_acquire().unwrap().is_some());
}

#[test]
fn threads_of_one_process_exclude_each_other() {
    let directory = Directory::new();
    for k in [1, 2] {
        let semaphore = Semaphore::open(directory.file(&format!("threads{k}")), k).unwrap();
        let (holders, entries) = (AtomicUsize::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..5 {
                scope.spawn(|| {
                    for _ in 0..400 {
                        let _permit = semaphore.acquire().unwrap();
                        assert!(holders.fetch_add(1, SeqCst) < k);
                        entries.fetch_add(1, SeqCst);
                        holders.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(entries.into_inner(), 2000);
    }
}

#[test]
fn two_handles_of_one_process_exclude_each_other() {
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
    let children: Vec<TestProcess> = (0..4).map(|_| TestProcess::start(&text)).collect();
    children.into_iter().for_each(TestProcess::succeeds);
    assert_eq!(m.read(&registers.entries), Ok(4 * TIMES));
}

#[test]
fn waiters_enter_in_order_of_arrival() {
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
                waiters.push(TestProcess::start(&text));
                until(|| semaphore.waiters().len() == number);
            }
            let pids: Vec<u32> = waiters.iter().map(|waiter| waiter.child.id()).collect();
            assert_eq!(semaphore.waiters().iter().map(|waiter| waiter.pid).collect::<Vec<u32>>(), pids);
            assert!(semaphore.waiters().iter().all(|waiter| waiter.alive && waiter.what.contains("role")));
            permits.pop(); // frees one permit, which the waiters take in turn
            waiters.into_iter().for_each(TestProcess::succeeds);
            let entered: Vec<u64> = (0..6).map(|at| m.read(&registers.flags[at]).unwrap()).collect();
            assert_eq!(entered, [1, 2, 3, 4, 5, 6]);
        }
    }
}

#[test]
fn an_abort_does_not_block_the_queue() {
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
    assert!(semaphore.acquire_deadline(Instant::now()).unwrap().is_some(), "an uncontended call does not time out");
}

#[test]
fn concurrent_attempts_fill_the_capacity() {
    let directory = Directory::new();
    for k in [1, 2] {
        let path = directory.file(&format!("try{k}"));
        let handles: Vec<Semaphore> = (0..3).map(|_| Semaphore::open(&path, k).unwrap()).collect();
        for _ in 0..200 {
            let start = Barrier::new(handles.len());
            let end = Barrier::new(handles.len());
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
fn a_panic_of_the_holder_releases_the_permit() {
    let directory = Directory::new();
    let semaphore = Semaphore::open(directory.file("panic"), 1).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _permit = semaphore.acquire().unwrap();
        panic!("in the critical section");
    }));
    assert!(panicked.is_err());
    assert!(semaphore.try_acquire().unwrap().is_some());
}

#[test]
fn callers_wait_for_a_slot_if_none_is_free() {
    const MAX_K: usize = 2047;
    let directory = Directory::new();
    let path = directory.file("slots");
    let semaphore = Semaphore::open(&path, MAX_K).unwrap();
    let mut permits: Vec<Permit<'_>> = (0..MAX_K).map(|_| semaphore.acquire().unwrap()).collect();
    let mut indices: Vec<usize> = permits.iter().map(Permit::index).collect();
    indices.sort_unstable();
    assert!(indices.into_iter().eq(0..MAX_K));
    let other = Semaphore::open(&path, MAX_K).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| drop(other.acquire().unwrap()));
        until(|| semaphore.waiters().len() == 1); // in the last slot
        assert!(semaphore.acquire_timeout(SHORT).unwrap().is_none());
        assert!(semaphore.try_acquire().unwrap().is_none());
        let late = scope.spawn(|| drop(semaphore.acquire().unwrap()));
        drop(permits.pop());
        waiter.join().unwrap();
        late.join().unwrap();
    });
}

/// A handle that is not in use costs no slot.
#[test]
fn more_idle_handles_than_slots_do_not_block_a_caller() {
    let directory = Directory::new();
    let path = directory.file("idle");
    let handles: Vec<Semaphore> = (0..100).map(|_| Semaphore::open(&path, 1).unwrap()).collect();
    handles.iter().for_each(|handle| drop(handle.acquire().unwrap()));
    let file = std::fs::metadata(&path).unwrap().len();
    assert!(file < 100_000, "all used one slot, and the file has room for few: {file} bytes");
    assert!(Semaphore::open(&path, 1).unwrap().try_acquire().unwrap().is_some());
}

#[test]
fn a_change_of_the_capacity_lets_waiters_in_or_keeps_them_out() {
    let directory = Directory::new();
    let semaphore = Semaphore::open(directory.file("resize"), 1).unwrap();
    let other = Semaphore::existing(semaphore.path()).unwrap();
    let permit = semaphore.acquire().unwrap();
    thread::scope(|scope| {
        let waiters = [(); 2].map(|()| scope.spawn(|| semaphore.acquire().unwrap()));
        until(|| semaphore.waiters().len() == 2);
        assert_eq!(other.resize(3).unwrap(), 3, "both waiters are holders now");
        let [first, second] = waiters.map(|waiter| waiter.join().unwrap());
        let mut indices = [permit.index(), first.index(), second.index()];
        indices.sort_unstable();
        assert_eq!(indices, [0, 1, 2]);
        assert_eq!((semaphore.resize(2).unwrap(), other.k()), (3, 2));
        drop(permit);
        assert!(other.try_acquire().unwrap().is_none(), "there are still two holders");
        drop(first);
        let third = other.try_acquire().unwrap().unwrap();
        assert!(third.index() < 2, "an index is below the capacity of the moment");
    });
    assert!(semaphore.resize(0).is_err() && semaphore.resize(2048).is_err());
}
