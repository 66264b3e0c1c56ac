//! Locks side by side in one run: ours, those of the catalogue, the standard library's, and other people's.
//!
//! Times differ from machine to machine and from minute to minute; what counts is the ratios within one run. So every lock
//! gets a short turn in every round, in turns with all others, and what is reported is of all rounds together.
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
mod busy;
mod cpu;
mod histogram;
mod job;
mod locks;
mod scenario;

use std::{
    ops::ControlFlow,
    sync::atomic::Ordering::Relaxed,
    thread,
    time::{Duration, Instant},
};

use busy::Busy;
use histogram::Histogram;
use job::{Door, Inside, Job, Made, Room, Tally};
use locks::{FIFO, FetchAdd};

pub use locks::{Candidate, Group, Unknown, candidates, choose};
pub use scenario::{Kind, Scenario};

/// How often each lock is measured in each scenario, at least; odd, so that there is a median of what is no sum.
pub const ROUNDS: usize = 5;

/// How much of a turn is for counting entries; in the rest threads look at the clock and at one another.
const COUNTING: f64 = 0.6;

/// What was measured.
///
/// See the [crate's example](crate).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Results {
    /// Nanoseconds of one atomic addition, alone.
    pub fetch_add_ns: f64,
    /// Entries a second without a lock, for each scenario in which threads work: as much as the work allows.
    pub no_lock_ops_per_s: Vec<(Scenario, f64)>,
    /// One for each lock in each scenario it is for, in the order of [`Scenario::all`].
    pub rows: Vec<Row>,
    /// How many rounds are complete; less than [`ROUNDS`] if it was interrupted.
    pub rounds: usize,
}

/// What was measured of a lock in a scenario. What a scenario does not have, or what was not seen, is `None`.
///
/// See the [crate's example](crate).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The lock's name.
    pub lock: &'static str,
    /// Where it comes from.
    pub group: Group,
    /// In which order it lets threads in.
    pub order: &'static str,
    /// What it was put through.
    pub scenario: Scenario,
    /// Nanoseconds of a passage, alone; the best of all rounds.
    pub ns: Option<f64>,
    /// Entries a second of all threads, over all rounds.
    pub ops_per_s: Option<f64>,
    /// By how much that may be off, as a part of it: the standard error over all turns, each beside how fast everything was in that
    /// turn. What differs by less than two of these is a tie.
    pub ops_error: Option<f64>,
    /// Entries a second; the best of all turns.
    pub best_ops_per_s: Option<f64>,
    /// Jain's index of fairness: 1 if all threads enter equally often, 1/n if only one does. The median of the rounds.
    pub jain: Option<f64>,
    /// How many others entered between arrival and entry: all but one in a thousand waits see no more.
    pub passed_p999: Option<u64>,
    /// The same; the most of all.
    pub passed_max: Option<u64>,
    /// Nanoseconds from arrival to entry: all but one in a thousand waits are no longer.
    pub wait_p999_ns: Option<u64>,
    /// Microseconds of processor time for an entry, of all threads together.
    pub cpu_us_per_op: Option<f64>,
    /// The most threads that were inside at once.
    pub most_inside: u64,
}

impl Row {
    /// Whether no more than k were ever seen inside.
    ///
    /// See the [crate's example](crate).
    #[must_use]
    pub fn excludes(&self) -> bool {
        self.most_inside <= self.scenario.k as u64
    }

    /// Whether it is in order of arrival.
    ///
    /// See the [crate's example](crate).
    #[must_use]
    pub fn is_fifo(&self) -> bool {
        self.order == FIFO
    }
}

/// How far it is.
///
/// See [`run`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// Of [`ROUNDS`], from 1.
    pub round: usize,
    /// What is being measured.
    pub lock: &'static str,
    /// What it is put through.
    pub scenario: Scenario,
}

/// Measures locks in scenarios, in about so much time. `tell` is told how far it is, and may end it.
///
/// See the [crate's example](crate).
pub fn run(
    locks: &[Candidate],
    scenarios: &[Scenario],
    time: Duration,
    mut tell: impl FnMut(Progress) -> ControlFlow<()>,
) -> Results {
    let busy = Busy::calibrate();
    let nothing = locks::nothing();
    let mut cells: Vec<Cell<'_>> = scenarios
        .iter()
        .flat_map(|&scenario| {
            let is_measured = locks.iter().any(|lock| fresh(lock, scenario).is_some());
            let nothing = (is_measured && scenario.kind == Kind::Busy).then_some(&nothing);
            locks.iter().chain(nothing).map(move |lock| Cell::new(lock, scenario))
        })
        .filter(|cell| fresh(cell.lock, cell.scenario).is_some())
        .collect();
    let order = order(&cells);
    let weights: u32 = cells.iter().map(|cell| cell.scenario.weight()).sum();
    let (start, mut fetch_add_ns, mut planned) = (Instant::now(), f64::INFINITY, Duration::ZERO);
    for round in 1..=ROUNDS {
        // Making threads and waiting for them takes its time too: as much in the rounds to come as in those before.
        let extra = if round == 1 { 1.0 } else { start.elapsed().div_duration_f64(planned).max(1.0) };
        let left = time.saturating_sub(start.elapsed()).div_f64((ROUNDS + 1 - round) as f64 * extra);
        let unit = left.max(time.div_f64(4.0 * ROUNDS as f64)).div_f64(f64::from(weights.max(1)));
        planned += unit * weights;
        fetch_add_ns = fetch_add_ns.min(FetchAdd::default().work(0, &Job::Alone(unit)).ns);
        for &i in &order {
            let Cell { lock, scenario, .. } = cells[i];
            if tell(Progress { round, lock: lock.name, scenario }).is_break() {
                return results(&cells, &nothing, fetch_add_ns, round - 1);
            }
            cells[i].measure(unit * scenario.weight() / scenario.turns(), busy);
        }
    }
    results(&cells, &nothing, fetch_add_ns, ROUNDS)
}

