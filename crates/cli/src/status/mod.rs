//! `doorway status`, `doorway resize` and `doorway forget`.
#[cfg(feature = "etcd")]
mod cluster;

use std::{
    ffi::OsString,
    io::{ErrorKind, IsTerminal, Write as _, stdout},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use clap::Args;
use doorway::process::{Error, Participant, Process, Semaphore, names};
use rustix::termios::tcgetwinsize;
use serde_json::{Value, json};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

use crate::{
    on::On,
    output::{Answer, Failure, HOLDS, complain},
    words::{cut, span, terminal_width, visible},
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of the semaphore; with a `/`, the path of its file [default: all names of the user]
    name: Option<OsString>,
    #[command(flatten)]
    on: On,
    /// Shows the status all the time, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Resize {
    /// Name of the semaphore; with a `/`, the path of its file
    name: OsString,
    /// The new capacity: the maximum number of concurrent holders
    #[arg(value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    k: u16,
    #[command(flatten)]
    on: On,
}

#[derive(Args)]
pub(crate) struct Forget {
    /// Name of the semaphore; with a `/`, the path of its file
    #[arg(required_unless_present = "unused", conflicts_with = "unused")]
    name: Option<OsString>,
    /// Forgets every name of the user that no process uses
    #[arg(long)]
    unused: bool,
    #[command(flatten)]
    on: On,
}

/// The pause between two outputs of `--watch`.
const INTERVAL: Duration = Duration::from_millis(500);

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    if arguments.watch {
        return watch(arguments);
    }
    let (snapshots, problems) = snapshots(arguments)?;
    problems.iter().for_each(|problem| complain(problem));
    Ok(Answer { text: render(arguments, &snapshots, None), code: HOLDS })
}

pub(crate) fn resize(arguments: &Resize) -> Result<Answer, Failure> {
    if arguments.on.address()?.is_some() {
        let why = "a capacity on etcd cannot be changed while it is in use; `doorway forget` the name when no process \
                   uses it, then run with another `-k`";
        return Err(Failure(why.to_string()));
    }
    Semaphore::existing(&arguments.name)?.resize(arguments.k.into())?;
    Ok(Answer { text: String::new(), code: HOLDS })
}

pub(crate) fn forget(arguments: &Forget) -> Result<Answer, Failure> {
    if let Some(_address) = arguments.on.address()? {
        #[cfg(feature = "etcd")]
        return cluster::forget(&_address, arguments.name.as_deref());
    }
    if let Some(name) = &arguments.name {
        Semaphore::forget(name)?;
        return Ok(Answer { text: String::new(), code: HOLDS });
    }
    let mut forgotten = String::new();
    for name in names()? {
        match Semaphore::forget(&name) {
            Ok(()) => forgotten.push_str(&format!("{}\n", visible(&name.to_string_lossy()))),
            Err(Error::InUse { .. } | Error::Missing { .. }) => {}
            Err(error) => complain(&error.to_string()),
        }
    }
    Ok(Answer { text: forgotten, code: HOLDS })
}

/// Prints the status again and again; on a terminal, in place.
fn watch(arguments: &Arguments) -> Result<Answer, Failure> {
    let is_over = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register(signal, is_over.clone())?;
    }
    let is_screen = stdout().is_terminal() && !arguments.json;
    // Another screen than the one with the shell's lines, without a cursor.
    let (begin, end) = if is_screen { ("\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l") } else { ("", "") };
    let print = |text: &str| {
        let mut out = stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    };
    let mut result = print(begin).map_err(Failure::from);
    let mut last = String::new();
    while result.is_ok() && !is_over.load(Relaxed) {
        result = snapshots(arguments).and_then(|(found, problems)| {
            let text = if is_screen { screen(arguments, &found, &problems) } else { render(arguments, &found, None) };
            // A screen on which nothing has changed is not painted again.
            if is_screen && text == last {
                return Ok(());
            }
            let printed = print(&text).map_err(|error| match error.kind() {
                ErrorKind::BrokenPipe => Failure(String::new()), // the reader has closed the pipe
                _ => error.into(),
            });
            last = text;
            printed
        });
        let pause = Instant::now();
        while result.is_ok() && pause.elapsed() < INTERVAL && !is_over.load(Relaxed) {
            thread::sleep(INTERVAL / 10);
        }
    }
    let _ = print(end);
    match result {
        Err(Failure(message)) if !message.is_empty() => Err(Failure(message)),
        _ => Ok(Answer { text: String::new(), code: HOLDS }),
    }
}

/// The status as a screen: from its upper left corner, as many lines as it has room for.
fn screen(arguments: &Arguments, snapshots: &[Snapshot], problems: &[String]) -> String {
    let (rows, columns) = tcgetwinsize(stdout()).map_or((24, 100), |size| (size.ws_row.into(), size.ws_col.into()));
    let text = render(arguments, snapshots, Some(columns));
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    lines.extend(problems.iter().map(|problem| cut(&visible(problem), columns)));
    if lines.len() > rows {
        let hidden = lines.len() - (rows - 1);
        lines.truncate(rows - 1);
        lines.push(format!("… and {hidden} more lines"));
    }
    format!("\x1b[H{}\x1b[J", lines.iter().map(|line| format!("{line}\x1b[K")).collect::<Vec<_>>().join("\r\n"))
}

