//! Waiters of a ticket lock that are not parked threads: suspended tasks, and aborted places.
use std::{collections::VecDeque, hint, mem, sync::OnceLock, task::Waker};

use doorway_algorithms::blocks::test_and_set::TestAndSet;
use doorway_memory::{Count, Memory, Value};
use doorway_native::{
    Reg, WakeInterest,
    sync::atomic::{
        AtomicBool, AtomicU16, AtomicU32,
        Ordering::{Relaxed, SeqCst},
    },
};

use crate::{Mutex, MutexGuard, Queue, tickets::Threads};

/// After this many successive releases that found the list empty, releases do not look at it any more.
const IDLE_RELEASES: u32 = 256;

/// How often a task that is next reads the counter before it is suspended: at most, and in an attempt after failures.
const MAX_SPINS: u16 = if cfg!(shuttle) { 1 } else { 64 };
const TRIAL_SPINS: u16 = if cfg!(shuttle) { 1 } else { 8 };

/// For how many pauses a thread backs off that finds the list locked: at first, and at last before it waits as for any
/// other lock.
///
/// The first is several passages of another thread, which then makes them without moving a cache line.
const FIRST_BACKOFF: u32 = if cfg!(shuttle) { 1 } else { 128 };
const LAST_BACKOFF: u32 = if cfg!(shuttle) { 1 } else { 512 };

/// One in this many tickets tries to spin although spinning has failed before.
const TRIALS: u64 = 32;

/// The list of suspended tasks and aborted places whose turn has not come yet, in order of their tickets.
///
/// A release completes the passages of aborted places and wakes the tasks whose turn has come.
///
/// # No lost wake-up
/// `ticket-async` in the catalogue is this protocol, with the same letters. Its `fenced` is the wake interest here:
/// ```text
/// release: 3 write the counter
///          4 if there is wake interest and not `is_listed`: fence
///          5 if there is wake interest and `is_listed`: lock the list
///          6 remove the entries whose turn has come, complete the passages of aborted places
///          7 if the list had no entry: reset `is_listed`; unlock; wake tasks
/// task:    a lock the list
///          b if the list has no wake interest: create one, which is a process-wide barrier
///          c set `is_listed`
///          d read the counter
///          e if it is not the task's turn: add the waker to the list; unlock; suspend
/// abort:   a to d, then mark the place as aborted; unlock
/// ```
/// Suppose that d does not see the write 3. A release that reads no wake interest in 4 does so before b ends, and then the
/// barrier makes its write visible before d. A release that locks the list does so after e, since d would see its write
/// otherwise, and finds the entry. Any other release executes the fence, so that it reads `is_listed` after its write is
/// visible, which is after d, and c is before d: it finds `is_listed` set, unless another release has reset it since. That
/// one found no entry, so it had the list locked before a, and c set it again. A counter that is advanced by a
/// read-modify-write needs no fence.
///
/// Usually there is no wake interest, and a release reads nothing here: the lock's cache line may belong to the next holder
/// by then. The interest is kept for a while after the list has become empty, since the barrier takes microseconds. As long
/// as there is one, every write to a register in the process takes the slow path, which searches for parked waiters.
/// `is_listed` is kept until a release finds nothing, since tasks that take turns empty the list in every passage.
pub(crate) struct Waiters {
    /// Whether the list may have entries. It changes only while the list is locked.
    is_listed: AtomicBool,
    /// How often a task that is next may read the counter before it is suspended.
    spins: AtomicU16,
    /// The number of successive releases that found the list empty.
    idle: AtomicU32,
    /// Boxed, to leave room for the guarded value in the lock's cache line.
    list: OnceLock<Box<Mutex<List, Latch>>>,
}

/// A ticket lock, as the list needs it.
pub(crate) trait Turns {
    /// Whether the exit section ends with a read-modify-write, which is a fence.
    const EXIT_IS_FENCE: bool;

    /// The first place whose turn has not come.
    fn first_unserved(&self) -> Count;

    /// Completes the passage of an aborted place whose turn has come.
    fn complete(&self, place: Count);
}

/// The entries of successive tickets.
struct List {
    /// Makes releases look at the list.
    interest: Option<WakeInterest>,
    /// The ticket of the first entry, if there is one. As a word, so that the list is as small as a cache line.
    first: u64,
    entries: VecDeque<Entry>,
}

#[cfg(all(target_pointer_width = "64", not(shuttle)))]
const _: () = assert!(size_of::<Mutex<List, Latch>>() == 64, "the list and its lock share a cache line");

