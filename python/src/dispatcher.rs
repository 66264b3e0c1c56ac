//! The thread that waits for all tasks of a semaphore.
//!
//! Processes are served in the order of the queue, so of all places of one process the first is admitted first. The thread
//! waits for that one only, then for the next: tasks take no thread each.
use std::{
    collections::VecDeque,
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use doorway::process::{self, Interrupter, Semaphore};
use pyo3::{exceptions::PyRuntimeError, prelude::*, sync::PyOnceLock};

use crate::{
    backend::Held,
    errors::{self, Class},
    owned::{OwnedPermit, OwnedWaiter},
    permit::Inner,
};

/// Where a task learns that it has a permit.
pub(crate) struct Delivery {
    name: Arc<str>,
    /// Locked for a moment only, and only by threads that are attached.
    status: Mutex<Status>,
}

enum Status {
    /// The task waits, in this event loop, for this future.
    Waiting { event_loop: Py<PyAny>, future: Py<PyAny> },
    /// The task has not taken it yet.
    Ready(PyResult<Arc<Inner>>),
    /// The task has taken it, or has been cancelled.
    Over,
}

/// What the wait of a task has come to.
pub(crate) enum Outcome {
    Permit(Held),
    Failed(process::Error),
    #[cfg(feature = "etcd")]
    ClusterFailed(doorway::cluster::Error),
    Closed,
}

impl Delivery {
    pub(crate) fn new(name: &Arc<str>, event_loop: Py<PyAny>, future: Py<PyAny>) -> Arc<Delivery> {
        Arc::new(Delivery { name: name.clone(), status: Mutex::new(Status::Waiting { event_loop, future }) })
    }

    fn replace(&self, status: Status) -> Status {
        mem::replace(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner), status)
    }

    /// Gives a task its permit, or an error. If the task does not want it any more, or its event loop is closed, the permit
    /// is released.
    pub(crate) fn deliver(&self, outcome: Outcome) {
        // Without an interpreter there is no task; dropping the outcome releases the permit.
        Python::try_attach(|py| {
            let outcome = match outcome {
                Outcome::Permit(held) => Ok(Inner::new(&self.name, held)),
                Outcome::Failed(error) => Err(errors::of_file(error)),
                #[cfg(feature = "etcd")]
                Outcome::ClusterFailed(error) => Err(errors::of_cluster(error)),
                Outcome::Closed => Err(Class::Closed.error("the semaphore was closed while this task waited")),
            };
            let Status::Waiting { event_loop, future } = self.replace(Status::Ready(outcome)) else {
                self.replace(Status::Over);
                return;
            };
            if wake(py, &event_loop, &future).is_err() {
                self.replace(Status::Over);
            }
        });
    }

    /// Gives a permit that needs no waiting.
    pub(crate) fn set(&self, held: Held) {
        self.replace(Status::Ready(Ok(Inner::new(&self.name, held))));
    }

    /// The permit, once it is there.
    pub(crate) fn take(&self) -> PyResult<Option<Arc<Inner>>> {
        match self.replace(Status::Over) {
            Status::Ready(outcome) => outcome.map(Some),
            Status::Over => Err(PyRuntimeError::new_err("the permit was taken already, or the task was cancelled")),
            waiting => {
                self.replace(waiting);
                Ok(None)
            }
        }
    }

    /// The task wants no permit any more; one that it has is released.
    pub(crate) fn cancel(&self) {
        self.replace(Status::Over);
    }
}

/// Lets the event loop complete a future.
fn wake(py: Python<'_>, event_loop: &Py<PyAny>, future: &Py<PyAny>) -> PyResult<()> {
    static WAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let wake = WAKE.get_or_try_init(py, || {
        PyModule::import(py, "fairdoorway._asyncio").and_then(|module| Ok(module.getattr("wake")?.unbind()))
    })?;
    event_loop.call_method1(py, "call_soon_threadsafe", (wake, future)).map(|_| ())
}

/// The tasks of one semaphore that wait, and the thread that waits for them.
pub(crate) struct Dispatcher {
    pid: u32,
    shared: Option<Arc<Shared>>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    /// Locked by detached threads only: nobody who has the GIL waits for it.
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// In the order of the semaphore's queue.
    waiting: VecDeque<Entry>,
    /// The one that the thread waits for.
    current: Option<Current>,
    next: u64,
    is_over: bool,
}

struct Entry {
    id: u64,
    place: OwnedWaiter,
    delivery: Arc<Delivery>,
}

struct Current {
    id: u64,
    interrupter: Option<Interrupter>,
    is_cancelled: bool,
}

impl Dispatcher {
    /// Starts the thread.
    pub(crate) fn start() -> PyResult<Arc<Dispatcher>> {
        let shared = Arc::new(Shared::default());
        let follower = shared.clone();
        let thread = thread::Builder::new().name("fairdoorway-tasks".into()).spawn(move || follower.follow())?;
        let thread = Mutex::new(Some(thread));
        Ok(Arc::new(Dispatcher { pid: std::process::id(), shared: Some(shared), thread }))
    }

