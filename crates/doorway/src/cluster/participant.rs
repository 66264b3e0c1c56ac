//! The holders and waiters of a semaphore.
use std::{
    process,
    time::{Duration, SystemTime},
};

use doorway_etcd::api::Entry;

/// A holder or waiter of a [`Semaphore`](super::Semaphore) of a cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Participant {
    /// The machine.
    pub host: String,
    /// The process id there.
    pub pid: u32,
    /// Since when the process has been in the queue, by the clock of its machine.
    pub since: SystemTime,
    /// The description, or the command line.
    pub what: String,
    /// The index of a holder, once it is known.
    pub index: Option<usize>,
    /// The revision at which the process joined the queue.
    pub joined: i64,
    /// Its key.
    pub key: String,
}

/// What others may read about this process.
pub(super) fn description(what: &str) -> String {
    let host = host_name();
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("{host} {} {since} {what}", process::id())
}

/// The name of this machine, as [`Participant::host`] has it.
#[must_use]
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim().replace(char::is_whitespace, "-");
    if name.is_empty() { "unknown".to_string() } else { name }
}

impl Participant {
    /// The participant of a key. One of another writer has no description.
    pub(super) fn of(entry: &Entry) -> Participant {
        let text = String::from_utf8_lossy(&entry.value).into_owned();
        let mut words = text.splitn(5, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (index, host, pid, since, what) = (word(), word(), word(), word(), word());
        Participant {
            host: host.to_string(),
            pid: pid.parse().unwrap_or(0),
            since: SystemTime::UNIX_EPOCH + Duration::from_millis(since.parse().unwrap_or(0)),
            what: what.to_string(),
            index: index.parse().ok(),
            joined: entry.created,
            key: entry.key.clone(),
        }
    }
}
