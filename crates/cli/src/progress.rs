//! The progress of a command on a terminal, and its interruption by Ctrl-C.
use std::{
    io::{IsTerminal, Write, stderr},
    sync::{
        Arc, Mutex, Once, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use doorway_checker::{Error, Model, Observer, Phase, Progress};

use crate::output::Trouble;

/// Whether Ctrl-C was pressed.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Shows the progress of one command on standard error, if that is a terminal.
pub(crate) struct Watcher {
    title: String,
    start: Instant,
    /// The time of the last output; `None` if standard error is not a terminal.
    shown: Option<Mutex<Instant>>,
}

impl Watcher {
    /// Creates a watcher. The first one also installs the handler of Ctrl-C.
    pub(crate) fn new(title: String) -> Arc<Watcher> {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(|| {
            // ORDERING: Relaxed: the flag is polled by itself, and publishes no other data.
            let interrupt = || {
                if INTERRUPTED.swap(true, Relaxed) {
                    std::process::exit(i32::from(crate::output::UNDECIDED)); // a second Ctrl-C ends the process at once
                }
            };
            // If no handler can be installed, Ctrl-C ends the process without partial results.
            let _ = ctrlc::set_handler(interrupt);
        });
        let shown = stderr().is_terminal().then(|| Mutex::new(Instant::now()));
        Arc::new(Watcher { title, start: Instant::now(), shown })
    }

    /// Replaces the line of progress by this text.
    pub(crate) fn say(&self, text: &str) {
        if self.shown.is_some() {
            eprint!("\r\x1b[K{}: {text}", self.title);
            let _ = stderr().flush(); // an error in showing progress is ignored
        }
    }

    /// Clears the line of progress.
    pub(crate) fn done(&self) {
        if self.shown.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Relaxed)
}

impl Observer for Watcher {
    fn progress(&self, progress: &Progress) {
        const INTERVAL: Duration = Duration::from_millis(200);
        let Some(shown) = &self.shown else { return };
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.elapsed() < INTERVAL {
            return;
        }
        *shown = Instant::now();
        let Progress { states, depth, bytes, .. } = *progress;
        let rate = states as f64 / self.start.elapsed().as_secs_f64() / 1e6;
        let megabytes = bytes / 1_000_000;
        let text = match progress.phase {
            Phase::Searching => {
                let growing = progress.growing.map_or(String::new(), |(register, values)| {
                    format!("; `{register}` has held {values} values and may grow for ever")
                });
                format!("{states} states, {rate:.1} M/s, depth {depth}, {megabytes} MB{growing}")
            }
            Phase::Judging => format!("{states} states, {megabytes} MB; checking properties"),
        };
        self.say(&text);
    }

    fn cancelled(&self) -> bool {
        interrupted()
    }
}

/// Runs a check of an algorithm with progress, and can be interrupted.
pub(crate) fn watched<T>(
    name: &str,
    model: Model,
    check: impl FnOnce(Model) -> Result<T, Error>,
) -> Result<T, Trouble> {
    let watcher = Watcher::new(name.to_string());
    let found = check(model.observer(watcher.clone()));
    watcher.done();
    found.map_err(|error| Trouble(format!("`{name}`: {error}")))
}