/// The lock of the list: test-and-set, in no order, as in `ticket-async`.
///
/// A task that releases a lock and acquires it again locks the list twice in a row. In order of arrival the list would go
/// to another thread in between, and its cache line with it.
struct Latch(TestAndSet<Threads>);

impl Latch {
    const fn new() -> Latch {
        Latch(TestAndSet::of(Reg::of_word(0)))
    }

    #[inline(always)]
    fn try_lock(&self) -> bool {
        let Ok(is_locked) = self.0.try_lock(&mut Threads::new());
        is_locked
    }

    #[cold]
    #[inline(never)]
    fn lock_contended(&self) {
        let mut pauses = FIRST_BACKOFF;
        loop {
            if pauses <= LAST_BACKOFF {
                (0..pauses).for_each(|_| hint::spin_loop());
                pauses *= 2;
            } else {
                // The holder has lost the processor.
                let Ok(()) = Threads::new().until(self.0.register(), |is_locked| !is_locked);
            }
            if self.try_lock() {
                return;
            }
        }
    }
}

impl Queue for Latch {
    type Place = ();
    type Inside = ();

    fn capacity(&self) -> usize {
        1
    }

    fn arrive(&self) {}

    #[inline(always)]
    fn wait(&self, (): ()) {
        if !self.try_lock() {
            self.lock_contended();
        }
    }

    #[inline(always)]
    fn leave(&self, (): &()) {
        let Ok(()) = self.0.unlock(&mut Threads::new());
    }
}

/// A waiter in the list.
enum Entry {
    /// A waiter that is not for releases to wake: a thread, or a task that was not polled yet.
    Other,
    Suspended(Waker),
    Aborted,
}

impl List {
    /// The entry of a place, which exists from now on. No place before `first_unserved` has an entry.
    fn entry(&mut self, place: Count, first_unserved: Count) -> &mut Entry {
        if self.entries.is_empty() {
            self.first = first_unserved.word();
        }
        let index = place.since(Count::of_word(self.first)) as usize;
        while self.entries.len() <= index {
            self.entries.push_back(Entry::Other);
        }
        &mut self.entries[index]
    }

    /// Removes the first entry if its turn has come.
    fn pop(&mut self, first_unserved: Count) -> Option<(Count, Entry)> {
        let place = Count::of_word(self.first);
        let entry = self.entries.pop_front_if(|_| place < first_unserved)?;
        self.first = place.plus(1).word();
        Some((place, entry))
    }
}

/// Tasks to wake. If a waker panics, the others are still called.
#[derive(Default)]
struct Woken {
    first: Option<Waker>,
    /// Empty, and without memory of its own, if a release wakes one task.
    others: VecDeque<Waker>,
}

impl Woken {
    fn push(&mut self, waker: Waker) {
        match self.first {
            None => self.first = Some(waker),
            Some(_) => self.others.push_back(waker),
        }
    }
}

impl Woken {
    fn pop(&mut self) -> Option<Waker> {
        self.first.take().or_else(|| self.others.pop_front())
    }
}

impl Drop for Woken {
    fn drop(&mut self) {
        if let Some(waker) = self.pop() {
            let rest = Rest(self);
            waker.wake();
            drop(rest);
        }
    }
}

/// The tasks that are woken after the first one, also if that panics.
struct Rest<'a>(&'a mut Woken);

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        while let Some(waker) = self.0.pop() {
            waker.wake();
        }
    }
}

impl Waiters {
    pub(crate) const fn new() -> Waiters {
        Waiters {
            is_listed: AtomicBool::new(false),
            spins: AtomicU16::new(MAX_SPINS),
            idle: AtomicU32::new(0),
            list: OnceLock::new(),
        }
    }

    /// Line 4, for a release that found wake interest: completes the passages of aborted places, and wakes the tasks,
    /// whose turn has come.
    pub(crate) fn after_release<T: Turns>(&self, turns: &T) {
        // The list exists before line b, so a release that does not find it is like one that found no wake interest.
        if self.list.get().is_none() {
            return;
        }
        let is_listed = self.is_listed.load(SeqCst) || {
            if !T::EXIT_IS_FENCE {
                let Ok(()) = Threads::new().fence();
            }
            self.is_listed.load(SeqCst)
        };
        if is_listed {
            self.serve(turns);
        } else {
            self.note_idle();
        }
    }

