//! A process-wide barrier: the rare slow path pays for the fences of both sides.
//!
//! On release, a thread writes the lock and then checks for parked waiters. A waiter that parks announces itself and
//! then checks whether the lock was released. If each could read before its own write is visible, both would miss the
//! other, and the wake-up would be lost. A fence on both sides prevents that, but would double the cost of a release
//! for the sake of waiters that are rarely parked. So the parking waiter pays for both: `membarrier` makes every
//! running thread of the process execute a fence.
use std::time::Duration;

use crate::sync::thread;

#[cfg(target_os = "linux")]
mod imp {
    use std::sync::OnceLock;

    /// Makes every other running thread of the process execute a full fence; false if the system cannot.
    pub(super) fn try_process_wide() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        let registered = REGISTERED.get_or_init(|| call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED));
        *registered && call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
    }

    #[allow(unsafe_code, reason = "a system call the standard library does not have")]
    fn call(command: libc::c_int) -> bool {
        // SAFETY: membarrier takes three integers and does not access memory of this process. Every Linux target has
        // its number; a kernel without the call, or without this command, returns an error.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    pub(super) fn try_process_wide() -> bool {
        false
    }
}

/// Makes every running thread of the process, this one included, execute a full fence. Returns false, and guarantees
/// nothing, if the system cannot.
pub(crate) fn try_process_wide() -> bool {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    imp::try_process_wide()
}

/// As [`try_process_wide`], on every system.
///
/// Without support by the system, it sleeps much longer than a write can stay in a store buffer.
pub(crate) fn process_wide() {
    const DRAIN: Duration = Duration::from_millis(1);
    if !try_process_wide() {
        thread::sleep(DRAIN);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn linux_supports_membarrier() {
        assert!(super::try_process_wide());
    }
}
