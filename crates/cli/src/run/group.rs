//! A command in a process group of its own, so that all of it can be ended.
use std::{
    ffi::OsString,
    io::{self, stdin},
    process::Child,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustix::{
    process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, getpid, kill_process, kill_process_group, waitid},
    termios::{tcgetpgrp, tcsetpgrp},
};
use signal_hook::{consts::SIGCHLD, iterator::SignalsInfo, iterator::exfiltrator::raw::WithRawSiginfo};

use super::{command, signals};
use crate::output::Failure;

/// The command, its group, and the signals of this process.
pub(super) struct Group {
    child: Child,
    pid: Pid,
    /// Whether the group has the terminal.
    is_in_foreground: bool,
    signals: SignalsInfo<WithRawSiginfo>,
    /// Whether the command has ended: then its number may be another's.
    is_over: Arc<Mutex<bool>>,
}

/// Sends signals to the group of a command, as long as that runs.
pub(super) struct Sender {
    pid: Pid,
    is_over: Arc<Mutex<bool>>,
}

impl Sender {
    /// Asks the command to end; false if it has.
    pub(super) fn terminate(&self) -> bool {
        // A stopped process would not hear of it.
        self.send(Signal::TERM) && self.send(Signal::CONT)
    }

    /// Ends the command.
    pub(super) fn kill(&self) {
        self.send(Signal::KILL);
    }

    fn send(&self, signal: Signal) -> bool {
        let is_over = locked(&self.is_over);
        if !*is_over {
            let _ = kill_process_group(self.pid, signal);
        }
        !*is_over
    }
}

fn locked(is_over: &Mutex<bool>) -> MutexGuard<'_, bool> {
    is_over.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Group {
    /// Starts the command. It ends with this process, and has the terminal if this process had it.
    pub(super) fn start(words: &[OsString], environment: &[(&str, OsString)]) -> io::Result<Group> {
        signals::unblock_all();
        let signals = SignalsInfo::new(signals::to_forward().into_iter().chain([SIGCHLD]))?;
        let is_in_foreground = tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp());
        let mut command = command::prepared(words, environment);
        signals::in_own_group(&mut command, is_in_foreground);
        let child = command.spawn()?;
        let pid = Pid::from_child(&child);
        Ok(Group { child, pid, is_in_foreground, signals, is_over: Arc::default() })
    }

    pub(super) fn signals(&self) -> Sender {
        Sender { pid: self.pid, is_over: self.is_over.clone() }
    }

    /// Waits until the command ends, and forwards signals to its group; returns its exit code, or 128 + n if signal n ended
    /// it.
    pub(super) fn wait(&mut self) -> Result<u8, Failure> {
        loop {
            let look = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            match waitid(WaitId::Pid(self.pid), look)? {
                Some(status) if status.stopped() => {
                    waitid(WaitId::Pid(self.pid), WaitIdOptions::STOPPED | WaitIdOptions::NOHANG)?;
                    self.stop_with_it();
                    continue;
                }
                Some(_) => {
                    *locked(&self.is_over) = true;
                    let status = self.child.wait()?;
                    self.take_terminal();
                    return Ok(command::code(status));
                }
                None => {}
            }
            for sent in self.signals.wait() {
                let signal = Signal::from_named_raw(sent.si_signo).filter(|&signal| signal != Signal::CHILD);
                if let Some(signal) = signal {
                    let _ = kill_process_group(self.pid, signal);
                }
            }
        }
    }

    /// The user has stopped the command, as with Ctrl-Z: this process stops too, so that the shell goes on.
    fn stop_with_it(&self) {
        if self.is_in_foreground {
            self.take_terminal();
            let _ = kill_process(getpid(), Signal::STOP);
            // The shell has continued this process.
            if tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp()) {
                let _ = tcsetpgrp(stdin(), self.pid);
            }
            let _ = kill_process_group(self.pid, Signal::CONT);
        }
    }

    fn take_terminal(&self) {
        if self.is_in_foreground {
            signals::ignore_terminal_output();
            let _ = tcsetpgrp(stdin(), getpgrp());
        }
    }
}