    /// Whether the task at this place is served now, or within a few reads of the counter if it is the next one.
    ///
    /// A holder that runs on another processor is likely to leave soon, and suspending a task takes longer. If spinning
    /// has failed lately, holders are likely to be suspended themselves.
    pub(crate) fn spin<T: Turns>(&self, turns: &T, place: Count) -> bool {
        // ORDERING: Relaxed for `spins`. Pairs with: nothing, this is a hint.
        let usual = self.spins.load(Relaxed);
        let is_trial = usual == 0 && place.since(Count::ONE).is_multiple_of(TRIALS);
        let spins = if is_trial { TRIAL_SPINS } else { usual };
        for _ in 0..spins {
            let first_unserved = turns.first_unserved();
            if place < first_unserved {
                if usual < MAX_SPINS {
                    self.spins.store((2 * spins).min(MAX_SPINS), Relaxed);
                }
                return true;
            }
            if first_unserved < place {
                return false; // not the next one: the queue has to move more than once
            }
            hint::spin_loop();
        }
        if spins > 0 {
            self.spins.store(spins / 2, Relaxed);
        }
        false
    }

    /// Lines a to e: lets a release call `waker` when the turn of this place comes. Returns false if it has come.
    pub(crate) fn suspend<T: Turns>(&self, turns: &T, place: Count, waker: Waker) -> bool {
        let mut list = self.lock();
        let first_unserved = self.announce(&mut list, turns);
        if place < first_unserved {
            return false;
        }
        let replaced = mem::replace(list.entry(place, first_unserved), Entry::Suspended(waker));
        drop(list);
        drop(replaced); // not before: dropping a waker executes code of its executor
        true
    }

    /// As `suspend`, for a task that was suspended before. The waker is cloned only if it is another one.
    pub(crate) fn resuspend<T: Turns>(&self, turns: &T, place: Count, waker: &Waker) -> bool {
        let mut list = self.lock();
        let first_unserved = turns.first_unserved();
        if place < first_unserved {
            return false;
        }
        if matches!(list.entry(place, first_unserved), Entry::Suspended(listed) if listed.will_wake(waker)) {
            return true;
        }
        drop(list);
        self.suspend(turns, place, waker.clone())
    }

    /// Aborts a place. Returns false, and does nothing, if its turn has come.
    #[cold]
    pub(crate) fn abort<T: Turns>(&self, turns: &T, place: Count) -> bool {
        let mut list = self.lock();
        let first_unserved = self.announce(&mut list, turns);
        if place < first_unserved {
            return false;
        }
        let replaced = mem::replace(list.entry(place, first_unserved), Entry::Aborted);
        drop(list);
        drop(replaced); // not before: dropping a waker executes code of its executor
        true
    }

    /// Lines b to d: announces an entry of the list, which is locked. Returns the first place whose turn has not come.
    fn announce<T: Turns>(&self, list: &mut List, turns: &T) -> Count {
        list.interest.get_or_insert_with(WakeInterest::new);
        if !self.is_listed.load(SeqCst) {
            // ORDERING: Relaxed. Pairs with: nothing, this is a hint.
            self.idle.store(0, Relaxed);
            self.is_listed.swap(true, SeqCst);
        }
        turns.first_unserved()
    }

    /// Lines 5 to 7.
    fn serve<T: Turns>(&self, turns: &T) {
        let mut woken = Woken::default();
        let mut list = self.lock();
        if list.entries.is_empty() {
            self.is_listed.store(false, SeqCst);
        }
        // The list stays locked, so that no other thread completes the same passage.
        let mut first_unserved = turns.first_unserved();
        while let Some((place, entry)) = list.pop(first_unserved) {
            match entry {
                Entry::Other => {}
                Entry::Suspended(waker) => woken.push(waker),
                Entry::Aborted => {
                    turns.complete(place);
                    first_unserved = turns.first_unserved();
                }
            }
        }
        drop(list);
        drop(woken);
    }

    /// Line j: counts a release that did not find `is_listed`. After many of them, releases do not look at it any more.
    fn note_idle(&self) {
        // ORDERING: Relaxed. Pairs with: nothing, a count that is too small does no harm.
        let idle = self.idle.load(Relaxed).saturating_add(1);
        self.idle.store(idle, Relaxed);
        if idle.is_multiple_of(IDLE_RELEASES) {
            let mut list = self.lock();
            if !self.is_listed.load(SeqCst) {
                list.interest = None;
            }
        }
    }

    /// Whether releases look at the list.
    #[cfg(test)]
    pub(crate) fn has_interest(&self) -> bool {
        self.lock().interest.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, List, Latch> {
        self.list
            .get_or_init(|| {
                let list = List { interest: None, first: 0, entries: VecDeque::new() };
                Box::new(Mutex::of(Latch::new(), list))
            })
            .lock()
    }
}
