//! How much of a long command is done, and how much time is left.
use std::time::{Duration, Instant};

/// The pieces of a command whose number is known, and how long they take.
pub(crate) struct Estimate {
    total: usize,
    pace: Pace,
    start: Instant,
    /// When each piece began; the last of them is not finished.
    begun: Vec<Instant>,
}

/// What is known about the time that the pieces take.
pub(crate) enum Pace {
    /// The share of each piece in the work, in any unit.
    Weights(Vec<f64>),
    /// Each piece takes some number of times as long as the piece before.
    Growing,
    /// All of them together take this time.
    Budget(Duration),
}

/// The estimate is shown when the pieces that are finished took this time and are this part of the work: before that it
/// would jump.
const MIN_SECONDS: f64 = 1.0;
const MIN_PART: f64 = 0.02;

/// The largest factor between pieces that grow.
const MAX_FACTOR: f64 = 16.0;

impl Estimate {
    pub(crate) fn new(total: usize, pace: Pace) -> Estimate {
        Estimate { total, pace, start: Instant::now(), begun: Vec::new() }
    }

    /// The next piece begins.
    pub(crate) fn begin(&mut self) {
        self.begun.push(Instant::now());
    }

    /// The number of the current piece: `12/79`.
    pub(crate) fn position(&self) -> String {
        format!("{}/{}", self.begun.len(), self.total)
    }

    /// The part of the work that is done, from 0 to 1, and the seconds that are left, if that can be told.
    pub(crate) fn now(&self) -> (f64, Option<f64>) {
        let spent = self.start.elapsed().as_secs_f64();
        let within = self.begun.last().map_or(0.0, |began| began.elapsed().as_secs_f64());
        let times: Vec<f64> = self.begun.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect();
        match &self.pace {
            Pace::Budget(time) => {
                let left = time.as_secs_f64() - spent;
                ((spent / time.as_secs_f64()).min(1.0), (left > 0.0).then_some(left))
            }
            Pace::Weights(weights) => by_weights(weights, &times, within),
            Pace::Growing => by_weights(&extrapolated(&times, self.total), &times, within),
        }
    }
}

/// The part that is done and the seconds that are left, from the weights of all pieces, the times of those that are
/// finished, and the time spent within the current one.
fn by_weights(weights: &[f64], times: &[f64], within: f64) -> (f64, Option<f64>) {
    let (finished, rest) = weights.split_at(times.len().min(weights.len()));
    let (done, time) = (finished.iter().sum::<f64>(), times.iter().sum::<f64>());
    let total = done + rest.iter().sum::<f64>();
    let part = if total > 0.0 { done / total } else { 0.0 };
    if time < MIN_SECONDS || part < MIN_PART {
        return (part, None);
    }
    let seconds = time / done;
    let current = rest.first().map_or(0.0, |weight| weight * seconds);
    let others: f64 = rest.iter().skip(1).map(|weight| weight * seconds).sum();
    // A piece that takes longer than expected is assumed to be nearly done.
    let left = (current - within).max(within / 10.0) + others;
    let spent = time + within;
    (spent / (spent + left), Some(left))
}

/// The times of pieces that grow: those of the first ones as they were, and of the others as the last two suggest. Empty
/// if nothing can be said yet.
fn extrapolated(times: &[f64], total: usize) -> Vec<f64> {
    let [.., before, last] = *times else { return Vec::new() };
    let factor = (last / before.max(1e-6)).clamp(1.0, MAX_FACTOR);
    let future = std::iter::successors(Some(last * factor), |time| Some(time * factor));
    times.iter().copied().chain(future).take(total).collect()
}

/// A bar of which this part is filled.
pub(crate) fn bar(done: f64) -> String {
    const WIDTH: usize = 20;
    let filled = ((done * WIDTH as f64) as usize).min(WIDTH);
    "━".repeat(filled) + &"╌".repeat(WIDTH - filled)
}

/// The time that is left, in words: rounded, as an estimate is.
pub(crate) fn left(seconds: f64) -> String {
    match seconds {
        ..10.0 => "a few seconds left".to_string(),
        ..90.0 => format!("about {:.0} s left", (seconds / 5.0).ceil() * 5.0),
        ..5400.0 => format!("about {:.0} min left", (seconds / 60.0).round()),
        _ => format!("about {:.0} h left", (seconds / 3600.0).round()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_for_its_weight_as_what_is_finished() {
        let (done, left) = by_weights(&[2.0, 2.0, 4.0, 8.0], &[1.0, 3.0], 2.0);
        assert_eq!((done, left), (6.0 / 16.0, Some(2.0 + 8.0)));
        let late = by_weights(&[1.0, 1.0], &[5.0], 10.0);
        assert_eq!(late, (15.0 / 16.0, Some(1.0)), "a piece that takes longer than expected is nearly done");
        assert_eq!(by_weights(&[1.0, 3.0], &[0.5], 0.0), (0.25, None), "too early to tell");
        assert_eq!(by_weights(&[1.0, 99.0], &[5.0], 0.0), (0.01, None), "too little to tell");
        assert_eq!(by_weights(&[], &[], 7.0), (0.0, None));
    }

    #[test]
    fn pieces_that_grow_go_on_growing_by_the_same_factor() {
        assert_eq!(extrapolated(&[1.0, 1.0, 3.0], 5), [1.0, 1.0, 3.0, 9.0, 27.0]);
        assert_eq!(extrapolated(&[4.0, 2.0], 3), [4.0, 2.0, 2.0], "a piece does not shrink");
        assert_eq!(extrapolated(&[4.0], 3), [0.0; 0]);
    }

    #[test]
    fn bars_and_times_are_rounded() {
        assert_eq!(bar(0.5), "━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌");
        assert_eq!([bar(0.0), bar(1.0), bar(2.0)], ["╌".repeat(20), "━".repeat(20), "━".repeat(20)]);
        let words = [3.0, 37.0, 200.0, 8000.0].map(left);
        assert_eq!(words, ["a few seconds left", "about 40 s left", "about 3 min left", "about 2 h left"]);
    }
}
