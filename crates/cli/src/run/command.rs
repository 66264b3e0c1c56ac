//! Starting the command, forwarding signals to it, and its exit code.
use std::{
    ffi::OsString,
    io::{self, ErrorKind},
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command, ExitStatus},
};

use doorway::process::Permit;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::{consts::SIGCHLD, iterator::SignalsInfo, iterator::exfiltrator::raw::WithRawSiginfo};

use super::signals;
use crate::output::{Failure, complain};

/// The exit codes of shells: the command cannot be run, or is not found, or signal n ended it (128 + n).
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;
const SIGNALLED: i32 = 128;

type Signals = SignalsInfo<WithRawSiginfo>;

/// Runs the command while holding the permit, and returns its exit code, or 128 + n if signal n ended it.
///
/// If `closes`, the command does not inherit the permit.
pub(super) fn run(
    words: &[OsString],
    environment: &[(&str, OsString)],
    permit: Permit<'_>,
    closes: bool,
) -> Result<u8, Failure> {
    if !closes {
        permit.keep_in_child()?;
    }
    // From here on `wait` reads the signals of this process. In the command they have their default actions, except
    // those that were ignored from the start.
    signals::unblock_all();
    let mut signals = Signals::new(signals::to_forward().into_iter().chain([SIGCHLD]))?;
    let mut child = match prepared(words, environment).spawn() {
        Ok(child) => child,
        Err(error) => return Ok(cannot_run(&words[0], &error)),
    };
    if !closes {
        permit.keep_for(child.id());
    }
    let status = wait(&mut child, &mut signals)?;
    // The next waiter need not wait until this process has ended.
    drop(permit);
    Ok(code(status))
}

/// The exit code of a command, or 128 + n if signal n ended it.
pub(super) fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(CANNOT_RUN)
}

/// Becomes the command. Returns only if that fails.
pub(super) fn become_it(words: &[OsString], environment: &[(&str, OsString)]) -> Failure {
    let error = prepared(words, environment).exec();
    std::process::exit(cannot_run(&words[0], &error).into())
}

pub(super) fn prepared(words: &[OsString], environment: &[(&str, OsString)]) -> Command {
    let (program, arguments) = words.split_first().expect("there is a command");
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
    signals::keep_ignored(&mut command);
    command
}

pub(super) fn cannot_run(program: &OsString, error: &io::Error) -> u8 {
    complain(&format!("cannot run `{}`: {error}", program.display()));
    if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN }
}

/// Waits until the command ends, and forwards signals to it.
///
/// Signals from the terminal are not forwarded: the terminal sends them to the command too.
fn wait(child: &mut Child, signals: &mut Signals) -> Result<ExitStatus, Failure> {
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
