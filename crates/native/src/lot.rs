//! Where threads sleep until a register holds what they wait for.
//!
//! A register does not know who waits for it: sleepers are kept by its address, in one of a few *rows*. Who writes a register
//! looks whether anyone sleeps at all, which is one load and hardly ever true; if so, it looks in the register's row, asks each
//! sleeper of that register whether the new value is what it waits for, and wakes those only.
//!
//! # No lost wake-up
//! ```text
//! writer: 1 write the register   2 read sleepers, of all rows and of this one      if there are any: lock the row, wake whom it concerns
//! sleeper: a sleepers += 1, both   b barrier everywhere   c lock the row   d read the register   e if not: enter the row, unlock, park
//! ```
//! The barrier (b) falls before or after the writer's step 1 became visible. If after, d sees the write. If before, then also
//! before step 2, which so sees a; the writer then locks the row, either before c, and then d sees its write, or after e, and
//! then it finds the sleeper there. Where there is no such barrier, a sleeper looks again every millisecond.
use std::{
    sync::atomic::compiler_fence,
    time::{Duration, Instant},
};

use crossbeam_utils::CachePadded;

use crate::{
    barrier,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicU32, AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release, SeqCst},
        },
        thread::{self, Thread},
    },
};

const ROWS: usize = 64;

/// How many sleep or are about to, in all rows, and how many [calls](Call) there are. In a cache line of its own, since everyone
/// reads it after every write.
static SLEEPERS: CachePadded<AtomicU32> = CachePadded::new(AtomicU32::new(0));

static LOT: [Row; ROWS] =
    [const { Row { sleepers: AtomicU32::new(0), last: AtomicUsize::new(0), list: Mutex::new(Vec::new()) } }; ROWS];

/// How often a sleeper looks by itself if it cannot be sure to be woken.
const UNSURE: Duration = Duration::from_millis(1);

#[repr(align(64))]
struct Row {
    /// How many sleep here or are about to.
    sleepers: AtomicU32,
    /// The address of the register for which one was last about to.
    last: AtomicUsize,
    list: Mutex<Vec<Sleeper>>,
}

struct Sleeper {
    register: usize,
    wants: Wanted,
    woken: *const AtomicBool,
    thread: Thread,
}

/// What a sleeper waits for; on the sleeper's stack.
type Wanted = *const (dyn Fn(u64) -> bool + Sync);

// SAFETY: both pointers are to what is on the sleeper's stack and stays there until it is woken or has taken itself off the
// list, which both happen with the list locked; what they point to is `Sync`.
#[allow(unsafe_code, reason = "sleepers are looked at by other threads")]
unsafe impl Send for Sleeper {}

/// By what the lot knows a register.
pub(crate) fn address(register: &AtomicU64) -> usize {
    std::ptr::from_ref(register) as usize
}

fn row_of(address: usize) -> &'static Row {
    // Registers are words; neighbours are often of one lock, and their row is best one that is in the cache.
    &LOT[(address >> 7 ^ address >> 13) % ROWS]
}

