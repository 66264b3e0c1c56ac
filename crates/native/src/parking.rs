//! The parking lot: threads park here until a condition on a register holds.
//!
//! A register does not know its waiters. The parking lot finds them by the register's address, in one of a few
//! *buckets*. A writer first checks whether any thread is parked at all, which is one load and rarely true. If so, it
//! searches the register's bucket, evaluates the condition of each waiter parked on that register, and wakes only the
//! waiters whose condition holds.
//!
//! # No lost wake-up
//! ```text
//! writer: 1 write the register
//!         2 read the numbers of parked waiters, in all buckets and in this one
//!         3 if not 0: lock the bucket, wake waiters
//! waiter: a increment both numbers
//!         b process-wide barrier
//!         c lock the bucket
//!         d read the register
//!         e if the condition does not hold: enter the bucket, unlock, park
//! ```
//! The barrier (b) falls before or after the writer's step 1 becomes visible. If after, d sees the write. If before,
//! then also before step 2, which therefore sees a. The writer then locks the bucket either before c, and then d sees
//! its write, or after e, and then it finds the waiter in the bucket. Where there is no such barrier, a parked waiter
//! reads the register again every millisecond.
use std::{
    sync::atomic::compiler_fence,
    time::{Duration, Instant},
};

use crossbeam_utils::CachePadded;

use crate::{
    barrier,
    hints::Hints,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicU32, AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release, SeqCst},
        },
        thread::{self, Thread},
    },
};

const BUCKETS: usize = 64;

/// The number of waiters that are parked or about to park, in all buckets, plus the number of [`WakeInterest`]s. In a
/// cache line of its own, since every thread reads it after every write.
static WAKE_INTERESTS: CachePadded<AtomicU32> = CachePadded::new(AtomicU32::new(0));

static PARKING_LOT: [Bucket; BUCKETS] = [const { Bucket::new() }; BUCKETS];

/// How often a parked waiter reads the register if, without a barrier, it might miss its wake-up.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

#[repr(align(64))]
struct Bucket {
    /// The number of waiters that are parked here or about to park.
    parked: AtomicU32,
    /// The address of the register on which a waiter was last about to park.
    last: AtomicUsize,
    hints: Hints,
    list: Mutex<Vec<ParkedWaiter>>,
}

struct ParkedWaiter {
    register: usize,
    condition: Condition,
    woken: *const AtomicBool,
    thread: Thread,
}

/// The condition of a parked waiter, on that waiter's stack.
type Condition = *const (dyn Fn(u64) -> bool + Sync);

// SAFETY: both pointers are to values on the waiter's stack that stay there until the waiter is woken or has removed
// itself from the list, both of which happen with the list locked; both values are `Sync`.
#[allow(unsafe_code, reason = "other threads evaluate the conditions of parked waiters")]
unsafe impl Send for ParkedWaiter {}

/// The key of a register in the parking lot.
pub(crate) fn address(register: &AtomicU64) -> usize {
    std::ptr::from_ref(register) as usize
}

fn bucket_of(address: usize) -> &'static Bucket {
    // Neighbouring registers often belong to one lock. They share a bucket, which is then likely to be in the cache.
    &PARKING_LOT[(address >> 7 ^ address >> 13) % BUCKETS]
}

impl Bucket {
    const fn new() -> Bucket {
        Bucket {
            parked: AtomicU32::new(0),
            last: AtomicUsize::new(0),
            hints: Hints::new(),
            list: Mutex::new(Vec::new()),
        }
    }

