//! The locks with tasks that await, abort and panic, beside threads that block.
#![cfg(not(shuttle))]

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use doorway::{Entering, Mutex, MutexGuard, Permit, Place, Semaphore};

/// A waker that counts its calls.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Bell {
    fn new() -> (Arc<Bell>, Waker) {
        let bell = Arc::new(Bell::default());
        (bell.clone(), bell.into())
    }

    fn rings(&self) -> usize {
        self.0.load(SeqCst)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// Polls with a waker that does nothing.
fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll(future, Waker::noop())
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// An executor in a few lines: the locks depend on no runtime.
fn block_on<F: Future>(future: F) -> F::Output {
    let (mut future, waker) = (pin!(future), Waker::from(Arc::new(Unpark(thread::current()))));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap()
}

#[test]
fn futures_are_send_and_movable() {
    fn send<T: Send + Unpin>() {}
    send::<Entering<MutexGuard<'_, u8>>>();
    send::<Entering<Permit<'_>>>();
    send::<Place<MutexGuard<'_, u8>>>();
    send::<Place<Permit<'_>>>();
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_future_has_four_words() {
    assert_eq!([size_of::<Entering<MutexGuard<'_, u8>>>(), size_of::<Place<Permit<'_>>>()], [32; 2]);
}

#[test]
fn no_runtime_is_needed() {
    let count = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                block_on(async {
                    for _ in 0..2_000 {
                        *count.lock_async().await += 1
                    }
                })
            });
        }
    });
    assert_eq!(count.into_inner(), 8_000);
}

#[test]
fn an_uncontended_future_is_ready_at_once() {
    let (lock, printers) = (Mutex::new(1), Semaphore::new(2));
    let (bell, waker) = Bell::new();
    assert!(matches!(poll(&mut lock.lock_async(), &waker), Poll::Ready(guard) if *guard == 1));
    let both = [(); 2].map(|()| poll(&mut printers.acquire_async(), &waker));
    assert!(both.iter().all(Poll::is_ready));
    assert!(poll(&mut printers.acquire_async(), &waker).is_pending());
    assert_eq!((bell.rings(), Arc::strong_count(&bell)), (0, 2), "no waker was kept");
}

#[test]
fn a_future_joins_the_queue_when_first_polled_and_a_place_at_once() {
    let lock = Mutex::new(());
    let guard = lock.lock();
    let mut lazy = lock.lock_async();
    let (first, second) = (lock.arrive(), lock.arrive());
    assert_eq!((first.ahead(), second.ahead()), (1, 2));
    assert!(poll_once(&mut lazy).is_pending());
    drop((guard, first, second));
    assert!(poll_once(&mut lazy).is_ready());
}

/// Threads and tasks arrive alternately, and begin to wait in reverse order.
#[test]
fn threads_and_tasks_enter_in_one_order() {
    let order = Mutex::new(Vec::new());
    let guard = order.lock();
    let places: Vec<_> = (0..12).map(|i| (i, order.arrive())).collect();
    thread::scope(|scope| {
        for (i, place) in places.into_iter().rev() {
            scope.spawn(move || if i % 2 == 0 { place.wait().push(i) } else { block_on(place).push(i) });
        }
        thread::sleep(Duration::from_millis(20)); // so that some are parked or suspended
        drop(guard);
    });
    assert_eq!(order.into_inner(), (0..12).collect::<Vec<_>>());
}

#[test]
fn tasks_are_woken_in_order_and_only_when_their_turn_has_come() {
    let printers = Semaphore::new(2);
    let mut held = vec![printers.acquire(), printers.acquire()];
    let mut waiting: Vec<_> = (0..6).map(|_| (printers.acquire_async(), Bell::new())).collect();
    for (future, (_, waker)) in &mut waiting {
        assert!(poll(future, waker).is_pending());
    }
    for i in 0..6 {
        drop(held.remove(0));
        let rings: Vec<_> = waiting.iter().map(|(_, (bell, _))| bell.rings()).collect();
        assert_eq!(rings, (0..6).map(|j| usize::from(j <= i)).collect::<Vec<_>>());
        assert!(waiting[i + 1..].iter_mut().all(|(future, (_, waker))| poll(future, waker).is_pending()));
        let (future, (_, waker)) = &mut waiting[i];
        let Poll::Ready(permit) = poll(future, waker) else { panic!("its turn has come") };
        held.push(permit);
        assert!(printers.try_acquire().is_none());
    }
}

