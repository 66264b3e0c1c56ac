//! A matrix of mixes: locks measured for many lengths of the critical section and of the remainder, and for many numbers
//! of threads.
//!
//! A [`Scenario`](crate::Scenario) is one point, and a lock can be tuned for a point. Each cell of the matrix compares the
//! lock of `doorway` with the standard library's, and with the fastest lock of another crate in order of arrival, slice by
//! slice: the machine changes its speed from second to second, but little between two neighbouring slices.
//!
//! ```
//! use std::{ops::ControlFlow::Continue, time::Duration};
//!
//! use doorway_bench::matrix::{self, Mix};
//!
//! let mixes: Vec<Mix> = Mix::all().into_iter().filter(|mix| mix.threads == 2).collect();
//! let locks = matrix::choose(&["ours", "std"])?;
//! let matrix = matrix::run(&locks, &mixes, Duration::from_millis(300), |_| Continue(()));
//! let mean = matrix.mean(|cell| cell.over_std()).unwrap();
//! assert!(mean.value > 0.0 && matrix.worst(|cell| cell.over_std()).unwrap().1.value <= mean.value);
//! # Ok::<(), doorway_bench::Unknown>(())
//! ```
use std::{fmt, num::NonZero, ops::ControlFlow, sync::atomic::Ordering::Relaxed, thread, time::Duration};

use crate::{
    COUNTING_SHARE, Candidate, Group, ROUNDS, Unknown,
    budget::Budget,
    busy::Busy,
    histogram::Histogram,
    jain,
    job::{CriticalSection, EntryCounters, Job, JobState, Work},
    locks::FIFO,
    mean, median, run_threads, standard_error,
};

/// A cell of the matrix: what the threads do, and how many there are.
///
/// ```
/// use doorway_bench::matrix::Mix;
/// let mix = Mix::all()[1];
/// assert_eq!(mix.to_string(), "4 threads, k = 1, 0 in the critical section, 0 in the remainder");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Mix {
    /// The capacity.
    pub k: usize,
    /// The number of threads.
    pub threads: usize,
    /// How long a thread works in the critical section.
    pub critical_section: Duration,
    /// How long a thread works in the remainder.
    pub remainder: Duration,
    /// How long one of the threads works in the critical section, if not as long as the others.
    pub long: Option<Duration>,
}

/// The critical sections, and the remainders, of the matrix.
const LENGTHS: [Duration; 3] = [Duration::ZERO, Duration::from_micros(1), Duration::from_micros(20)];

/// The numbers of threads of equal mixes. A capacity that is not below the number of threads never makes one wait.
const THREADS: [usize; 6] = [2, 4, 8, 16, 32, 64];

/// The long critical section of one thread, and the numbers of threads: that one among 2, 8 and 32 others.
const LONG: Duration = Duration::from_micros(100);
const THREADS_WITH_LONG: [usize; 3] = [3, 9, 33];

/// The capacities.
const CAPACITIES: [usize; 2] = [1, 4];

impl Mix {
    /// All mixes of the matrix: row by row, the number of threads grows in a row.
    ///
    /// See [`Mix`].
    #[must_use]
    pub fn all() -> Vec<Mix> {
        let mut all = Vec::new();
        for k in CAPACITIES {
            for long in [None, Some(LONG)] {
                let threads: &[usize] = if long.is_some() { &THREADS_WITH_LONG } else { &THREADS };
                // A critical section of 20 us is not short beside one of 100 us.
                for &critical_section in &LENGTHS[..if long.is_some() { 2 } else { 3 }] {
                    for remainder in LENGTHS {
                        let mix = |&threads| Mix { k, threads, critical_section, remainder, long };
                        all.extend(threads.iter().filter(|&&threads| threads > k).map(mix));
                    }
                }
            }
        }
        all
    }

    /// The lengths of the critical section and of the remainder: the row of the matrix.
    ///
    /// ```
    /// assert_eq!(doorway_bench::matrix::Mix::all()[6].lengths(), ["0", "1 us"]);
    /// ```
    #[must_use]
    pub fn lengths(&self) -> [String; 2] {
        [span(self.critical_section), span(self.remainder)]
    }

    /// How long a thread works in a passage, of the thread with the long critical section if there is one.
    fn longest_passage(&self) -> Duration {
        self.long.unwrap_or(self.critical_section) + self.remainder
    }

    /// What each thread does; the first one has the long critical section.
    fn work(&self, busy: Busy) -> Vec<Work> {
        let remainder = busy.iterations(self.remainder);
        let work = |length| Work { critical_section: CriticalSection::Work(busy.iterations(length)), remainder };
        let mut all = vec![work(self.critical_section); self.threads];
        all[0] = work(self.long.unwrap_or(self.critical_section));
        all
    }