    fn shared(&self) -> &Shared {
        self.shared.as_deref().expect("only dropping the dispatcher takes it")
    }

    /// Joins the queue for a task. Returns the number under which it can be cancelled; none if it is admitted at once.
    pub(crate) fn join(
        &self,
        py: Python<'_>,
        semaphore: &Arc<Semaphore>,
        delivery: &Arc<Delivery>,
    ) -> PyResult<Option<u64>> {
        let joined = py.detach(|| -> Result<Result<OwnedPermit, Option<u64>>, process::Error> {
            // Locked while it joins, so that the entries are in the order of the semaphore's queue.
            let mut queue = self.shared().lock();
            if queue.is_over {
                return Ok(Err(None));
            }
            let place = OwnedWaiter::arrive(semaphore)?;
            let place = match if place.is_admitted() { place.wait()? } else { Err(place) } {
                Ok(permit) => return Ok(Ok(permit)),
                Err(place) => place,
            };
            let id = queue.next;
            queue.next += 1;
            queue.waiting.push_back(Entry { id, place, delivery: delivery.clone() });
            self.shared().changed.notify_one();
            Ok(Err(Some(id)))
        });
        match joined.map_err(errors::of_file)? {
            Ok(permit) => {
                delivery.set(Held::File(permit));
                Ok(None)
            }
            Err(Some(id)) => Ok(Some(id)),
            Err(None) => Err(Class::Closed.error("the interpreter ends, or the semaphore was closed")),
        }
    }

    /// Leaves the queue for a task.
    pub(crate) fn cancel(&self, py: Python<'_>, id: u64) {
        if self.pid != std::process::id() {
            return; // the task is the parent's
        }
        py.detach(|| {
            let mut queue = self.shared().lock();
            if let Some(at) = queue.waiting.iter().position(|entry| entry.id == id) {
                drop(queue.waiting.remove(at));
            } else if let Some(current) = &mut queue.current
                && current.id == id
            {
                current.is_cancelled = true;
                let interrupter = current.interrupter.clone();
                drop(queue);
                interrupter.iter().for_each(Interrupter::interrupt);
            }
        });
    }

    /// Ends the thread; tasks that wait get an error.
    pub(crate) fn stop(&self, py: Python<'_>) {
        if self.pid != std::process::id() {
            return;
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| {
            self.shared().end();
            // It ends with a panic only after it has reported one.
            let _ = thread.map(thread::JoinHandle::join);
        });
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(shared) = self.shared.take() else { return };
        if self.pid == std::process::id() {
            shared.end();
        } else {
            // In a forked child there is no such thread, and its entries may be half changed.
            mem::forget((shared, thread));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        let mut queue = self.lock();
        queue.is_over = true;
        let interrupter = queue.current.as_ref().and_then(|current| current.interrupter.clone());
        drop(queue);
        interrupter.iter().for_each(Interrupter::interrupt);
        self.changed.notify_all();
    }

    /// The body of the thread.
    fn follow(&self) {
        while let Some(Entry { id, place, delivery }) = self.next() {
            let outcome = self.wait(id, place);
            self.lock().current = None;
            delivery.deliver(match outcome {
                Some(Ok(permit)) => Outcome::Permit(Held::File(permit)),
                Some(Err(error)) => Outcome::Failed(error),
                None => Outcome::Closed, // a cancelled task does not hear it
            });
        }
    }

    /// The first entry; none when the dispatcher has ended.
    fn next(&self) -> Option<Entry> {
        let mut queue = self.lock();
        loop {
            if queue.is_over {
                let left = mem::take(&mut queue.waiting);
                drop(queue);
                for Entry { place, delivery, .. } in left {
                    drop(place);
                    delivery.deliver(Outcome::Closed);
                }
                return None;
            }
            if let Some(mut entry) = queue.waiting.pop_front() {
                let interrupter = entry.place.interrupter();
                queue.current = Some(Current { id: entry.id, interrupter, is_cancelled: false });
                return Some(entry);
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until the entry's place is admitted; none if the task was cancelled, or the dispatcher has ended.
    fn wait(&self, id: u64, mut place: OwnedWaiter) -> Option<Result<OwnedPermit, process::Error>> {
        loop {
            place = match place.wait() {
                Ok(Ok(permit)) => return Some(Ok(permit)),
                Ok(Err(place)) => place,
                Err(error) => return Some(Err(error)),
            };
            let queue = self.lock();
            let is_cancelled = queue.current.as_ref().is_some_and(|current| current.id == id && current.is_cancelled);
            if is_cancelled || queue.is_over {
                return None;
            }
        }
    }
}
