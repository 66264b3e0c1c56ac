//! The class `Semaphore`: opening, acquiring, releasing, forking.
use std::{
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

use pyo3::{
    exceptions::{PyOverflowError, PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyInt, PyString, PyTuple, PyType},
};

use crate::{
    backend::{Backend, Held},
    dispatcher::{Delivery, Dispatcher},
    errors::{self, Class},
    permit::{Inner, Permit},
    waiting::Interrupts,
};

/// A semaphore as the process sees it; the Python object refers to it, and so does the list for forks.
struct Core {
    name: Arc<str>,
    k: usize,
    on: Option<String>,
    description: Option<String>,
    interrupts: Interrupts,
    /// Locked for a moment only, and only by threads that are attached: at a fork no other thread has it locked.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    opened: Option<Opened>,
    /// The permits that `with`, `async with` and `acquire` have acquired, the latest last.
    held: Vec<(By, Arc<Inner>)>,
    /// The process whose permits were forgotten here, because this one was forked from it.
    inherited_from: Option<u32>,
}

#[derive(Clone)]
struct Opened {
    pid: u32,
    backend: Backend,
    dispatcher: Option<Arc<Dispatcher>>,
}

/// The thread or the task that has acquired a permit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Thread(ThreadId),
    Task(usize),
}

impl By {
    fn this_thread() -> By {
        By::Thread(thread::current().id())
    }
}

/// All semaphores of this process, to be opened again after a fork.
static CORES: Mutex<Vec<Weak<Core>>> = Mutex::new(Vec::new());

fn cores() -> MutexGuard<'static, Vec<Weak<Core>>> {
    CORES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Core {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self) -> PyErr {
        Class::Closed.error(format!("`{}` is closed; open it again with `Semaphore` or `Lock`", self.name))
    }

    /// The open semaphore; in a forked child, opened again.
    fn opened(&self, py: Python<'_>) -> PyResult<Backend> {
        if self.interrupts.is_closed() {
            return Err(self.closed());
        }
        let found = self.state().opened.as_ref().map(|opened| (opened.pid, opened.backend.clone()));
        match found {
            Some((pid, backend)) if pid == process::id() => return Ok(backend),
            Some(_) => self.forget_parent(),
            None => {}
        }
        let backend = Backend::open(py, &self.name, self.k, self.on.as_deref(), self.description.as_deref())?;
        let opened = Opened { pid: process::id(), backend: backend.clone(), dispatcher: None };
        let mut state = self.state();
        // Another thread may have opened it meanwhile; then the first one counts.
        let found = state.opened.as_ref().filter(|opened| opened.pid == process::id()).cloned();
        Ok(match found {
            Some(found) => found.backend,
            None => {
                state.opened = Some(opened);
                backend
            }
        })
    }

    /// In a forked child: forgets the permits of the parent, and closes its descriptor, so that they do not outlive it.
    fn forget_parent(&self) {
        let mut state = self.state();
        let Some(opened) = state.opened.take_if(|opened| opened.pid != process::id()) else { return };
        if !state.held.is_empty() {
            state.inherited_from = Some(opened.pid);
        }
        let held = std::mem::take(&mut state.held);
        drop(state);
        self.interrupts.forget();
        drop((held, opened)); // in a forked child this releases nothing
    }

    fn dispatcher(&self, py: Python<'_>) -> PyResult<(Backend, Arc<Dispatcher>)> {
        let backend = self.opened(py)?;
        let mut state = self.state();
        let Some(opened) = &mut state.opened else { return Err(self.closed()) };
        if let Some(dispatcher) = &opened.dispatcher {
            return Ok((backend, dispatcher.clone()));
        }
        let dispatcher = Dispatcher::start()?;
        opened.dispatcher = Some(dispatcher.clone());
        Ok((backend, dispatcher))
    }

    fn acquire(&self, py: Python<'_>, patience: Patience) -> PyResult<Option<Arc<Inner>>> {
        let backend = self.opened(py)?;
        let held = match patience {
            Patience::Try => backend.try_acquire(py)?,
            Patience::Until(deadline) => backend.acquire(py, deadline, &self.interrupts)?,
        };
        Ok(held.map(|held| Inner::new(&self.name, held)))
    }

    /// The permit that a `with` or `async with` block has acquired, taken from the list.
    fn take(&self, by: By) -> PyResult<Arc<Inner>> {
        let mut state = self.state();
        match state.held.iter().rposition(|(holder, _)| *holder == by) {
            Some(at) => Ok(state.held.remove(at).1),
            None => Err(self.not_held(&state)),
        }
    }

    fn not_held(&self, state: &State) -> PyErr {
        match state.inherited_from {
            Some(pid) => Class::Forked.error(format!(
                "the permit of `{}` belongs to process {pid}, which was forked; acquire one in this process",
                self.name
            )),
            None => {
                Class::Release.error(format!("`{}` is not held: it was released already, or never acquired", self.name))
            }
        }
    }
}

