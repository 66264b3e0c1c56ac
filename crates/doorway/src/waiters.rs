//! Waiters of a ticket lock that are not parked threads: suspended tasks, and aborted places.
use std::{collections::VecDeque, hint, mem, sync::OnceLock, task::Waker};

use doorway_memory::{Count, Memory};
use doorway_native::{
    Native, Packed, WakeInterest,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicU16, AtomicU32,
            Ordering::{Relaxed, SeqCst},
        },
    },
};

/// After this many successive releases that found the list empty, releases do not look at it any more.
const IDLE_RELEASES: u32 = 256;

/// How often a task that is next reads the counter before it is suspended: at most, and in an attempt after failures.
const MAX_SPINS: u16 = if cfg!(shuttle) { 1 } else { 64 };
const TRIAL_SPINS: u16 = if cfg!(shuttle) { 1 } else { 8 };

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
///          4 if there is wake interest: fence; if `is_listed`: lock the list, serve it, wake tasks
/// task:    a lock the list
///          b if the list has no wake interest: create one, which is a process-wide barrier
///          c set `is_listed`
///          d read the counter
///          e if it is not the task's turn: add the waker to the list; unlock; suspend
/// abort:   a to d, then mark the place as aborted; unlock
/// ```
/// Suppose that d does not see the write 3. A release that reads no wake interest in 4 does so before b ends, and then the
/// barrier makes its write visible before d. Any other release executes a fence, so that it reads `is_listed` after its
/// write is visible, which is after d, and c is before d. It then locks the list after e. A counter that is advanced by a
/// read-modify-write needs no fence.
///
/// Usually there is no wake interest, and a release reads nothing here: the lock's cache line may belong to the next holder
/// by then. The interest is kept for a while after the list has become empty, since the barrier takes microseconds. As long
/// as there is one, every write to a register in the process takes the slow path, which searches for parked waiters.
#[derive(Debug)]
pub(crate) struct Waiters {
    /// Whether the list may have entries. It changes only while the list is locked.
    is_listed: AtomicBool,
    /// How often a task that is next may read the counter before it is suspended.
    spins: AtomicU16,
    /// The number of successive releases that found the list empty.
    idle: AtomicU32,
    /// Boxed, to leave room for the guarded value in the lock's cache line.
    list: OnceLock<Box<Mutex<List>>>,
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
#[derive(Debug, Default)]
struct List {
    /// Makes releases look at the list.
    interest: Option<WakeInterest>,
    /// The ticket of the first entry, if there is one.
    first: Option<Count>,
    /// The waker of a suspended task; `None` for another waiter.
    wakers: VecDeque<Option<Waker>>,
    /// Whether the place was aborted, beside its waker: in one entry both would take 24 bytes instead of 17.
    aborted: VecDeque<bool>,
}

impl List {
    /// The index of the entry of a place, which exists from now on. No place before `first_unserved` has an entry.
    fn index(&mut self, place: Count, first_unserved: Count) -> usize {
        let index = place.since(*self.first.get_or_insert(first_unserved)) as usize;
        if index >= self.wakers.len() {
            self.wakers.resize_with(index + 1, || None);
            self.aborted.resize(index + 1, false);
        }
        index
    }

    /// Removes the first entry if its turn has come: its place, its waker, and whether it was aborted.
    fn pop(&mut self, first_unserved: Count) -> Option<(Count, Option<Waker>, bool)> {
        let place = self.first.filter(|&place| place < first_unserved)?;
        let (waker, aborted) = (self.wakers.pop_front()?, self.aborted.pop_front()?);
        self.first = (!self.wakers.is_empty()).then(|| place.plus(1));
        Some((place, waker, aborted))
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
        if !T::EXIT_IS_FENCE {
            let Ok(()) = Native::<Packed>::new().fence();
        }
        if self.is_listed.load(SeqCst) {
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
        // Dropped after the list is unlocked: dropping a waker executes code of its executor.
        let mut replaced = Some(waker);
        let mut list = self.lock();
        let first_unserved = self.announce(&mut list, turns);
        let waits = place >= first_unserved;
        if waits {
            let index = list.index(place, first_unserved);
            mem::swap(&mut list.wakers[index], &mut replaced);
        } else {
            self.retract(&list);
        }
        drop(list);
        waits
    }

    /// As `suspend`, for a task that was suspended before. The waker is cloned only if it is another one.
    pub(crate) fn resuspend<T: Turns>(&self, turns: &T, place: Count, waker: &Waker) -> bool {
        let mut list = self.lock();
        let first_unserved = turns.first_unserved();
        if place < first_unserved {
            return false;
        }
        let index = list.index(place, first_unserved);
        if list.wakers[index].as_ref().is_some_and(|listed| listed.will_wake(waker)) {
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
            self.retract(&list);
            return false;
        }
        let index = list.index(place, first_unserved);
        list.aborted[index] = true;
        let waker = list.wakers[index].take();
        drop(list);
        drop(waker); // not before: it executes code of its executor
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

    /// Takes the announcement back if the list, which is locked, has no entry.
    fn retract(&self, list: &List) {
        if list.first.is_none() {
            self.is_listed.store(false, SeqCst);
        }
    }

    /// Lines 5 to 7.
    fn serve<T: Turns>(&self, turns: &T) {
        let mut woken = Woken::default();
        let mut list = self.lock();
        // The list stays locked, so that no other thread completes the same passage.
        let mut first_unserved = turns.first_unserved();
        while let Some((place, waker, aborted)) = list.pop(first_unserved) {
            if aborted {
                turns.complete(place);
                first_unserved = turns.first_unserved();
            } else if let Some(waker) = waker {
                woken.push(waker);
            }
        }
        self.retract(&list);
        drop(list);
        drop(woken);
    }

    /// Line j: counts a release that found the list empty. After many of them, releases do not look at it any more.
    fn note_idle(&self) {
        // ORDERING: Relaxed. Pairs with: nothing, a count that is too small does no harm.
        let idle = self.idle.load(Relaxed).saturating_add(1);
        self.idle.store(idle, Relaxed);
        if idle.is_multiple_of(IDLE_RELEASES) {
            let mut list = self.lock();
            if list.first.is_none() {
                list.interest = None;
            }
        }
    }

    /// Whether releases look at the list.
    #[cfg(test)]
    pub(crate) fn has_interest(&self) -> bool {
        self.lock().interest.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        // No panic while it is locked leaves the list half changed.
        self.list.get_or_init(Box::default).lock().unwrap_or_else(PoisonError::into_inner)
    }
}
