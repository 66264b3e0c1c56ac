//! Measures locks side by side: those of `doorway`, the catalogue, the standard library and other crates.
//!
//! Times differ from machine to machine and from minute to minute; only ratios within one run can be compared. So all
//! locks are measured in short alternating slices in every round, and the results cover all rounds together.
//!
//! ```
//! use std::{ops::ControlFlow::Continue, time::Duration};
//!
//! use doorway_bench::Scenario;
//!
//! let locks = doorway_bench::choose(&["doorway-mutex", "std-mutex"])?;
//! let results = doorway_bench::run(&locks, &Scenario::all(), Duration::from_millis(100), |_| Continue(()));
//! assert!(results.rows.iter().all(|row| row.excludes()));
//! # Ok::<(), doorway_bench::Unknown>(())
//! ```
mod budget;
mod busy;
mod cpu;
mod histogram;
mod job;
mod locks;
pub mod matrix;
mod scenario;
#[cfg(feature = "peers")]
pub mod tasks;

use std::{
    ops::ControlFlow,
    sync::atomic::Ordering::Relaxed,
    thread,
    time::{Duration, Instant},
};

use budget::Budget;
use busy::Busy;
use histogram::Histogram;
use job::{AnyLock, CriticalSection, EntryCounters, Job, JobState, Tally, Work};
use locks::{FIFO, FetchAdd};

pub use locks::{Candidate, Group, Unknown, candidates, choose};
pub use scenario::{Kind, Scenario};

/// The number of rounds, in each of which every lock is measured in every scenario. Odd, so that there is a median.
pub const ROUNDS: usize = 5;

/// The share of a slice in which entries are counted. In the rest, threads record waiting times and overtaking.
const COUNTING_SHARE: f64 = 0.6;

/// The results of all measurements.
///
/// See the [crate's example](crate).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Results {
    /// Nanoseconds of one uncontended atomic addition.
    pub fetch_add_ns: f64,
    /// Entries per second without a lock, for each [`Kind::Busy`] scenario: the upper limit that the work sets.
    pub no_lock_ops_per_s: Vec<(Scenario, f64)>,
    /// One row for each lock and each scenario that it supports, in the order of [`Scenario::all`].
    pub rows: Vec<Row>,
    /// The number of complete rounds; below [`ROUNDS`] if the run was interrupted.
    pub rounds: usize,
}

/// The results of a lock in a scenario. A figure is `None` if the scenario does not have it, or if it was not observed.
///
/// See the [crate's example](crate).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The lock's name.
    pub lock: &'static str,
    /// The origin of the lock.
    pub group: Group,
    /// The order in which the lock admits threads.
    pub order: &'static str,
    /// The scenario.
    pub scenario: Scenario,
    /// Nanoseconds of an uncontended passage; the best of all rounds.
    pub ns: Option<f64>,
    /// Entries per second of all threads, over all rounds.
    pub ops_per_s: Option<f64>,
    /// The relative standard error of `ops_per_s`. Results that differ by less than two standard errors are a tie.
    ///
    /// It is taken over all slices, each relative to the usual speed of all locks in that slice.
    pub ops_error: Option<f64>,
    /// Entries per second; the best of all slices.
    pub best_ops_per_s: Option<f64>,
    /// Jain's index of fairness: 1 if all threads enter equally often, 1/n if only one does. The median of the rounds.
    pub jain: Option<f64>,
    /// How many other threads entered between arrival and entry: the 99.9th percentile.
    pub overtaken_p999: Option<u64>,
    /// The same: the maximum.
    pub overtaken_max: Option<u64>,
    /// Nanoseconds from arrival to entry: the 99.9th percentile.
    pub wait_p999_ns: Option<u64>,
    /// Microseconds of processor time per entry, of all threads together.
    pub cpu_us_per_op: Option<f64>,
    /// The largest number of holders at once.
    pub most_holders: u64,
}

impl Row {
    /// Whether there were never more than k holders.
    ///
    /// See the [crate's example](crate).
    #[must_use]
    pub fn excludes(&self) -> bool {
        self.most_holders <= self.scenario.k as u64
    }

