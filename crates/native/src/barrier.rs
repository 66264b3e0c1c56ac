//! A barrier that only one side pays for.
//!
//! Who releases a lock writes, and then looks whether somebody sleeps; who goes to sleep says so, and then looks whether it
//! was released. If each could look before its own write is visible, both would see nothing, and the sleeper would sleep for
//! ever. A fence on both sides prevents that, and would double the price of releasing a lock for the sake of a sleeper who is
//! hardly ever there. So the sleeper pays for both: `membarrier` makes every running thread of the process pass a fence.
use std::time::Duration;

use crate::sync::thread;

#[cfg(target_os = "linux")]
mod imp {
    use std::sync::OnceLock;

    /// Makes every other running thread pass a full fence; false if this system cannot.
    pub(super) fn everywhere() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        let registered = REGISTERED.get_or_init(|| call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED));
        *registered && call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
    }

    #[allow(unsafe_code, reason = "a system call the standard library does not have")]
    fn call(command: libc::c_int) -> bool {
        // SAFETY: membarrier takes three integers and touches no memory of ours. It exists as a number on every Linux this
        // compiles for; a kernel without it, or without this command, returns an error.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    pub(super) fn everywhere() -> bool {
        false
    }
}

/// Makes every other running thread pass a full fence, and us too; false if this system cannot, and then nothing is promised.
pub(crate) fn everywhere() -> bool {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    imp::everywhere()
}

/// The same, also if this system cannot: then it waits much longer than a write can stay unseen.
pub(crate) fn everywhere_surely() {
    const LONG: Duration = Duration::from_millis(1);
    if !everywhere() {
        thread::sleep(LONG);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn this_system_can() {
        assert!(super::everywhere());
    }
}
