//! A check in a thread of its own, so that signals and endless loops end it.
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use doorway_checker::{Model, Observer};
use pyo3::prelude::*;

use crate::{errors::Class, interrupt};

/// How often the caller of a check lets Python handle signals.
const SLICE: Duration = Duration::from_millis(50);

/// How long an interrupted check may take to end. One that executes a function of another extension module cannot be
/// interrupted.
const MAX_END: Duration = Duration::from_secs(10);

/// What the thread of a check and its caller tell each other.
#[derive(Default)]
pub(crate) struct Signals {
    cancelled: AtomicBool,
    /// The Python thread of the check, while it executes a lock written in Python; else 0.
    executing: AtomicU64,
    /// How often such a lock has yielded.
    yields: AtomicU64,
}

impl Observer for Signals {
    fn cancelled(&self) -> bool {
        self.cancelled.load(SeqCst)
    }
}

impl Signals {
    /// The thread executes a lock written in Python from now on.
    pub(crate) fn enter(&self, thread: u64) {
        self.yields.fetch_add(1, SeqCst);
        self.executing.store(thread, SeqCst);
    }

    /// The thread has left it: it yielded, returned or raised.
    pub(crate) fn leave(&self) {
        self.executing.store(0, SeqCst);
    }
}

/// Runs a check in another thread, without the GIL, until it ends, or a signal handler raises, or a lock written in
/// Python has yielded nothing for `patience`.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    patience: Option<Duration>,
    check: impl FnOnce(Arc<Signals>) -> T + Send + 'static,
) -> PyResult<T> {
    type Outcome<T> = (Mutex<Option<thread::Result<T>>>, Condvar);
    let outcome: Arc<Outcome<T>> = Arc::default();
    let signals = Arc::new(Signals::default());
    let (theirs, watched) = (outcome.clone(), signals.clone());
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(|| check(watched)));
        *theirs.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        theirs.1.notify_all();
    };
    thread::Builder::new().name("fairdoorway-check".into()).stack_size(64 << 20).spawn(body)?;
    let mut raised = None;
    let mut seen = (0, Instant::now());
    loop {
        let ended = py.detach(|| {
            let waiting = outcome.0.lock().unwrap_or_else(PoisonError::into_inner);
            let (mut waiting, _) = outcome
                .1
                .wait_timeout_while(waiting, SLICE, |result| result.is_none())
                .unwrap_or_else(PoisonError::into_inner);
            waiting.take()
        });
        if let Some(result) = ended {
            let result = result.unwrap_or_else(|panic| resume_unwind(panic));
            return raised.map_or(Ok(result), |(error, _)| Err(error));
        }
        let executing = signals.executing.load(SeqCst);
        match &mut raised {
            None => {
                if let Err(error) = py.check_signals() {
                    signals.cancelled.store(true, SeqCst);
                    raised = Some((error, Instant::now()));
                }
            }
            Some((error, since)) if since.elapsed() > MAX_END => return Err(error.clone_ref(py)),
            Some(_) => interrupt::raise_in(py, executing),
        }
        let yields = signals.yields.load(SeqCst);
        if executing == 0 || seen.0 != yields {
            seen = (yields, Instant::now());
        } else if patience.is_some_and(|patience| seen.1.elapsed() > patience) {
            if patience.is_some_and(|patience| seen.1.elapsed() > patience + MAX_END) {
                return Err(Class::Check.error(
                    "the lock executes a function that cannot be interrupted; its thread goes on. A section must yield accesses",
                ));
            }
            interrupt::raise_in(py, executing);
        }
    }
}

/// The model, watched by these signals.
pub(crate) fn watched(model: Model, signals: &Arc<Signals>) -> Model {
    model.observer(signals.clone())
}