/// How long a caller waits.
#[derive(Clone, Copy)]
enum Patience {
    Try,
    Until(Option<Instant>),
}

impl Patience {
    /// A time in seconds, as `threading` has it: -1 and `None` stand for no limit.
    fn of(timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Patience> {
        let Some(timeout) = timeout.filter(|timeout| !timeout.is_none()) else { return Ok(Patience::Until(None)) };
        let seconds: f64 = timeout
            .extract()
            .map_err(|_| PyTypeError::new_err(format!("`timeout` is a number of seconds, not {}", shown(timeout))))?;
        if seconds == -1.0 {
            return Ok(Patience::Until(None));
        }
        if seconds.is_nan() || seconds < 0.0 {
            return Err(PyValueError::new_err(format!(
                "`timeout` is a number of seconds, or -1 for no limit, not {seconds}"
            )));
        }
        if seconds == 0.0 {
            return Ok(Patience::Try);
        }
        let time = Duration::try_from_secs_f64(seconds).ok();
        match time.and_then(|time| Instant::now().checked_add(time)) {
            Some(deadline) => Ok(Patience::Until(Some(deadline))),
            None => {
                Err(PyOverflowError::new_err(format!("`timeout` is too large: {seconds} s; leave it out for no limit")))
            }
        }
    }
}

/// A value and its type, for messages.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let kind = value.get_type().name().map_or_else(|_| "an object".to_string(), |name| name.to_string());
    format!("{} ({kind})", value.repr().map_or_else(|_| "a value".to_string(), |text| text.to_string()))
}

/// A name, or the path of a path-like object.
fn name_of(name: &Bound<'_, PyAny>) -> PyResult<String> {
    let path = match name.cast::<PyString>() {
        Ok(name) => name.clone(),
        Err(_) => {
            let path = PyModule::import(name.py(), "os")?.call_method1("fspath", (name,));
            let path = path.ok().and_then(|path| path.cast_into::<PyString>().ok());
            path.ok_or_else(|| PyTypeError::new_err(format!("a name is a string or a path, not {}", shown(name))))?
        }
    };
    path.extract().map_err(|_| PyValueError::new_err("a name must be valid Unicode"))
}

fn k_of(k: &Bound<'_, PyAny>) -> PyResult<usize> {
    if !k.is_instance_of::<PyInt>() || k.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err(format!("k is an integer, not {}", shown(k))));
    }
    k.extract().map_err(|_| PyValueError::new_err(format!("capacity {k} is out of range; it must be at least 1")))
}

/// The compiled base of `fairdoorway.Semaphore`.
#[pyclass(subclass, frozen, weakref, module = "fairdoorway._core")]
pub(crate) struct Semaphore {
    core: Arc<Core>,
}

