//! Work that takes a given time and touches nothing shared.
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// Turns of a loop that take a given time, measured on this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Busy {
    turns_per_ns: f64,
}

/// So many turns are timed at once: long enough for the clock, short enough not to be interrupted as a rule.
const TURNS: u32 = 20_000;

/// So often; the fastest counts, since whatever else happens only adds time.
const TRIALS: usize = 50;

impl Busy {
    /// Measures how fast the loop is.
    pub(crate) fn calibrate() -> Busy {
        let time = || {
            let start = Instant::now();
            work(TURNS);
            start.elapsed()
        };
        let best = (0..TRIALS).map(|_| time()).min().unwrap_or_default();
        Busy { turns_per_ns: f64::from(TURNS) / (best.as_nanos() as f64).max(1.0) }
    }

    /// How many turns take so long.
    pub(crate) fn turns(self, time: Duration) -> u32 {
        (time.as_nanos() as f64 * self.turns_per_ns).round() as u32
    }
}

/// Each turn needs the result of the one before, so turns do not overlap. Never inlined, and in registers only: the same
/// instructions are not as fast in one place as in another, nor is memory, and all locks should be measured with the same work.
#[inline(never)]
pub(crate) fn work(turns: u32) {
    let mut x = turns | 1;
    for _ in 0..turns {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    black_box(x);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An upper bound would be an assertion about time: anything may come in between.
    #[test]
    fn work_takes_at_least_about_as_long_as_asked_and_twice_as_many_turns_twice_as_long() {
        let busy = Busy::calibrate();
        let (short, long) = (busy.turns(Duration::from_micros(10)), busy.turns(Duration::from_micros(20)));
        assert!(short > 100 && (long as f64 / short as f64 - 2.0).abs() < 0.01, "{short} and {long} turns");
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
