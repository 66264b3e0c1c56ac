//! The time of a run, divided over its rounds.
use std::time::{Duration, Instant};

use crate::ROUNDS;

/// The time that is left for the rounds of a run.
///
/// Starting and joining threads takes time too: a later round is assumed to take as much longer than planned as the
/// earlier ones did.
pub(crate) struct Budget {
    time: Duration,
    start: Instant,
    planned: Duration,
    /// How many times longer than planned the first round is assumed to take.
    overhead: f64,
}

impl Budget {
    pub(crate) fn new(time: Duration, overhead: f64) -> Budget {
        Budget { time, start: Instant::now(), planned: Duration::ZERO, overhead }
    }

    /// The time of a measurement of weight 1 in this round, whose measurements have these weights together.
    ///
    /// If earlier rounds took too long, it is still a quarter of what the first round had.
    pub(crate) fn unit(&mut self, round: usize, weights: u32) -> Duration {
        self.unit_after(self.start.elapsed(), round, weights)
    }

    fn unit_after(&mut self, used: Duration, round: usize, weights: u32) -> Duration {
        let extra = if round == 1 { self.overhead } else { used.div_duration_f64(self.planned).max(1.0) };
        let left = self.time.saturating_sub(used).div_f64((ROUNDS + 1 - round) as f64 * extra);
        let least = self.time.div_f64(4.0 * self.overhead * ROUNDS as f64);
        let unit = left.max(least).div_f64(f64::from(weights.max(1)));
        self.planned += unit * weights;
        unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_takes_longer_than_planned_makes_later_ones_shorter_up_to_a_limit() {
        let (mut budget, seconds) = (Budget::new(Duration::from_secs(100), 1.0), Duration::from_secs);
        assert_eq!(budget.unit_after(seconds(0), 1, 10), seconds(2));
        assert_eq!(budget.unit_after(seconds(40), 2, 10), Duration::from_millis(750), "the first took twice as long");
        assert_eq!(budget.unit_after(seconds(100), 3, 10), Duration::from_millis(500), "the time is over");
    }
}
