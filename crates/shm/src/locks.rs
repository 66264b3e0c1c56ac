//! Locks on bytes of a file that belong to the open file description, not to the process: Linux's OFD locks.
//!
//! A byte need not exist to be locked. Locks of one open file description never conflict with each other.
use std::{fs::File, io, os::fd::AsRawFd};

/// Every byte that can be locked.
pub(crate) const ALL: (u64, u64) = (0, 0);

/// Locks bytes, the first one and how many (0: all that follow), unless another open file description has locked one
/// of them; returns whether it did.
pub(crate) fn try_lock(file: &File, bytes: (u64, u64)) -> io::Result<bool> {
    match call(file, libc::F_OFD_SETLK, &mut range(libc::F_WRLCK, bytes)) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Unlocks bytes.
pub(crate) fn unlock(file: &File, bytes: (u64, u64)) -> io::Result<()> {
    call(file, libc::F_OFD_SETLK, &mut range(libc::F_UNLCK, bytes))
}

/// Whether another open file description has locked any of these bytes.
pub(crate) fn is_locked(file: &File, bytes: (u64, u64)) -> io::Result<bool> {
    let mut range = range(libc::F_WRLCK, bytes);
    call(file, libc::F_OFD_GETLK, &mut range)?;
    Ok(range.l_type != libc::F_UNLCK as libc::c_short)
}

fn range(kind: libc::c_int, (first, len): (u64, u64)) -> libc::flock {
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
