//! The queue of a process semaphore: the algorithm in its file, detecting dead processes, and reaping them.
use std::{
    sync::{
        Arc, OnceLock, Weak,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::Duration,
};

use doorway_algorithms::{
    blocks::named_queue::{Entry, Queue},
    kexclusion::fischer_queue_copied::FischerQueueCopied,
};
use doorway_memory::Pid;
use doorway_shm::{Error, File, Location, MAX_SLOTS, Mapping, Plan, Record, Shared, Watch, Watchman, Why};

use super::attendant::Attendant;

/// How often the first waiter checks whether the holders are alive, for each [`CHECKS_AT_ONCE`] of them. It begins a few
/// milliseconds after arrival.
const LIVENESS_CHECK_INTERVAL: Duration = Duration::from_millis(45);

/// How often a waiter behind the first ones checks whether one of those is alive, for each waiter ahead of it.
const DISTANT_CHECK_INTERVAL: Duration = Duration::from_millis(300);

/// The number of processes whose liveness a check finds out in a few microseconds.
const CHECKS_AT_ONCE: usize = 16;

/// How long a waiter that has become one of the first parks before its first check.
const FIRST_CHECK: Duration = Duration::from_millis(5);

/// How many waiters at the head of the queue are notified by the kernel when a process ahead of them ends.
const WATCHING_WAITERS: usize = 2;

/// After this many nanoseconds an uncontended caller, too, checks whether the path still leads to the file.
const PATH_CHECK_INTERVAL: u64 = 100_000_000;

/// A file, and the algorithm in it.
pub(super) struct FileQueue {
    pub(super) file: File,
    pub(super) algorithm: FischerQueueCopied<Shared>,
    /// The capacity with which the file was created.
    initial_k: usize,
    /// When this process last checked whether the path leads to this file.
    path_checked: AtomicU64,
    /// Whether the watchman has noticed a death that no waiter of this process has looked at yet.
    is_death_noticed: AtomicBool,
    /// Watches the processes ahead of this process' long waiters. Empty until the first long wait; `None` if the
    /// system cannot.
    watchman: OnceLock<Option<Watchman>>,
    /// Waits for the tasks of this process.
    pub(super) attendant: Arc<Attendant>,
    /// This queue, for the watchman and the attendant.
    pub(super) this: Weak<FileQueue>,
}

impl FileQueue {
    /// Opens an existing file, and builds the algorithm on its registers.
    pub(super) fn open(location: &Location) -> Result<Arc<FileQueue>, Error> {
        FileQueue::new(Mapping::open(location)?)
    }

    /// As `open`, only to read what is there.
    pub(super) fn open_to_read(location: &Location) -> Result<Arc<FileQueue>, Error> {
        FileQueue::new(Mapping::open_to_read(location)?)
    }

    /// Opens the file, or creates it with this capacity, and builds the algorithm on its registers.
    pub(super) fn open_or_create(location: &Location, k: usize) -> Result<Arc<FileQueue>, Error> {
        FileQueue::new(Mapping::open_or_create(location, k, MAX_SLOTS, || plan(k, MAX_SLOTS).1)?)
    }

    /// Removes the file unless it is in use.
    pub(super) fn forget(location: &Location) -> Result<(), Error> {
        let (_, file) = build(Mapping::open(location)?)?;
        file.forget()
    }

    fn new(mapping: Mapping) -> Result<Arc<FileQueue>, Error> {
        let initial_k = mapping.k();
        let (algorithm, file) = build(mapping)?;
        Ok(Arc::new_cyclic(|this| FileQueue {
            file,
            algorithm,
            initial_k,
            path_checked: AtomicU64::new(File::now()),
            is_death_noticed: AtomicBool::new(false),
            watchman: OnceLock::new(),
            attendant: Arc::default(),
            this: this.clone(),
        }))
    }

    /// Whether it is time to check again whether the path leads to this file. If so, restarts the interval.
    #[inline(always)]
    pub(super) fn is_path_check_due(&self, now: u64) -> bool {
        let is_due = now.abs_diff(self.path_checked.load(Relaxed)) > PATH_CHECK_INTERVAL;
        if is_due {
            self.path_checked.store(now, Relaxed);
        }
        is_due
    }

    /// The queue as it is now.
    pub(super) fn snapshot(&self) -> Result<Queue, Error> {
        let found = self.algorithm.queue(&mut self.file.memory(0)).ok().filter(|queue| self.is_sound(queue));
        found.ok_or_else(|| self.damaged())
    }

    /// The capacity; if the file is damaged, the one that it has when it is reset.
    pub(super) fn k(&self) -> usize {
        self.snapshot().map_or(self.initial_k, |queue| queue.k())
    }

    /// Whether the queue can be one that processes have made.
    pub(super) fn is_sound(&self, queue: &Queue) -> bool {
        let slots = self.file.slots();
        let mut is_known = vec![false; slots];
        let mut is_new = |process: Pid| process < slots && !std::mem::replace(&mut is_known[process], true);
        (1..slots).contains(&queue.k()) && queue.entries().iter().all(|entry| is_new(entry.process))
    }

    /// The error of a damaged file.
    pub(super) fn damaged(&self) -> Error {
        Error::Damaged { path: self.file.location().as_path().to_owned() }
    }

    /// The record of an entry's process.
    pub(super) fn record(&self, entry: &Entry) -> Option<Record<'_>> {
        self.file.record(entry.process)
    }

    /// Reaps the dead ahead of the waiters that would be the first without them, as the owner of `by`, which is not
    /// changing the queue. Returns how many there were.
    ///
    /// The liveness of a process is found out after it was read that it is in the queue. If it leaves meanwhile, and
    /// another process takes its slot, then the queue has changed, and `change` begins again.
    pub(super) fn reap_dead(&self, by: Pid) -> usize {
        let reaped = self.algorithm.change(&mut self.file.memory(by), by, |queue| {
            let concerned = queue.named().max(queue.k()) + WATCHING_WAITERS;
            let (mut living, mut dead) = (0, Vec::<(Pid, u64)>::new());
            for entry in queue.entries() {
                match self.file.dead_owner(entry.process) {
                    Some(owner) => dead.push((entry.process, owner)),
                    None => living += 1,
                }
                if living == concerned {
                    break;
                }
            }
            if !dead.is_empty() {
                queue.retain(|entry| dead.iter().all(|(slot, _)| *slot != entry.process));
            }
            dead
        });
        let reaped = reaped.unwrap_or_default();
        reaped.iter().for_each(|&(slot, owner)| self.file.free(slot, owner));
        if !reaped.is_empty() {
            self.wake_first();
        }
        reaped.len()
    }

    /// Wakes the processes that may enter, and the waiters that have become the first ones.
    pub(super) fn wake_first(&self) {
        self.to_wake().into_iter().for_each(|slot| self.file.wake(slot));
    }

    /// Lets the watchman watch the processes ahead of the waiter at this position.
    fn watch_ahead(&self, queue: &Queue, position: usize) {
        let watchman = self.watchman.get_or_init(|| {
            let queue = self.this.clone();
            // A child that has inherited the slot may be dying too, a moment later: hence several attempts.
            let notify = move || {
                for pause in [0, 1, 2, 4, 8, 16].map(Duration::from_millis) {
                    thread::sleep(pause);
                    let Some(queue) = queue.upgrade() else { return };
                    if !queue.notify_waiters() {
                        return;
                    }
                }
            };
            Watchman::start(notify).ok()
        });
        if let Some(watchman) = watchman {
            let records = queue.entries()[..position].iter().filter_map(|entry| self.record(entry));
            let mut pids: Vec<u32> = records.flat_map(|record| [record.pid(), record.command()]).collect();
            pids.sort_unstable();
            pids.dedup();
            pids.retain(|&pid| pid != 0 && pid != std::process::id());
            watchman.watch(pids);
        }
    }

    /// Lets the waiters of this process look for dead processes at once; returns whether there are any.
    fn notify_waiters(&self) -> bool {
        let Ok(queue) = self.snapshot() else { return false };
        let waiters = queue.entries().iter().filter(|entry| entry.name.is_none() && self.file.is_own(entry.process));
        let waiters: Vec<Pid> = waiters.map(|entry| entry.process).take(WATCHING_WAITERS).collect();
        self.is_death_noticed.store(true, SeqCst);
        waiters.iter().for_each(|&slot| self.file.wake(slot));
        !waiters.is_empty()
    }
}

