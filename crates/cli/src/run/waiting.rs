//! What a user sees on the terminal while `doorway run` waits.
use std::{
    ffi::OsStr,
    io::{Write, stderr},
    path::Path,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, SystemTime},
};

use doorway::process::{Participant, Semaphore};

use crate::words::{cut, span, terminal_width, visible};

/// How long a wait may take before something is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// The time between two updates.
const INTERVAL: Duration = Duration::from_secs(1);

/// The number of holders that a message names.
pub(super) const SHOWN_HOLDERS: usize = 3;

/// A line that tells the position in the queue, and is updated until it is dropped.
pub(super) struct Display {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    /// Shows what `line` returns, if it returns something.
    pub(super) fn start(line: impl Fn() -> Option<String> + Send + 'static) -> Display {
        let (stop, stopped) = mpsc::channel::<()>();
        let show = move || {
            let mut wait = PATIENCE;
            let mut is_shown = false;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = INTERVAL;
                if let Some(line) = line() {
                    let line = cut(&line, terminal_width(&stderr()).saturating_sub(1));
                    let _ = write!(stderr(), "\r{line}\x1b[K");
                    is_shown = true;
                }
            }
            if is_shown {
                let _ = write!(stderr(), "\r\x1b[K");
            }
        };
        let thread = thread::Builder::new().spawn(show).ok();
        Display { stop: Some(stop), thread }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        drop(self.stop.take());
        // The line is to be gone before the command writes.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The line for a semaphore of this host; `None` if this process does not wait.
pub(super) fn line(name: &OsStr, path: &Path) -> Option<String> {
    let (holders, waiters) = Semaphore::look(path).ok()?.participants();
    let waiters: Vec<Participant> = waiters.into_iter().filter(|waiter| waiter.alive).collect();
    let position = 1 + waiters.iter().position(|waiter| waiter.pid == std::process::id())?;
    let holders = holders.iter().map(holder).collect();
    Some(words(&visible(&name.to_string_lossy()), position, waiters.len(), holders))
}

/// A position in the queue, and the holders.
pub(super) fn words(name: &str, position: usize, waiters: usize, holders: Vec<String>) -> String {
    let more = if holders.len() > SHOWN_HOLDERS { ", …" } else { "" };
    let held = holders.into_iter().take(SHOWN_HOLDERS).collect::<Vec<_>>().join(", ");
    format!("{name}: {position} of {waiters} waiting; held by {held}{more}")
}

/// A holder in a few words.
pub(super) fn holder(holder: &Participant) -> String {
    let time = SystemTime::now().duration_since(holder.since).unwrap_or_default();
    format!("{} ({}) for {}", holder.pid, cut(&visible(&holder.what), 40), span(time))
}
