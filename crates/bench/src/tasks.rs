//! Asynchronous locks side by side, with tasks on tokio's multi-thread runtime.
//!
//! As with threads, all locks are measured in short alternating slices, and only ratios within one run can be compared.
//!
//! ```
//! use std::{ops::ControlFlow::Continue, time::Duration};
//!
//! use doorway_bench::tasks::{self, Kind, Scenario};
//!
//! let scenarios = [Scenario { kind: Kind::Awaiting, tasks: 10, k: 2 }];
//! let results = tasks::run(&scenarios, Duration::from_millis(50), |_| Continue(()));
//! assert!(results.rows.iter().all(|row| row.excludes()));
//! println!("{results}");
//! ```
use std::{
    fmt,
    future::{Future, poll_fn},
    ops::ControlFlow,
    pin::pin,
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    task::{Context, Poll, Waker},
    thread,
    time::{Duration, Instant},
};

use crossbeam_utils::CachePadded;
use tokio::{
    runtime::{Builder, Runtime},
    task::yield_now,
};

use crate::{
    ROUNDS,
    busy::{self, Busy},
    histogram::Histogram,
    jain,
    locks::{FIFO, NONE},
    median,
    scenario::{CRITICAL_SECTION, REMAINDER},
    standard_error,
};

/// Of so many attempts of a task in [`Kind::Cancelled`], one is cancelled if it has to wait.
const CANCELLED: u64 = 10;

/// The number of passages after which a task of [`Kind::Short`] yields to the runtime.
const PASSAGES: u64 = 16;

/// The number of slices into which a scenario's time in a round is divided: each lock is measured in each.
const SLICES: u32 = 4;

/// After this many tasks of its own queue, a worker of the runtime takes one from the queue of all workers.
///
/// The default is larger: tasks beyond the 256 of each worker's own queue would hardly run while no task waits, and then
/// the scheduler would decide how fair a lock looks.
const GLOBAL_QUEUE_INTERVAL: u32 = 2;

/// The share of a slice in which entries are counted. In the rest, tasks record overtaking.
const COUNTING_SHARE: f64 = 0.7;

/// A scenario: a number of tasks, the capacity, and what the tasks do.
///
/// See the [module's example](self).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scenario {
    /// What the tasks do.
    pub kind: Kind,
    /// The number of tasks.
    pub tasks: usize,
    /// The capacity.
    pub k: usize,
}

/// What the tasks of a scenario do.
///
/// See the [module's example](self).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Tasks work in the critical section and, longer, in the remainder. They yield after 16 passages.
    Short,
    /// Holders yield to the runtime in the critical section; the remainder is empty.
    Awaiting,
    /// As `Awaiting`, and one in ten futures that have to wait is dropped after its task has yielded once.
    Cancelled,
}

impl Scenario {
    /// The default scenarios.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn all() -> Vec<Scenario> {
        let mut all = Vec::new();
        for kind in [Kind::Short, Kind::Awaiting, Kind::Cancelled] {
            for tasks in [2, 1000] {
                all.extend([1, 4, 64].map(|k| Scenario { kind, tasks, k }));
            }
        }
        all
    }
}

impl Kind {
    /// The name in JSON.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Short => "short",
            Kind::Awaiting => "awaiting",
            Kind::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Scenario { kind, tasks, k } = self;
        write!(f, "{tasks} tasks, k = {k}, ")?;
        match kind {
            Kind::Short => write!(
                f,
                "{} ns in the critical section, {} ns in the remainder",
                CRITICAL_SECTION.as_nanos(),
                REMAINDER.as_nanos()
            ),
            Kind::Awaiting => write!(f, "holders yield once"),
            Kind::Cancelled => write!(f, "holders yield once, 1 in {CANCELLED} waits is cancelled"),
        }
    }
}

/// An asynchronous lock.
trait AsyncLock: Send + Sync + 'static {
    type Guard<'a>: Send;

    fn enter(&self) -> impl Future<Output = Self::Guard<'_>> + Send;
}

impl AsyncLock for doorway::Mutex<()> {
    type Guard<'a> = doorway::MutexGuard<'a, ()>;

    #[inline(always)]
    fn enter(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock_async()
    }
}

impl AsyncLock for doorway::Semaphore {
    type Guard<'a> = doorway::Permit<'a>;