#[test]
fn a_future_that_was_not_polled_leaves_no_trace() {
    let lock = Mutex::new(());
    let guard = lock.lock();
    drop(lock.lock_async());
    assert_eq!(lock.arrive().ahead(), 1);
    drop(guard);
    assert!(lock.try_lock().is_some());
}

/// Drops one future or place at each of the three points at which a task can be cancelled while others wait.
#[test]
fn a_cancelled_task_does_not_keep_its_turn() {
    for k in [1, 2] {
        for cancelled in 0..3 {
            for is_granted in [false, true] {
                let printers = Semaphore::new(k);
                let mut held: Vec<_> = (0..k).map(|_| printers.acquire()).collect();
                let mut waiting: Vec<_> = (0..3).map(|_| Some((printers.acquire_async(), Bell::new()))).collect();
                for (future, (_, waker)) in waiting.iter_mut().flatten() {
                    assert!(poll(future, waker).is_pending());
                }
                // With `is_granted`, the turn of each future up to the cancelled one comes first.
                let mut before = Vec::new();
                if is_granted {
                    for waiter in waiting.iter_mut().take(cancelled) {
                        drop(held.remove(0));
                        let (future, (_, waker)) = waiter.as_mut().unwrap();
                        let Poll::Ready(permit) = poll(future, waker) else { panic!("its turn has come") };
                        held.push(permit);
                        before.push(waiter.take());
                    }
                    drop(held.remove(0));
                    assert_eq!(waiting[cancelled].as_ref().unwrap().1.0.rings(), 1);
                }
                waiting[cancelled] = None; // which drops the future
                drop(held);
                let mut granted = 0;
                for (future, (bell, waker)) in waiting.iter_mut().flatten() {
                    // Those beyond the capacity enter after their predecessors, each of which leaves at once.
                    assert!(poll(future, waker).is_ready(), "k = {k}, {cancelled}, {is_granted}");
                    assert_eq!(bell.rings(), 1);
                    granted += 1;
                }
                assert_eq!(granted, if is_granted { 2 - cancelled } else { 2 });
                drop(waiting);
                let all: Vec<_> = (0..k).map(|_| printers.try_acquire().expect("no permit is lost")).collect();
                assert!(printers.try_acquire().is_none());
                drop(all);
            }
        }
    }
}

#[test]
fn a_place_whose_turn_came_before_it_was_polled_is_passed_on() {
    let lock = Mutex::new(());
    let guard = lock.lock();
    let (mut first, mut second) = (lock.arrive(), lock.arrive());
    let ((one, first_waker), (two, second_waker)) = (Bell::new(), Bell::new());
    assert!(poll(&mut first, &first_waker).is_pending() && poll(&mut second, &second_waker).is_pending());
    drop(guard);
    assert_eq!((one.rings(), two.rings()), (1, 0));
    drop(first);
    assert_eq!((one.rings(), two.rings()), (1, 1));
    assert!(poll(&mut second, &second_waker).is_ready());
}

/// A thread that waits behind a cancelled task is woken too.
#[test]
fn a_parked_thread_enters_after_a_cancelled_task() {
    let lock = Mutex::new(0);
    let guard = lock.lock();
    let mut task = lock.lock_async();
    assert!(poll_once(&mut task).is_pending());
    let place = lock.arrive();
    thread::scope(|scope| {
        scope.spawn(move || *place.wait() += 1);
        thread::sleep(Duration::from_millis(20)); // so that it is parked
        drop(guard);
        drop(task);
    });
    assert_eq!(lock.into_inner(), 1);
}

#[test]
fn the_latest_waker_is_called_and_an_equal_one_is_not_cloned() {
    let lock = Mutex::new(());
    let guard = lock.lock();
    let mut task = lock.lock_async();
    let ((old, old_waker), (new, new_waker)) = (Bell::new(), Bell::new());
    assert!(poll(&mut task, &old_waker).is_pending());
    assert!(poll(&mut task, &old_waker).is_pending());
    assert_eq!(Arc::strong_count(&old), 3, "this one, the waker here, and the waker in the list");
    assert!(poll(&mut task, &new_waker).is_pending());
    assert_eq!((Arc::strong_count(&old), Arc::strong_count(&new)), (2, 3));
    drop(guard);
    assert_eq!((old.rings(), new.rings()), (0, 1));
    assert!(poll(&mut task, &new_waker).is_ready());
    assert_eq!(Arc::strong_count(&new), 2, "no waker is kept");
}

#[test]
#[should_panic(expected = "the place was used")]
fn a_future_that_was_ready_panics_when_polled_again() {
    let lock = Mutex::new(());
    let mut future = lock.lock_async();
    assert!(poll_once(&mut future).is_ready());
    let _ = poll_once(&mut future);
}

