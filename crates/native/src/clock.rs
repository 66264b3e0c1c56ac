//! Clocks, and which processors there are, for decisions about waiting. Under shuttle clocks stand still, so that schedules can
//! be repeated.
use std::{
    num::NonZero,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
};

/// About how many [`ticks`] a microsecond has.
pub(crate) const TICKS_PER_MICROSECOND: u64 = if cfg!(target_arch = "x86_64") { 2_500 } else { 1_000 };

/// A clock that can be read in a few nanoseconds; only differences and their ratios mean something.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    imp::ticks()
}

/// The time in nanoseconds, from an arbitrary moment on.
pub(crate) fn time() -> u64 {
    imp::time()
}

/// The processor time of this thread in nanoseconds.
pub(crate) fn processor_time() -> u64 {
    imp::processor_time()
}

/// What [`processor`] returns where it is not known.
pub(crate) const NO_PROCESSOR: u32 = u32::MAX;

/// The number of the processor on which this thread runs.
pub(crate) fn processor() -> u32 {
    imp::processor()
}

/// How many processors this process may use.
pub(crate) fn processors() -> u64 {
    // 0 if they have not been counted yet.
    static PROCESSORS: AtomicU64 = AtomicU64::new(0);
    // ORDERING: Relaxed. Pairs with: nothing, the number is all there is to publish.
    match PROCESSORS.load(Relaxed) {
        0 => {
            let processors = thread::available_parallelism().map_or(1, NonZero::get) as u64;
            PROCESSORS.store(processors, Relaxed);
            processors
        }
        known => known,
    }
}

#[cfg(shuttle)]
mod imp {
    pub(super) fn processor() -> u32 {
        super::NO_PROCESSOR
    }

    pub(super) fn ticks() -> u64 {
        0
    }

    pub(super) fn time() -> u64 {
        0
    }

    pub(super) fn processor_time() -> u64 {
        0
    }
}

#[cfg(not(shuttle))]
mod imp {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    #[allow(unsafe_code, reason = "an instruction the standard library does not have")]
    pub(super) fn ticks() -> u64 {
        // SAFETY: every x86-64 processor has the time-stamp counter; reading it has no effect.
        unsafe { std::arch::x86_64::_rdtsc() }
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn ticks() -> u64 {
        time()
    }

    #[cfg(target_os = "linux")]
    #[allow(unsafe_code, reason = "a clock the standard library does not have")]
    pub(super) fn processor_time() -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a local timespec, which the call fills in; the call keeps no pointer to it. Every Linux has
        // this clock; without it the time stays 0.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }

    /// Elsewhere, time on the wall: a thread that lost the processor seems to have used more of it.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn processor_time() -> u64 {
        time()
    }

    #[cfg(target_os = "linux")]
    #[allow(unsafe_code, reason = "the standard library does not tell")]
    pub(super) fn processor() -> u32 {
        // SAFETY: the call has no conditions. If it fails it returns -1, which is `NO_PROCESSOR`.
        unsafe { libc::sched_getcpu() as u32 }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn processor() -> u32 {
        super::NO_PROCESSOR
    }

    pub(super) fn time() -> u64 {
        use std::{sync::OnceLock, time::Instant};
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
}
