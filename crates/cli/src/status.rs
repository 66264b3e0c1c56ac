//! `doorway status` and `doorway forget`.
use std::{
    ffi::OsString,
    fmt::Write as _,
    io::{IsTerminal, Write as _, stdout},
    thread,
    time::{Duration, SystemTime},
};

use clap::Args;
use doorway::process::{Error, Person, Semaphore, names};
use serde_json::{Value, json};

use crate::output::{Answer, HOLDS, Trouble};

#[derive(Args)]
pub(crate) struct Arguments {
    /// A name, or a path of a file if it has a `/` [default: all names of yours]
    name: Option<OsString>,
    /// Shows it again and again, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Forget {
    /// A name, or a path of a file if it has a `/`
    name: OsString,
}

/// So often it is shown anew.
const EVERY: Duration = Duration::from_millis(500);

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    if arguments.watch {
        return watch(arguments);
    }
    Ok(Answer { text: look(arguments)?, code: HOLDS })
}

fn watch(arguments: &Arguments) -> Result<Answer, Trouble> {
    let clear = if stdout().is_terminal() { "\x1b[H\x1b[J" } else { "" };
    loop {
        let shown = format!("{clear}{}", look(arguments)?);
        let mut out = stdout().lock();
        // Whoever was reading has seen enough.
        if out.write_all(shown.as_bytes()).and_then(|()| out.flush()).is_err() {
            return Ok(Answer { text: String::new(), code: HOLDS });
        }
        thread::sleep(EVERY);
    }
}

pub(crate) fn forget(arguments: &Forget) -> Result<Answer, Trouble> {
    Semaphore::forget(&arguments.name)?;
    Ok(Answer { text: String::new(), code: HOLDS })
}

fn look(arguments: &Arguments) -> Result<String, Trouble> {
    let lines = match &arguments.name {
        Some(name) => vec![Line::of(name)?],
        None => names()?
            .iter()
            .map(Line::of)
            .filter(|line| !matches!(line, Err(Error::Missing { .. })))
            .collect::<Result<_, _>>()?,
    };
    Ok(match (&lines[..], arguments.json) {
        ([line], true) if arguments.name.is_some() => format!("{:#}\n", line.as_json()),
        (_, true) => format!("{:#}\n", lines.iter().map(Line::as_json).collect::<Value>()),
        ([], false) => "nobody has used a name yet: `doorway run NAME -- CMD` does\n".to_string(),
        (_, false) => lines.iter().map(Line::as_text).collect::<Vec<_>>().join("\n"),
    })
}

/// One line of processes, as it was seen.
struct Line {
    name: String,
    path: String,
    k: usize,
    slots: usize,
    now: SystemTime,
    inside: Vec<Person>,
    waiting: Vec<Person>,
}

impl Line {
    fn of(name: &OsString) -> Result<Line, Error> {
        let semaphore = Semaphore::existing(name)?;
        Ok(Line {
            name: name.to_string_lossy().into_owned(),
            path: semaphore.path().to_string_lossy().into_owned(),
            k: semaphore.k(),
            slots: semaphore.slots(),
            now: SystemTime::now(),
            inside: semaphore.holders(),
            // Who has ended no longer waits; who has ended inside still has its place until somebody comes.
            waiting: semaphore.waiters().into_iter().filter(|person| person.alive).collect(),
        })
    }

    fn since(&self, person: &Person) -> Duration {
        self.now.duration_since(person.since).unwrap_or_default()
    }

    fn as_json(&self) -> Value {
        let person = |person: &Person| {
            let since = person.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            json!({
                "pid": person.pid,
                "command": person.what,
                "since": since.as_secs_f64(),
                "seconds": self.since(person).as_secs_f64(),
                "ticket": person.ticket,
                "alive": person.alive,
            })
        };
        json!({
            "name": self.name,
            "path": self.path,
            "k": self.k,
            "slots": self.slots,
            "holders": self.inside.iter().map(person).collect::<Value>(),
            "waiters": self.waiting.iter().map(person).collect::<Value>(),
        })
    }

    fn as_text(&self) -> String {
        let Line { name, k, inside, waiting, .. } = self;
        // A String takes all that is written to it.
        let mut text = format!("{name}: {} of {k} inside, {} in line\n", inside.len(), waiting.len());
        let places =
            inside.iter().map(|_| "inside".to_string()).chain((1..=waiting.len()).map(|place| place.to_string()));
        for (place, person) in places.zip(inside.iter().chain(waiting)) {
            let dead = if person.alive { "" } else { " (has ended; the next to come goes in)" };
            let (pid, what) = (person.pid, &person.what);
            let _ = writeln!(text, "{place:>8}  {pid:>8}  {:>8}  {what}{dead}", span(self.since(person)));
        }
        text
    }
}

/// In units that fit.
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
    fn a_span_is_shown_in_units_that_fit() {
        let spans = [0.25, 59.0, 600.0, 10_000.0, 200_000.0].map(|seconds| span(Duration::from_secs_f64(seconds)));
        assert_eq!(spans, ["0.2 s", "59 s", "10 min", "2 h", "2 days"]);
    }
}
