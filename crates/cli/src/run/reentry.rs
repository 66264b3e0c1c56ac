//! Whether a process that this one descends from is a holder already: then waiting for it would be a deadlock.
use std::{fs, os::unix::process::parent_id};

use doorway::process::{Participant, Semaphore};

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
    let mut pid = parent_id();
    for _ in 0..MAX_ANCESTORS {
        let process = Process::of(pid)?;
        let is_this = |holder: &&Participant| {
            (holder.pid == pid && holder.started == process.started) || holder.command == Some(pid)
        };
        if let Some(holder) = holders.iter().filter(|holder| holder.alive).find(is_this) {
            return holder.index;
        }
        pid = process.parent;
    }
    None
}

/// What `/proc` says about a process.
pub(crate) struct Process {
    parent: u32,
    /// The start time in clock ticks since boot.
    pub(crate) started: u64,
}

impl Process {
    /// `None` if there is no such process, or no `/proc`.
    pub(crate) fn of(pid: u32) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Field 2 is the command in parentheses, which may itself contain spaces and parentheses.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some(Process { parent, started })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_this_process_is_found() {
        let me = Process::of(std::process::id()).unwrap();
        assert_eq!(me.parent, parent_id());
        assert!(Process::of(me.parent).unwrap().started <= me.started);
    }
}
