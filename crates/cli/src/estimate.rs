//! How much of a long command is done, and how much time is left.
use std::time::{Duration, Instant};

/// The pieces of a command whose number is known, and how long they take.
pub(crate) struct Estimate {
    pace: Pace,
    start: Instant,
    pieces: Vec<Piece>,
    /// How many pieces are worked on at once.
    at_once: usize,
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

/// How far the work on a piece is.
#[derive(Clone, Copy)]
enum Piece {
    NotBegun,
    Since(Instant),
    Took(Duration),
}

impl Piece {
    /// The seconds that it has taken so far.
    fn seconds(self) -> f64 {
        match self {
            Piece::NotBegun => 0.0,
            Piece::Since(began) => began.elapsed().as_secs_f64(),
            Piece::Took(time) => time.as_secs_f64(),
        }
    }

    fn is_finished(self) -> bool {
        matches!(self, Piece::Took(_))
    }
}

/// The estimate is shown when the pieces that are finished took this time and are this part of the work: before that it
/// would jump.
const MIN_SECONDS: f64 = 1.0;
const MIN_PART: f64 = 0.02;

/// The largest factor between pieces that grow.
const MAX_FACTOR: f64 = 16.0;

impl Estimate {
    pub(crate) fn new(total: usize, pace: Pace) -> Estimate {
        Estimate { pace, start: Instant::now(), pieces: vec![Piece::NotBegun; total], at_once: 1 }
    }

    /// Several pieces are worked on at once.
    pub(crate) fn at_once(mut self, pieces: usize) -> Estimate {
        self.at_once = pieces;
        self
    }

    /// The work on a piece begins.
    pub(crate) fn begin(&mut self, number: usize) {
        if let Some(piece) = self.pieces.get_mut(number) {
            *piece = Piece::Since(Instant::now());
        }
    }

    /// The work on a piece is finished.
    pub(crate) fn finish(&mut self, number: usize) {
        if let Some(piece) = self.pieces.get_mut(number)
            && let Piece::Since(began) = *piece
        {
            *piece = Piece::Took(began.elapsed());
        }
    }

    /// A piece among all: `12/79`.
    pub(crate) fn position(&self, number: usize) -> String {
        format!("{}/{}", number + 1, self.pieces.len())
    }

    /// The part of the work that is done, from 0 to 1, and the seconds that are left, if that can be told.
    pub(crate) fn now(&self) -> (f64, Option<f64>) {
        let times: Vec<(f64, bool)> = self.pieces.iter().map(|piece| (piece.seconds(), piece.is_finished())).collect();
        match &self.pace {
            Pace::Budget(time) => {
                let (spent, time) = (self.start.elapsed().as_secs_f64(), time.as_secs_f64());
                ((spent / time).min(1.0), (time > spent).then_some(time - spent))
            }
            Pace::Weights(weights) => by_weights(weights, &times, self.at_once),
            Pace::Growing => by_weights(&extrapolated(&times), &times, self.at_once),
        }
    }
}

/// The part that is done and the seconds that are left, from the weights of all pieces, the seconds that each has taken, and
/// whether it is finished.
fn by_weights(weights: &[f64], times: &[(f64, bool)], at_once: usize) -> (f64, Option<f64>) {
    let pieces = || std::iter::zip(weights, times);
    let (done, time) = pieces()
        .filter(|(_, (_, is_finished))| *is_finished)
        .fold((0.0, 0.0), |(done, time), (weight, (seconds, _))| (done + weight, time + seconds));
    let total: f64 = weights.iter().sum();
    let part = if total > 0.0 { done / total } else { 0.0 };
    if time < MIN_SECONDS || part < MIN_PART {
        return (part, None);
    }
    // A piece that takes longer than expected is assumed to be nearly done.
    let left = pieces()
        .filter(|(_, (_, is_finished))| !is_finished)
        .map(|(weight, (spent, _))| (weight * time / done - spent).max(spent / 10.0));
    let (all, longest) = left.fold((0.0, 0.0), |(all, longest): (f64, f64), left| (all + left, longest.max(left)));
    let spent: f64 = times.iter().map(|(seconds, _)| seconds).sum();
    (spent / (spent + all), Some(longest.max(all / at_once as f64)))
}

/// The times of pieces that grow: those of the first ones as they were, and of the others as the last two suggest. Empty
/// if nothing can be said yet.
fn extrapolated(times: &[(f64, bool)]) -> Vec<f64> {
    let finished: Vec<f64> = times.iter().take_while(|(_, is_finished)| *is_finished).map(|(time, _)| *time).collect();
    let [.., before, last] = *finished else { return Vec::new() };
    let factor = (last / before.max(1e-6)).clamp(1.0, MAX_FACTOR);
    let future = std::iter::successors(Some(last * factor), |time| Some(time * factor));
    finished.into_iter().chain(future).take(times.len()).collect()
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

    /// Pieces that took these times, one for which this time was spent, and others; `total` in all.
    fn times(finished: &[f64], within: f64, total: usize) -> Vec<(f64, bool)> {
        let finished = finished.iter().map(|&time| (time, true));
        finished.chain([(within, false)]).chain(std::iter::repeat((0.0, false))).take(total).collect()
    }

    #[test]
    fn the_rest_takes_as_long_for_its_weight_as_what_is_finished() {
        let estimate = |weights: &[f64], finished: &[f64], within: f64| {
            by_weights(weights, &times(finished, within, weights.len()), 1)
        };
        let (done, left) = estimate(&[2.0, 2.0, 4.0, 8.0], &[1.0, 3.0], 2.0);
        assert_eq!((done, left), (6.0 / 16.0, Some(2.0 + 8.0)));
        let late = estimate(&[1.0, 1.0], &[5.0], 10.0);
        assert_eq!(late, (15.0 / 16.0, Some(1.0)), "a piece that takes longer than expected is nearly done");
        assert_eq!(estimate(&[1.0, 3.0], &[0.5], 0.0), (0.25, None), "too early to tell");
        assert_eq!(estimate(&[1.0, 99.0], &[5.0], 0.0), (0.01, None), "too little to tell");
        assert_eq!(estimate(&[], &[], 7.0), (0.0, None));
    }

    #[test]
    fn pieces_at_once_share_what_is_left() {
        let times = [(2.0, true), (1.0, false), (2.0, true), (0.0, false), (0.0, false)];
        let (done, left) = by_weights(&[1.0; 5], &times, 2);
        assert_eq!((done, left), (0.5, Some(2.5)));
        let (_, left) = by_weights(&[1.0, 1.0, 1.0, 9.0, 1.0], &times, 2);
        assert_eq!(left, Some(18.0), "no less than the longest takes by itself");
    }

    #[test]
    fn pieces_that_grow_go_on_growing_by_the_same_factor() {
        let extrapolated = |finished: &[f64], total| extrapolated(&times(finished, 0.0, total));
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
