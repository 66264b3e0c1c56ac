//! `doorway run`: a command in a place of a line that processes share, in the manner of flock(1).
use std::{
    ffi::OsString,
    io::ErrorKind,
    os::unix::process::ExitStatusExt,
    process::{Child, Command, ExitStatus},
    time::Duration,
};

use clap::Args;
use doorway::process::{Error, Permit, Semaphore};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::{
    consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2},
    iterator::{SignalsInfo, exfiltrator::raw::WithRawSiginfo},
};

use crate::output::{Answer, Trouble};

pub(crate) const ABOUT: &str = "Runs a command, so many at a time, in order of arrival";

/// No place was free: what `sysexits.h` calls a temporary failure.
const NO_PLACE: u8 = 75;

/// As shells have it.
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;
const KILLED: i32 = 128;

type Signals = SignalsInfo<WithRawSiginfo>;

#[derive(Args)]
pub(crate) struct Arguments {
    /// So many at a time; whoever comes first decides, and then it is for all [default: 1]
    #[arg(short, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    k: Option<u16>,
    /// Does not wait: ends at once if there is no place
    #[arg(short, long = "nonblock", conflicts_with = "wait")]
    nonblock: bool,
    /// Waits for so long at most
    #[arg(short, long, value_name = "SECS", value_parser = seconds)]
    wait: Option<Duration>,
    /// The exit code if there was no place in time
    #[arg(short = 'E', long, value_name = "CODE", default_value_t = NO_PLACE)]
    conflict_exit_code: u8,
    /// The place is free as soon as we are killed, even if the command goes on
    #[arg(long)]
    close: bool,
    /// A name, or a path of a file if it has a `/`
    name: OsString,
    /// The command and its arguments, as they are; no shell
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "it is a number of seconds, such as 10 or 0.5".to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    let semaphore = open(arguments)?.describe(command_line(&arguments.command));
    let permit = match (arguments.nonblock, arguments.wait) {
        (true, _) => semaphore.try_acquire()?,
        (_, Some(time)) => semaphore.acquire_timeout(time)?,
        (_, None) => Some(semaphore.acquire()?),
    };
    let code = match permit {
        Some(permit) => inside(arguments, permit)?,
        None => arguments.conflict_exit_code,
    };
    Ok(Answer { text: String::new(), code })
}

/// Without `-k` it is as it is; and if there is none, for one.
fn open(arguments: &Arguments) -> Result<Semaphore, Error> {
    let name = &arguments.name;
    match arguments.k {
        Some(k) => Semaphore::open(name, k.into()),
        None => match Semaphore::existing(name) {
            Err(Error::Missing { .. }) => match Semaphore::open(name, 1) {
                // Another was faster.
                Err(Error::OtherK { .. }) => Semaphore::existing(name),
                opened => opened,
            },
            existing => existing,
        },
    }
}

/// Runs the command; its exit code, or 128 and the signal that ended it.
fn inside(arguments: &Arguments, permit: Permit<'_>) -> Result<u8, Trouble> {
    if !arguments.close {
        permit.keep_in_child()?;
    }
    // From here on signals wait until they are read; in the command they are as usual.
    let mut signals = Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2])?;
    let (program, words) = arguments.command.split_first().expect("clap asks for one at least");
    let mut child = match Command::new(program).args(words).spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("doorway: cannot run `{}`: {error}", program.display());
            return Ok(if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN });
        }
    };
    let status = wait(&mut child, &mut signals)?;
    // The next one may come in before we have ended.
    drop(permit);
    let code = status.code().or_else(|| status.signal().map(|signal| KILLED + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(CANNOT_RUN))
}

/// Waits for the command to end, and sends on to it what is sent to us. What comes from the terminal has been sent to both.
fn wait(child: &mut Child, signals: &mut Signals) -> Result<ExitStatus, Trouble> {
    let pid = Pid::from_child(child);
    loop {
        // It may have ended before its signal is read.
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        for sent in signals.wait() {
            let is_from_a_process = sent.si_code <= 0; // the kernel's own are above
            let signal = Signal::from_named_raw(sent.si_signo).filter(|&signal| signal != Signal::CHILD);
            if let (true, Some(signal)) = (is_from_a_process, signal) {
                // If it has ended in the meantime there is nobody to tell.
                let _ = kill_process(pid, signal);
            }
        }
    }
}

/// For people to read, so that words with spaces can be told apart.
fn command_line(words: &[OsString]) -> String {
    let shown = |word: &OsString| {
        let word = word.to_string_lossy();
        let is_plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:,+@%".contains(c));
        if is_plain { word.into_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    words.iter().map(shown).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_break_are_quoted() {
        let words = ["echo", "a b", "it's", "", "--x=1"].map(OsString::from);
        assert_eq!(command_line(&words), r"echo 'a b' 'it'\''s' '' --x=1");
    }

    #[test]
    fn a_time_is_a_number_of_seconds() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(["-1", "soon", "nan", "1e300"].iter().all(|text| seconds(text).is_err()));
    }
}
