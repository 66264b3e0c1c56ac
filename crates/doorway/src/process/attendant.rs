//! A thread that waits in the queue on behalf of all tasks of this process.
//!
//! Waiters become holders in the order of the queue, so only the first of this process' tasks has to be waited for: the
//! thread parks on the doorbell of that task's slot, and checks for deaths, as a waiting thread does for itself. When it
//! is woken, it wakes every task that has become a holder meanwhile, and goes on with the first that has not. So a
//! thousand tasks need one thread and one doorbell.
//!
//! # No lost wake-up
//! A waiter is added to the list, and then it is checked once more whether it is a holder, with the list locked. The
//! thread announces with the list locked that it parks on the first waiter's doorbell, and then checks once more whether
//! that waiter is a holder; this is the protocol of `region.rs` in `doorway_shm`. A caller that removes this waiter, or
//! adds one that is ahead of it, rings the doorbell.
use std::{
    collections::BTreeMap,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::Waker,
    thread::{self, ThreadId},
    time::Duration,
};

use doorway_algorithms::blocks::named_queue::Queue;
use doorway_memory::Pid;
use doorway_shm::{Error, Watch, Why};

use super::queue::FileQueue;

/// How long the thread parks for a waiter before its first check for deaths.
const FIRST_PARK: Duration = Duration::from_millis(5);

/// How often tasks that found no free slot try again.
const SLOT_INTERVAL: Duration = Duration::from_millis(10);

/// After this time without waiters the thread ends.
const MAX_IDLE: Duration = Duration::from_secs(1);

/// The waiters of this process that no thread of their own waits for, and the thread that waits for them.
#[derive(Default)]
pub(super) struct Attendant {
    list: Mutex<List>,
    /// Notified when the thread has something to do, or does not use the file any more.
    changed: Condvar,
    /// The number of waiters in the list. It changes only while the list is locked.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct List {
    /// The waiters, by slot. A place that is not awaited yet has no waker.
    waiters: BTreeMap<Pid, Option<Waker>>,
    /// Tasks that found no free slot.
    slotless: Vec<Waker>,
    /// The slot on whose doorbell the thread is parked, or about to park.
    parked_on: Option<Pid>,
    is_running: bool,
    thread: Option<ThreadId>,
    /// Whether the thread uses the file, which is not closed meanwhile.
    is_using_file: bool,
}

impl List {
    /// The first waiter of the queue that is in the list.
    fn first(&self, queue: &Queue) -> Option<Pid> {
        let waiting = queue.entries()[queue.named()..].iter().map(|entry| entry.process);
        waiting.into_iter().find(|slot| self.waiters.contains_key(slot))
    }
}