    #[inline(always)]
    fn enter(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.acquire_async()
    }
}

impl AsyncLock for tokio::sync::Mutex<()> {
    type Guard<'a> = tokio::sync::MutexGuard<'a, ()>;

    #[inline(always)]
    fn enter(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}

impl AsyncLock for tokio::sync::Semaphore {
    /// The semaphore is never closed, so acquiring does not fail.
    type Guard<'a> = Result<tokio::sync::SemaphorePermit<'a>, tokio::sync::AcquireError>;

    #[inline(always)]
    fn enter(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.acquire()
    }
}

impl AsyncLock for async_lock::Mutex<()> {
    type Guard<'a> = async_lock::MutexGuard<'a, ()>;

    #[inline(always)]
    fn enter(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}

impl AsyncLock for async_lock::Semaphore {
    type Guard<'a> = async_lock::SemaphoreGuard<'a>;

    #[inline(always)]
    fn enter(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.acquire()
    }
}

/// A lock that can be measured.
struct Candidate {
    name: &'static str,
    is_ours: bool,
    order: &'static str,
    /// Whether it has a capacity, and is not a mutex.
    is_semaphore: bool,
    /// Nanoseconds of an uncontended passage.
    alone: fn(usize, Duration) -> f64,
    /// Spawns the tasks of a job.
    spawn: fn(&Runtime, &Arc<Job>),
}

impl Candidate {
    fn mutex<L: AsyncLock + Default>(name: &'static str, is_ours: bool, order: &'static str) -> Candidate {
        Candidate {
            name,
            is_ours,
            order,
            is_semaphore: false,
            alone: |_, time| alone(&*CachePadded::new(L::default()), time),
            spawn: |runtime, job| spawn(runtime, job, L::default()),
        }
    }
}

macro_rules! semaphore {
    ($name:literal, $is_ours:literal, $order:ident, $new:path) => {
        Candidate {
            name: $name,
            is_ours: $is_ours,
            order: $order,
            is_semaphore: true,
            alone: |k, time| alone(&*CachePadded::new($new(k)), time),
            spawn: |runtime, job| spawn(runtime, job, $new(job.scenario.k)),
        }
    };
}

fn candidates() -> [Candidate; 6] {
    [
        Candidate::mutex::<doorway::Mutex<()>>("doorway-mutex", true, FIFO),
        semaphore!("doorway-semaphore", true, FIFO, doorway::Semaphore::new),
        Candidate::mutex::<tokio::sync::Mutex<()>>("tokio-mutex", false, FIFO),
        semaphore!("tokio-semaphore", false, FIFO, tokio::sync::Semaphore::new),
        Candidate::mutex::<async_lock::Mutex<()>>("async-lock-mutex", false, NONE),
        semaphore!("async-lock-semaphore", false, NONE, async_lock::Semaphore::new),
    ]
}

/// Nanoseconds of an uncontended passage: the best of many short slices.
fn alone(lock: &impl AsyncLock, time: Duration) -> f64 {
    const PASSAGES: u32 = 2_000;
    let mut context = Context::from_waker(Waker::noop());
    let (start, mut best) = (Instant::now(), Duration::MAX);
    while start.elapsed() < time {
        let start = Instant::now();
        for _ in 0..PASSAGES {
            let entered = pin!(lock.enter()).poll(&mut context);
            assert!(entered.is_ready(), "an uncontended passage does not wait");
        }
        best = best.min(start.elapsed());
    }
    best.as_nanos() as f64 / f64::from(PASSAGES)
}

/// The tasks of one slice, and what they share.
struct Job {
    scenario: Scenario,
    work: u32,
    remainder: u32,
    is_over: AtomicBool,
    /// Whether tasks record overtaking, which takes time.
    is_watched: bool,
    /// The number of passages of each task.
    entries: Vec<CachePadded<AtomicU64>>,
    all_entries: AtomicU64,
    holders: AtomicU64,
    most_holders: AtomicU64,
    overtaken: std::sync::Mutex<Histogram>,
    /// The number of tasks that have not ended.
    running: AtomicU64,
}

fn spawn<L: AsyncLock>(runtime: &Runtime, job: &Arc<Job>, lock: L) {
    let lock = Arc::new(CachePadded::new(lock));
    for p in 0..job.scenario.tasks {
        let (job, lock) = (job.clone(), lock.clone());
        runtime.spawn(async move {
            if job.is_watched {
                job.watch(&**lock).await
            } else {
                job.count(p, &**lock).await
            }
            job.running.fetch_sub(1, SeqCst);
        });
    }
}

// ORDERING: Relaxed for the counters: each is read by itself.
impl Job {
    fn new(scenario: Scenario, busy: Busy, is_watched: bool) -> Arc<Job> {
        Arc::new(Job {
            scenario,
            work: busy.iterations(CRITICAL_SECTION),
            remainder: busy.iterations(REMAINDER),
            is_over: AtomicBool::new(false),
            is_watched,
            entries: (0..scenario.tasks).map(|_| CachePadded::default()).collect(),
            all_entries: AtomicU64::new(0),
            holders: AtomicU64::new(0),
            most_holders: AtomicU64::new(0),
            overtaken: std::sync::Mutex::new(Histogram::new()),
            running: AtomicU64::new(scenario.tasks as u64),
        })
    }