fn results(cells: &[Cell<'_>], nothing: &Candidate, fetch_add_ns: f64, rounds: usize) -> Results {
    let (mut no_lock_ops_per_s, mut rows) = (vec![], vec![]);
    for scenario in cells.chunk_by(|a, b| a.scenario == b.scenario) {
        let usual = usual_turns(scenario);
        for cell in scenario {
            let row = cell.row(&usual);
            if std::ptr::eq(cell.lock, nothing) {
                no_lock_ops_per_s.extend(row.ops_per_s.map(|ops| (cell.scenario, ops)));
            } else {
                rows.push(row);
            }
        }
    }
    Results { fetch_add_ns, no_lock_ops_per_s, rows, rounds }
}

/// How fast everything was in each turn, beside all turns: each lock beside its own mean, and of these the one in the middle.
/// Nothing, if there are too few locks to tell.
fn usual_turns(cells: &[Cell<'_>]) -> Vec<f64> {
    const ENOUGH: usize = 3;
    let turns = cells.iter().map(|cell| cell.turns.len()).min().unwrap_or(0);
    let means: Vec<f64> = cells.iter().map(|cell| mean(&cell.turns)).collect();
    let turn =
        |t: usize| median(&cells.iter().zip(&means).map(|(cell, mean)| cell.turns[t] / mean).collect::<Vec<_>>());
    if cells.len() < ENOUGH { vec![] } else { (0..turns).filter_map(turn).collect() }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard error of the mean, as a part of it, if there are enough values to tell.
fn standard_error(values: &[f64]) -> Option<f64> {
    let (n, mean) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / (n - 1.0) / n).sqrt() / mean;
    error.is_finite().then_some(error)
}

/// In which order cells are measured in a round: scenario by scenario, all locks in turn, as often as the scenario asks for, and
/// each time another one first.
fn order(cells: &[Cell<'_>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut from = 0;
    for scenario in cells.chunk_by(|a, b| a.scenario == b.scenario) {
        let to = from + scenario.len();
        for turn in 0..scenario[0].scenario.turns() as usize {
            order.extend((from..to).cycle().skip(turn % scenario.len()).take(scenario.len()));
        }
        from = to;
    }
    order
}

/// One lock in one scenario, and what was seen of it so far.
struct Cell<'a> {
    lock: &'a Candidate,
    scenario: Scenario,
    ns: f64,
    /// Entries, in so much time, taking so much of the processors; the last is `None` where it cannot be told.
    entries: u64,
    took: Duration,
    cpu: Option<Duration>,
    /// Entries a second of each turn.
    turns: Vec<f64>,
    jain: Vec<f64>,
    passed: Histogram,
    wait: Histogram,
    most_inside: u64,
}

impl<'a> Cell<'a> {
    fn new(lock: &'a Candidate, scenario: Scenario) -> Cell<'a> {
        let (passed, wait) = (Histogram::new(), Histogram::new());
        Cell {
            lock,
            scenario,
            ns: f64::INFINITY,
            entries: 0,
            took: Duration::ZERO,
            cpu: Some(Duration::ZERO),
            turns: vec![],
            jain: vec![],
            passed,
            wait,
            most_inside: 0,
        }
    }

    fn measure(&mut self, time: Duration, busy: Busy) {
        let Cell { lock, scenario, .. } = *self;
        let Scenario { kind, threads, .. } = scenario;
        let fresh = || fresh(lock, scenario).expect("cells that are not for their scenario were left out");
        let inside = match kind {
            Kind::Alone => {
                self.ns = self.ns.min(fresh().work(0, &Job::Alone(time)).ns);
                return;
            }
            Kind::Busy => Inside::Work(busy.turns(scenario::INSIDE)),
            Kind::Sleeping => Inside::Sleep(scenario::SLEEP),
        };
        let outside = if kind == Kind::Busy { busy.turns(scenario::OUTSIDE) } else { 0 };
        let room = || Room::new(threads, inside, outside);

        let (lock, counted) = (fresh(), room());
        let crowd = together(&*lock, threads, &counted, &Job::Count(&counted), time.mul_f64(COUNTING));
        let sum: u64 = crowd.entries.iter().sum();
        self.entries += sum;
        self.took += crowd.took;
        self.cpu = self.cpu.zip(crowd.cpu).map(|(all, cpu)| all + cpu);
        self.turns.push(sum as f64 / crowd.took.as_secs_f64());
        self.jain.extend(jain(&crowd.entries));

        let (lock, watched, door) = (fresh(), room(), Door::default());
        let crowd = together(&*lock, threads, &watched, &Job::Watch(&watched, &door), time.mul_f64(1.0 - COUNTING));
        for seen in crowd.tallies.iter().filter_map(|tally| tally.seen.as_deref()) {
            self.passed.merge(&seen.passed);
            self.wait.merge(&seen.wait);
        }
        self.most_inside = self.most_inside.max(door.most_inside.load(Relaxed));
    }

    /// What is told of it; `usual` is how fast everything was in each turn.
    fn row(&self, usual: &[f64]) -> Row {
        let Cell { lock, scenario, .. } = *self;
        const NEARLY_ALL: f64 = 0.999;
        let was_crowded = !self.took.is_zero();
        let entries = self.entries as f64;
        let beside: Vec<f64> = self.turns.iter().zip(usual).map(|(ops, usual)| ops / usual).collect();
        Row {
            lock: lock.name,
            group: lock.group,
            order: lock.order,
            scenario,
            ns: self.ns.is_finite().then_some(self.ns),
            ops_per_s: was_crowded.then(|| entries / self.took.as_secs_f64()),
            ops_error: standard_error(&beside),
            best_ops_per_s: self.turns.iter().copied().reduce(f64::max),
            jain: median(&self.jain),
            passed_p999: self.passed.quantile(NEARLY_ALL),
            passed_max: self.passed.most(),
            wait_p999_ns: self.wait.quantile(NEARLY_ALL),
            cpu_us_per_op: self.cpu.filter(|_| self.entries > 0).map(|cpu| cpu.as_secs_f64() * 1e6 / entries),
            most_inside: self.most_inside,
        }
    }
}

/// A fresh lock, if it is for this scenario. What is alone is measured in a lock for two.
fn fresh(lock: &Candidate, scenario: Scenario) -> Option<Box<dyn Made>> {
    (lock.make)(scenario.k, scenario.threads.max(2))
}

/// What threads did together.
struct Crowd {
    tallies: Vec<Tally>,
    /// How often each thread passed while it was counted.
    entries: Vec<u64>,
    took: Duration,
    /// Processor time, where that can be told.
    cpu: Option<Duration>,
}

fn together(lock: &dyn Made, threads: usize, room: &Room, job: &Job<'_>, time: Duration) -> Crowd {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|p| scope.spawn(move || lock.work(p, job))).collect();
        room.begin(time);
        let (start, before, cpu_before) = (Instant::now(), room.entries(), cpu::used());
        thread::sleep(time);
        let (took, after, cpu_after) = (start.elapsed(), room.entries(), cpu::used());
        room.end();
        let entries = before.iter().zip(after).map(|(before, after)| after - before).collect();
        let cpu = cpu_after.zip(cpu_before).and_then(|(after, before)| after.checked_sub(before));
        let tallies = workers.into_iter().map(|worker| worker.join().expect("a thread does not panic")).collect();
        Crowd { tallies, entries, took, cpu }
    })
}

/// The square of the sum over the sum of squares, for one; nothing if nobody entered.
fn jain(entries: &[u64]) -> Option<f64> {
    let sum: f64 = entries.iter().map(|&entries| entries as f64).sum();
    let squares: f64 = entries.iter().map(|&entries| (entries as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / squares / entries.len() as f64)
}

/// The one in the middle, or the lower of two.
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
    fn fairness_is_one_for_equals_and_less_for_others() {
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
    fn four_times_as_many_values_are_off_by_half() {
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

    /// No time is asserted: only that each lock is measured, and lets in no more than it should.
    #[test]
    fn every_lock_excludes_in_a_short_run() {
        let results = run(&candidates(), &Scenario::all(), Duration::from_secs(5), |_| ControlFlow::Continue(()));
        assert_eq!(results.rounds, ROUNDS);
        for row in &results.rows {
            assert!(row.excludes(), "{}, {}: {} were inside", row.lock, row.scenario, row.most_inside);
            assert_eq!(row.ns.is_some(), row.scenario.kind == Kind::Alone, "{}, {}", row.lock, row.scenario);
        }
        let measured: BTreeSet<_> = results.rows.iter().map(|row| row.lock).collect();
        assert_eq!(measured.len(), candidates().len(), "some lock is for no scenario");
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let locks = choose(&["std-mutex"]).unwrap();
        let results = run(&locks, &Scenario::all(), Duration::from_secs(1000), |_| ControlFlow::Break(()));
        assert_eq!(results.rounds, 0);
        assert!(results.rows.iter().all(|row| row.ops_per_s.is_none() && row.ns.is_none()));
    }
}