impl Attendant {
    fn lock(&self) -> MutexGuard<'_, List> {
        // No panic while it is locked leaves the list half changed.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove(&self, list: &mut List, slot: Pid) -> Option<Waker> {
        let removed = list.waiters.remove(&slot);
        self.waiting.store(list.waiters.len(), SeqCst);
        removed.flatten()
    }

    /// Has a task that found no free slot try again soon.
    pub(super) fn retry(self: &Arc<Self>, queue: &Weak<FileQueue>, waker: Waker) -> io::Result<()> {
        let mut list = self.lock();
        self.ensure_running(&mut list, queue)?;
        list.slotless.push(waker);
        drop(list);
        self.changed.notify_all();
        Ok(())
    }

    fn ensure_running(self: &Arc<Self>, list: &mut List, queue: &Weak<FileQueue>) -> io::Result<()> {
        if !list.is_running {
            let (attendant, queue) = (self.clone(), queue.clone());
            thread::Builder::new().name("doorway-attendant".into()).spawn(move || attendant.follow(&queue))?;
            list.is_running = true;
        }
        Ok(())
    }

    /// Waits until the thread does not use the file. To be called when there are no waiters any more.
    pub(super) fn let_go(&self, queue: &FileQueue) {
        let mut list = self.lock();
        // Those of futures that were forgotten.
        list.waiters.clear();
        self.waiting.store(0, SeqCst);
        // In a waker the thread itself may drop a semaphore, and cannot wait for itself.
        while list.is_using_file && list.thread != Some(thread::current().id()) {
            if let Some(slot) = list.parked_on {
                queue.file.wake(slot);
            }
            self.changed.notify_all();
            list = self.changed.wait_timeout(list, FIRST_PARK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The body of the thread. It ends after a while without waiters, or when the file is closed.
    fn follow(&self, queue: &Weak<FileQueue>) {
        let mut last = None;
        self.lock().thread = Some(thread::current().id());
        while self.idle(queue) {
            // Dropped before the thread is idle again, so that the file can be closed.
            let Some(queue) = queue.upgrade() else { continue };
            last = self.attend(&queue, last);
        }
    }

    /// Waits until there are waiters. Returns false if the thread is to end.
    fn idle(&self, queue: &Weak<FileQueue>) -> bool {
        let mut list = self.lock();
        list.is_using_file = false;
        self.changed.notify_all();
        loop {
            if queue.strong_count() == 0 {
                list.is_running = false;
                return false;
            }
            if !list.waiters.is_empty() {
                list.is_using_file = true;
                return true;
            }
            let time = if list.slotless.is_empty() { MAX_IDLE } else { SLOT_INTERVAL };
            let (waited, timeout) = self.changed.wait_timeout(list, time).unwrap_or_else(PoisonError::into_inner);
            list = waited;
            if timeout.timed_out() {
                let slotless = std::mem::take(&mut list.slotless);
                if slotless.is_empty() && list.waiters.is_empty() {
                    list.is_running = false;
                    return false;
                }
                drop(list);
                wake_all(slotless);
                list = self.lock();
            }
        }
    }

    /// Wakes the tasks that have become holders, and parks for the first other one. `last` is the waiter that the thread
    /// parked for before, and why it was woken; returns the same.
    fn attend(&self, queue: &FileQueue, last: Option<(Pid, Why)>) -> Option<(Pid, Why)> {
        let mut list = self.lock();
        let Ok(snapshot) = queue.snapshot() else {
            // Each of them finds the error out by itself.
            let all = std::mem::take(&mut list.waiters);
            self.waiting.store(0, SeqCst);
            drop(list);
            wake_all(all.into_values().flatten().collect());
            return None;
        };
        let mut woken = self.take_holders(&mut list, queue, &snapshot);
        let slotless = !list.slotless.is_empty();
        let Some(slot) = list.first(&snapshot) else {
            // Waiters that are not in the queue: the file is being damaged.
            if !list.waiters.is_empty() {
                list = self.changed.wait_timeout(list, FIRST_PARK).unwrap_or_else(PoisonError::into_inner).0;
            }
            drop(list);
            wake_all(woken);
            return None;
        };
        // With the list locked, the owner of the slot does not change the queue, as a check may do.
        let timeout = match last {
            Some((before, why)) if before == slot => queue.check(slot, why),
            _ => FIRST_PARK,
        };
        let count = queue.file.announce(slot);
        if queue.snapshot().map_or(true, |queue| queue.name(slot).is_some()) {
            queue.file.retract(slot);
            drop(list);
            wake_all(woken);
            return None;
        }
        list.parked_on = Some(slot);
        drop(list);
        wake_all(std::mem::take(&mut woken));
        let timeout = if slotless { timeout.min(SLOT_INTERVAL) } else { timeout };
        let is_timed_out = queue.file.park(slot, count, timeout);
        let mut list = self.lock();
        let slotless = std::mem::take(&mut list.slotless);
        let is_still_there = list.parked_on.take() == Some(slot) && list.waiters.contains_key(&slot);
        if is_still_there && is_timed_out {
            queue.file.retract(slot);
        }
        drop(list);
        wake_all(slotless);
        is_still_there.then_some((slot, if is_timed_out { Why::Timeout } else { Why::Woken }))
    }

    /// Removes the waiters that have become holders from the list; returns their wakers.
    fn take_holders(&self, list: &mut List, queue: &FileQueue, snapshot: &Queue) -> Vec<Waker> {
        let mut woken = Vec::new();
        for entry in &snapshot.entries()[..snapshot.named()] {
            if list.waiters.contains_key(&entry.process) {
                woken.extend(self.remove(list, entry.process));
                unpark(list, queue, entry.process);
            }
        }
        woken
    }
}

/// Rings the doorbell of a slot that was removed from the list, if the thread is parked there: another process may be
/// the next to own that slot.
fn unpark(list: &mut List, queue: &FileQueue, slot: Pid) {
    if list.parked_on == Some(slot) {
        list.parked_on = None;
        queue.file.wake(slot);
    }
}

/// Calls all wakers. A panic of one of them is its executor's affair, and does not keep the others from being called.
fn wake_all(wakers: Vec<Waker>) {
    for waker in wakers {
        let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
    }
}

impl FileQueue {
    /// Has the attendant wait for the owner of this slot, a waiter, and call `waker` when it is a holder. Returns true,
    /// and does nothing, if it is one already.
    pub(super) fn attend(&self, slot: Pid, waker: Option<Waker>) -> Result<bool, Error> {
        let attendant = &self.attendant;
        let mut list = attendant.lock();
        attendant.ensure_running(&mut list, &self.this).map_err(|source| self.no_thread(source))?;
        let replaced = list.waiters.insert(slot, waker);
        attendant.waiting.store(list.waiters.len(), SeqCst);
        let found = self.snapshot();
        let is_holder = found.as_ref().map_or(true, |queue| queue.name(slot).is_some());
        if is_holder {
            attendant.remove(&mut list, slot);
            unpark(&mut list, self, slot);
        } else if let (Ok(queue), Some(parked_on)) = (&found, list.parked_on)
            && list.first(queue) != Some(parked_on)
        {
            unpark(&mut list, self, parked_on);
        }
        drop(list);
        drop(replaced); // not before: it executes code of its executor
        attendant.changed.notify_all();
        found.map(|_| is_holder)
    }

    /// As `attend`, for a waiter that is in the list unless it is a holder. The waker is cloned only if it is another.
    pub(super) fn attend_again(&self, slot: Pid, waker: &Waker) -> Result<bool, Error> {
        let is_known = |known: &Option<Waker>| known.as_ref().is_some_and(|known| known.will_wake(waker));
        if self.attendant.lock().waiters.get(&slot).is_some_and(is_known) {
            return Ok(false);
        }
        self.attend(slot, Some(waker.clone()))
    }

    /// Has the attendant forget a waiter, which then may be aborted, or waited for by a thread of its own.
    pub(super) fn dismiss(&self, slot: Pid) {
        let mut list = self.attendant.lock();
        let waker = self.attendant.remove(&mut list, slot);
        unpark(&mut list, self, slot);
        drop(list);
        drop(waker); // not before: it executes code of its executor
    }

    /// Wakes the tasks of this process that have become holders by a release of this process, which is faster than by
    /// way of the thread.
    #[inline(always)]
    pub(super) fn wake_tasks(&self) {
        if self.attendant.waiting.load(SeqCst) > 0 {
            self.wake_holders();
        }
    }

    #[cold]
    fn wake_holders(&self) {
        let mut list = self.attendant.lock();
        // If the file is damaged, the thread notices that.
        let woken = self.snapshot().map(|queue| self.attendant.take_holders(&mut list, self, &queue));
        drop(list);
        wake_all(woken.unwrap_or_default());
    }

    /// Has a task that found no free slot try again soon.
    pub(super) fn retry(&self, waker: Waker) -> Result<(), Error> {
        self.attendant.retry(&self.this, waker).map_err(|source| self.no_thread(source))
    }

    fn no_thread(&self, source: io::Error) -> Error {
        Error::Io { path: self.file.location().as_path().to_owned(), doing: "start a thread for", source }
    }
}