    /// Enters, or cancels the attempt if this is one of those to cancel and it has to wait.
    #[inline(always)]
    async fn enter<'a, L: AsyncLock>(&self, lock: &'a L, attempt: u64) -> Option<L::Guard<'a>> {
        if self.scenario.kind != Kind::Cancelled || !attempt.is_multiple_of(CANCELLED) {
            return Some(lock.enter().await);
        }
        let mut entering = pin!(lock.enter());
        match poll_fn(|context| Poll::Ready(entering.as_mut().poll(context))).await {
            Poll::Ready(guard) => Some(guard),
            Poll::Pending => {
                yield_now().await;
                None
            }
        }
    }

    #[inline(always)]
    async fn critical_section(&self) {
        match self.scenario.kind {
            Kind::Short => busy::work(self.work),
            Kind::Awaiting | Kind::Cancelled => yield_now().await,
        }
    }

    #[inline(always)]
    async fn remainder(&self, attempt: u64) {
        match self.scenario.kind {
            Kind::Short => {
                busy::work(self.remainder);
                if attempt.is_multiple_of(PASSAGES) {
                    yield_now().await;
                }
            }
            Kind::Awaiting | Kind::Cancelled => {}
        }
    }

    async fn count<L: AsyncLock>(&self, p: usize, lock: &L) {
        let (mut attempt, mut times) = (p as u64, 0);
        while !self.is_over.load(Relaxed) {
            attempt += 1;
            if let Some(guard) = self.enter(lock, attempt).await {
                self.critical_section().await;
                drop(guard);
                times += 1;
                self.entries[p].store(times, Relaxed);
            }
            self.remainder(attempt).await;
        }
    }

    async fn watch<L: AsyncLock>(&self, lock: &L) {
        let (mut attempt, mut overtaken) = (0, Box::new(Histogram::new()));
        while !self.is_over.load(Relaxed) {
            attempt += 1;
            let before = self.all_entries.load(Relaxed);
            if let Some(guard) = self.enter(lock, attempt).await {
                let entry = self.all_entries.fetch_add(1, Relaxed);
                overtaken.add(entry.saturating_sub(before));
                let holders = self.holders.fetch_add(1, SeqCst) + 1;
                if holders > self.most_holders.load(Relaxed) {
                    self.most_holders.fetch_max(holders, Relaxed);
                }
                self.critical_section().await;
                self.holders.fetch_sub(1, SeqCst);
                drop(guard);
            }
            self.remainder(attempt).await;
        }
        self.overtaken.lock().expect("no task panics").merge(&overtaken);
    }