    /// Whether the lock admits threads in order of arrival.
    ///
    /// See the [crate's example](crate).
    #[must_use]
    pub fn is_fifo(&self) -> bool {
        self.order == FIFO
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
    /// The scenario that it is measured in.
    pub scenario: Scenario,
}

/// Measures locks in scenarios, in about `time`. `tell` receives the progress, and may end the run.
///
/// See the [crate's example](crate).
pub fn run(
    locks: &[Candidate],
    scenarios: &[Scenario],
    time: Duration,
    mut tell: impl FnMut(Progress) -> ControlFlow<()>,
) -> Results {
    let busy = Busy::calibrate();
    let no_lock = locks::no_lock();
    let mut cells: Vec<Cell<'_>> = scenarios
        .iter()
        .flat_map(|&scenario| {
            let is_measured = locks.iter().any(|lock| fresh(lock, scenario).is_some());
            let no_lock = (is_measured && scenario.kind == Kind::Busy).then_some(&no_lock);
            locks.iter().chain(no_lock).map(move |lock| Cell::new(lock, scenario))
        })
        .filter(|cell| fresh(cell.lock, cell.scenario).is_some())
        .collect();
    let order = order(&cells);
    let weights: u32 = cells.iter().map(|cell| cell.scenario.weight()).sum();
    let (mut budget, mut fetch_add_ns) = (Budget::new(time, 1.0), f64::INFINITY);
    for round in 1..=ROUNDS {
        let unit = budget.unit(round, weights);
        fetch_add_ns = fetch_add_ns.min(FetchAdd::default().work(0, &Job::Alone(unit)).ns);
        for &i in &order {
            let Cell { lock, scenario, .. } = cells[i];
            if tell(Progress { round, lock: lock.name, scenario }).is_break() {
                return results(&cells, &no_lock, fetch_add_ns, round - 1);
            }
            cells[i].measure(unit * scenario.weight() / scenario.slices(), busy);
        }
    }
    results(&cells, &no_lock, fetch_add_ns, ROUNDS)
}

fn results(cells: &[Cell<'_>], no_lock: &Candidate, fetch_add_ns: f64, rounds: usize) -> Results {
    let (mut no_lock_ops_per_s, mut rows) = (vec![], vec![]);
    for scenario in cells.chunk_by(|a, b| a.scenario == b.scenario) {
        let usual = usual_speeds(scenario);
        for cell in scenario {
            let row = cell.row(&usual);
            if std::ptr::eq(cell.lock, no_lock) {
                no_lock_ops_per_s.extend(row.ops_per_s.map(|ops| (cell.scenario, ops)));
            } else {
                rows.push(row);
            }
        }
    }
    Results { fetch_add_ns, no_lock_ops_per_s, rows, rounds }
}

/// The usual speed in each slice, or an empty list if there are too few locks to tell.
///
/// It is the median, over all locks, of a lock's speed in that slice relative to its own mean.
fn usual_speeds(cells: &[Cell<'_>]) -> Vec<f64> {
    const MIN_LOCKS: usize = 3;
    let slices = cells.iter().map(|cell| cell.slices.len()).min().unwrap_or(0);
    let means: Vec<f64> = cells.iter().map(|cell| mean(&cell.slices)).collect();
    let speed =
        |t: usize| median(&cells.iter().zip(&means).map(|(cell, mean)| cell.slices[t] / mean).collect::<Vec<_>>());
    if cells.len() < MIN_LOCKS { vec![] } else { (0..slices).filter_map(speed).collect() }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The relative standard error of the mean, if there are enough values.
fn standard_error(values: &[f64]) -> Option<f64> {
    let (n, mean) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / (n - 1.0) / n).sqrt() / mean;
    error.is_finite().then_some(error)
}

/// The order in which cells are measured in a round.
///
/// It goes scenario by scenario. In each slice of a scenario all locks are measured, beginning with another one each
/// time.
fn order(cells: &[Cell<'_>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut from = 0;
    for scenario in cells.chunk_by(|a, b| a.scenario == b.scenario) {
        let to = from + scenario.len();
        for slice in 0..scenario[0].scenario.slices() as usize {
            order.extend((from..to).cycle().skip(slice % scenario.len()).take(scenario.len()));
        }
        from = to;
    }
    order
}

/// One lock in one scenario, with its measurements so far.
struct Cell<'a> {
    lock: &'a Candidate,
    scenario: Scenario,
    ns: f64,
    /// All entries, the time in which they were made, and the processor time; `None` if the system does not tell.
    entries: u64,
    took: Duration,
    cpu: Option<Duration>,
    /// Entries per second in each slice.
    slices: Vec<f64>,
    jain: Vec<f64>,
    overtaken: Histogram,
    wait: Histogram,
    most_holders: u64,
}

impl<'a> Cell<'a> {
    fn new(lock: &'a Candidate, scenario: Scenario) -> Cell<'a> {
        let (overtaken, wait) = (Histogram::new(), Histogram::new());
        Cell {
            lock,
            scenario,
            ns: f64::INFINITY,
            entries: 0,
            took: Duration::ZERO,
            cpu: Some(Duration::ZERO),
            slices: vec![],
            jain: vec![],
            overtaken,
            wait,
            most_holders: 0,
        }
    }

    fn measure(&mut self, time: Duration, busy: Busy) {
        let Cell { lock, scenario, .. } = *self;
        let Scenario { kind, threads, .. } = scenario;
        let fresh = || fresh(lock, scenario).expect("every cell's lock supports its scenario");
        let critical_section = match kind {
            Kind::Alone => {
                self.ns = self.ns.min(fresh().work(0, &Job::Alone(time)).ns);
                return;
            }
            Kind::Busy => CriticalSection::Work(busy.iterations(scenario::CRITICAL_SECTION)),
            Kind::Sleeping => CriticalSection::Sleep(scenario::SLEEP),
        };
        let remainder = if kind == Kind::Busy { busy.iterations(scenario::REMAINDER) } else { 0 };
        let state = || JobState::new(vec![Work { critical_section, remainder }; threads]);

        let (lock, counted) = (fresh(), state());
        let measured = run_threads(&*lock, &counted, &Job::Count(&counted), time.mul_f64(COUNTING_SHARE));
        let sum: u64 = measured.entries.iter().sum();
        self.entries += sum;
        self.took += measured.took;
        self.cpu = self.cpu.zip(measured.cpu).map(|(all, cpu)| all + cpu);
        self.slices.push(sum as f64 / measured.took.as_secs_f64());
        self.jain.extend(jain(&measured.entries));

        let (lock, watched, counters) = (fresh(), state(), EntryCounters::default());
        let job = Job::Watch(&watched, &counters);
        let measured = run_threads(&*lock, &watched, &job, time.mul_f64(1.0 - COUNTING_SHARE));
        for seen in measured.tallies.iter().filter_map(|tally| tally.seen.as_deref()) {
            self.overtaken.merge(&seen.overtaken);
            self.wait.merge(&seen.wait);
        }
        self.most_holders = self.most_holders.max(counters.most_holders.load(Relaxed));
    }

    /// The row of results; `usual` is the usual speed in each slice.
    fn row(&self, usual: &[f64]) -> Row {
        let Cell { lock, scenario, .. } = *self;
        const P999: f64 = 0.999;
        let was_contended = !self.took.is_zero();
        let entries = self.entries as f64;
        let relative: Vec<f64> = self.slices.iter().zip(usual).map(|(ops, usual)| ops / usual).collect();
        Row {
            lock: lock.name,
            group: lock.group,
            order: lock.order,
            scenario,
            ns: self.ns.is_finite().then_some(self.ns),
            ops_per_s: was_contended.then(|| entries / self.took.as_secs_f64()),
            ops_error: standard_error(&relative),
            best_ops_per_s: self.slices.iter().copied().reduce(f64::max),
            jain: median(&self.jain),
            overtaken_p999: self.overtaken.quantile(P999),
            overtaken_max: self.overtaken.most(),
            wait_p999_ns: self.wait.quantile(P999),
            cpu_us_per_op: self.cpu.filter(|_| self.entries > 0).map(|cpu| cpu.as_secs_f64() * 1e6 / entries),
            most_holders: self.most_holders,
        }
    }
}

/// A fresh lock, if it supports this scenario. Uncontended passages are measured in a lock for two threads.
fn fresh(lock: &Candidate, scenario: Scenario) -> Option<Box<dyn AnyLock>> {
    (lock.make)(scenario.k, scenario.threads.max(2))
}

/// The results of the threads of one job.
struct Measured {
    tallies: Vec<Tally>,
    /// The number of passages of each thread while entries were counted.
    entries: Vec<u64>,
    took: Duration,
    /// Processor time; `None` if the system does not tell.
    cpu: Option<Duration>,
    /// The processor time of each thread in nanoseconds; `None` if the system does not tell.
    cpu_of_threads: Option<Vec<u64>>,
}

fn run_threads(lock: &dyn AnyLock, state: &JobState, job: &Job<'_>, time: Duration) -> Measured {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..state.threads()).map(|p| scope.spawn(move || lock.work(p, job))).collect();
        state.begin(time);
        let (start, before, cpu_before, threads_before) = (Instant::now(), state.entries(), cpu::used(), state.cpu());
        thread::sleep(time);
        let (took, after, cpu_after, threads_after) = (start.elapsed(), state.entries(), cpu::used(), state.cpu());
        state.end();
        let entries = before.iter().zip(after).map(|(before, after)| after - before).collect();
        let cpu = cpu_after.zip(cpu_before).and_then(|(after, before)| after.checked_sub(before));
        let cpu_of_threads = threads_before.zip(threads_after).map(|(before, after)| {
            let nanoseconds = |(before, after): (_, Duration)| after.saturating_sub(before).as_nanos() as u64;
            before.into_iter().zip(after).map(nanoseconds).collect()
        });
        let tallies = workers.into_iter().map(|worker| worker.join().expect("a thread does not panic")).collect();
        Measured { tallies, entries, took, cpu, cpu_of_threads }
    })
}

/// Jain's index of fairness: the square of the sum, divided by n times the sum of squares. `None` if all shares are 0.
fn jain(shares: &[u64]) -> Option<f64> {
    let sum: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| (share as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / squares / shares.len() as f64)
}

/// The median, or the lower of two.
fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn fairness_is_one_only_for_equal_counts() {
        assert_eq!(jain(&[5, 5, 5, 5]), Some(1.0));
        assert_eq!(jain(&[8, 0, 0, 0]), Some(0.25));
        assert_eq!(jain(&[0, 0]), None);
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0]), Some(1.0));
    }

    #[test]
    fn standard_error_is_relative_and_needs_two_values() {
        assert_eq!((standard_error(&[1.0]), standard_error(&[0.0, 0.0])), (None, None));
        assert_eq!(standard_error(&[2.0, 2.0, 2.0]), Some(0.0));
        let error = standard_error(&[1.0, 3.0].repeat(50)).unwrap();
        assert!((error - 0.05).abs() < 0.001, "{error}");
    }

    #[test]
    fn no_two_locks_have_one_name() {
        let names: BTreeSet<_> = candidates().iter().map(|lock| lock.name).collect();
        assert_eq!(names.len(), candidates().len());
    }

    /// Asserts no times: only that each lock is measured, and never admits more than k holders.
    #[test]
    fn every_lock_excludes_in_a_short_run() {
        let results = run(&candidates(), &Scenario::all(), Duration::from_secs(5), |progress| {
            if progress.round == 1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert_eq!(results.rounds, 1, "one round is enough to see a second holder, and the rest takes a minute");
        for row in &results.rows {
            assert!(row.excludes(), "{}, {}: {} holders", row.lock, row.scenario, row.most_holders);
            assert_eq!(row.ns.is_some(), row.scenario.kind == Kind::Alone, "{}, {}", row.lock, row.scenario);
        }
        let measured: BTreeSet<_> = results.rows.iter().map(|row| row.lock).collect();
        assert_eq!(measured.len(), candidates().len(), "every lock supports a scenario");
    }

    #[test]
    fn a_run_ends_when_the_callback_breaks() {
        let locks = choose(&["std-mutex"]).unwrap();
        let results = run(&locks, &Scenario::all(), Duration::from_secs(1000), |_| ControlFlow::Break(()));
        assert_eq!(results.rounds, 0);
        assert!(results.rows.iter().all(|row| row.ops_per_s.is_none() && row.ns.is_none()));
    }
}
