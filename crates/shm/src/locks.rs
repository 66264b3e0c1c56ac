//! Locks on single bytes of a file that belong to the open file description, not to the process: Linux's OFD locks.
//!
//! Locks of one open file description never conflict with each other. Threads and forked children that share it must
//! keep track of their bytes by other means.
use std::{fs::File, io, os::fd::AsRawFd};

/// Locks the byte unless another open file description has it locked; returns whether it did.
pub(crate) fn try_lock(file: &File, byte: usize) -> io::Result<bool> {
    match call(file, libc::F_OFD_SETLK, &mut range(libc::F_WRLCK, byte, 1)) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Unlocks the byte.
pub(crate) fn unlock(file: &File, byte: usize) -> io::Result<()> {
    call(file, libc::F_OFD_SETLK, &mut range(libc::F_UNLCK, byte, 1))
}

/// Whether another open file description has locked any of these bytes.
pub(crate) fn is_locked(file: &File, first: usize, len: usize) -> io::Result<bool> {
    let mut range = range(libc::F_WRLCK, first, len);
    call(file, libc::F_OFD_GETLK, &mut range)?;
    Ok(range.l_type != libc::F_UNLCK as libc::c_short)
}

fn range(kind: libc::c_int, first: usize, len: usize) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: first as libc::off_t,
        l_len: len as libc::off_t,
        l_pid: 0, // required for OFD locks
    }
}

#[allow(unsafe_code, reason = "rustix has no OFD locks")]
fn call(file: &File, command: libc::c_int, range: &mut libc::flock) -> io::Result<()> {
    loop {
        // SAFETY: the descriptor is open while `file` is borrowed; these commands take a pointer to a `flock`, and
        // `range` outlives the call.
        if unsafe { libc::fcntl(file.as_raw_fd(), command, std::ptr::from_mut(range)) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