/// The semaphore asked for, or all semaphores of the user, and what is wrong with others.
fn snapshots(arguments: &Arguments) -> Result<(Vec<Snapshot>, Vec<String>), Failure> {
    if let Some(_address) = arguments.on.address()? {
        #[cfg(feature = "etcd")]
        return cluster::snapshots(&_address, arguments.name.as_deref());
    }
    if let Some(name) = &arguments.name {
        return Ok((vec![Snapshot::of(name)?], Vec::new()));
    }
    let (mut snapshots, mut problems) = (Vec::new(), Vec::new());
    for name in names()? {
        match Snapshot::of(&name) {
            Ok(snapshot) => snapshots.push(snapshot),
            Err(Error::Missing { .. }) => {} // it was removed after it was listed
            Err(error) => problems.push(error.to_string()),
        }
    }
    Ok((snapshots, problems))
}

/// The snapshots as text, each line at most `columns` wide, or as JSON.
fn render(arguments: &Arguments, snapshots: &[Snapshot], columns: Option<usize>) -> String {
    let columns = columns.unwrap_or_else(|| terminal_width(&stdout()));
    match (snapshots, arguments.json) {
        ([snapshot], true) if arguments.name.is_some() => format!("{:#}\n", snapshot.as_json()),
        (_, true) => format!("{:#}\n", snapshots.iter().map(Snapshot::as_json).collect::<Value>()),
        ([], false) => "there are no named semaphores; `doorway run NAME CMD` creates one\n".to_string(),
        (_, false) => snapshots.iter().map(|snapshot| snapshot.as_text(columns)).collect::<Vec<_>>().join("\n"),
    }
}

/// The holders and waiters of a semaphore at one moment.
struct Snapshot {
    name: String,
    /// The file, or the cluster.
    at: At,
    k: usize,
    now: SystemTime,
    holders: Vec<Row>,
    waiters: Vec<Row>,
}

enum At {
    Path(String),
    #[cfg(feature = "etcd")]
    Cluster(String),
}

/// A holder or waiter.
struct Row {
    pid: u32,
    /// The machine, if it may be another.
    host: Option<String>,
    since: SystemTime,
    what: String,
    index: Option<usize>,
    alive: bool,
}

impl Row {
    fn of(participant: &Participant) -> Row {
        Row {
            pid: pid(participant),
            host: None,
            since: participant.since,
            what: participant.what.clone(),
            index: participant.index,
            alive: participant.alive,
        }
    }
}

impl Snapshot {
    fn of(name: &OsString) -> Result<Snapshot, Error> {
        let semaphore = Semaphore::look(name)?;
        let (holders, waiters) = semaphore.participants();
        Ok(Snapshot {
            name: name.to_string_lossy().into_owned(),
            at: At::Path(semaphore.path().to_string_lossy().into_owned()),
            k: semaphore.k(),
            now: SystemTime::now(),
            // A dead holder is shown, since it keeps its permit until it is reaped. A dead waiter never enters.
            holders: holders.iter().map(Row::of).collect(),
            waiters: waiters.iter().filter(|waiter| waiter.alive).map(Row::of).collect(),
        })
    }

    /// For how long the process has been a holder or waiter.
    fn duration(&self, row: &Row) -> Duration {
        self.now.duration_since(row.since).unwrap_or_default()
    }

    fn as_json(&self) -> Value {
        let object = |row: &Row| {
            let since = row.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let mut object = json!({
                "pid": row.pid,
                "command": row.what,
                "since": since.as_secs_f64(),
                "seconds": self.duration(row).as_secs_f64(),
                "index": row.index,
                "alive": row.alive,
            });
            if let Some(host) = &row.host {
                object["host"] = host.as_str().into();
            }
            object
        };
        let (key, place) = match &self.at {
            At::Path(path) => ("path", path),
            #[cfg(feature = "etcd")]
            At::Cluster(address) => ("on", address),
        };
        json!({
            "name": self.name,
            key: place,
            "k": self.k,
            "holders": self.holders.iter().map(object).collect::<Value>(),
            "waiters": self.waiters.iter().map(object).collect::<Value>(),
        })
    }

    fn as_text(&self, columns: usize) -> String {
        let Snapshot { name, k, holders, waiters, .. } = self;
        let head = format!("{}: {} of {k} holders, {} waiting", visible(name), holders.len(), waiters.len());
        let positions = (1..=waiters.len()).map(|position| position.to_string());
        let labels = holders.iter().map(|_| "holder".to_string()).chain(positions);
        let process = |row: &Row| match &row.host {
            Some(host) => format!("{}:{}", visible(host), row.pid),
            None => row.pid.to_string(),
        };
        let width = holders.iter().chain(waiters).map(|row| crate::screen::columns(&process(row))).max().unwrap_or(0);
        let width = width.max(8);
        let line = |(label, row): (String, &Row)| {
            let dead = if row.alive { "" } else { "(dead; its permit goes to the next waiter) " };
            let (process, what) = (process(row), visible(&row.what));
            let time = span(self.duration(row));
            cut(&format!("{label:>8}  {process:>width$}  {time:>8}  {dead}{what}"), columns)
        };
        let lines = labels.zip(holders.iter().chain(waiters)).map(line);
        [cut(&head, columns)].into_iter().chain(lines).map(|line| line + "\n").collect()
    }
}

/// The process to show: the command, if only that is left.
fn pid(participant: &Participant) -> u32 {
    let is_gone = || Process::of(participant.pid).is_none_or(|process| process.started != participant.started);
    participant.command.filter(|_| participant.alive && is_gone()).unwrap_or(participant.pid)
}
