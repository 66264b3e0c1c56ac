//! The progress of a command on a terminal, and its interruption by Ctrl-C.
use std::{
    env,
    io::{IsTerminal, Write, stderr},
    sync::{
        Arc, Mutex, Once, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use doorway_checker::{Error, Model, Observer, Phase, Progress};

use crate::{
    estimate::{Estimate, bar, left},
    output::Failure,
    screen::{DEFAULT_WIDTH, cut},
};

/// Whether Ctrl-C was pressed.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The time between two outputs.
const INTERVAL: Duration = Duration::from_millis(200);

/// Shows the progress of one command in one line on standard error, if that is a terminal.
pub(crate) struct Watcher {
    /// `None` if standard error is not a terminal.
    line: Option<Mutex<Line>>,
}

/// The line of progress.
struct Line {
    /// The command or the piece of work.
    title: String,
    /// What it is doing.
    detail: String,
    estimate: Option<Estimate>,
    /// When the search began, and the number of states that it had found when last seen.
    search: (Instant, u64),
    /// The time of the last output.
    shown: Instant,
}

impl Watcher {
    /// A watcher of a single search.
    pub(crate) fn new(title: String) -> Arc<Watcher> {
        Watcher::start(title, None)
    }

    /// A watcher of several pieces of work, which [begin](Watcher::begin) one after the other.
    pub(crate) fn of_pieces(estimate: Estimate) -> Arc<Watcher> {
        Watcher::start(String::new(), Some(estimate))
    }

    /// The first watcher also installs the handler of Ctrl-C.
    fn start(title: String, estimate: Option<Estimate>) -> Arc<Watcher> {
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
        let can_erase = stderr().is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb");
        let now = Instant::now();
        let line = Line { title, detail: String::new(), estimate, search: (now, 0), shown: now };
        Arc::new(Watcher { line: can_erase.then(|| Mutex::new(line)) })
    }

    /// The next piece of work begins.
    pub(crate) fn begin(&self, title: &str) {
        self.change(|line| {
            line.title = title.to_string();
            line.detail.clear();
            line.search = (Instant::now(), 0);
            if let Some(estimate) = &mut line.estimate {
                estimate.begin();
            }
        });
    }

    /// Replaces what is said about the current piece.
    pub(crate) fn say(&self, detail: &str) {
        self.change(|line| line.detail = detail.to_string());
    }

    /// Shows the line again if it has been shown for long enough. To be called at short intervals.
    pub(crate) fn tick(&self) {
        self.change(|_| ());
    }

    /// Erases the line, so that results can be printed; it comes back with the next change.
    pub(crate) fn done(&self) {
        if let Some(line) = &self.line {
            let _line = line.lock().unwrap_or_else(PoisonError::into_inner);
            eprint!("\r\x1b[K");
        }
    }

    fn change(&self, change: impl FnOnce(&mut Line)) {
        let Some(line) = &self.line else { return };
        let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut line);
        if line.shown.elapsed() >= INTERVAL {
            line.shown = Instant::now();
            let width = terminal_size::terminal_size_of(stderr()).map_or(DEFAULT_WIDTH, |(width, _)| width.0.into());
            // The last column stays free: some terminals would begin a new line.
            eprint!("\r\x1b[K{}", cut(&line.text(), width.saturating_sub(1)));
            let _ = stderr().flush(); // an error in showing progress is ignored
        }
    }
}

impl Line {
    fn text(&self) -> String {
        let mut parts = vec![self.title.clone(), self.detail.clone()];
        if let Some(estimate) = &self.estimate {
            let (done, seconds) = estimate.now();
            parts.splice(0..1, [estimate.position(), self.title.clone(), bar(done)]);
            parts.insert(3, seconds.map_or(String::new(), left));
        }
        parts.retain(|part| !part.is_empty());
        parts.join("  ")
    }
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Relaxed)
}

impl Observer for Watcher {
    fn progress(&self, progress: &Progress) {
        self.change(|line| {
            // Fewer states than before: another search has begun.
            if progress.states < line.search.1 {
                line.search.0 = Instant::now();
            }
            line.search.1 = progress.states;
            line.detail = searching(progress, line.search.0.elapsed());
            if line.estimate.is_some() {
                // Beside a bar there is no room for more.
                line.detail = line.detail.split(", depth").next().unwrap_or_default().to_string();
            }
        });
    }

    fn cancelled(&self) -> bool {
        interrupted()
    }
}

/// What a search is doing, after this time.
fn searching(progress: &Progress, time: Duration) -> String {
    let Progress { states, depth, bytes, .. } = *progress;
    let megabytes = bytes / 1_000_000;
    if progress.phase == Phase::Judging {
        return format!("{states} states, {megabytes} MB; checking properties");
    }
    let rate = states as f64 / time.as_secs_f64().max(1e-3);
    let rate = if rate < 1e6 { format!("{:.0} k", rate / 1e3) } else { format!("{:.1} M", rate / 1e6) };
    let growing = progress.growing.map_or(String::new(), |(register, values)| {
        format!("; `{register}` has held {values} values and may grow for ever")
    });
    format!("{states} states, {rate}/s, depth {depth}, {megabytes} MB{growing}")
}

/// Runs a check of an algorithm with progress, and can be interrupted.
pub(crate) fn watched<T>(
    name: &str,
    model: Model,
    check: impl FnOnce(Model) -> Result<T, Error>,
) -> Result<T, Failure> {
    let watcher = Watcher::new(name.to_string());
    let found = check(model.observer(watcher.clone()));
    watcher.done();
    found.map_err(|error| Failure(format!("`{name}`: {error}")))
}
