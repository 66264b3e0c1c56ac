//! `doorway run --on`: holding a permit of a semaphore on etcd while the command runs.
use std::{
    ffi::OsString,
    io::{IsTerminal, stderr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use doorway::cluster::{Error, Options, Participant, Permit, Semaphore, host_name};

use super::{Arguments, command, group::Group, reentry::index_of_ancestor, refused, waiting};
use crate::{
    cluster::{place, text, warning},
    output::{Answer, Failure, complain},
    words::{cut, quoted, span, visible},
};

/// The exit code if the command was ended because its lease was about to end: `EX_PROTOCOL` of `sysexits.h`.
const LOST: u8 = 76;

/// The command is asked to end when less than 2/5 of the lease's time remain, and killed at 1/5.
const ASK: (u32, u32) = (2, 5);
const KILL: u32 = 5;

pub(super) fn run(arguments: &Arguments, address: &str, words: &[OsString]) -> Result<Answer, Failure> {
    if arguments.no_fork {
        return Err(Failure("on etcd a process of doorway renews the lease; leave out `-F`".to_string()));
    }
    let name = text(&arguments.name)?;
    let time = Duration::from_secs(arguments.ttl.into());
    let options = Options::at(address)?.time(time).describe(quoted(words));
    if let Some(warning) = warning(options.clone())?.filter(|_| !arguments.quiet) {
        complain(&warning);
    }
    let semaphore = Arc::new(open(options, name, arguments.k)?);
    if !arguments.no_reentry
        && let Some(index) = ancestor_that_holds(&semaphore)?
    {
        return Err(command::become_it(words, &environment(arguments, address, &semaphore, index, None)));
    }
    let begun = Instant::now();
    let code = match acquire(arguments, &semaphore)? {
        Some(permit) => {
            let token = Some(permit.token());
            let environment = environment(arguments, address, &semaphore, permit.index(), token);
            hold(arguments, words, &environment, permit)?
        }
        None => {
            if !arguments.quiet {
                let (holders, _) = semaphore.participants()?;
                let shown = holders.iter().map(holder).collect();
                complain(&refused(&arguments.name, shown, begun.elapsed()));
            }
            arguments.conflict_exit_code
        }
    };
    Ok(Answer { text: String::new(), code })
}

/// Without `-k`, the semaphore has the capacity that it has, or capacity 1 if it does not exist.
fn open(options: Options, name: &str, k: Option<u16>) -> Result<Semaphore, Error> {
    match k {
        Some(k) => options.open(name, k.into()),
        None => match options.clone().existing(name) {
            Err(Error::Missing { .. }) => match options.clone().open(name, 1) {
                // Another process created it meanwhile, with another capacity.
                Err(Error::OtherK { .. }) => options.existing(name),
                opened => opened,
            },
            existing => existing,
        },
    }
}

/// The index of a holder on this machine that this process descends from.
fn ancestor_that_holds(semaphore: &Semaphore) -> Result<Option<usize>, Failure> {
    let here = host_name();
    let (holders, _) = semaphore.participants()?;
    let index = |pid: u32| holders.iter().find(|holder| holder.pid == pid && holder.host == here)?.index;
    Ok(if holders.is_empty() { None } else { index_of_ancestor(|pid, _| index(pid)) })
}

fn acquire(arguments: &Arguments, semaphore: &Arc<Semaphore>) -> Result<Option<Permit>, Failure> {
    if arguments.nonblock {
        return Ok(semaphore.try_acquire()?);
    }
    let (name, shown) = (visible(&arguments.name.to_string_lossy()), semaphore.clone());
    let _display = (stderr().is_terminal() && !arguments.quiet)
        .then(|| waiting::Display::start(move || line(&name, &shown.participants().ok()?)));
    Ok(match arguments.wait {
        Some(time) => semaphore.acquire_timeout(time)?,
        None => Some(semaphore.acquire()?),
    })
}

/// The line that a waiter shows; `None` if this process does not wait.
fn line(name: &str, (holders, waiters): &(Vec<Participant>, Vec<Participant>)) -> Option<String> {
    let here = host_name();
    let is_this = |waiter: &Participant| waiter.pid == std::process::id() && waiter.host == here;
    let position = 1 + waiters.iter().position(is_this)?;
    Some(waiting::words(name, position, waiters.len(), holders.iter().map(holder).collect()))
}

/// A holder in a few words.
fn holder(holder: &Participant) -> String {
    let time = SystemTime::now().duration_since(holder.since).unwrap_or_default();
    format!("{} ({}) for {}", visible(&place(holder)), cut(&visible(&holder.what), 40), span(time))
}

fn environment(
    arguments: &Arguments,
    address: &str,
    semaphore: &Semaphore,
    index: usize,
    token: Option<u64>,
) -> Vec<(&'static str, OsString)> {
    let mut environment = vec![
        ("DOORWAY_NAME", arguments.name.clone()),
        ("DOORWAY_INDEX", index.to_string().into()),
        ("DOORWAY_K", semaphore.k().to_string().into()),
        ("DOORWAY_ON", address.into()),
    ];
    // One that passes through has the token of its ancestor.
    environment.extend(token.map(|token| ("DOORWAY_TOKEN", token.to_string().into())));
    environment
}

/// Runs the command while the permit is valid, and ends it before another process can enter.
fn hold(
    arguments: &Arguments,
    words: &[OsString],
    environment: &[(&str, OsString)],
    permit: Permit,
) -> Result<u8, Failure> {
    let is_lost = Arc::new(AtomicBool::new(false));
    let (time, name) = (permit.time(), visible(&arguments.name.to_string_lossy()));
    let mut group = match Group::start(words, environment) {
        Ok(group) => group,
        Err(error) => {
            permit.release()?;
            return Ok(command::cannot_run(&words[0], &error));
        }
    };
    let (asked, killed) = (permit.falls_below(time * ASK.0 / ASK.1), permit.falls_below(time / KILL));
    let (signals, lost, keeps_running) = (group.signals(), is_lost.clone(), arguments.keep_running);
    thread::spawn(move || {
        doorway::cluster::block_on(asked);
        lost.store(true, SeqCst);
        if keeps_running {
            complain(&format!("the lease of `{name}` is about to end, and the command goes on"));
        } else if signals.terminate() {
            complain(&format!("the lease of `{name}` is about to end; ending the command"));
            doorway::cluster::block_on(killed);
            signals.kill();
        }
    });
    let code = group.wait()?;
    if is_lost.load(SeqCst) && !arguments.keep_running {
        return Ok(LOST);
    }
    if let Err(error) = permit.release() {
        complain(&format!("the permit is released when its lease ends: {error}"));
    }
    Ok(code)
}