/// Builds the algorithm on the registers of a mapped file, for the capacity and the number of slots in its header.
fn build(mapping: Mapping) -> Result<(FischerQueueCopied<Shared>, File), Error> {
    let (algorithm, plan) = plan(mapping.k(), mapping.slots());
    let file = File::new(mapping, plan)?;
    Ok((algorithm, file))
}

/// The algorithm, and the registers that it allocates.
fn plan(k: usize, slots: usize) -> (FischerQueueCopied<Shared>, Plan) {
    let mut plan = Plan::new();
    let algorithm = FischerQueueCopied::new(&mut plan, slots, k);
    (algorithm, plan)
}

impl Watch for FileQueue {
    /// The first waiters reap the dead and have the watchman watch the processes ahead. The others see to it that one of
    /// these is alive. They sleep the longer, the farther back they are: so a thousand of them take no more time than a
    /// few.
    fn check(&self, slot: Pid, why: Why) -> Duration {
        let Ok(queue) = self.snapshot() else { return LIVENESS_CHECK_INTERVAL };
        let Some(position) = queue.entries().iter().position(|entry| entry.process == slot) else {
            return LIVENESS_CHECK_INTERVAL;
        };
        let holders = queue.named();
        let mut first = queue.entries().iter().skip(holders).take(WATCHING_WAITERS);
        if position < holders + WATCHING_WAITERS || !first.any(|entry| self.file.is_alive(entry.process)) {
            if let Some(record) = self.file.record(slot) {
                record.watch();
            }
            if why == Why::Woken && !self.is_death_noticed.swap(false, SeqCst) {
                return FIRST_CHECK; // it has become one of the first a moment ago
            }
            if self.reap_dead(slot) == 0 {
                self.watch_ahead(&queue, position);
            }
            return LIVENESS_CHECK_INTERVAL * holders.div_ceil(CHECKS_AT_ONCE).max(1) as u32;
        }
        DISTANT_CHECK_INTERVAL * (position - holders - 1) as u32
    }

    fn to_wake(&self) -> Vec<Pid> {
        let Ok(queue) = self.snapshot() else { return Vec::new() };
        let holders = queue.named();
        let (inside, waiting) = queue.entries().split_at(holders);
        let has_just_become_first = |entry: &&Entry| self.record(entry).is_some_and(|record| !record.watches());
        let first = waiting.iter().take(WATCHING_WAITERS).filter(has_just_become_first);
        inside.iter().chain(first).map(|entry| entry.process).collect()
    }
}
