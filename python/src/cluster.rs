//! Waiting for a permit on etcd: futures that a thread which handles signals, or one thread for all tasks, polls.
use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    task::{Context, Poll, Wake, Waker},
    thread,
    time::{Duration, Instant},
};

use doorway::cluster::{Error, Permit, Semaphore};
use pyo3::prelude::*;

use crate::{
    backend::Held,
    dispatcher::{Delivery, Outcome},
    errors::{self, Class},
    waiting::Interrupts,
};

/// How long a caller waits before it lets Python handle signals, and looks whether the semaphore was closed.
const SLICE: Duration = Duration::from_millis(80);

type Acquiring = Pin<Box<dyn Future<Output = Result<Permit, Error>> + Send>>;

fn acquiring(semaphore: &Arc<Semaphore>) -> Acquiring {
    let semaphore = semaphore.clone();
    Box::pin(async move { semaphore.acquire_async().await })
}

/// Wakes the thread that polls.
struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Unpark>) {
        self.0.unpark();
    }
}

/// Acquires a permit, waiting until the deadline at most; `None` after it. Dropping the future leaves the queue.
pub(crate) fn acquire(
    py: Python<'_>,
    semaphore: &Arc<Semaphore>,
    deadline: Option<Instant>,
    interrupts: &Interrupts,
) -> PyResult<Option<Permit>> {
    let mut future = acquiring(semaphore);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let polled = py.detach(|| {
            let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_pending() {
                thread::park_timeout(left.map_or(SLICE, |left| left.min(SLICE)));
            }
            polled
        });
        if let Poll::Ready(acquired) = polled {
            return acquired.map(Some).map_err(errors::of_cluster);
        }
        py.check_signals()?;
        if interrupts.is_closed() {
            return Err(Class::Closed.error("the semaphore was closed while this caller waited"));
        }
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(None);
        }
    }
}

/// A task that waits.
pub(crate) struct Task(Arc<Polled>);

struct Polled {
    /// `None` when it is done or cancelled.
    future: Mutex<Option<Acquiring>>,
    delivery: Arc<Delivery>,
}

/// The futures that can make progress.
#[derive(Default)]
struct Ready {
    queue: Mutex<VecDeque<Arc<Polled>>>,
    changed: Condvar,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread that polls. It lives as long as the process; a forked child cannot use etcd, and needs none.
fn ready() -> PyResult<&'static Ready> {
    static READY: Ready = Ready { queue: Mutex::new(VecDeque::new()), changed: Condvar::new() };
    static STARTED: OnceLock<()> = OnceLock::new();
    if STARTED.set(()).is_ok() {
        thread::Builder::new().name("fairdoorway-tasks".into()).spawn(|| {
            loop {
                let mut queue = locked(&READY.queue);
                let task = loop {
                    match queue.pop_front() {
                        Some(task) => break task,
                        None => queue = READY.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
                    }
                };
                drop(queue);
                task.poll();
            }
        })?;
    }
    Ok(&READY)
}

impl Wake for Polled {
    fn wake(self: Arc<Polled>) {
        if let Ok(ready) = ready() {
            locked(&ready.queue).push_back(self);
            ready.changed.notify_one();
        }
    }
}

impl Polled {
    fn poll(self: Arc<Polled>) {
        let mut future = locked(&self.future);
        let Some(acquiring) = &mut *future else { return };
        let waker = Waker::from(self.clone());
        if let Poll::Ready(acquired) = acquiring.as_mut().poll(&mut Context::from_waker(&waker)) {
            *future = None;
            drop(future);
            self.delivery.deliver(match acquired {
                Ok(permit) => Outcome::Permit(Held::Cluster(permit)),
                Err(error) => Outcome::ClusterFailed(error),
            });
        }
    }
}

/// Joins the queue for a task.
pub(crate) fn join(semaphore: &Arc<Semaphore>, delivery: Arc<Delivery>) -> PyResult<Task> {
    ready()?; // an error of the system belongs here
    let polled = Arc::new(Polled { future: Mutex::new(Some(acquiring(semaphore))), delivery });
    polled.clone().wake();
    Ok(Task(polled))
}

impl Task {
    /// Leaves the queue.
    pub(crate) fn cancel(&self, py: Python<'_>) {
        py.detach(|| drop(locked(&self.0.future).take()));
    }
}
