//! The memory of a waiting task, beside that of other crates' locks.
#![cfg(feature = "peers")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    future::Future,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Waker},
};

/// The system's allocator, which counts the bytes that are in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// Held by the test that counts: the tests of a program run at the same time.
static COUNTING: Mutex<()> = Mutex::new(());

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[allow(unsafe_code, reason = "an allocator")]
// SAFETY: every call is passed on to the system's allocator with its own arguments, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), SeqCst);
        // SAFETY: the caller's guarantees are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), SeqCst);
        // SAFETY: the caller's guarantees are those of the system's allocator, by which the memory was allocated.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Bytes for each of 1000 tasks that wait: the future, and what the lock allocates for it.
fn bytes_per_waiter<F: Future>(acquire: impl Fn() -> F) -> f64 {
    const TASKS: usize = 1000;
    let mut futures = Vec::with_capacity(TASKS);
    let before = IN_USE.load(SeqCst);
    for _ in 0..TASKS {
        let mut future = Box::pin(acquire());
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        futures.push(future);
    }
    (IN_USE.load(SeqCst) - before) as f64 / TASKS as f64
}

#[test]
fn a_waiting_task_takes_no_more_memory_than_with_tokio() {
    let _counting = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    let (lock, semaphore) = (doorway::Mutex::new(()), doorway::Semaphore::new(1));
    let (tokio_lock, tokio_semaphore) = (tokio::sync::Mutex::new(()), tokio::sync::Semaphore::new(1));
    let (async_lock, async_semaphore) = (async_lock::Mutex::new(()), async_lock::Semaphore::new(1));
    let _held =
        (lock.lock(), semaphore.acquire(), tokio_lock.try_lock().unwrap(), tokio_semaphore.try_acquire().unwrap());
    let _also = (async_lock.try_lock().unwrap(), async_semaphore.try_acquire().unwrap());
    let ours = [bytes_per_waiter(|| lock.lock_async()), bytes_per_waiter(|| semaphore.acquire_async())];
    let tokio = [bytes_per_waiter(|| tokio_lock.lock()), bytes_per_waiter(|| tokio_semaphore.acquire())];
    let others = [bytes_per_waiter(|| async_lock.lock()), bytes_per_waiter(|| async_semaphore.acquire())];
    println!("mutex and semaphore: doorway {ours:.1?}, tokio {tokio:.1?}, async-lock {others:.1?} bytes");
    assert!(ours[0] <= tokio[0] && ours[1] <= tokio[1], "{ours:?}, {tokio:?}");
}
