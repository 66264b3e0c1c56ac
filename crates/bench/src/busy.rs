//! Work that takes a given time and accesses no shared memory.
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// The speed of the work loop on this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Busy {
    iterations_per_ns: f64,
}

/// The number of iterations that are timed at once: enough for the clock, few enough to be rarely interrupted.
const ITERATIONS: u32 = 20_000;

/// The number of trials, of which the fastest counts: interruptions only add time.
const TRIALS: usize = 50;

impl Busy {
    /// Measures how fast the loop is.
    pub(crate) fn calibrate() -> Busy {
        let time = || {
            let start = Instant::now();
            work(ITERATIONS);
            start.elapsed()
        };
        let best = (0..TRIALS).map(|_| time()).min().unwrap_or_default();
        Busy { iterations_per_ns: f64::from(ITERATIONS) / (best.as_nanos() as f64).max(1.0) }
    }

    /// The number of iterations that take `time`.
    pub(crate) fn iterations(self, time: Duration) -> u32 {
        (time.as_nanos() as f64 * self.iterations_per_ns).round() as u32
    }
}

/// Runs the work loop.
///
/// Each iteration needs the result of the one before, so iterations do not overlap. The loop is never inlined and
/// uses only processor registers: the speed of code and memory depends on their addresses, and all locks should be
/// measured with the same work.
#[inline(never)]
pub(crate) fn work(iterations: u32) {
    let mut x = iterations | 1;
    for _ in 0..iterations {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    black_box(x);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There is no upper bound: the test may be interrupted at any time.
    #[test]
    fn iterations_are_proportional_to_time_and_do_not_end_early() {
        let busy = Busy::calibrate();
        let (short, long) = (busy.iterations(Duration::from_micros(10)), busy.iterations(Duration::from_micros(20)));
        assert!(short > 100 && (long as f64 / short as f64 - 2.0).abs() < 0.01, "{short} and {long} iterations");
        let best = (0..TRIALS)
            .map(|_| {
                let start = Instant::now();
                work(long);
                start.elapsed()
            })
            .min()
            .unwrap();
        assert!(best >= Duration::from_micros(10), "20 us of work took {best:?}");
    }
}
