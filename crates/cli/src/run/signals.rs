//! Which signals this process found ignored or blocked when it began.
#![allow(unsafe_code, reason = "neither the standard library nor rustix asks for the action of a signal")]
use std::{
    mem::MaybeUninit,
    os::unix::process::CommandExt,
    process::Command,
    ptr,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

/// Whether SIGPIPE was ignored when the process began. The standard library lets children begin with the default action.
static IS_PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

/// Ignores SIGPIPE, so that writing to a pipe that nobody reads is an error, and remembers whether it was ignored.
#[cfg(not(test))]
pub(crate) fn ignore_broken_pipes() {
    IS_PIPE_IGNORED.store(is_ignored(SIGPIPE), Relaxed);
    // SAFETY: ignoring a signal installs no handler.
    unsafe { libc::signal(SIGPIPE, libc::SIG_IGN) };
}

/// The signals that are forwarded to the command: those that were not ignored. An ignored one stays ignored, here and in
/// the command, as `nohup` wants it.
pub(super) fn to_forward() -> Vec<i32> {
    let signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];
    signals.into_iter().filter(|&signal| !is_ignored(signal)).collect()
}

fn is_ignored(signal: i32) -> bool {
    let mut found = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: with a null pointer for the new action nothing is changed; `found` is valid for the old one, which is
    // written if the call succeeds.
    unsafe {
        libc::sigaction(signal, ptr::null(), found.as_mut_ptr()) == 0
            && found.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Unblocks all signals. A parent may have blocked SIGCHLD, without which this process would never learn that the command
/// has ended.
pub(super) fn unblock_all() {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initialises the set, which `pthread_sigmask` then reads; the old mask is not asked for.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

/// Lets the command ignore SIGPIPE if this process found it ignored.
pub(super) fn keep_ignored(command: &mut Command) {
    if IS_PIPE_IGNORED.load(Relaxed) {
        // SAFETY: between fork and exec only functions that are safe in a signal handler may be called; `signal` is one.
        unsafe {
            command.pre_exec(|| {
                libc::signal(SIGPIPE, libc::SIG_IGN);
                Ok(())
            });
        }
    }
}

/// Lets the command have a process group of its own and, if `has_terminal`, the terminal; and lets the kernel end it if
/// this process is killed.
#[cfg(feature = "etcd")]
pub(super) fn in_own_group(command: &mut Command, has_terminal: bool) {
    let parent = std::process::id();
    // SAFETY: between fork and exec only functions that are safe in a signal handler may be called: all of these are. They
    // take numbers only, and set nothing outside of the new process and its terminal.
    unsafe {
        command.pre_exec(move || {
            if libc::setpgid(0, 0) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            if has_terminal {
                libc::signal(libc::SIGTTOU, libc::SIG_IGN);
                libc::tcsetpgrp(0, libc::getpid());
                libc::signal(libc::SIGTTOU, libc::SIG_DFL);
            }
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // It may have been killed before that.
            if libc::getppid() as u32 != parent {
                libc::_exit(1);
            }
            Ok(())
        });
    }
}

/// Lets this process take the terminal back, which would otherwise stop it.
#[cfg(feature = "etcd")]
pub(super) fn ignore_terminal_output() {
    // SAFETY: ignoring a signal installs no handler.
    unsafe { libc::signal(libc::SIGTTOU, libc::SIG_IGN) };
}