    /// Lets the tasks run for this time; returns the passages of each, and how long that took.
    fn run(self: &Arc<Job>, runtime: &Runtime, candidate: &Candidate, time: Duration) -> (Vec<u64>, Duration) {
        const POLL_INTERVAL: Duration = Duration::from_micros(200);
        let entries = || self.entries.iter().map(|own| own.load(Relaxed)).collect::<Vec<_>>();
        (candidate.spawn)(runtime, self);
        let start = Instant::now();
        while !self.is_watched && start.elapsed() < time && entries().contains(&0) {
            thread::sleep(POLL_INTERVAL);
        }
        let (start, before) = (Instant::now(), entries());
        thread::sleep(time);
        let (took, after) = (start.elapsed(), entries());
        self.is_over.store(true, SeqCst);
        while self.running.load(SeqCst) > 0 {
            thread::sleep(POLL_INTERVAL);
        }
        (before.iter().zip(after).map(|(before, after)| after - before).collect(), took)
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

/// The results of all measurements.
///
/// See the [module's example](self).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Results {
    /// Nanoseconds of an uncontended passage of each lock; the best of all rounds.
    pub uncontended: Vec<(&'static str, f64)>,
    /// One row for each scenario and each lock that supports it.
    pub rows: Vec<Row>,
    /// The number of complete rounds; below [`ROUNDS`] if the run was interrupted.
    pub rounds: usize,
}

/// The results of a lock in a scenario.
///
/// See the [module's example](self).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The lock's name.
    pub lock: &'static str,
    /// Whether it is a lock of `doorway`.
    pub is_ours: bool,
    /// The order in which the lock admits tasks.
    pub order: &'static str,
    /// The scenario.
    pub scenario: Scenario,
    /// Entries per second of all tasks, over all rounds.
    pub ops_per_s: f64,
    /// The relative standard error of `ops_per_s`, over all slices.
    pub ops_error: Option<f64>,
    /// Entries per second, divided by that of tokio's lock of the same kind in the same run.
    pub ratio_to_tokio: f64,
    /// Jain's index of fairness: 1 if all tasks enter equally often, 1/n if only one does. The median of the rounds.
    pub jain: Option<f64>,
    /// How many other tasks entered between arrival and entry: the 99.9th percentile.
    pub overtaken_p999: Option<u64>,
    /// The same: the maximum.
    pub overtaken_max: Option<u64>,
    /// The largest number of holders at once.
    pub most_holders: u64,
}

impl Row {
    /// Whether there were never more than k holders.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn excludes(&self) -> bool {
        self.most_holders <= self.scenario.k as u64
    }
}

/// One lock in one scenario, with its measurements so far.
struct Cell<'a> {
    lock: &'a Candidate,
    scenario: Scenario,
    entries: u64,
    took: Duration,
    /// Entries per second in each slice.
    slices: Vec<f64>,
    jain: Vec<f64>,
    overtaken: Histogram,
    most_holders: u64,
}

impl Cell<'_> {
    fn measure(&mut self, runtime: &Runtime, busy: Busy, time: Duration) {
        let counted = Job::new(self.scenario, busy, false);
        let (entries, took) = counted.run(runtime, self.lock, time.mul_f64(COUNTING_SHARE));
        let sum = entries.iter().sum::<u64>();
        self.entries += sum;
        self.took += took;
        self.slices.push(sum as f64 / took.as_secs_f64());
        self.jain.extend(jain(&entries));
        let watched = Job::new(self.scenario, busy, true);
        watched.run(runtime, self.lock, time.mul_f64(1.0 - COUNTING_SHARE));
        self.overtaken.merge(&watched.overtaken.lock().expect("no task panics"));
        self.most_holders = self.most_holders.max(watched.most_holders.load(Relaxed));
    }
}

