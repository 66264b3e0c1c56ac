//! The locks of other crates.
use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use super::{Candidate, FIFO, Group::Peers, NONE};
use crate::job::Lock;

pub(super) fn locks() -> Vec<Candidate> {
    let mut all = vec![
        Candidate::mutex(Peers, "parking-lot", NONE, || parking_lot::Mutex::new(())),
        Candidate::mutex(Peers, "parking-lot-fair", "handoff", || parking_lot::FairMutex::new(())),
        Candidate::mutex(Peers, "mcslock-yield", FIFO, || mcslock::raw::yields::Mutex::new(())),
        Candidate::mutex(Peers, "mcslock-spin", FIFO, || mcslock::raw::spins::Mutex::new(())).only_spinning(),
        Candidate::mutex(Peers, "spin-ticket-yield", FIFO, spin::mutex::TicketMutex::<(), spin::Yield>::new_unit),
        Candidate::mutex(Peers, "spin-ticket", FIFO, spin::mutex::TicketMutex::<(), spin::Spin>::new_unit)
            .only_spinning(),
        Candidate::mutex(Peers, "tokio-mutex", FIFO, || tokio::sync::Mutex::new(())),
        Candidate::semaphore(Peers, "tokio-semaphore", FIFO, tokio::sync::Semaphore::new),
        Candidate::mutex(Peers, "async-lock-mutex", NONE, || async_lock::Mutex::new(())),
        Candidate::semaphore(Peers, "async-lock-semaphore", NONE, async_lock::Semaphore::new),
    ];
    #[cfg(target_os = "linux")]
    all.push(Candidate::semaphore(Peers, "sem-t", NONE, posix::Semaphore::new));
    all
}

impl Lock for parking_lot::Mutex<()> {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        let _guard = self.lock();
        critical_section();
    }
}

impl Lock for parking_lot::FairMutex<()> {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        let _guard = self.lock();
        critical_section();
    }
}

impl<R: mcslock::relax::Relax> Lock for mcslock::raw::Mutex<(), R> {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        self.lock_then(|()| critical_section());
    }
}

/// A constructor without arguments, which `fn() -> L` requires.
trait NewUnit {
    fn new_unit() -> Self;
}

impl<R> NewUnit for spin::mutex::TicketMutex<(), R> {
    fn new_unit() -> Self {
        spin::mutex::TicketMutex::new(())
    }
}

impl<R: spin::RelaxStrategy> Lock for spin::mutex::TicketMutex<(), R> {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        let _guard = self.lock();
        critical_section();
    }
}

/// In the form for threads.
impl Lock for tokio::sync::Mutex<()> {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        let _guard = self.blocking_lock();
        critical_section();
    }
}

/// In the form for tasks, with a thread for each task. The semaphore is never closed, so `acquire` does not fail.
impl Lock for tokio::sync::Semaphore {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        let _permit = block_on(self.acquire());
        critical_section();
    }
}

impl Lock for async_lock::Mutex<()> {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        let _guard = self.lock_blocking();
        critical_section();
    }
}

impl Lock for async_lock::Semaphore {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        let _permit = self.acquire_blocking();
        critical_section();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Parks until the future is ready. The waker is made once for each thread.
fn block_on<F: Future>(future: F) -> F::Output {
    thread_local! {
        static WAKER: Waker = Arc::new(Unpark(thread::current())).into();
    }
    let mut future = pin!(future);
    WAKER.with(|waker| {
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(waker)) {
                return output;
            }
            thread::park();
        }
    })
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the C library's semaphore")]
mod posix {
    use std::{cell::UnsafeCell, mem::MaybeUninit};

    use crate::job::Lock;

    /// A `sem_t` at a fixed address.
    pub(super) struct Semaphore(Box<UnsafeCell<MaybeUninit<libc::sem_t>>>);

    // SAFETY: a sem_t is made to be used by several threads at once.
    unsafe impl Sync for Semaphore {}

    impl Semaphore {
        pub(super) fn new(k: usize) -> Semaphore {
            let semaphore = Semaphore(Box::new(UnsafeCell::new(MaybeUninit::uninit())));
            let k = k.try_into().expect("k is small");
            // SAFETY: the memory is owned, large enough and aligned, and no other thread knows it yet.
            let done = unsafe { libc::sem_init(semaphore.pointer(), 0, k) };
            assert_eq!(done, 0, "a semaphore for threads can be made");
            semaphore
        }

        fn pointer(&self) -> *mut libc::sem_t {
            self.0.get().cast()
        }
    }

    impl Lock for Semaphore {
        #[inline(always)]
        fn pass(&self, critical_section: impl FnOnce()) {
            // SAFETY: initialised by `new`; it does not move, and lives while it is borrowed. A signal may interrupt
            // the wait.
            while unsafe { libc::sem_wait(self.pointer()) } != 0 {}
            critical_section();
            // SAFETY: as above.
            unsafe { libc::sem_post(self.pointer()) };
        }
    }

    impl Drop for Semaphore {
        fn drop(&mut self) {
            // SAFETY: initialised by `new`, and there are no waiters, since nothing borrows it.
            unsafe { libc::sem_destroy(self.pointer()) };
        }
    }
}
