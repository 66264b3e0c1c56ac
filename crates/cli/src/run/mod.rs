//! `doorway run`: runs a command while holding a permit of a semaphore that processes share, in the manner of flock(1).
#[cfg(feature = "etcd")]
mod cluster;
mod command;
#[cfg(feature = "etcd")]
mod group;
mod reentry;
mod signals;
mod waiting;

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{IsTerminal, stderr},
    time::{Duration, Instant},
};

use clap::Args;
use doorway::process::{Error, Permit, Semaphore};

use crate::{
    on::On,
    output::{Answer, Failure, complain},
    words::{quoted, span, visible},
};

#[cfg(not(test))]
pub(crate) use signals::ignore_broken_pipes;

pub(crate) const ABOUT: &str = "Runs a command in order of arrival, with at most k commands at a time";

pub(crate) const EXAMPLES: &str = "\
Examples:
  doorway run backup ./backup.sh                  one at a time, in order of arrival
  doorway run -k 2 gpu ./train --seed 1           at most two at a time
  doorway run -n /srv/lock -c 'make && make test' a line for the shell, or exit code 75 at once
  doorway run -k 2 gpu -c 'CUDA_VISIBLE_DEVICES=$DOORWAY_INDEX ./train'
  doorway run --on etcd://a:2379,b:2379,c:2379 -k 2 gpu ./train    on all machines together

Exit code: that of the command; 75 if no permit was free; 76 if the command was ended because its
lease on etcd was about to end; 2 for a wrong call, an unusable file, or an unreachable cluster.";

/// The default exit code if no permit was free: `EX_TEMPFAIL` of `sysexits.h`.
const NO_PERMIT: u8 = 75;

/// The shell of `-c`, unless the environment names another.
const SHELL: &str = "/bin/sh";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Maximum number of concurrent holders; the first caller fixes it, and `doorway resize` changes it [default: 1]
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
    #[arg(short = 'o', long, conflicts_with = "no_fork")]
    close: bool,
    /// Becomes the command instead of starting it: no process of doorway stays
    #[arg(short = 'F', long)]
    no_fork: bool,
    /// Waits in the queue even if this process descends from a holder
    #[arg(long)]
    no_reentry: bool,
    /// Says nothing while waiting, and nothing if no permit was free
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    on: On,
    /// With `--on`: for how long a process that died, or is cut off from etcd, keeps its permit
    #[arg(long, value_name = "SECS", default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..))]
    ttl: u16,
    /// With `--on`: lets the command go on although its lease may have ended, and another command run
    #[arg(long)]
    keep_running: bool,
    /// What flock(1) has by default
    #[arg(short = 'x', short_alias = 'e', long = "exclusive", hide = true)]
    _exclusive: bool,
    /// What flock(1) has and doorway has not
    #[arg(short, long, hide = true)]
    shared: bool,
    #[arg(short, long, hide = true)]
    unlock: bool,
    /// Name of the semaphore; with a `/`, the path of its file
    name: OsString,
    /// Command and its arguments, passed on unchanged; or `-c` and a line for the shell
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<OsString>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "expected a number of seconds, such as 10 or 0.5".to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let words = command(arguments)?;
    #[cfg_attr(not(feature = "etcd"), allow(unused_variables, reason = "without etcd there is no address"))]
    if let Some(address) = arguments.on.address()? {
        #[cfg(feature = "etcd")]
        return cluster::run(arguments, &address, &words);
    }
    let semaphore = open(arguments)?.describe(quoted(&words));
    if !arguments.no_reentry
        && let Some(holder) = reentry::ancestor_that_holds(&semaphore)
    {
        return Err(command::become_it(&words, &environment(arguments, &semaphore, holder)));
    }
    let begun = Instant::now();
    let code = match acquire(arguments, &semaphore)? {
        Some(permit) => {
            let environment = environment(arguments, &semaphore, permit.index());
            match (arguments.no_fork, arguments.close) {
                (true, _) => {
                    permit.keep()?;
                    return Err(command::become_it(&words, &environment));
                }
                (false, closes) => command::run(&words, &environment, permit, closes)?,
            }
        }
        None => {
            if !arguments.quiet {
                complain(&refusal(&arguments.name, &semaphore, begun.elapsed()));
            }
            arguments.conflict_exit_code
        }
    };
    Ok(Answer { text: String::new(), code })
}