#[test]
#[should_panic(expected = "the place was used")]
fn a_place_that_was_ready_panics_when_polled_again() {
    let lock = Mutex::new(());
    let mut place = lock.arrive();
    assert!(poll_once(&mut place).is_ready());
    assert_eq!(place.ahead(), 0);
    let _ = poll_once(&mut place);
}

#[test]
fn a_place_can_be_polled_first_and_then_block() {
    let count = Mutex::new(0);
    let guard = count.lock();
    let mut place = count.arrive();
    assert!(poll_once(&mut place).is_pending());
    let place = place.wait_timeout(Duration::from_millis(1)).expect_err("there is a holder");
    drop(guard);
    *place.wait() += 1;
    assert_eq!(*count.try_lock().expect("the mutex is free"), 1);
}

#[test]
fn a_panicking_waker_does_not_keep_others_from_being_woken() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("in a waker");
        }
    }
    let printers = Semaphore::new(2);
    let both = (printers.acquire(), printers.acquire());
    let (mut a, mut b, mut c) = (printers.acquire_async(), printers.acquire_async(), printers.acquire_async());
    let (bell, waker) = Bell::new();
    assert!(poll(&mut a, &Arc::new(Panics).into()).is_pending());
    assert!(poll(&mut b, &waker).is_pending() && poll(&mut c, &waker).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(both.0))).is_err());
    drop(both.1);
    assert!(bell.rings() == 1 && poll_once(&mut b).is_ready());
    drop(a); // its turn has come, so this passes it on
    assert!(bell.rings() == 2 && poll_once(&mut c).is_ready());
    assert!(printers.try_acquire().is_some() && printers.arrive().try_wait().is_ok());
}

/// Cloning and dropping a waker executes code of its executor, which may use the very lock.
#[test]
#[allow(unsafe_code, reason = "a waker whose clone is not that of an `Arc`")]
fn a_waker_may_use_the_lock() {
    static LOCK: Mutex<()> = Mutex::new(());
    fn uses_the_lock() {
        drop(LOCK.arrive()); // aborts, which locks the list
    }
    const TABLE: RawWakerVTable = RawWakerVTable::new(
        |_| {
            uses_the_lock();
            RawWaker::new(std::ptr::null(), &TABLE)
        },
        |_| uses_the_lock(),
        |_| uses_the_lock(),
        |_| uses_the_lock(),
    );
    // SAFETY: the functions use no data, so they can be called in any order, from any thread.
    let waker = unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &TABLE)) };
    let guard = LOCK.lock();
    let (mut first, mut second) = (LOCK.lock_async(), LOCK.lock_async());
    assert!(poll(&mut first, &waker).is_pending() && poll(&mut second, &waker).is_pending());
    assert!(poll_once(&mut second).is_pending(), "which drops the waker");
    drop(first);
    drop(guard);
    assert!(poll_once(&mut second).is_ready());
    drop(second);
    assert!(LOCK.try_lock().is_some());
}

