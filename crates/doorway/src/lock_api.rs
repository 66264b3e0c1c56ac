//! The traits of the crate `lock_api`, behind the feature of that name: for code that is generic over locks.
//!
//! ```
//! let list: lock_api::Mutex<doorway::Tickets, Vec<u8>> = lock_api::Mutex::new(vec![]);
//! list.lock().push(1);
//! ```
use std::time::{Duration, Instant};

use doorway_memory::Count;
use lock_api::{RawMutex, RawMutexFair, RawMutexTimed};

use crate::{
    line::{Line, Patient},
    tickets::Tickets,
};

// SAFETY: `ticket` excludes, for any number of threads: it is checked. Entering is an acquiring read of the counter that leaving
// wrote with release semantics. A guard's state is a ticket, which is served once; forgetting it keeps the lock locked. All
// that a lock consists of is in it, so it can be moved or dropped. Nothing in it unwinds.
#[allow(unsafe_code, reason = "the trait promises exclusion")]
unsafe impl RawMutex for Tickets {
    const INIT: Tickets = Tickets::new();
    type Guard = Count;

    #[inline]
    fn lock(&self) -> Count {
        let mut place = self.arrive();
        self.wait(&mut place);
        place
    }

    #[inline]
    fn try_lock(&self) -> Option<Count> {
        self.try_arrive()
    }

    #[inline]
    unsafe fn unlock(&self, place: Count) {
        self.leave(&place);
    }

    fn is_locked(&self) -> bool {
        self.there() > 0
    }
}

// SAFETY: leaving is always fair.
#[allow(unsafe_code, reason = "the trait promises exclusion")]
unsafe impl RawMutexFair for Tickets {
    unsafe fn unlock_fair(&self, place: Count) {
        self.leave(&place);
    }
}

// SAFETY: who is told that it has the lock waited for its turn; who is not has given its place up.
#[allow(unsafe_code, reason = "the trait promises exclusion")]
unsafe impl RawMutexTimed for Tickets {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_for(&self, time: Duration) -> Option<Count> {
        match Instant::now().checked_add(time) {
            Some(deadline) => self.try_lock_until(deadline),
            None => Some(RawMutex::lock(self)),
        }
    }

    fn try_lock_until(&self, deadline: Instant) -> Option<Count> {
        let mut place = self.arrive();
        if self.wait_deadline(&place, deadline) {
            return Some(place);
        }
        self.give_up(&mut place);
        None
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
