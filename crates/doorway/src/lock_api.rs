//! The traits of the crate `lock_api`, for code that is generic over locks. Requires the feature `lock_api`.
//!
//! ```
//! let list: lock_api::Mutex<doorway::Tickets, Vec<u8>> = lock_api::Mutex::new(vec![]);
//! list.lock().push(1);
//! assert_eq!(list.into_inner(), [1]);
//! ```
use std::time::{Duration, Instant};

use doorway_memory::Count;
use lock_api::{RawMutex, RawMutexFair, RawMutexTimed};

use crate::{
    queue::{Queue, TimedQueue},
    tickets::{Entered, Tickets},
};

// SAFETY: `ticket` guarantees mutual exclusion for any number of threads, which is checked. A thread enters by an
// acquiring read of the counter that the previous holder wrote with release semantics. The guard's state has a ticket,
// which is served once; forgetting it keeps the lock locked. The lock contains all of its state, so it can be moved
// or dropped. No operation unwinds.
#[allow(unsafe_code, reason = "the trait promises exclusion")]
unsafe impl RawMutex for Tickets {
    const INIT: Tickets = Tickets::new();
    type Guard = Entered<Count>;

    #[inline]
    fn lock(&self) -> Entered<Count> {
        self.wait(self.arrive())
    }

    #[inline]
    fn try_lock(&self) -> Option<Entered<Count>> {
        self.try_enter()
    }

    #[inline]
    unsafe fn unlock(&self, inside: Entered<Count>) {
        self.leave(&inside);
    }

    fn is_locked(&self) -> bool {
        self.queued() > 0
    }
}

// SAFETY: every release is fair.
#[allow(unsafe_code, reason = "the trait promises exclusion")]
unsafe impl RawMutexFair for Tickets {
    unsafe fn unlock_fair(&self, inside: Entered<Count>) {
        self.leave(&inside);
    }
}

// SAFETY: a caller that is told that it holds the lock has waited for its turn; any other caller has aborted.
#[allow(unsafe_code, reason = "the trait promises exclusion")]
unsafe impl RawMutexTimed for Tickets {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_for(&self, time: Duration) -> Option<Entered<Count>> {
        match Instant::now().checked_add(time) {
            Some(deadline) => self.try_lock_until(deadline),
            None => Some(RawMutex::lock(self)),
        }
    }

    fn try_lock_until(&self, deadline: Instant) -> Option<Entered<Count>> {
        self.wait_deadline(self.arrive(), deadline).map_err(|place| self.abort(place)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works_behind_lock_api() {
        let count: lock_api::Mutex<Tickets, u64> = lock_api::Mutex::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1_000).for_each(|_| *count.lock() += 1));
            }
        });
        let guard = count.lock();
        assert!(count.is_locked() && count.try_lock().is_none());
        assert!(count.try_lock_for(Duration::from_millis(1)).is_none());
        drop(guard);
        assert!(!count.is_locked());
        assert_eq!(count.into_inner(), 4_000);
    }
}
