//! Whether a process that this one descends from is a holder already: then waiting for it would be a deadlock.
use std::os::unix::process::parent_id;

use doorway::process::{Participant, Process, Semaphore};

/// The largest number of ancestors that are looked at.
const MAX_ANCESTORS: usize = 100;

/// The index of a holder that this process descends from, or of its command.
///
/// It is found out from the kernel, not from the environment, which anybody can set.
pub(super) fn ancestor_that_holds(semaphore: &Semaphore) -> Option<usize> {
    let holders = semaphore.holders();
    if holders.is_empty() {
        return None;
    }
    index_of_ancestor(|pid, process| {
        let is_this = |holder: &&Participant| {
            (holder.pid == pid && holder.started == process.started) || holder.command == Some(pid)
        };
        holders.iter().filter(|holder| holder.alive).find(is_this)?.index
    })
}

/// What `index` returns for the nearest ancestor for which it returns something.
pub(super) fn index_of_ancestor(index: impl Fn(u32, &Process) -> Option<usize>) -> Option<usize> {
    let mut pid = parent_id();
    for _ in 0..MAX_ANCESTORS {
        let process = Process::of(pid)?;
        if let Some(index) = index(pid, &process) {
            return Some(index);
        }
        pid = process.parent;
    }
    None
}
