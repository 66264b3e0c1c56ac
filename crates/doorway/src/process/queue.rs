//! The queue of a process semaphore: the algorithm in its file, detecting dead processes, and reaping them.
use std::{
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use doorway_algorithms::kexclusion::k_bakery_fife::KBakeryFife;
use doorway_memory::{Exclusion, Pid, Reap, Ticket, Value};
use doorway_shm::{
    Error, File, Location, Mapping, NextCheck, Peek, PeekPlan, Phase, Plan, Record, Shared, Watch, Watchman,
};

/// How often a waiter checks whether the processes ahead of it are alive. It begins a few milliseconds after arrival.
const LIVENESS_CHECK_INTERVAL: Duration = Duration::from_millis(45);

/// How many waiters at the head of the queue are notified by the kernel when a process ahead of them ends.
const WATCHING_WAITERS: usize = 2;

/// One of this many liveness checks covers every process, not only those ahead.
const CHECKS_PER_FULL_CHECK: u32 = 2;

/// After this many nanoseconds an uncontended caller, too, checks whether the path still leads to the file.
const PATH_CHECK_INTERVAL: u64 = 100_000_000;

/// A file, and the algorithm in it.
pub(super) struct FileQueue {
    pub(super) file: File,
    pub(super) algorithm: KBakeryFife<Shared>,
    /// The same algorithm on a memory that only reads; created on first use.
    peeked: OnceLock<KBakeryFife<Peek>>,
    /// When this process last checked whether the path leads to this file.
    path_checked: AtomicU64,
    /// How many liveness checks the waiters of this process have made.
    liveness_checks: AtomicU32,
    /// Watches the processes ahead of this process' long waiters. Empty until the first long wait; `None` if the
    /// system cannot.
    watchman: OnceLock<Option<Watchman>>,
    /// This queue, for the watchman.
    this: Weak<FileQueue>,
}

impl FileQueue {
    /// Opens an existing file, and builds the algorithm on its registers.
    pub(super) fn open(location: &Location) -> Result<Arc<FileQueue>, Error> {
        FileQueue::new(Mapping::open(location)?)
    }

    /// Opens the file, or creates it with this capacity and number of slots, and builds the algorithm on its registers.
    pub(super) fn open_or_create(location: &Location, k: usize, slots: usize) -> Result<Arc<FileQueue>, Error> {
        FileQueue::new(Mapping::open_or_create(location, k, slots, || plan(k, slots).1.registers())?)
    }

    /// Removes the file unless it is in use.
    pub(super) fn forget(location: &Location) -> Result<(), Error> {
        let (_, file) = build(Mapping::open(location)?)?;
        file.forget()
    }

    fn new(mapping: Mapping) -> Result<Arc<FileQueue>, Error> {
        let (algorithm, file) = build(mapping)?;
        Ok(Arc::new_cyclic(|this| FileQueue {
            file,
            algorithm,
            peeked: OnceLock::new(),
            path_checked: AtomicU64::new(File::now()),
            liveness_checks: AtomicU32::new(0),
            watchman: OnceLock::new(),
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

    /// Completes the passage of a dead process, in whatever section it died.
    pub(super) fn reap(&self, memory: &mut Shared) {
        let slot = memory.slot();
        let reaped = self.algorithm.reap(memory, slot);
        debug_assert_eq!(reaped, Ok(()), "reaping does not wait");
    }

    /// Reaps the dead processes among those whose record satisfies `concerns`, and returns their number.
    fn reap_dead(&self, concerns: &dyn Fn(Record<'_>) -> bool) -> usize {
        self.file.reap(concerns, &|memory| self.reap(memory))
    }

    /// The records of all slots.
    pub(super) fn records(&self) -> impl Iterator<Item = (Pid, Record<'_>)> {
        (0..self.file.slots()).map(|slot| (slot, self.file.record(slot)))
    }

    /// Whether a `Mode::Try` caller with this ticket finds k or more holders and earlier waiters.
    pub(super) fn is_full(&self, mine: u64) -> bool {
        loop {
            let claims = |(slot, record): (Pid, Record<'_>)| {
                let claim = match record.phase() {
                    Phase::Inside => true,
                    Phase::Waiting => record.ticket() < mine,
                    _ => false,
                };
                claim.then(|| (slot, record.ticket()))
            };
            let first: Vec<(Pid, u64)> = self.records().filter_map(claims).collect();
            // The claims that both reads saw existed at one instant.
            let both = self.records().filter_map(claims).filter(|claim| first.contains(claim)).count();
            if both < self.file.k() {
                return false;
            }
            if self.reap_dead(&|record| record.phase() != Phase::Free) == 0 {
                return true;
            }
        }
    }

    /// Reaps the dead processes that may block the waiter in this slot, which is one of this process.
    fn reap_ahead(&self, slot: Pid) {
        let mine = self.file.record(slot).ticket();
        let is_full_check = self.liveness_checks.fetch_add(1, Relaxed).is_multiple_of(CHECKS_PER_FULL_CHECK);
        self.reap_dead(&|record| match record.phase() {
            Phase::Free => false,
            Phase::Inside | Phase::Arriving | Phase::Leaving => true,
            // The record of a process that died just after it drew its ticket may show an older one.
            Phase::Waiting | Phase::Trying => is_full_check || record.ticket() <= mine,
        });
        self.watch_ahead(slot);
    }

    /// Lets the watchman watch the processes ahead of the waiter in this slot.
    ///
    /// Does nothing unless that waiter is one of the first [`WATCHING_WAITERS`].
    fn watch_ahead(&self, slot: Pid) {
        let mine = self.file.record(slot).ticket();
        let ahead = |phase| self.records().filter(move |(_, record)| record.phase() == phase && record.ticket() < mine);
        if ahead(Phase::Waiting).count() >= WATCHING_WAITERS {
            return;
        }
        let watchman = self.watchman.get_or_init(|| {
            let queue = self.this.clone();
            // A child that has inherited the slot may be dying too, a moment later: hence several attempts.
            let reap = move || {
                for pause in [0, 1, 2, 4, 8, 16].map(Duration::from_millis) {
                    thread::sleep(pause);
                    let Some(queue) = queue.upgrade() else { return };
                    if queue.reap_dead(&|record| record.phase() != Phase::Free) > 0 {
                        return;
                    }
                }
            };
            Watchman::start(reap).ok()
        });
        if let Some(watchman) = watchman {
            let inside = self.records().filter(|(_, record)| record.phase() == Phase::Inside);
            let mut pids: Vec<u32> = inside.chain(ahead(Phase::Waiting)).map(|(_, record)| record.pid()).collect();
            pids.sort_unstable();
            pids.dedup();
            pids.retain(|&pid| pid != std::process::id());
            watchman.watch(pids);
        }
    }
}

/// Builds the algorithm on the registers of a mapped file, for the capacity and the number of slots in its header.
fn build(mapping: Mapping) -> Result<(KBakeryFife<Shared>, File), Error> {
    let (algorithm, plan) = plan(mapping.k(), mapping.slots());
    let file = File::new(mapping, plan)?;
    Ok((algorithm, file))
}

/// The algorithm, and the registers that it allocates.
fn plan(k: usize, slots: usize) -> (KBakeryFife<Shared>, Plan) {
    let mut plan = Plan::new();
    let algorithm = KBakeryFife::new(&mut plan, slots, k);
    (algorithm, plan)
}

impl Watch for FileQueue {
    fn check(&self, slot: Pid) -> NextCheck {
        let record = self.file.record(slot);
        match record.phase() {
            Phase::Trying if self.is_full(record.ticket()) => NextCheck::Abort,
            Phase::Trying => NextCheck::After(Duration::ZERO),
            _ => {
                self.reap_ahead(slot);
                NextCheck::After(LIVENESS_CHECK_INTERVAL)
            }
        }
    }

    /// Runs the waiting section of the slot's owner from its start, up to the point where it would wait.
    ///
    /// The owner may already have skipped processes that were ahead and have left, even if they arrive again. This
    /// execution has not skipped them, and sees them while they are in the doorway; on leaving the doorway they ask
    /// the same question.
    fn could_progress(&self, slot: Pid) -> bool {
        let record = self.file.record(slot);
        let ticket = Ticket::of_word(record.ticket());
        let peeked =
            || self.peeked.get_or_init(|| KBakeryFife::new(&mut PeekPlan::new(), self.file.slots(), self.file.k()));
        record.phase() != Phase::Waiting || peeked().wait(&mut self.file.peek(), slot, &ticket).is_ok()
    }
}
