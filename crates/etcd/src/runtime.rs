//! One thread on which all requests of this process run, so that callers need no runtime of their own.
use std::{
    future::Future,
    pin::Pin,
    process,
    sync::{OnceLock, mpsc},
    task::{Context, Poll},
    thread,
    time::Duration,
};

use tokio::{
    runtime::{Builder, Handle},
    task::JoinHandle,
};

use crate::Error;

static RUNTIME: OnceLock<(Handle, u32)> = OnceLock::new();

/// The runtime of the caller, if it is a future of tokio, which all futures of this crate are; else that of this crate.
///
/// # Panics
/// If the operating system refuses a thread.
pub(crate) fn handle() -> Handle {
    Handle::try_current().unwrap_or_else(|_| started().0.clone())
}

/// Refuses to go on in a forked child, in which the thread does not exist.
pub(crate) fn check_fork() -> Result<(), Error> {
    if started().1 == process::id() { Ok(()) } else { Err(Error::Forked) }
}

fn started() -> &'static (Handle, u32) {
    RUNTIME.get_or_init(|| {
        let runtime = Builder::new_current_thread().enable_all().build().expect("the system has room for a runtime");
        let handle = runtime.handle().clone();
        let serve = move || runtime.block_on(std::future::pending::<()>());
        thread::Builder::new().name("doorway-etcd".to_string()).spawn(serve).expect("the system has room for a thread");
        (handle, process::id())
    })
}

/// Runs a future on the runtime, and blocks the calling thread until it is done.
///
/// # Errors
/// That of the future; and in a forked child, which does not have the runtime's thread.
///
/// # Panics
/// If it is called on the runtime's own thread.
pub fn block<T, E>(future: impl Future<Output = Result<T, E>> + Send + 'static) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
{
    check_fork()?;
    block_on(future)
}

/// The same for a future that cannot fail. In a forked child it does not return.
///
/// # Panics
/// If it is called on the runtime's own thread.
pub fn block_on<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let (sender, receiver) = mpsc::sync_channel(1);
    started().0.spawn(async move {
        let _ = sender.send(future.await);
    });
    receiver.recv().expect("the runtime's thread lives as long as the process")
}

/// Runs a future on the runtime. The result can be awaited with any runtime; dropping it drops the future.
pub fn spawn<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Task<T> {
    Task(started().0.spawn(future))
}

/// A future that runs on the runtime of this crate.
pub struct Task<T>(JoinHandle<T>);

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.0).poll(context).map(|done| match done {
            Ok(done) => done,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        })
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Runs a future on the runtime to its end; blocks the calling thread meanwhile, but not for longer than `time`, and not
/// at all on a thread that runs futures of tokio.
pub fn settle(time: Duration, future: impl Future<Output = ()> + Send + 'static) {
    if check_fork().is_err() {
        // What it holds is the parent's, and dropping it may settle something again.
        std::mem::forget(future);
        return;
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    started().0.spawn(async move {
        future.await;
        let _ = sender.send(());
    });
    if Handle::try_current().is_err() {
        let _ = receiver.recv_timeout(time);
    }
}
