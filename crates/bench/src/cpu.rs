//! The processor time of the process.
use std::time::Duration;

/// The processor time that all threads have used so far, in user and kernel mode; `None` if the system does not tell.
#[cfg(unix)]
#[allow(unsafe_code, reason = "a clock the standard library does not have")]
pub(crate) fn used() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a local timespec, which the call fills in; the call keeps no pointer to it.
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
    fn processor_time_grows_during_work() {
        let (before, start) = (used().unwrap(), Instant::now());
        while used() <= Some(before) {
            assert!(start.elapsed() < Duration::from_secs(60), "the clock does not advance");
        }
    }
}