#[pymethods]
impl Semaphore {
    #[new]
    #[pyo3(signature = (name, k, *, on=None, description=None))]
    fn new(
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        k: &Bound<'_, PyAny>,
        on: Option<&Bound<'_, PyAny>>,
        description: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Semaphore> {
        let text = |what: &str, value: Option<&Bound<'_, PyAny>>| match value {
            None => Ok(None),
            Some(value) => match value.extract::<String>() {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(PyTypeError::new_err(format!("`{what}` is a string, not {}", shown(value)))),
            },
        };
        let (name, k) = (name_of(name)?, k_of(k)?);
        let (on, description) = (text("on", on)?, text("description", description)?);
        let backend = Backend::open(py, &name, k, on.as_deref(), description.as_deref())?;
        // The path, so that a child finds the file again wherever it is started. A bare name stays one.
        let name = backend.path().filter(|_| name.contains('/')).unwrap_or(name);
        let opened = Opened { pid: process::id(), backend, dispatcher: None };
        let state = Mutex::new(State { opened: Some(opened), ..State::default() });
        let core = Arc::new(Core { name: name.into(), k, on, description, interrupts: Interrupts::default(), state });
        let mut cores = cores();
        cores.retain(|core| core.strong_count() > 0);
        cores.push(Arc::downgrade(&core));
        Ok(Semaphore { core })
    }

    /// The name; of a semaphore at a path, the absolute path.
    #[getter]
    fn name(&self) -> &str {
        &self.core.name
    }

    /// The capacity k: how many holders there may be at once.
    #[getter]
    fn k(&self) -> usize {
        self.core.k
    }

    /// The address of the etcd cluster, or `None`.
    #[getter]
    fn on(&self) -> Option<&str> {
        self.core.on.as_deref()
    }

    /// The description of this process, if one was given.
    #[getter]
    fn description(&self) -> Option<&str> {
        self.core.description.as_deref()
    }

