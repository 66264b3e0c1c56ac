//! How far a check is, on a terminal; and Ctrl-C.
use std::{
    io::{IsTerminal, Write, stderr},
    sync::{
        Arc, Mutex, Once, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use doorway_checker::{Observer, Phase, Progress};

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Shows the progress of one check on standard error, if that is a terminal.
pub(crate) struct Watcher {
    title: String,
    start: Instant,
    shown: Option<Mutex<Instant>>,
}

impl Watcher {
    pub(crate) fn new(title: String) -> Arc<Watcher> {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(|| {
            // ORDERING: a lone flag, looked at again and again; nothing is published through it.
            let interrupt = || {
                if INTERRUPTED.swap(true, Relaxed) {
                    std::process::exit(i32::from(crate::output::UNDECIDED)); // the second time: at once
                }
            };
            // Without a handler Ctrl-C still ends the process, only without what is known so far.
            let _ = ctrlc::set_handler(interrupt);
        });
        let shown = stderr().is_terminal().then(|| Mutex::new(Instant::now()));
        Arc::new(Watcher { title, start: Instant::now(), shown })
    }

    /// Shows what is being done.
    pub(crate) fn say(&self, text: &str) {
        if self.shown.is_some() {
            eprint!("\r\x1b[K{}: {text}", self.title);
            let _ = stderr().flush(); // progress that cannot be shown is not worth an error
        }
    }

    /// Clears the line.
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
        const EVERY: Duration = Duration::from_millis(200);
        let Some(shown) = &self.shown else { return };
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.elapsed() < EVERY {
            return;
        }
        *shown = Instant::now();
        let Progress { states, depth, bytes, .. } = *progress;
        let rate = states as f64 / self.start.elapsed().as_secs_f64() / 1e6;
        let megabytes = bytes / 1_000_000;
        let text = match progress.phase {
            Phase::Searching => {
                let growing = progress.growing.map_or(String::new(), |(register, values)| {
                    format!("; `{register}` has held {values} values: does it grow for ever?")
                });
                format!("{states} states, {rate:.1} M/s, depth {depth}, {megabytes} MB{growing}")
            }
            Phase::Judging => format!("{states} states, {megabytes} MB; judging"),
        };
        self.say(&text);
    }

    fn cancelled(&self) -> bool {
        interrupted()
    }
}
