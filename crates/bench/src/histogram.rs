//! A compact histogram.
use std::array;

/// Numbers below `FINE` are counted exactly, larger ones to one part in `FINE`.
const FINE: u64 = 32;
const FINE_BITS: u32 = FINE.ilog2();
/// One row of `FINE` for the numbers below `FINE`, and one for each further bit.
const ROWS: usize = (u64::BITS - FINE_BITS + 1) as usize;

/// A histogram of numbers: small ones are exact, large ones to 3 %.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: [[u64; FINE as usize]; ROWS],
    total: u64,
    most: u64,
}

impl Histogram {
    pub(crate) fn new() -> Histogram {
        Histogram { counts: array::from_fn(|_| [0; FINE as usize]), total: 0, most: 0 }
    }

    pub(crate) fn add(&mut self, number: u64) {
        let (row, column) = place(number);
        self.counts[row][column] += 1;
        self.total += 1;
        self.most = self.most.max(number);
    }

    pub(crate) fn merge(&mut self, other: &Histogram) {
        let counts = self.counts.iter_mut().flatten();
        counts.zip(other.counts.iter().flatten()).for_each(|(count, other)| *count += other);
        self.total += other.total;
        self.most = self.most.max(other.most);
    }

    /// The largest number.
    pub(crate) fn most(&self) -> Option<u64> {
        (self.total > 0).then_some(self.most)
    }

    /// The quantile of this fraction: the least number that at least this fraction of all numbers do not exceed.
    pub(crate) fn quantile(&self, part: f64) -> Option<u64> {
        let wanted = ((self.total as f64 * part).ceil() as u64).max(1);
        let mut seen = 0;
        for (row, counts) in self.counts.iter().enumerate() {
            for (column, count) in counts.iter().enumerate() {
                seen += count;
                if seen >= wanted {
                    return Some(largest(row, column).min(self.most));
                }
            }
        }
        None
    }
}

/// The row and column in which a number is counted.
///
/// The row is the number of bits beyond those of `FINE`, the column consists of the bits below the highest.
fn place(number: u64) -> (usize, usize) {
    if number < FINE {
        return (0, number as usize);
    }
    let shift = number.ilog2() - FINE_BITS;
    (shift as usize + 1, (number >> shift) as usize - FINE as usize)
}

/// The largest number that is counted in this row and column.
fn largest(row: usize, column: usize) -> u64 {
    match row.checked_sub(1) {
        None => column as u64,
        Some(shift) => ((FINE + column as u64) << shift) + ((1 << shift) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_counted_together_differ_by_one_part_in_fine() {
        for number in (0..5_000).chain((0..64).map(|bit| 1 << bit)).chain([u64::MAX]) {
            let (row, column) = place(number);
            let most = largest(row, column);
            assert!(most >= number && most - number <= number / FINE, "{number} is counted with {most}");
        }
    }

    #[test]
    fn quantiles_of_small_numbers_are_exact() {
        let mut seen = Histogram::new();
        (0..1000).for_each(|i| seen.add(i % 20));
        assert_eq!((seen.quantile(0.5), seen.quantile(0.999), seen.most()), (Some(9), Some(19), Some(19)));
        seen.add(1_000_000);
        assert_eq!((seen.quantile(0.999), seen.most()), (Some(19), Some(1_000_000)));
    }

    #[test]
    fn an_empty_histogram_has_no_quantile_and_histograms_merge() {
        let (mut one, mut other) = (Histogram::new(), Histogram::new());
        assert_eq!((one.quantile(0.5), one.most()), (None, None));
        one.add(1);
        other.add(3);
        one.merge(&other);
        assert_eq!((one.quantile(0.5), one.quantile(1.0)), (Some(1), Some(3)));
    }
}