    /// The share of the time. With many threads it takes longer until each has had the processor several times.
    fn weight(&self) -> u32 {
        match self.threads {
            ..=4 => 2,
            5..=16 => 3,
            _ => 4,
        }
    }

    /// The number of slices in a round, over which the time is divided. The speed of two threads changes within a second:
    /// see [`Scenario`](crate::Scenario).
    fn slices(&self) -> u32 {
        if self.threads <= processors() { 4 } else { 1 }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([critical_section, remainder], Mix { k, threads, .. }) = (self.lengths(), self);
        write!(
            f,
            "{threads} threads, k = {k}, {critical_section} in the critical section, {remainder} in the remainder"
        )?;
        self.long.map_or(Ok(()), |long| write!(f, "; one thread {} in the critical section", span(long)))
    }
}

/// A length in microseconds.
fn span(length: Duration) -> String {
    if length.is_zero() { "0".to_string() } else { format!("{} us", length.as_micros()) }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The locks with these names or in these groups. Without names, those that the matrix compares: of `doorway`, of the
/// standard library, and of other crates in order of arrival.
///
/// # Errors
/// If no lock and no group has one of the names.
///
/// See the [module's example](self).
pub fn choose(names: &[impl AsRef<str>]) -> Result<Vec<Candidate>, Unknown> {
    let mut locks = crate::choose(names)?;
    locks.retain(|lock| !names.is_empty() || lock.group != Group::Peers || lock.order == FIFO);
    Ok(locks)
}

/// The results of all cells.
///
/// See the [module's example](self).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Matrix {
    /// The cells, in the order of [`Mix::all`].
    pub cells: Vec<Cell>,
    /// The number of complete rounds; below [`ROUNDS`] if the run was interrupted.
    pub rounds: usize,
}

/// One mix, with a row for each lock that was measured.
///
/// See the [module's example](self).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cell {
    /// The mix.
    pub mix: Mix,
    /// The locks. Mutexes have k = 1, semaphores k > 1; those that only spin have at most as many threads as processors.
    pub rows: Vec<Row>,
}

/// The results of a lock in a cell. A list has a figure for each slice.
///
/// See the [module's example](self).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The lock's name.
    pub lock: &'static str,
    /// The origin of the lock.
    pub group: Group,
    /// The order in which the lock admits threads.
    pub order: &'static str,
    /// Entries per second of all threads.
    pub ops_per_s: Vec<f64>,
    /// Microseconds of processor time per entry, of all threads together; empty if the system does not tell.
    pub cpu_us_per_op: Vec<f64>,
    /// Jain's index of the threads' processor times; empty if the system does not tell.
    pub jain_cpu: Vec<f64>,
    /// Jain's index of the threads' numbers of entries.
    pub jain_entries: Vec<f64>,
    /// Nanoseconds from arrival to entry: the longest.
    pub longest_wait_ns: Vec<f64>,
    /// The work of the thread with the long critical section, relative to an equal share of the processors; empty if
    /// there is no such thread.
    pub long_share: Vec<f64>,
    /// The largest number of holders at once.
    pub most_holders: u64,
}

/// A ratio or share, or a mean of some, and its relative standard error.
///
/// See the [module's example](self).
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Ratio {
    /// The mean: of ratios the geometric one.
    pub value: f64,
    /// The relative standard error over the slices; `None` if there is only one.
    pub error: Option<f64>,
}

impl Ratio {
    /// The geometric mean of some ratios, and its error.
    fn of(ratios: impl Iterator<Item = f64>) -> Option<Ratio> {
        let logarithms: Vec<f64> = ratios.map(f64::ln).filter(|ratio| ratio.is_finite()).collect();
        let (n, middle) = (logarithms.len() as f64, mean(&logarithms));
        let squares: f64 = logarithms.iter().map(|ratio| (ratio - middle).powi(2)).sum();
        let error = (n > 1.0).then(|| (squares / (n - 1.0) / n).sqrt());
        (n > 0.0).then(|| Ratio { value: middle.exp(), error })
    }
}

impl Row {
    /// The median over the slices.
    ///
    /// ```
    /// assert_eq!(doorway_bench::matrix::Row::usual(&[3.0, 1.0, 2.0]), Some(2.0));
    /// ```
    #[must_use]
    pub fn usual(figures: &[f64]) -> Option<f64> {
        median(figures)
    }

    fn is_fifo_peer(&self) -> bool {
        self.group == Group::Peers && self.order == FIFO
    }

    fn mean_ops(&self) -> f64 {
        if self.ops_per_s.is_empty() { 0.0 } else { mean(&self.ops_per_s) }
    }
}