#[test]
fn thousands_of_tasks_enter_in_order() {
    const TASKS: usize = 5_000;
    static ORDER: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let runtime = runtime();
    runtime.block_on(async {
        let guard = ORDER.lock_async().await;
        let places: Vec<_> = (0..TASKS).map(|_| ORDER.arrive()).collect();
        let tasks: Vec<_> =
            places.into_iter().enumerate().map(|(i, place)| tokio::spawn(async move { place.await.push(i) })).collect();
        drop(guard);
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(*ORDER.lock(), (0..TASKS).collect::<Vec<_>>());
}

#[test]
fn tasks_and_threads_exclude_each_other() {
    static COUNT: Mutex<u64> = Mutex::new(0);
    static PRINTERS: Semaphore = Semaphore::new(3);
    static HOLDERS: AtomicUsize = AtomicUsize::new(0);
    let runtime = runtime();
    let threads: Vec<_> = (0..3)
        .map(|_| {
            thread::spawn(|| {
                for _ in 0..2_000 {
                    *COUNT.lock() += 1;
                    let _permit = PRINTERS.acquire();
                    assert!(HOLDERS.fetch_add(1, SeqCst) < 3);
                    HOLDERS.fetch_sub(1, SeqCst);
                }
            })
        })
        .collect();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..200)
            .map(|i| {
                tokio::spawn(async move {
                    for j in 0..50 {
                        let mut count = COUNT.lock_async().await;
                        let before = *count;
                        if (i + j) % 5 == 0 {
                            tokio::task::yield_now().await;
                        }
                        *count = before + 1;
                        drop(count);
                        let _permit = PRINTERS.acquire_async().await;
                        assert!(HOLDERS.fetch_add(1, SeqCst) < 3);
                        tokio::task::yield_now().await;
                        HOLDERS.fetch_sub(1, SeqCst);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*COUNT.lock(), 3 * 2_000 + 200 * 50);
}

/// Tasks time out at random moments, also when their turn has just come.
#[test]
fn timeouts_lose_no_permit() {
    static PRINTERS: Semaphore = Semaphore::new(2);
    static HOLDERS: AtomicUsize = AtomicUsize::new(0);
    let (mut entered, mut late) = (0, 0);
    runtime().block_on(async {
        let tasks: Vec<_> = (0..300_u64)
            .map(|i| {
                tokio::spawn(async move {
                    let mut entered = 0_u32;
                    for j in 0..20 {
                        let time = Duration::from_micros((i * 37 + j * 101) % 1_500);
                        if let Ok(_permit) = tokio::time::timeout(time, PRINTERS.acquire_async()).await {
                            assert!(HOLDERS.fetch_add(1, SeqCst) < 2);
                            tokio::task::yield_now().await;
                            HOLDERS.fetch_sub(1, SeqCst);
                            entered += 1;
                        }
                    }
                    entered
                })
            })
            .collect();
        for task in tasks {
            let times = task.await.unwrap();
            (entered, late) = (entered + times, late + 20 - times);
        }
    });
    assert_eq!(entered + late, 6_000);
    let _both =
        (PRINTERS.try_acquire().expect("no permit is lost"), PRINTERS.try_acquire().expect("no permit is lost"));
    assert!(PRINTERS.try_acquire().is_none());
}

#[test]
fn a_timeout_keeps_the_position_of_a_borrowed_place() {
    let lock = Mutex::new(());
    let guard = lock.lock();
    let (mut first, second) = (lock.arrive(), lock.arrive());
    runtime().block_on(async {
        assert!(tokio::time::timeout(Duration::from_millis(1), &mut first).await.is_err());
        assert_eq!((first.ahead(), second.ahead()), (1, 2));
        drop(guard);
        drop(first.await);
        drop(second.await);
    });
    assert!(lock.try_lock().is_some());
}

#[test]
fn futures_are_dropped_in_other_threads() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    let (send, receive) = mpsc::channel::<Entering<MutexGuard<'static, u32>>>();
    let dropper = thread::spawn(move || receive.into_iter().for_each(drop));
    let entering: Vec<_> = (0..3)
        .map(|i| {
            let send = send.clone();
            thread::spawn(move || {
                for j in 0..3_000 {
                    let mut future = LOCK.lock_async();
                    if (i + j) % 2 == 0 {
                        *block_on(future) += 1;
                    } else if let Poll::Ready(mut guard) = poll_once(&mut future) {
                        *guard += 1;
                    } else {
                        send.send(future).unwrap();
                    }
                }
            })
        })
        .collect();
    drop(send);
    entering.into_iter().for_each(|thread| thread.join().unwrap());
    dropper.join().unwrap();
    assert!(*LOCK.try_lock().expect("every future has entered or was dropped") >= 4_500);
}

#[test]
fn a_panic_in_a_task_releases_the_mutex() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    runtime().block_on(async {
        let tasks: Vec<_> = (0..100)
            .map(|i| {
                tokio::spawn(async move {
                    let mut guard = LOCK.lock_async().await;
                    tokio::task::yield_now().await;
                    *guard += 1;
                    if i % 10 == 0 {
                        std::panic::resume_unwind(Box::new(()));
                    }
                })
            })
            .collect();
        let mut panics = 0;
        for task in tasks {
            panics += u32::from(task.await.is_err());
        }
        assert_eq!(panics, 10);
    });
    assert_eq!(*LOCK.try_lock().expect("the mutex is free"), 100);
}

/// A runtime that is shut down drops its tasks: holders, waiters, and those whose turn has come.
#[test]
fn a_runtime_that_ends_releases_everything() {
    static PRINTERS: Semaphore = Semaphore::new(4);
    for _ in 0..20 {
        let runtime = runtime();
        for _ in 0..100 {
            runtime.spawn(async {
                loop {
                    let _permit = PRINTERS.acquire_async().await;
                    tokio::task::yield_now().await;
                }
            });
        }
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(2)).await });
        drop(runtime);
        let all: Vec<_> = (0..4).map(|_| PRINTERS.try_acquire().expect("no permit is lost")).collect();
        assert!(PRINTERS.try_acquire().is_none());
        drop(all);
    }
}
