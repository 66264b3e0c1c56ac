//! The progress of a command on a terminal, and its interruption by Ctrl-C.
use std::{
    collections::BTreeMap,
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
    /// The pieces of work that are under way, by their numbers. The first is shown.
    pieces: BTreeMap<usize, Piece>,
    estimate: Option<Estimate>,
    /// The time of the last output.
    shown: Instant,
}

/// A piece of work, or all of it.
struct Piece {
    /// The command or the piece of work.
    title: String,
    /// What it is doing.
    detail: String,
    /// When the search began, and the number of states that it had found when last seen.
    search: (Instant, u64),
}

impl Piece {
    fn new(title: &str) -> Piece {
        Piece { title: title.to_string(), detail: String::new(), search: (Instant::now(), 0) }
    }
}

impl Watcher {
    /// A watcher of a single search.
    pub(crate) fn new(title: &str) -> Arc<Watcher> {
        let watcher = Watcher::start(None);
        watcher.begin(title);
        watcher
    }

    /// A watcher of several pieces of work, which [begin](Watcher::begin) one after the other or [at
    /// once](Watcher::begin_at_once).
    pub(crate) fn of_pieces(estimate: Estimate) -> Arc<Watcher> {
        Watcher::start(Some(estimate))
    }

    /// The first watcher also installs the handler of Ctrl-C.
    fn start(estimate: Option<Estimate>) -> Arc<Watcher> {
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
        let line = Line { pieces: BTreeMap::new(), estimate, shown: Instant::now() };
        Arc::new(Watcher { line: can_erase.then(|| Mutex::new(line)) })
    }

    /// The next piece of work begins, and the one before is finished.
    pub(crate) fn begin(&self, title: &str) {
        self.change(|line| {
            let before = line.pieces.keys().next().copied();
            before.into_iter().for_each(|number| line.finish(number));
            line.begin(before.map_or(0, |number| number + 1), title);
        });
    }

    /// A piece of work begins beside others.
    pub(crate) fn begin_at_once(&self, number: usize, title: &str) {
        self.change(|line| line.begin(number, title));
    }

    /// A piece of work is finished.
    pub(crate) fn finish(&self, number: usize) {
        self.change(|line| line.finish(number));
    }

    /// A search that belongs to a piece of work has come this far.
    pub(crate) fn progress_of(&self, number: usize, progress: &Progress) {
        self.change(|line| line.progress(number, progress));
    }

    /// Replaces what is said about the current piece.
    pub(crate) fn say(&self, detail: &str) {
        self.change(|line| {
            if let Some(mut piece) = line.pieces.first_entry() {
                piece.get_mut().detail = detail.to_string();
            }
        });
    }

    /// Shows the line again if it has been shown for long enough. To be called at short intervals.
    pub(crate) fn tick(&self) {
        self.change(|_| ());
    }

    /// Erases the line, so that results can be printed; it comes back with the next change.
    pub(crate) fn done(&self) {
        self.beside(|| ());
    }

    /// Erases the line and does something that prints, before which the line does not come back.
    pub(crate) fn beside<T>(&self, print: impl FnOnce() -> T) -> T {
        let _line = self.line.as_ref().map(|line| line.lock().unwrap_or_else(PoisonError::into_inner));
        if self.line.is_some() {
            eprint!("\r\x1b[K");
        }
        print()
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
    fn begin(&mut self, number: usize, title: &str) {
        self.pieces.insert(number, Piece::new(title));
        self.estimate.iter_mut().for_each(|estimate| estimate.begin(number));
    }

    fn finish(&mut self, number: usize) {
        self.pieces.remove(&number);
        self.estimate.iter_mut().for_each(|estimate| estimate.finish(number));
    }

    fn progress(&mut self, number: usize, progress: &Progress) {
        let Some(Piece { detail, search, .. }) = self.pieces.get_mut(&number) else { return };
        // Fewer states than before: another search has begun.
        if progress.states < search.1 {
            search.0 = Instant::now();
        }
        search.1 = progress.states;
        *detail = searching(progress, search.0.elapsed());
        if self.estimate.is_some() {
            // Beside a bar there is no room for more.
            *detail = detail.split(", depth").next().unwrap_or_default().to_string();
        }
    }

    fn text(&self) -> String {
        let Some((&number, Piece { title, detail, .. })) = self.pieces.first_key_value() else { return String::new() };
        let mut parts = vec![title.clone(), detail.clone()];
        if let Some(estimate) = &self.estimate {
            let (done, seconds) = estimate.now();
            parts.splice(0..1, [estimate.position(number), title.clone(), bar(done)]);
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
        self.progress_of(0, progress);
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
    if progress.phase == Phase::Merging {
        return format!("merging states, {states} classes so far, {megabytes} MB");
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
    let watcher = Watcher::new(name);
    let found = check(model.observer(watcher.clone()));
    watcher.done();
    found.map_err(|error| Failure(format!("`{name}`: {error}")))
}
