//! Semaphores on etcd: what `doorway status` shows of them, and `doorway forget`.
use std::{ffi::OsStr, time::SystemTime};

use doorway::cluster::{Error, Options, Participant};

use super::{At, Row, Snapshot};
use crate::{
    cluster::text,
    output::{Answer, Failure, HOLDS, complain},
    words::visible,
};

/// The semaphore asked for, or all semaphores of the cluster.
pub(super) fn snapshots(address: &str, name: Option<&OsStr>) -> Result<(Vec<Snapshot>, Vec<String>), Failure> {
    let options = Options::at(address)?;
    if let Some(name) = name {
        return Ok((vec![snapshot(&options, address, text(name)?)?], Vec::new()));
    }
    let (mut snapshots, mut problems) = (Vec::new(), Vec::new());
    for name in options.clone().names()? {
        match snapshot(&options, address, &name) {
            Ok(snapshot) => snapshots.push(snapshot),
            Err(Error::Missing { .. }) => {} // it was removed after it was listed
            Err(error) => problems.push(error.to_string()),
        }
    }
    Ok((snapshots, problems))
}

fn snapshot(options: &Options, address: &str, name: &str) -> Result<Snapshot, Error> {
    let semaphore = options.clone().existing(name)?;
    let (holders, waiters) = semaphore.participants()?;
    let row = |participant: Participant| Row {
        pid: participant.pid,
        host: Some(participant.host),
        since: participant.since,
        what: participant.what,
        index: participant.index,
        alive: true,
    };
    Ok(Snapshot {
        name: name.to_string(),
        at: At::Cluster(address.to_string()),
        k: semaphore.k(),
        now: SystemTime::now(),
        holders: holders.into_iter().map(row).collect(),
        waiters: waiters.into_iter().map(row).collect(),
    })
}

/// Forgets one semaphore, or all that no process uses.
pub(super) fn forget(address: &str, name: Option<&OsStr>) -> Result<Answer, Failure> {
    let options = Options::at(address)?;
    let mut forgotten = String::new();
    match name {
        Some(name) => options.forget(text(name)?)?,
        None => {
            for name in options.clone().names()? {
                match options.clone().forget(&name) {
                    Ok(()) => forgotten.push_str(&format!("{}\n", visible(&name))),
                    Err(Error::InUse { .. } | Error::Missing { .. }) => {}
                    Err(error) => complain(&error.to_string()),
                }
            }
        }
    }
    Ok(Answer { text: forgotten, code: HOLDS })
}