    /// The path of the file; `None` on etcd.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.core.opened(py)?.path())
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.core.interrupts.is_closed()
    }

    /// Acquires a permit, waiting in the queue until the caller may enter. Returns whether it has one.
    ///
    /// With `blocking=False` it does not wait, and with a `timeout` in seconds it waits at most that long.
    #[pyo3(signature = (blocking=true, timeout=None))]
    fn acquire(&self, py: Python<'_>, blocking: bool, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let patience = match (blocking, Patience::of(timeout)?) {
            (true, patience) => patience,
            (false, Patience::Until(None)) => Patience::Try,
            (false, _) => return Err(PyValueError::new_err("can't specify a timeout for a non-blocking call")),
        };
        let Some(inner) = self.core.acquire(py, patience)? else { return Ok(false) };
        self.core.state().held.push((By::this_thread(), inner));
        Ok(true)
    }

    /// Releases the latest permit of this thread or task; if it has none, the latest of any.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        let has_tasks = self.core.state().held.iter().any(|(by, _)| matches!(by, By::Task(_)));
        let task = if has_tasks { current_task(py) } else { None };
        let inner = {
            let mut state = self.core.state();
            state.held.retain(|(_, inner)| !inner.is_released());
            let own = |&(by, _): &(By, Arc<Inner>)| Some(by) == task || by == By::this_thread();
            let at = state.held.iter().rposition(own).or(state.held.len().checked_sub(1));
            match at {
                Some(at) => state.held.remove(at).1,
                None if self.core.interrupts.is_closed() => return Err(self.core.closed()),
                None => return Err(self.core.not_held(&state)),
            }
        };
        inner.release(py)
    }

    fn __enter__(&self, py: Python<'_>) -> PyResult<Permit> {
        let inner = self.core.acquire(py, Patience::Until(None))?;
        let Some(inner) = inner else { unreachable!("a wait without a deadline does not abort") };
        self.core.state().held.push((By::this_thread(), inner.clone()));
        Ok(Permit { inner })
    }

    #[pyo3(signature = (kind, _value, _traceback))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.leave(py, By::this_thread(), !kind.is_none())
    }

    /// Acquires a permit for `hold`: returns `None` on timeout, and does not add it to those that `release` releases.
    fn _hold(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Permit>> {
        Ok(self.core.acquire(py, Patience::of(timeout)?)?.map(|inner| Permit { inner }))
    }

    /// Checks a timeout before a task waits.
    #[staticmethod]
    fn _check_timeout(timeout: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        Patience::of(timeout).map(|_| ())
    }

    /// Joins the queue for a task, whose event loop completes the future when it may enter.
    fn _join(&self, py: Python<'_>, event_loop: Py<PyAny>, future: Py<PyAny>) -> PyResult<Waiter> {
        let (backend, dispatcher) = self.core.dispatcher(py)?;
        let delivery = Delivery::new(&self.core.name, event_loop, future);
        match backend {
            Backend::File(semaphore) => {
                let id = dispatcher.join(py, &semaphore, &delivery)?;
                Ok(Waiter { delivery, left: Left::Dispatcher(dispatcher, id) })
            }
            #[cfg(feature = "etcd")]
            Backend::Cluster(semaphore) => {
                let task = crate::cluster::join(&semaphore, delivery.clone())?;
                Ok(Waiter { delivery, left: Left::Cluster(task) })
            }
        }
    }

    /// Adds the permit of a task to those that `release` and `_leave_task` release.
    fn _keep_for_task(&self, permit: &Permit, task: usize) {
        self.core.state().held.push((By::Task(task), permit.inner.clone()));
    }

    /// The end of an `async with` block.
    fn _leave_task(&self, py: Python<'_>, task: usize, has_raised: bool) -> PyResult<()> {
        self.leave(py, By::Task(task), has_raised)
    }

    /// The current holders, in order of arrival.
    fn holders(&self, py: Python<'_>) -> PyResult<Vec<Participant>> {
        Ok(self.core.opened(py)?.participants(py)?.0)
    }

    /// The current waiters, in the order of the queue.
    fn waiters(&self, py: Python<'_>) -> PyResult<Vec<Participant>> {
        Ok(self.core.opened(py)?.participants(py)?.1)
    }

    /// Closes the semaphore: releases the permits that this object has acquired, and ends the waits on it.
    ///
    /// Closing it again does nothing. Other processes, and other objects of the same name, are not concerned.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.core.forget_parent_if_forked();
        self.core.interrupts.close();
        let (held, opened) = {
            let mut state = self.core.state();
            (std::mem::take(&mut state.held), state.opened.take())
        };
        if let Some(dispatcher) = opened.as_ref().and_then(|opened| opened.dispatcher.as_ref()) {
            dispatcher.stop(py);
        }
        let mut held = held.into_iter().filter(|(_, inner)| !inner.is_released());
        held.try_for_each(|(_, inner)| inner.release(py))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, core) = (slf.py(), &slf.get().core);
        if core.interrupts.is_closed() {
            return Err(core.closed());
        }
        let open = PyModule::import(py, "fairdoorway._semaphore")?.getattr("_open")?;
        let arguments = (slf.get_type(), &*core.name, core.k, core.on.as_deref(), core.description.as_deref());
        PyTuple::new(py, [open, arguments.into_pyobject(py)?.into_any()])
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let kind: Bound<'_, PyType> = slf.get_type();
        let core = &slf.get().core;
        let on = core.on.as_deref().map_or(String::new(), |on| format!(", on={on:?}"));
        let closed = if core.interrupts.is_closed() { " closed" } else { "" };
        Ok(format!("<{} {:?}, k={}{on}{closed}>", kind.name()?, core.name, core.k))
    }
}

impl Semaphore {
    /// Releases the permit of a block. If the block has raised, that exception is not replaced by one about a fork.
    fn leave(&self, py: Python<'_>, by: By, has_raised: bool) -> PyResult<()> {
        self.core.forget_parent_if_forked();
        let is_inherited = self.core.state().inherited_from.is_some();
        let released = match self.core.take(by) {
            // `close` has released it.
            Err(_) if self.core.interrupts.is_closed() => return Ok(()),
            taken => taken.and_then(|inner| inner.release(py)),
        };
        if has_raised && is_inherited { Ok(()) } else { released }
    }
}