impl Row {
    fn sleep_less(&self, awake: u32) {
        self.sleepers.fetch_sub(awake, Relaxed);
        SLEEPERS.fetch_sub(awake, Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Sleeper>> {
        // Nothing panics with the list locked but what a sleeper waits for; then the list is still whole.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many sleep on the register at this address, or are about to: a guess.
pub(crate) fn sleepers_on(address: usize) -> u32 {
    let row = row_of(address);
    // ORDERING: Relaxed. Pairs with: nothing, it is a hint.
    if row.last.load(Relaxed) == address { row.sleepers.load(Relaxed) } else { 0 }
}

/// After a write: whether anyone sleeps at all, or calls. If so, [`wake`] is next.
#[inline(always)]
pub(crate) fn is_called() -> bool {
    // ORDERING: Relaxed, behind a fence for the compiler only: it must not look before it writes.
    // Pairs with: the barrier in `sleep_until`, which orders this load after our write for the sleeper, as far as the machine
    // goes; and the one in `Call::new`. `ticket-sleeping` in the catalogue is this protocol; without the barrier it loses a wake-up
    // (checker/tests/checks/tso.rs: `no_wake_up_is_lost_and_the_barrier_is_needed_for_it`).
    compiler_fence(SeqCst);
    SLEEPERS.load(Relaxed) != 0
}

/// As long as it lives, whoever writes a register of a memory that [sleeps](crate::Layout::SLEEPS) is
/// [called](crate::Native::is_called), as if somebody slept.
///
/// For who has to be found after a write by other means. Who makes a call and then looks at a register, and who writes that register
/// and then asks whether it is called, do not miss each other.
///
/// ```
/// use doorway_memory::{Memory, Space};
/// use doorway_native::{Call, Heap, Native};
///
/// let (x, mut m) = (Heap.shared("x", 0_u64), Native::new());
/// let call = Call::new();
/// let Ok(()) = m.write(&x, 1);
/// assert!(m.is_called());
/// ```
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct Call(());

impl Call {
    /// Calls.
    ///
    /// See [`Call`].
    #[allow(clippy::new_without_default, reason = "it makes every thread pass a barrier")]
    pub fn new() -> Call {
        SLEEPERS.fetch_add(1, SeqCst);
        barrier::everywhere_surely();
        Call(())
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        SLEEPERS.fetch_sub(1, Relaxed);
    }
}

/// After a write: wakes those for whom the register holds what they wait for. Says whether anyone sleeps on that register, or is about
/// to.
#[cold]
#[inline(never)]
#[allow(unsafe_code, reason = "asks sleepers what they wait for")]
pub(crate) fn wake(register: &AtomicU64) -> bool {
    let address = address(register);
    let row = row_of(address);
    // ORDERING: Relaxed. Pairs with: as above.
    if row.sleepers.load(Relaxed) == 0 {
        return false;
    }
    let mut woken: Vec<Thread> = Vec::new();
    // ORDERING: Relaxed. Pairs with: nothing, it is a hint.
    let mut slept = row.last.load(Relaxed) == address;
    let mut list = row.lock();
    // ORDERING: Acquire. Pairs with: the write of whoever wrote last, so that who is woken by it sees what came before it.
    let word = register.load(Acquire);
    list.retain(|sleeper| {
        if sleeper.register != address {
            return true;
        }
        slept = true;
        // SAFETY: the sleeper is on the list and the list is locked, so what it waits for is still on its stack.
        if !unsafe { (*sleeper.wants)(word) } {
            return true;
        }
        woken.push(sleeper.thread.clone());
        // SAFETY: as above. After this store the sleeper may go on, and is not looked at again.
        unsafe { (*sleeper.woken).store(true, Release) };
        false
    });
    drop(list);
    row.sleep_less(woken.len() as u32);
    woken.iter().for_each(Thread::unpark);
    slept
}

/// Sleeps until the register holds what is wanted, or until the deadline; says whether it does.
pub(crate) fn sleep_until(
    register: &AtomicU64,
    wanted: &(dyn Fn(u64) -> bool + Sync),
    deadline: Option<Instant>,
) -> bool {
    let address = address(register);
    let row = row_of(address);
    let woken = AtomicBool::new(false);
    row.last.store(address, Relaxed);
    row.sleepers.fetch_add(1, SeqCst);
    SLEEPERS.fetch_add(1, SeqCst);
    let is_sure = barrier::everywhere();
    let mut list = row.lock();
    // ORDERING: Acquire. Pairs with: the write that makes it true, so that we see what came before it.
    if wanted(register.load(Acquire)) {
        drop(list);
        row.sleep_less(1);
        return true;
    }
    list.push(Sleeper { register: address, wants: erased(wanted), woken: &raw const woken, thread: thread::current() });
    drop(list);
    loop {
        let now = Instant::now();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(now));
        match (is_sure, left) {
            (true, None) => thread::park(),
            (true, Some(left)) => thread::park_timeout(left),
            (false, left) => thread::park_timeout(left.map_or(UNSURE, |left| left.min(UNSURE))),
        }
        // ORDERING: Acquire. Pairs with: the store in `wake`.
        if woken.load(Acquire) {
            return true;
        }
        let is_there = !is_sure && wanted(register.load(Acquire));
        let is_late = left.is_some_and(|left| left.is_zero());
        if is_there || is_late {
            let mut list = row.lock();
            if woken.load(Acquire) {
                return true;
            }
            list.retain(|sleeper| !std::ptr::eq(sleeper.woken, &raw const woken));
            let is_there = wanted(register.load(Acquire));
            drop(list);
            row.sleep_less(1);
            return is_there;
        }
    }
}

/// The same without its lifetime: who enters it in a list sees to it that it is off the list before it ends.
fn erased<'a>(wanted: &'a (dyn Fn(u64) -> bool + Sync + 'a)) -> Wanted {
    let wanted: *const (dyn Fn(u64) -> bool + Sync + 'a) = wanted;
    #[allow(unsafe_code, reason = "the lifetime of a trait object cannot be cast away otherwise")]
    // SAFETY: both are the same fat pointer; that it is not used after 'a is argued at `Sleeper`.
    unsafe {
        std::mem::transmute(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_are_woken_whom_it_concerns() {
        let register = AtomicU64::new(0);
        thread::scope(|scope| {
            let waiters: Vec<_> = (1..=8)
                .map(|turn| {
                    let register = &register;
                    scope.spawn(move || assert!(sleep_until(register, &|word| word == turn, None)))
                })
                .collect();
            for (turn, waiter) in (1..).zip(waiters) {
                register.store(turn, Release);
                wake(&register);
                waiter.join().unwrap();
            }
        });
        assert_eq!(
            row_of(address(&register)).lock().iter().filter(|s| s.register == &raw const register as usize).count(),
            0
        );
    }

    #[test]
    fn who_is_late_is_off_the_list() {
        let register = AtomicU64::new(0);
        let deadline = Instant::now() + Duration::from_millis(3);
        assert!(!sleep_until(&register, &|word| word == 1, Some(deadline)));
        assert!(Instant::now() >= deadline);
        assert!(row_of(address(&register)).lock().iter().all(|s| s.register != address(&register)));
    }

    #[test]
    fn what_is_there_already_is_not_slept_for() {
        let register = AtomicU64::new(5);
        assert!(sleep_until(&register, &|word| word == 5, None));
    }
}
