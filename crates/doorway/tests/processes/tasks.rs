//! Tasks that await a semaphore for processes, beside threads and other processes.
use std::{
    fs,
    future::Future,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use doorway::process::{Error, Permit, Place, Semaphore};

use crate::support::{Directory, LONG, SHORT, TestProcess, forget, until};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let (mut future, waker) = (pin!(future), Waker::from(Arc::new(Unpark(thread::current()))));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

/// A waker that counts its calls.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl Bell {
    fn new() -> (Arc<Bell>, Waker) {
        let bell = Arc::new(Bell::default());
        (bell.clone(), bell.into())
    }

    fn rings(&self) -> usize {
        self.0.load(SeqCst)
    }
}

pub(crate) fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap()
}

/// The number of threads of this process that wait for tasks.
fn attendants() -> usize {
    let names = fs::read_dir("/proc/self/task").unwrap().flatten().map(|thread| thread.path().join("comm"));
    names.filter(|path| fs::read_to_string(path).is_ok_and(|name| name.trim() == "doorway-attenda")).count()
}

#[test]
fn places_are_send_and_movable() {
    fn send<T: Send + Unpin>() {}
    send::<Place<'_>>();
}

#[test]
fn an_uncontended_future_is_ready_at_once() {
    let directory = Directory::new();
    let semaphore = Semaphore::open(directory.file("free"), 2).unwrap();
    let mut futures = [semaphore.acquire_async(), semaphore.acquire_async(), semaphore.acquire_async()];
    let [one, two, three] = futures.each_mut().map(|future| poll(future, Waker::noop()));
    let (Poll::Ready(Ok(one)), Poll::Ready(Ok(two))) = (one, two) else { panic!("there is capacity") };
    assert_eq!((one.index(), two.index()), (0, 1));
    assert!(three.is_pending());
    assert_eq!((semaphore.holders().len(), semaphore.waiters().len()), (2, 1));
    drop(futures);
    assert_eq!((semaphore.holders().len(), semaphore.waiters().len()), (2, 0));
}

#[test]
fn threads_tasks_and_processes_enter_in_one_order() {
    let directory = Directory::new();
    let path = directory.file("order");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    let order = Mutex::new(Vec::new());
    let mut places: Vec<_> = (0..4).map(|_| semaphore.arrive().unwrap()).collect();
    let mut other = TestProcess::start(&format!("hold|{}|1", path.display()));
    until(|| semaphore.waiters().len() == 5);
    places.extend((5..8).map(|_| semaphore.arrive().unwrap()));
    assert_eq!(places.iter().map(|place| place.ahead().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 6, 7, 8]);
    thread::scope(|scope| {
        for (i, place) in places.into_iter().enumerate().rev() {
            let order = &order;
            scope.spawn(move || {
                let _permit = if i % 2 == 0 { block_on(place).unwrap() } else { place.wait().unwrap() };
                order.lock().unwrap().push(i);
            });
        }
        thread::sleep(Duration::from_millis(20)); // so that they wait
        drop(permit);
        assert_eq!(other.line(), "entered");
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3]);
        other.resume();
    });
    assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn hundreds_of_tasks_need_one_thread() {
    const TASKS: usize = 600;
    let directory = Directory::new();
    let semaphore = Arc::new(Semaphore::open(directory.file("many"), 3).unwrap());
    let (runtime, holders) = (runtime(), Arc::new(AtomicUsize::new(0)));
    let before = attendants();
    let all = [(); 3].map(|()| semaphore.acquire().unwrap());
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (semaphore, holders) = (semaphore.clone(), holders.clone());
            runtime.spawn(async move {
                let _permit = semaphore.acquire_async().await.unwrap();
                assert!(holders.fetch_add(1, SeqCst) < 3);
                tokio::task::yield_now().await;
                holders.fetch_sub(1, SeqCst);
            })
        })
        .collect();
    until(|| semaphore.waiters().len() == TASKS);
    // Other tests of this process may have theirs.
    assert!(attendants() <= before + 8, "{} threads for {TASKS} tasks", attendants() - before);
    drop(all);
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert!(semaphore.holders().is_empty() && semaphore.waiters().is_empty());
}