impl Core {
    fn forget_parent_if_forked(&self) {
        let is_forked = self.state().opened.as_ref().is_some_and(|opened| opened.pid != process::id());
        if is_forked {
            self.forget_parent();
        }
    }
}

/// The identity of the running task.
fn current_task(py: Python<'_>) -> Option<By> {
    let task = PyModule::import(py, "asyncio").ok()?.call_method0("current_task").ok()?;
    (!task.is_none()).then(|| By::Task(task.as_ptr() as usize))
}

/// A task that waits.
#[pyclass(frozen, module = "fairdoorway._core")]
pub(crate) struct Waiter {
    delivery: Arc<Delivery>,
    left: Left,
}

/// How a task leaves the queue.
enum Left {
    Dispatcher(Arc<Dispatcher>, Option<u64>),
    #[cfg(feature = "etcd")]
    Cluster(crate::cluster::Task),
}

#[pymethods]
impl Waiter {
    /// The permit, or `None` while the task waits.
    fn take(&self) -> PyResult<Option<Permit>> {
        Ok(self.delivery.take()?.map(|inner| Permit { inner }))
    }

    /// Leaves the queue; a permit that the task has not taken is released.
    fn cancel(&self, py: Python<'_>) {
        self.delivery.cancel();
        match &self.left {
            Left::Dispatcher(dispatcher, Some(id)) => dispatcher.cancel(py, *id),
            Left::Dispatcher(_, None) => {}
            #[cfg(feature = "etcd")]
            Left::Cluster(task) => task.cancel(py),
        }
    }
}

/// A holder or waiter of a semaphore.
#[pyclass(frozen, get_all, eq, module = "fairdoorway")]
#[derive(Clone, PartialEq)]
pub(crate) struct Participant {
    /// The process id.
    pub(crate) pid: u32,
    /// The description, or the command line.
    pub(crate) description: String,
    /// Since when it has been a holder or waiter, in seconds since 1970, to a few milliseconds.
    pub(crate) since: f64,
    /// The index of a holder; a waiter has none.
    pub(crate) index: Option<usize>,
    /// Whether the process is alive. If not, the next waiter removes it.
    pub(crate) alive: bool,
    /// The process id of the command that keeps the permit if the process dies.
    pub(crate) command: Option<u32>,
    /// The machine, on etcd.
    pub(crate) host: Option<String>,
}

#[pymethods]
impl Participant {
    fn __repr__(&self) -> String {
        let host = self.host.as_ref().map_or(String::new(), |host| format!(" on {host}"));
        let index = self.index.map_or(String::new(), |index| format!(", index {index}"));
        format!("<process {}{host}{index}: {}>", self.pid, self.description)
    }
}

/// Removes the file of a semaphore that no process uses.
#[pyfunction]
pub(crate) fn forget(py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<()> {
    let name = name_of(name)?;
    py.detach(|| doorway::process::Semaphore::forget(name)).map_err(errors::of_file)
}

/// Forgets what the parent had, in a forked child.
#[pyfunction]
pub(crate) fn after_fork_in_child() {
    let all: Vec<Arc<Core>> = cores().iter().filter_map(Weak::upgrade).collect();
    all.iter().for_each(|core| core.forget_parent_if_forked());
}

/// Ends the threads of this module, before the interpreter does.
#[pyfunction]
pub(crate) fn shutdown(py: Python<'_>) {
    let all: Vec<Arc<Core>> = cores().iter().filter_map(Weak::upgrade).collect();
    for core in all {
        let dispatcher = core.state().opened.as_ref().and_then(|opened| opened.dispatcher.clone());
        dispatcher.iter().for_each(|dispatcher| dispatcher.stop(py));
    }
}

const _: fn() = || {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Core>();
    is_send_and_sync::<Held>();
};