    fn remove_parked(&self, count: u32) {
        self.parked.fetch_sub(count, Relaxed);
        WAKE_INTERESTS.fetch_sub(count, Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ParkedWaiter>> {
        // With the list locked, only a waiter's condition can panic, and that leaves the list intact.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An estimate of the number of waiters that are parked on the register at this address or about to park.
pub(crate) fn parked_on(address: usize) -> u32 {
    let bucket = bucket_of(address);
    // ORDERING: Relaxed. Pairs with: nothing, this is a hint.
    if bucket.last.load(Relaxed) == address { bucket.parked.load(Relaxed) } else { 0 }
}

/// The hints about the lock whose waiters wait on the register at this address.
pub(crate) fn hints(address: usize) -> &'static Hints {
    &bucket_of(address).hints
}

/// After a write: whether any waiter is parked, or any [`WakeInterest`] exists. If so, the writer calls [`wake`].
#[inline(always)]
pub(crate) fn has_wake_interest() -> bool {
    // ORDERING: Relaxed, after a compiler fence, so that the compiler does not move this load before the write.
    // Pairs with: the barrier in `park_until`, which prevents the processor from doing so, as far as the parking
    // waiter can tell; and the barrier in `WakeInterest::new`. `ticket-sleeping` in the catalogue is this protocol;
    // without the barrier it loses a wake-up (catalogue/tests/checks/tso.rs:
    // `no_wake_up_is_lost_and_the_barrier_is_needed_for_it`).
    compiler_fence(SeqCst);
    WAKE_INTERESTS.load(Relaxed) != 0
}

/// An interest in writes. While one exists, every write in a layout that [parks](crate::Layout::PARKS) sets
/// [`has_wake_interest`](crate::Native::has_wake_interest), as a parked waiter does.
///
/// It is for threads that writers have to find by other means than the parking lot. Suppose one thread creates a
/// `WakeInterest` and then reads a register, and another thread writes that register and then asks for wake interest:
/// then the first thread sees the write, or the second sees the interest.
///
/// ```
/// use doorway_memory::{Memory, Space};
/// use doorway_native::{Heap, Native, WakeInterest};
///
/// let (x, mut m) = (Heap.shared("x", 0_u64), Native::new());
/// let interest = WakeInterest::new();
/// let Ok(()) = m.write(&x, 1);
/// assert!(m.has_wake_interest());
/// ```
#[derive(Debug)]
#[must_use = "the interest ends when it is dropped"]
pub struct WakeInterest(());

impl WakeInterest {
    /// Registers an interest.
    ///
    /// See [`WakeInterest`].
    #[allow(clippy::new_without_default, reason = "it executes a process-wide barrier")]
    pub fn new() -> WakeInterest {
        WAKE_INTERESTS.fetch_add(1, SeqCst);
        barrier::process_wide();
        WakeInterest(())
    }
}

impl Drop for WakeInterest {
    fn drop(&mut self) {
        WAKE_INTERESTS.fetch_sub(1, Relaxed);
    }
}

/// After a write: wakes the waiters whose condition holds. Returns whether any waiter was parked on that register or
/// about to park.
#[cold]
#[inline(never)]
#[allow(unsafe_code, reason = "evaluates the conditions of parked waiters")]
pub(crate) fn wake(register: &AtomicU64) -> bool {
    let address = address(register);
    let bucket = bucket_of(address);
    // ORDERING: Relaxed. Pairs with: as in `has_wake_interest`.
    if bucket.parked.load(Relaxed) == 0 {
        return false;
    }
    let mut woken: Vec<Thread> = Vec::new();
    // ORDERING: Relaxed. Pairs with: nothing, this is a hint.
    let mut has_parked = bucket.last.load(Relaxed) == address;
    let mut list = bucket.lock();
    // ORDERING: Acquire. Pairs with: the last write of the register, so that a waiter woken for it sees what happened
    // before it.
    let word = register.load(Acquire);
    list.retain(|waiter| {
        if waiter.register != address {
            return true;
        }
        has_parked = true;
        // SAFETY: the waiter is on the list and the list is locked, so the condition is still on its stack.
        if !unsafe { (*waiter.condition)(word) } {
            return true;
        }
        woken.push(waiter.thread.clone());
        // SAFETY: as above. After this store the waiter may continue, and its pointers are not used again.
        unsafe { (*waiter.woken).store(true, Release) };
        false
    });
    drop(list);
    bucket.remove_parked(woken.len() as u32);
    woken.iter().for_each(Thread::unpark);
    has_parked
}

/// Parks until the condition holds of the register's word, or until the deadline; returns whether it holds.
pub(crate) fn park_until(
    register: &AtomicU64,
    condition: &(dyn Fn(u64) -> bool + Sync),
    deadline: Option<Instant>,
) -> bool {
    let address = address(register);
    let bucket = bucket_of(address);
    let woken = AtomicBool::new(false);
    bucket.last.store(address, Relaxed);
    bucket.parked.fetch_add(1, SeqCst);
    WAKE_INTERESTS.fetch_add(1, SeqCst);
    let has_barrier = barrier::try_process_wide();
    let mut list = bucket.lock();
    // ORDERING: Acquire. Pairs with: the write that makes the condition true, so that this thread sees what happened
    // before it.
    if condition(register.load(Acquire)) {
        drop(list);
        bucket.remove_parked(1);
        return true;
    }
    list.push(ParkedWaiter {
        register: address,
        condition: erased(condition),
        woken: &raw const woken,
        thread: thread::current(),
    });
    drop(list);
    loop {
        let now = Instant::now();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(now));
        match (has_barrier, left) {
            (true, None) => thread::park(),
            (true, Some(left)) => thread::park_timeout(left),
            (false, left) => thread::park_timeout(left.map_or(POLL_INTERVAL, |left| left.min(POLL_INTERVAL))),
        }
        // ORDERING: Acquire. Pairs with: the store in `wake`.
        if woken.load(Acquire) {
            return true;
        }
        let holds = !has_barrier && condition(register.load(Acquire));
        let is_timed_out = left.is_some_and(|left| left.is_zero());
        if holds || is_timed_out {
            let mut list = bucket.lock();
            if woken.load(Acquire) {
                return true;
            }
            list.retain(|waiter| !std::ptr::eq(waiter.woken, &raw const woken));
            let holds = condition(register.load(Acquire));
            drop(list);
            bucket.remove_parked(1);
            return holds;
        }
    }
}

/// Erases the lifetime of a condition. The caller guarantees that the condition is off the list before that lifetime
/// ends.
fn erased<'a>(condition: &'a (dyn Fn(u64) -> bool + Sync + 'a)) -> Condition {
    let condition: *const (dyn Fn(u64) -> bool + Sync + 'a) = condition;
    #[allow(unsafe_code, reason = "the lifetime of a trait object cannot be cast away otherwise")]
    // SAFETY: both types are the same fat pointer; `ParkedWaiter` argues why it is not used after 'a.
    unsafe {
        std::mem::transmute(condition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakes_only_waiters_whose_condition_holds() {
        let register = AtomicU64::new(0);
        thread::scope(|scope| {
            let waiters: Vec<_> = (1..=8)
                .map(|turn| {
                    let register = &register;
                    scope.spawn(move || assert!(park_until(register, &|word| word == turn, None)))
                })
                .collect();
            for (turn, waiter) in (1..).zip(waiters) {
                register.store(turn, Release);
                wake(&register);
                waiter.join().unwrap();
            }
        });
        assert_eq!(
            bucket_of(address(&register)).lock().iter().filter(|s| s.register == &raw const register as usize).count(),
            0
        );
    }

    #[test]
    fn a_timed_out_waiter_is_off_the_list() {
        let register = AtomicU64::new(0);
        let deadline = Instant::now() + Duration::from_millis(3);
        assert!(!park_until(&register, &|word| word == 1, Some(deadline)));
        assert!(Instant::now() >= deadline);
        assert!(bucket_of(address(&register)).lock().iter().all(|s| s.register != address(&register)));
    }

    #[test]
    fn does_not_park_if_the_condition_holds() {
        let register = AtomicU64::new(5);
        assert!(park_until(&register, &|word| word == 5, None));
    }
}
