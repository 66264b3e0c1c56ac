//! What the kernel tells about processes.
use std::{fs, io::Read};

/// A process, as `/proc` shows it.
///
/// ```
/// let me = doorway_shm::Process::of(std::process::id()).expect("/proc is mounted");
/// assert_eq!(me.parent, std::os::unix::process::parent_id());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Process {
    /// The process id of its parent.
    pub parent: u32,
    /// Its start time, in clock ticks since boot: a process id may be reused, a pair of both is not.
    pub started: u64,
}

impl Process {
    /// The process with this id; `None` if there is none, or no `/proc`.
    ///
    /// See [`Process`].
    #[must_use]
    pub fn of(pid: u32) -> Option<Process> {
        let mut bytes = [0; 1024]; // enough for the fields up to the start time, in one read
        let length = fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut bytes).ok()?;
        let stat = String::from_utf8_lossy(&bytes[..length]);
        // Field 2 is the command in parentheses, which may itself contain spaces and parentheses. Field 4 is the parent,
        // field 22 the start time.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some(Process { parent, started })
    }
}