/// A release by another process wakes tasks in order, and each only when it is a holder.
#[test]
fn a_release_by_another_process_wakes_the_first_task() {
    let directory = Directory::new();
    let path = directory.file("other");
    let mut other = TestProcess::start(&format!("hold|{}|1", path.display()));
    assert_eq!(other.line(), "entered");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let (mut first, mut second) = (semaphore.acquire_async(), semaphore.acquire_async());
    let ((one, first_waker), (two, second_waker)) = (Bell::new(), Bell::new());
    assert!(poll(&mut first, &first_waker).is_pending() && poll(&mut second, &second_waker).is_pending());
    thread::sleep(SHORT);
    assert_eq!((one.rings(), two.rings()), (0, 0));
    other.resume();
    other.succeeds();
    until(|| one.rings() == 1);
    assert_eq!(two.rings(), 0);
    let Poll::Ready(Ok(permit)) = poll(&mut first, &first_waker) else { panic!("it was woken") };
    drop(permit);
    until(|| two.rings() == 1);
    assert!(poll(&mut second, &second_waker).is_ready());
}

#[test]
fn a_cancelled_task_does_not_keep_its_turn() {
    let directory = Directory::new();
    let semaphore = Semaphore::open(directory.file("cancel"), 1).unwrap();
    for is_granted in [false, true] {
        for cancelled in 0..3 {
            let permit = semaphore.acquire().unwrap();
            let mut waiting: Vec<_> = (0..3).map(|_| Some((semaphore.acquire_async(), Bell::new()))).collect();
            for (future, (_, waker)) in waiting.iter_mut().flatten() {
                assert!(poll(future, waker).is_pending());
            }
            if is_granted && cancelled == 0 {
                drop(permit);
                until(|| waiting[0].as_ref().unwrap().1.0.rings() == 1);
                waiting[0] = None; // a holder that does not know it yet
            } else {
                waiting[cancelled] = None;
                assert_eq!(semaphore.waiters().len(), 2, "dropping the future takes effect at once");
                drop(permit);
            }
            for (future, (bell, waker)) in waiting.iter_mut().flatten() {
                until(|| bell.rings() == 1);
                let Poll::Ready(Ok(permit)) = poll(future, waker) else { panic!("it was woken") };
                assert_eq!(permit.index(), 0);
            }
            assert!(semaphore.holders().is_empty() && semaphore.waiters().is_empty());
        }
    }
}