/// Measures the locks in scenarios, in about `time`. `tell` receives the progress, and may end the run.
///
/// # Panics
/// If no runtime can be created.
///
/// See the [module's example](self).
pub fn run(scenarios: &[Scenario], time: Duration, mut tell: impl FnMut(Progress) -> ControlFlow<()>) -> Results {
    let (busy, candidates) = (Busy::calibrate(), candidates());
    let runtime = Builder::new_multi_thread()
        .global_queue_interval(GLOBAL_QUEUE_INTERVAL)
        .build()
        .expect("a runtime can be created");
    let mut cells: Vec<Cell<'_>> = scenarios
        .iter()
        .flat_map(|&scenario| candidates.iter().map(move |lock| (lock, scenario)))
        .filter(|(lock, scenario)| lock.is_semaphore || scenario.k == 1)
        .map(|(lock, scenario)| Cell {
            lock,
            scenario,
            entries: 0,
            took: Duration::ZERO,
            slices: Vec::new(),
            jain: Vec::new(),
            overtaken: Histogram::new(),
            most_holders: 0,
        })
        .collect();
    let slice = time.div_f64((ROUNDS * (cells.len() + 1)) as f64) / SLICES;
    let mut uncontended: Vec<_> = candidates.iter().map(|lock| (lock.name, f64::INFINITY)).collect();
    let mut rounds = 0;
    'rounds: for round in 1..=ROUNDS {
        for (lock, (_, ns)) in candidates.iter().zip(&mut uncontended) {
            *ns = ns.min((lock.alone)(4, (slice * SLICES).div_f64(candidates.len() as f64)));
        }
        for cells in cells.chunk_by_mut(|a, b| a.scenario == b.scenario) {
            for _ in 0..SLICES {
                for cell in &mut *cells {
                    if tell(Progress { round, lock: cell.lock.name, scenario: cell.scenario }).is_break() {
                        break 'rounds;
                    }
                    cell.measure(&runtime, busy, slice);
                }
            }
        }
        rounds = round;
    }
    runtime.shutdown_background();
    let ops_per_s = |cell: &Cell<'_>| cell.entries as f64 / cell.took.as_secs_f64().max(1e-9);
    let row = |cell: &Cell<'_>| {
        let is_tokios = |other: &&Cell<'_>| {
            other.scenario == cell.scenario
                && other.lock.name.starts_with("tokio")
                && other.lock.is_semaphore == cell.lock.is_semaphore
        };
        let tokio = cells.iter().find(is_tokios).map_or(f64::NAN, ops_per_s);
        Row {
            lock: cell.lock.name,
            is_ours: cell.lock.is_ours,
            order: cell.lock.order,
            scenario: cell.scenario,
            ops_per_s: ops_per_s(cell),
            ops_error: standard_error(&cell.slices),
            ratio_to_tokio: ops_per_s(cell) / tokio,
            jain: median(&cell.jain),
            overtaken_p999: cell.overtaken.quantile(0.999),
            overtaken_max: cell.overtaken.most(),
            most_holders: cell.most_holders,
        }
    };
    Results { uncontended, rows: cells.iter().map(row).collect(), rounds }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "uncontended, polled without a runtime")?;
        let tokio = |name: &str| {
            let peer = if name.ends_with("mutex") { "tokio-mutex" } else { "tokio-semaphore" };
            self.uncontended.iter().find(|(other, _)| *other == peer).map_or(f64::NAN, |&(_, ns)| ns)
        };
        writeln!(f, "  {:<24}{:>9}{:>9}", "lock", "ns", "x tokio")?;
        for &(name, ns) in &self.uncontended {
            writeln!(f, "{} {name:<24}{ns:>9.1}{:>9.2}", mark(name.starts_with("doorway")), ns / tokio(name))?;
        }
        for rows in self.rows.chunk_by(|a, b| a.scenario == b.scenario) {
            writeln!(f, "\n{}", rows[0].scenario)?;
            writeln!(
                f,
                "  {:<24}{:<6}{:>11}{:>6}{:>9}{:>7}{:>17}{:>8}",
                "lock", "order", "entries/s", "+- %", "x tokio", "Jain", "overtaken p99.9", "max"
            )?;
            for row in rows {
                let overtaken = |n: Option<u64>| n.map_or("-".to_string(), |n| n.to_string());
                writeln!(
                    f,
                    "{} {:<24}{:<6}{:>11.0}{:>6}{:>9.2}{:>7}{:>17}{:>8}",
                    mark(row.is_ours),
                    row.lock,
                    row.order,
                    row.ops_per_s,
                    row.ops_error.map_or("-".to_string(), |error| format!("{:.1}", error * 100.0)),
                    row.ratio_to_tokio,
                    row.jain.map_or("-".to_string(), |jain| format!("{jain:.3}")),
                    overtaken(row.overtaken_p999),
                    overtaken(row.overtaken_max),
                )?;
            }
        }
        for row in self.rows.iter().filter(|row| !row.excludes()) {
            writeln!(f, "`{}` FAILS: {} holders at once, {}", row.lock, row.most_holders, row.scenario)?;
        }
        Ok(())
    }
}

/// The mark of a row in a table: `*` for a lock of `doorway`.
fn mark(is_ours: bool) -> char {
    if is_ours { '*' } else { ' ' }
}