/// The words of the command.
fn command(arguments: &Arguments) -> Result<Vec<OsString>, Failure> {
    if arguments.shared {
        return Err(Failure("there are no shared permits; `-k K` lets K commands run at a time".to_string()));
    }
    if arguments.unlock {
        return Err(Failure("there is nothing to unlock: a permit is released when its command ends".to_string()));
    }
    let hint = "see `doorway run --help`";
    match &arguments.command[..] {
        [] if arguments.name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()) => Err(Failure(format!(
            "there is no command; doorway does not lock descriptors as `flock {}` does: {hint}",
            arguments.name.display()
        ))),
        [] => Err(Failure(format!("there is no command; write `doorway run NAME CMD`: {hint}"))),
        [option, line] if option == "-c" || option == "--command" => {
            let shell = env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or(SHELL.into());
            Ok(vec![shell, "-c".into(), line.clone()])
        }
        [option, ..] if option == "-c" || option == "--command" => {
            Err(Failure(format!("`-c` takes one line for the shell, in quotes: {hint}")))
        }
        [dashes, words @ ..] if dashes == "--" && !words.is_empty() => Ok(words.to_vec()),
        [option, ..] if option.as_encoded_bytes().starts_with(b"-") => {
            Err(Failure(format!("`{}` is neither an option nor a command: {hint}", option.display())))
        }
        words => Ok(words.to_vec()),
    }
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

fn acquire<'a>(arguments: &Arguments, semaphore: &'a Semaphore) -> Result<Option<Permit<'a>>, Error> {
    if arguments.nonblock {
        return semaphore.try_acquire();
    }
    let _shown = if stderr().is_terminal() && !arguments.quiet {
        // Without waiting, if possible: then there is nothing to show.
        if let Some(permit) = semaphore.try_acquire()? {
            return Ok(Some(permit));
        }
        let (name, path) = (arguments.name.clone(), semaphore.path().to_owned());
        Some(waiting::Display::start(move || waiting::line(&name, &path)))
    } else {
        None
    };
    match arguments.wait {
        Some(time) => semaphore.acquire_timeout(time),
        None => semaphore.acquire().map(Some),
    }
}

/// What the command finds in its environment.
fn environment(arguments: &Arguments, semaphore: &Semaphore, index: usize) -> [(&'static str, OsString); 3] {
    [
        ("DOORWAY_NAME", arguments.name.clone()),
        ("DOORWAY_INDEX", index.to_string().into()),
        ("DOORWAY_K", semaphore.k().to_string().into()),
    ]
}

/// Why the command was not run, and which processes hold the permits.
fn refusal(name: &OsStr, semaphore: &Semaphore, waited: Duration) -> String {
    refused(name, semaphore.holders().iter().map(waiting::holder).collect(), waited)
}

fn refused(name: &OsStr, holders: Vec<String>, waited: Duration) -> String {
    let more = holders.len().saturating_sub(waiting::SHOWN_HOLDERS);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    let shown: Vec<String> = holders.into_iter().take(waiting::SHOWN_HOLDERS).collect();
    let held = if shown.is_empty() { String::new() } else { format!(": held by {}{more}", shown.join(", ")) };
    let waited = if waited < Duration::from_millis(10) { String::new() } else { format!(" within {}", span(waited)) };
    format!("no permit of `{}` was free{waited}{held}", visible(&name.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_takes_a_finite_non_negative_number_of_seconds() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(["-1", "soon", "nan", "1e300"].iter().all(|text| seconds(text).is_err()));
    }
}
