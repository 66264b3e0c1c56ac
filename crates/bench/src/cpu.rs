//! The processor time of the process and of its threads.
use std::time::Duration;

/// The processor time that all threads have used so far, in user and kernel mode; `None` if the system does not tell.
#[cfg(unix)]
pub(crate) fn used() -> Option<Duration> {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

#[cfg(not(unix))]
pub(crate) fn used() -> Option<Duration> {
    None
}

/// The time of a clock, if there is such a clock.
#[cfg(unix)]
#[allow(unsafe_code, reason = "clocks the standard library does not have")]
fn read(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a local timespec, which the call fills in; the call keeps no pointer to it. A clock that does not
    // exist is an error.
    let done = unsafe { libc::clock_gettime(clock, &raw mut time) } == 0;
    done.then(|| Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0)))
}

/// The clock of one thread's processor time, which other threads can read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadClock {
    #[cfg(target_os = "linux")]
    id: libc::clockid_t,
}

impl ThreadClock {
    /// The clock of the calling thread; `None` if the system does not tell.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code, reason = "clocks the standard library does not have")]
    pub(crate) fn of_this_thread() -> Option<ThreadClock> {
        let mut id = 0;
        // SAFETY: the calling thread exists; `id` is a local, which the call fills in and does not keep.
        let done = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut id) } == 0;
        done.then_some(ThreadClock { id })
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of_this_thread() -> Option<ThreadClock> {
        None
    }

    /// The processor time of that thread so far; `None` if it has ended.
    #[cfg(target_os = "linux")]
    pub(crate) fn read(self) -> Option<Duration> {
        read(self.id)
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn read(self) -> Option<Duration> {
        None
    }
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

    #[test]
    #[cfg(target_os = "linux")]
    fn the_clock_of_a_thread_can_be_read_by_another_and_does_not_count_its_sleep() {
        let (send, receive) = std::sync::mpsc::channel();
        let (end, wait) = std::sync::mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                send.send(ThreadClock::of_this_thread().unwrap()).unwrap();
                let _ = wait.recv();
            });
            let (clock, before) = (receive.recv().unwrap(), used().unwrap());
            while used().unwrap() < before + Duration::from_millis(20) {}
            assert!(clock.read().unwrap() < before + Duration::from_millis(20), "the time of all threads");
            drop(end);
        });
    }
}
