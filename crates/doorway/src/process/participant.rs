//! The holders and waiters of a semaphore, as every process sees them.
use std::time::SystemTime;

use doorway_memory::Pid;
use doorway_shm::Phase;

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
    /// the same pid.
    pub started: u64,
    /// Since when the process has been a holder or waiter, to a few milliseconds.
    pub since: SystemTime,
    /// The [description](super::Semaphore::describe), or the command line.
    pub what: String,
    /// The ticket; smaller tickets arrived earlier.
    pub ticket: u64,
    /// Whether the process, or a child that has inherited its descriptor, is alive. If not, the next waiter will reap
    /// it.
    pub alive: bool,
}

impl FileQueue {
    /// The processes in this phase, in order of arrival.
    pub(super) fn participants(&self, phase: Phase) -> Vec<Participant> {
        /// How often the slots are read again if they have changed meanwhile.
        const MAX_READS: usize = 10;
        let in_phase = || -> Vec<(u64, Pid)> {
            let matching = self.records().filter(|(_, record)| record.phase() == phase);
            matching.map(|(slot, record)| (record.ticket(), slot)).collect()
        };
        let mut slots = in_phase();
        for _ in 0..MAX_READS {
            let again = in_phase();
            if again == slots {
                break; // two equal reads: all of them were in this phase at one instant
            }
            slots = again;
        }
        slots.sort_unstable();
        let participant = |&(ticket, slot): &(u64, Pid)| {
            let (record, alive) = (self.file.record(slot), self.file.is_alive(slot));
            let (pid, started, since) = (record.pid(), record.started(), record.since());
            Participant { pid, started, since, what: record.description(), ticket, alive }
        };
        slots.iter().map(participant).collect()
    }
}
