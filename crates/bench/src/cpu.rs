//! How much processor time the process has used.
use std::time::Duration;

/// Of all threads, in and out of the kernel; `None` where it cannot be told.
#[cfg(unix)]
#[allow(unsafe_code, reason = "a clock the standard library does not have")]
pub(crate) fn used() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec of ours, which the call fills in; it keeps no pointer to it.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) } == 0;
    done.then(|| Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0)))
}

#[cfg(not(unix))]
pub(crate) fn used() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    #[cfg(unix)]
    fn it_grows_while_we_work() {
        let (before, start) = (used().unwrap(), Instant::now());
        while used() <= Some(before) {
            assert!(start.elapsed() < Duration::from_secs(60), "the clock stands still");
        }
    }
}
