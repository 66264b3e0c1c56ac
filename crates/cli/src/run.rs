//! `doorway run`: runs a command while holding a permit of a semaphore that processes share, in the manner of flock(1).
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

pub(crate) const ABOUT: &str = "Runs a command in order of arrival, with at most k commands at a time";

/// The default exit code if no permit was free: `EX_TEMPFAIL` of `sysexits.h`.
const NO_PERMIT: u8 = 75;

/// The exit codes of shells: the command cannot be run, or is not found, or signal n ended it (128 + n).
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;
const SIGNALLED: i32 = 128;

type Signals = SignalsInfo<WithRawSiginfo>;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Maximum number of concurrent holders; fixed by the first caller [default: 1]
    #[arg(short, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    k: Option<u16>,
    /// Does not wait: exits at once if no permit is free
    #[arg(short, long = "nonblock", conflicts_with = "wait")]
    nonblock: bool,
    /// Waits for at most this time, then exits
    #[arg(short, long, value_name = "SECS", value_parser = seconds)]
    wait: Option<Duration>,
    /// Exit code if no permit was free in time
    #[arg(short = 'E', long, value_name = "CODE", default_value_t = NO_PERMIT)]
    conflict_exit_code: u8,
    /// Releases the permit when `doorway run` is killed, even if the command survives it
    #[arg(long)]
    close: bool,
    /// Name of the semaphore; with a `/`, the path of its file
    name: OsString,
    /// Command and its arguments, passed on unchanged; there is no shell
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "expected a number of seconds, such as 10 or 0.5".to_string())?;
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
        Some(permit) => run_command(arguments, permit)?,
        None => arguments.conflict_exit_code,
    };
    Ok(Answer { text: String::new(), code })
}

/// Opens the semaphore. Without `-k`, with the capacity that it has, or with capacity 1 if it does not exist.
fn open(arguments: &Arguments) -> Result<Semaphore, Error> {
    let name = &arguments.name;
    match arguments.k {
        Some(k) => Semaphore::open(name, k.into()),
        None => match Semaphore::existing(name) {
            Err(Error::Missing { .. }) => match Semaphore::open(name, 1) {
                // Another process created it meanwhile, with another capacity.
                Err(Error::OtherK { .. }) => Semaphore::existing(name),
                opened => opened,
            },
            existing => existing,
        },
    }
}

/// Runs the command, and returns its exit code, or 128 + n if signal n ended it.
fn run_command(arguments: &Arguments, permit: Permit<'_>) -> Result<u8, Trouble> {
    if !arguments.close {
        permit.keep_in_child()?;
    }
    // From here on `wait` reads the signals of this process. In the command they have their default actions.
    let mut signals = Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2])?;
    let (program, words) = arguments.command.split_first().expect("clap requires at least one word");
    let mut child = match Command::new(program).args(words).spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("doorway: cannot run `{}`: {error}", program.display());
            return Ok(if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN });
        }
    };
    let status = wait(&mut child, &mut signals)?;
    // The next waiter need not wait until this process has ended.
    drop(permit);
    let code = status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(CANNOT_RUN))
}

/// Waits until the command ends, and forwards signals to it.
///
/// Signals from the terminal are not forwarded: the terminal sends them to the command too.
fn wait(child: &mut Child, signals: &mut Signals) -> Result<ExitStatus, Trouble> {
    let pid = Pid::from_child(child);
    loop {
        // The command may end before the loop reads its first signal.
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        for sent in signals.wait() {
            let is_from_a_process = sent.si_code <= 0; // signals of the kernel have positive codes
            let signal = Signal::from_named_raw(sent.si_signo).filter(|&signal| signal != Signal::CHILD);
            if let (true, Some(signal)) = (is_from_a_process, signal) {
                // A signal that must not be sent, as to a command of another user, is dropped.
                let _ = kill_process(pid, signal);
            }
        }
    }
}

/// The command line as `doorway status` shows it, quoted like shell words.
fn command_line(words: &[OsString]) -> String {
    let quote = |word: &OsString| {
        let word = word.to_string_lossy();
        let is_plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:,+@%".contains(c));
        if is_plain { word.into_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_quotes_words_that_a_shell_would_split() {
        let words = ["echo", "a b", "it's", "", "--x=1"].map(OsString::from);
        assert_eq!(command_line(&words), r"echo 'a b' 'it'\''s' '' --x=1");
    }

    #[test]
    fn wait_takes_a_finite_non_negative_number_of_seconds() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(["-1", "soon", "nan", "1e300"].iter().all(|text| seconds(text).is_err()));
    }
}