#[test]
fn the_latest_waker_is_called() {
    let directory = Directory::new();
    let semaphore = Semaphore::open(directory.file("wakers"), 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    let mut future = semaphore.acquire_async();
    let ((old, old_waker), (new, new_waker)) = (Bell::new(), Bell::new());
    assert!(poll(&mut future, &old_waker).is_pending() && poll(&mut future, &new_waker).is_pending());
    assert_eq!((Arc::strong_count(&old), Arc::strong_count(&new)), (2, 3));
    drop(permit);
    until(|| new.rings() == 1);
    assert_eq!(old.rings(), 0);
    assert!(poll(&mut future, &new_waker).is_ready());
}

#[test]
#[should_panic(expected = "the place was used")]
fn a_future_that_was_ready_panics_when_polled_again() {
    let directory = Directory::new();
    let semaphore = Semaphore::open(directory.file("again"), 1).unwrap();
    let mut future = semaphore.acquire_async();
    assert!(poll(&mut future, Waker::noop()).is_ready());
    let _ = poll(&mut future, Waker::noop());
}

#[test]
fn a_place_that_was_polled_can_be_waited_for() {
    let directory = Directory::new();
    let semaphore = Semaphore::open(directory.file("both"), 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    let (mut first, mut second) = (semaphore.arrive().unwrap(), semaphore.arrive().unwrap());
    assert!(poll(&mut first, Waker::noop()).is_pending() && poll(&mut second, Waker::noop()).is_pending());
    assert!(first.wait_timeout(SHORT).unwrap().is_none());
    drop(permit);
    drop(second.wait().unwrap());
    assert!(semaphore.holders().is_empty());
}

/// A task waits for a holder that is killed.
#[test]
fn a_task_enters_after_the_holder_was_killed() {
    let directory = Directory::new();
    let path = directory.file("killed");
    let mut other = TestProcess::start(&format!("hold|{}|1", path.display()));
    assert_eq!(other.line(), "entered");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let runtime = runtime();
    runtime.block_on(async {
        let mut place = semaphore.arrive().unwrap();
        assert!(tokio::time::timeout(SHORT, &mut place).await.is_err());
        other.child.kill().unwrap();
        other.child.wait().unwrap();
        let permit = tokio::time::timeout(LONG, place).await.expect("the dead holder is reaped").unwrap();
        assert_eq!(permit.index(), 0);
    });
}

/// The first two waiters are places that nobody awaits: the dead holder is reaped all the same.
#[test]
fn places_that_are_not_awaited_notice_deaths() {
    let directory = Directory::new();
    let path = directory.file("idle");
    let mut other = TestProcess::start(&format!("hold|{}|1", path.display()));
    assert_eq!(other.line(), "entered");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let idle = (semaphore.arrive().unwrap(), semaphore.arrive().unwrap());
    other.child.kill().unwrap();
    other.child.wait().unwrap();
    until(|| semaphore.holders().iter().all(|holder| holder.pid == std::process::id()));
    assert_eq!((semaphore.holders().len(), semaphore.waiters().len()), (1, 1));
    drop(idle);
}

/// A process with a hundred waiting tasks is killed, one of them a holder.
#[test]
fn a_process_of_tasks_that_is_killed_leaves_nothing() {
    let directory = Directory::new();
    let path = directory.file("tasks");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    let mut other = TestProcess::start(&format!("await|{}|100", path.display()));
    assert_eq!(other.line(), "waiting");
    assert_eq!(semaphore.waiters().len(), 100);
    let own = semaphore.arrive().unwrap();
    drop(permit);
    until(|| semaphore.holders().first().is_some_and(|holder| holder.pid == other.child.id()));
    other.child.kill().unwrap();
    other.child.wait().unwrap();
    drop(own.wait().unwrap());
    assert!(semaphore.holders().is_empty() && semaphore.waiters().is_empty());
}

#[test]
fn timeouts_lose_no_permit() {
    let directory = Directory::new();
    let semaphore = Arc::new(Semaphore::open(directory.file("timeouts"), 2).unwrap());
    let runtime = runtime();
    let entered: usize = runtime.block_on(async {
        let tasks: Vec<_> = (0..60_u64)
            .map(|i| {
                let semaphore = semaphore.clone();
                tokio::spawn(async move {
                    let mut entered = 0;
                    for j in 0..20 {
                        let time = Duration::from_micros((i * 37 + j * 101) % 2_000);
                        if let Ok(permit) = tokio::time::timeout(time, semaphore.acquire_async()).await {
                            assert!(permit.unwrap().index() < 2);
                            entered += 1;
                        }
                    }
                    entered
                })
            })
            .collect();
        let mut entered = 0;
        for task in tasks {
            entered += task.await.unwrap();
        }
        entered
    });
    assert!(entered > 0);
    assert!(semaphore.holders().is_empty() && semaphore.waiters().is_empty());
    let _both = (semaphore.try_acquire().unwrap().unwrap(), semaphore.try_acquire().unwrap().unwrap());
}

/// The thread that waits for tasks does not keep the file open.
#[test]
fn a_semaphore_can_be_forgotten_after_tasks_have_waited() {
    let directory = Directory::new();
    for i in 0..50 {
        let path = directory.file("forget");
        let semaphore = Semaphore::open(&path, 1).unwrap();
        let permit = semaphore.acquire().unwrap();
        let mut place = semaphore.arrive().unwrap();
        assert!(poll(&mut place, Waker::noop()).is_pending());
        if i % 2 == 0 {
            drop(permit);
            drop(block_on(place).unwrap());
        } else {
            drop((place, permit));
        }
        drop(semaphore);
        forget(&path);
    }
}

/// An executor that polls in the call of the waker: the thread that waits for tasks drops the semaphore itself.
#[test]
fn a_task_may_drop_the_semaphore_in_its_waker() {
    type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
    struct Inline(Mutex<Option<Task>>);
    impl Wake for Inline {
        fn wake(self: Arc<Self>) {
            let mut task = self.0.lock().unwrap();
            let polled = task.as_mut().map(|task| poll(task, &self.clone().into()));
            if polled.is_some_and(|polled| polled.is_ready()) {
                *task = None;
            }
        }
    }
    let directory = Directory::new();
    let path = directory.file("inline");
    let mut other = TestProcess::start(&format!("hold|{}|1", path.display()));
    assert_eq!(other.line(), "entered");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let task: Task = Box::pin(async move { drop(semaphore.acquire_async().await.unwrap()) });
    let task = Arc::new(Inline(Mutex::new(Some(task))));
    task.clone().wake();
    assert!(task.0.lock().unwrap().is_some());
    other.resume();
    other.succeeds();
    until(|| task.0.lock().unwrap().is_none());
    forget(&path);
}

/// If the file is replaced while a task waits, the task competes in the new one.
#[test]
fn a_task_moves_to_a_new_file() {
    let directory = Directory::new();
    let path = directory.file("moved");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    let mut place = semaphore.arrive().unwrap();
    assert!(poll(&mut place, Waker::noop()).is_pending());
    fs::remove_file(&path).unwrap();
    let new = Semaphore::open(&path, 1).unwrap();
    let newer: Permit<'_> = new.acquire().unwrap();
    drop(permit);
    let ((bell, waker), late) = (Bell::new(), std::time::Instant::now() + LONG);
    while new.waiters().is_empty() {
        assert!(std::time::Instant::now() < late && poll(&mut place, &waker).is_pending());
    }
    drop(newer);
    until(|| bell.rings() > 0);
    drop(block_on(place).unwrap());
}

/// More tasks than slots: further ones wait for a slot, without a thread of their own, and enter too.
#[test]
fn tasks_without_a_slot_try_again() {
    let directory = Directory::new();
    let semaphore = Semaphore::open(directory.file("full"), 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    let mut places = Vec::new();
    let (bell, waker) = Bell::new();
    let mut late = semaphore.acquire_async();
    loop {
        let place = semaphore.arrive().unwrap();
        if format!("{place:?}").contains("None") {
            break;
        }
        places.push(place);
    }
    assert_eq!(places.len(), 2047);
    assert!(poll(&mut late, &waker).is_pending());
    until(|| bell.rings() >= 1);
    assert!(poll(&mut late, &waker).is_pending());
    drop(permit);
    drop(places);
    assert!(block_on(late).is_ok());
}

#[test]
fn errors_are_those_of_blocking_callers() {
    let directory = Directory::new();
    let path = directory.file("look");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let look = Semaphore::look(&path).unwrap();
    assert!(block_on(look.acquire_async()).is_err() && look.arrive().is_err());
    let mut forked = TestProcess::start(&format!("fork-await|{}", path.display()));
    assert_eq!(forked.line(), "refused");
    forked.succeeds();
    assert!(semaphore.holders().is_empty() && semaphore.waiters().is_empty());
    let _: Option<Error> = None;
}
