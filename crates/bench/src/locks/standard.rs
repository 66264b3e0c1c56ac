//! The locks of the standard library.
use std::sync::{Condvar, Mutex, PoisonError};

use super::{Candidate, Group::Standard, NONE};
use crate::job::Lock;

pub(super) fn locks() -> Vec<Candidate> {
    vec![
        Candidate::mutex(Standard, "std-mutex", NONE, || Mutex::new(())),
        Candidate::semaphore(Standard, "std-condvar", NONE, |k| Condition {
            free: Mutex::new(k),
            left: Condvar::new(),
        }),
    ]
}

impl Lock for Mutex<()> {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        let _guard = self.lock().unwrap_or_else(PoisonError::into_inner);
        critical_section();
    }
}

/// A semaphore made of the standard library's mutex and condition variable.
struct Condition {
    free: Mutex<usize>,
    left: Condvar,
}

impl Lock for Condition {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.left.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        drop(free);
        critical_section();
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.left.notify_one();
    }
}
