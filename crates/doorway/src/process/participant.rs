//! The holders and waiters of a semaphore, as every process sees them.
use std::time::SystemTime;

use doorway_algorithms::blocks::named_queue::Entry;

use super::queue::FileQueue;

/// A holder or waiter of a [`Semaphore`](super::Semaphore).
///
/// See [`Semaphore::holders`](super::Semaphore::holders).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Participant {
    /// The process id.
    pub pid: u32,
    /// The start time of the process, in clock ticks since boot, as in `/proc/PID/stat`. Tells apart processes with
    /// the same pid. 0 if the process could not find it out.
    pub started: u64,
    /// The process id of the [command](super::Permit::keep_for) that keeps the permit if the process dies.
    pub command: Option<u32>,
    /// Since when the process has been a holder or waiter, to a few milliseconds.
    pub since: SystemTime,
    /// The [description](super::Semaphore::describe), or the command line.
    pub what: String,
    /// The [index](super::Permit::index) of a holder; a waiter has none.
    pub index: Option<usize>,
    /// Whether the process, or a child that has inherited its descriptor, is alive. If not, the next waiter will reap
    /// it.
    pub alive: bool,
}

impl FileQueue {
    pub(super) fn participant(&self, entry: &Entry) -> Option<Participant> {
        let record = self.record(entry)?;
        let (pid, started, since, what) = (record.pid(), record.started(), record.since(), record.description());
        let alive = self.file.is_alive(entry.process);
        let command = Some(record.command()).filter(|&pid| pid != 0);
        Some(Participant { pid, started, command, since, what, index: entry.name, alive })
    }
}