impl Cell {
    /// The row of the lock of `doorway`.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn ours(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.group == Group::Ours)
    }

    /// The row of the standard library's lock: its mutex, or a semaphore made of its mutex and condition variable.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn standard(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.group == Group::Standard)
    }

    /// The row of the fastest lock of another crate in order of arrival.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn best_fifo_peer(&self) -> Option<&Row> {
        self.rows.iter().filter(|row| row.is_fifo_peer()).max_by(|a, b| a.mean_ops().total_cmp(&b.mean_ops()))
    }

    /// Entries of the lock of `doorway` over those of the standard library's.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn over_std(&self) -> Option<Ratio> {
        compare(self.ours(), self.standard(), |row| &row.ops_per_s)
    }

    /// Entries of the lock of `doorway` over those of the fastest lock of another crate in order of arrival.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn over_fifo(&self) -> Option<Ratio> {
        compare(self.ours(), self.best_fifo_peer(), |row| &row.ops_per_s)
    }

    /// The longest wait for the lock of `doorway` over that for the standard library's.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn wait_over_std(&self) -> Option<Ratio> {
        compare(self.ours(), self.standard(), |row| &row.longest_wait_ns)
    }

    /// The share of the thread with the long critical section, under the lock of `doorway`: the arithmetic mean, since
    /// that thread has little in some slices and much in others.
    ///
    /// See [`Row::long_share`].
    #[must_use]
    pub fn long_share(&self) -> Option<Ratio> {
        let shares = &self.ours()?.long_share;
        (!shares.is_empty()).then(|| Ratio { value: mean(shares), error: standard_error(shares) })
    }

    /// Whether no lock ever had more than k holders.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn excludes(&self) -> bool {
        self.rows.iter().all(|row| row.most_holders <= self.mix.k as u64)
    }
}

/// The ratio of two rows, slice by slice: the slices of a round are neighbours in time.
fn compare(a: Option<&Row>, b: Option<&Row>, figures: impl Fn(&Row) -> &[f64]) -> Option<Ratio> {
    Ratio::of(figures(a?).iter().zip(figures(b?)).map(|(a, b)| a / b))
}

impl Matrix {
    /// The geometric mean over all cells that have this ratio.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn mean(&self, ratio: impl Fn(&Cell) -> Option<Ratio>) -> Option<Ratio> {
        let ratios: Vec<Ratio> = self.cells.iter().filter_map(ratio).collect();
        let value = Ratio::of(ratios.iter().map(|ratio| ratio.value))?.value;
        // The cells are independent of each other, and the error of a sum of logarithms is that of the ratio.
        let errors: Option<f64> = ratios.iter().map(|ratio| ratio.error.map(|error| error * error)).sum();
        Some(Ratio { value, error: errors.map(|errors| errors.sqrt() / ratios.len() as f64) })
    }

    /// The cell in which this ratio is smallest.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn worst(&self, ratio: impl Fn(&Cell) -> Option<Ratio>) -> Option<(&Cell, Ratio)> {
        let cells = self.cells.iter().filter_map(|cell| Some((cell, ratio(cell)?)));
        cells.min_by(|(_, a), (_, b)| a.value.total_cmp(&b.value))
    }
}

/// The progress of a run.
///
/// See [`run`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// The current round: 1 to [`ROUNDS`].
    pub round: usize,
    /// The lock that is measured.
    pub lock: &'static str,
    /// The mix that it is measured in.
    pub mix: Mix,
}

/// Measures locks in mixes, in about `time`. `tell` receives the progress, and may end the run.
///
/// See the [module's example](self).
pub fn run(
    locks: &[Candidate],
    mixes: &[Mix],
    time: Duration,
    mut tell: impl FnMut(Progress) -> ControlFlow<()>,
) -> Matrix {
    let busy = Busy::calibrate();
    let measured: Vec<Vec<&Candidate>> =
        mixes.iter().map(|mix| locks.iter().filter(|lock| is_measured(lock, mix)).collect()).collect();
    let row = |lock: &&Candidate| Row {
        lock: lock.name,
        group: lock.group,
        order: lock.order,
        ops_per_s: vec![],
        cpu_us_per_op: vec![],
        jain_cpu: vec![],
        jain_entries: vec![],
        longest_wait_ns: vec![],
        long_share: vec![],
        most_holders: 0,
    };
    let cells = mixes.iter().zip(&measured).map(|(&mix, locks)| Cell { mix, rows: locks.iter().map(row).collect() });
    let mut matrix = Matrix { cells: cells.collect(), rounds: 0 };
    let weights: u32 = mixes.iter().zip(&measured).map(|(mix, locks)| mix.weight() * locks.len() as u32).sum();
    let mut budget = Budget::new(time, 2.0);
    for round in 1..=ROUNDS {
        let unit = budget.unit(round, weights);
        for (cell, locks) in matrix.cells.iter_mut().zip(&measured) {
            for slice in 0..cell.mix.slices() as usize {
                for i in (0..locks.len()).cycle().skip((round + slice) % locks.len().max(1)).take(locks.len()) {
                    if tell(Progress { round, lock: locks[i].name, mix: cell.mix }).is_break() {
                        return matrix;
                    }
                    cell.rows[i].measure(locks[i], cell.mix, unit * cell.mix.weight() / cell.mix.slices(), busy);
                }
            }
        }
        matrix.rounds = round;
    }
    matrix
}

