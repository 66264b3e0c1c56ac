//! The locks of the crate `doorway`.
use doorway::{Mutex, Semaphore};

use super::{Candidate, FIFO, Group::Ours};
use crate::job::Lock;

pub(super) fn locks() -> Vec<Candidate> {
    vec![
        Candidate::mutex(Ours, "doorway-mutex", FIFO, || Mutex::new(())),
        Candidate::semaphore(Ours, "doorway-semaphore", FIFO, Semaphore::new),
    ]
}

impl Lock for Mutex<()> {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        let _guard = self.lock();
        critical_section();
    }
}

impl Lock for Semaphore {
    #[inline(always)]
    fn pass(&self, critical_section: impl FnOnce()) {
        let _permit = self.acquire();
        critical_section();
    }
}
