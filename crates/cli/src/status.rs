//! `doorway status` and `doorway forget`.
use std::{
    ffi::OsString,
    fmt::Write as _,
    io::{IsTerminal, Write as _, stdout},
    thread,
    time::{Duration, SystemTime},
};

use clap::Args;
use doorway::process::{Error, Participant, Semaphore, names};
use serde_json::{Value, json};

use crate::output::{Answer, HOLDS, Trouble};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of the semaphore; with a `/`, the path of its file [default: all names of the user]
    name: Option<OsString>,
    /// Prints the status twice per second, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Forget {
    /// Name of the semaphore; with a `/`, the path of its file
    name: OsString,
}

/// The pause between two outputs of `--watch`.
const INTERVAL: Duration = Duration::from_millis(500);

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    if arguments.watch {
        return watch(arguments);
    }
    Ok(Answer { text: render(arguments)?, code: HOLDS })
}

fn watch(arguments: &Arguments) -> Result<Answer, Trouble> {
    let clear = if stdout().is_terminal() { "\x1b[H\x1b[J" } else { "" };
    loop {
        let shown = format!("{clear}{}", render(arguments)?);
        let mut out = stdout().lock();
        // The reader has closed the pipe.
        if out.write_all(shown.as_bytes()).and_then(|()| out.flush()).is_err() {
            return Ok(Answer { text: String::new(), code: HOLDS });
        }
        thread::sleep(INTERVAL);
    }
}

pub(crate) fn forget(arguments: &Forget) -> Result<Answer, Trouble> {
    Semaphore::forget(&arguments.name)?;
    Ok(Answer { text: String::new(), code: HOLDS })
}

/// The status of the semaphore asked for, or of all semaphores of the user, as text or JSON.
fn render(arguments: &Arguments) -> Result<String, Trouble> {
    let snapshots = match &arguments.name {
        Some(name) => vec![Snapshot::of(name)?],
        // A file may be removed after it was listed.
        None => names()?
            .iter()
            .map(Snapshot::of)
            .filter(|snapshot| !matches!(snapshot, Err(Error::Missing { .. })))
            .collect::<Result<_, _>>()?,
    };
    Ok(match (&snapshots[..], arguments.json) {
        ([snapshot], true) if arguments.name.is_some() => format!("{:#}\n", snapshot.as_json()),
        (_, true) => format!("{:#}\n", snapshots.iter().map(Snapshot::as_json).collect::<Value>()),
        ([], false) => "there are no named semaphores; `doorway run NAME -- CMD` creates one\n".to_string(),
        (_, false) => snapshots.iter().map(Snapshot::as_text).collect::<Vec<_>>().join("\n"),
    })
}

/// The holders and waiters of a semaphore at one moment.
struct Snapshot {
    name: String,
    path: String,
    k: usize,
    slots: usize,
    now: SystemTime,
    holders: Vec<Participant>,
    waiters: Vec<Participant>,
}

impl Snapshot {
    fn of(name: &OsString) -> Result<Snapshot, Error> {
        let semaphore = Semaphore::existing(name)?;
        Ok(Snapshot {
            name: name.to_string_lossy().into_owned(),
            path: semaphore.path().to_string_lossy().into_owned(),
            k: semaphore.k(),
            slots: semaphore.slots(),
            now: SystemTime::now(),
            // A dead holder is shown, since it keeps its permit until it is reaped. A dead waiter never enters.
            holders: semaphore.holders(),
            waiters: semaphore.waiters().into_iter().filter(|waiter| waiter.alive).collect(),
        })
    }

    /// For how long the process has been a holder or waiter.
    fn duration(&self, participant: &Participant) -> Duration {
        self.now.duration_since(participant.since).unwrap_or_default()
    }

    fn as_json(&self) -> Value {
        let object = |participant: &Participant| {
            let since = participant.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            json!({
                "pid": participant.pid,
                "command": participant.what,
                "since": since.as_secs_f64(),
                "seconds": self.duration(participant).as_secs_f64(),
                "ticket": participant.ticket,
                "alive": participant.alive,
            })
        };
        json!({
            "name": self.name,
            "path": self.path,
            "k": self.k,
            "slots": self.slots,
            "holders": self.holders.iter().map(object).collect::<Value>(),
            "waiters": self.waiters.iter().map(object).collect::<Value>(),
        })
    }

    fn as_text(&self) -> String {
        let Snapshot { name, k, holders, waiters, .. } = self;
        let mut text = format!("{name}: {} of {k} holders, {} waiting\n", holders.len(), waiters.len());
        let positions = (1..=waiters.len()).map(|position| position.to_string());
        let labels = holders.iter().map(|_| "holder".to_string()).chain(positions);
        for (label, participant) in labels.zip(holders.iter().chain(waiters)) {
            let dead = if participant.alive { "" } else { " (dead; its permit goes to the next waiter)" };
            let (pid, what) = (participant.pid, &participant.what);
            // Writing to a String does not fail.
            let _ = writeln!(text, "{label:>8}  {pid:>8}  {:>8}  {what}{dead}", span(self.duration(participant)));
        }
        text
    }
}

/// A duration in a unit that suits its length.
fn span(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7200 => format!("{} min", seconds / 60),
        seconds @ ..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_shown_in_units_that_suit_their_length() {
        let spans = [0.25, 59.0, 600.0, 10_000.0, 200_000.0].map(|seconds| span(Duration::from_secs_f64(seconds)));
        assert_eq!(spans, ["0.2 s", "59 s", "10 min", "2 h", "2 days"]);
    }
}