/// Whether a lock is measured in a mix. A mutex and a semaphore of one crate are the same for k = 1.
fn is_measured(lock: &Candidate, mix: &Mix) -> bool {
    let is_semaphore = || (lock.make)(2, mix.threads.max(3)).is_some();
    let can_run = !lock.only_spins || mix.threads <= processors();
    can_run && (lock.make)(mix.k, mix.threads).is_some() && (mix.k > 1 || !is_semaphore())
}

impl Row {
    fn measure(&mut self, lock: &Candidate, mix: Mix, time: Duration, busy: Busy) {
        let fresh = || (lock.make)(mix.k, mix.threads).expect("the lock supports the mix");
        let state = || JobState::new(mix.work(busy));

        let (lock, counted) = (fresh(), state());
        let measured = run_threads(&*lock, &counted, &Job::Count(&counted), time.mul_f64(COUNTING_SHARE));
        let (entries, seconds) = (measured.entries.iter().sum::<u64>() as f64, measured.took.as_secs_f64());
        self.ops_per_s.push(entries / seconds);
        self.cpu_us_per_op.extend(measured.cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / entries.max(1.0)));
        self.jain_entries.extend(jain(&measured.entries));
        self.jain_cpu.extend(measured.cpu_of_threads.and_then(|times| jain(&times)));
        self.long_share.extend(mix.long.map(|_| {
            let worked = measured.entries[0] as f64 * mix.longest_passage().as_secs_f64();
            worked / (seconds * (processors() as f64 / mix.threads as f64).min(1.0))
        }));

        let (lock, watched, counters) = (fresh(), state(), EntryCounters::default());
        let job = Job::Watch(&watched, &counters);
        let measured = run_threads(&*lock, &watched, &job, time.mul_f64(1.0 - COUNTING_SHARE));
        let mut waits = Histogram::new();
        measured.tallies.iter().filter_map(|tally| tally.seen.as_deref()).for_each(|seen| waits.merge(&seen.wait));
        self.longest_wait_ns.extend(waits.most().map(|most| most as f64));
        self.most_holders = self.most_holders.max(counters.most_holders.load(Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_ratios_is_geometric_and_has_an_error() {
        let ratio = Ratio::of([0.5, 2.0].into_iter()).unwrap();
        assert!((ratio.value - 1.0).abs() < 1e-9 && (ratio.error.unwrap() - 2.0_f64.ln()).abs() < 1e-9, "{ratio:?}");
        assert_eq!(Ratio::of([3.0].into_iter()).unwrap().error, None);
        assert_eq!(
            Ratio::of([f64::NAN, 0.0, f64::INFINITY].into_iter()),
            None,
            "a slice without entries does not count"
        );
    }

    #[test]
    fn every_mix_makes_threads_wait_and_none_is_there_twice() {
        let all = Mix::all();
        assert!(all.iter().all(|mix| mix.threads > mix.k));
        assert!(all.iter().enumerate().all(|(i, mix)| !all[..i].contains(mix)));
        assert_eq!(all.len(), 54 + 18 + 36 + 12);
    }

    /// Asserts no times: only that each cell has its locks and figures, and that no lock admits more than k holders.
    #[test]
    fn every_cell_compares_one_lock_of_each_origin() {
        let mut mixes = Mix::all();
        mixes.retain(|mix| [2, 8, 9].contains(&mix.threads) && mix.remainder.is_zero());
        let matrix = run(&choose(&[] as &[&str]).unwrap(), &mixes, Duration::from_secs(5), |progress| {
            if progress.round == 1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert_eq!((matrix.rounds, matrix.cells.len()), (1, mixes.len()));
        for cell in &matrix.cells {
            assert!(cell.excludes(), "{}", cell.mix);
            for group in [Group::Ours, Group::Standard] {
                assert_eq!(cell.rows.iter().filter(|row| row.group == group).count(), 1, "{}", cell.mix);
            }
            assert_eq!(cell.best_fifo_peer().is_some(), cfg!(feature = "peers"), "{}", cell.mix);
            for row in &cell.rows {
                assert_eq!(row.ops_per_s.len(), cell.mix.slices() as usize, "{}, {}", row.lock, cell.mix);
                assert_eq!(row.long_share.is_empty(), cell.mix.long.is_none(), "{}, {}", row.lock, cell.mix);
            }
        }
    }
}
