//! The permit that a holder of a semaphore has.
use std::{fmt, os::fd::BorrowedFd};

use doorway_shm::Error;

use super::{Semaphore, slot::Slot};

/// The right to be a holder of a [`Semaphore`]; dropping it releases the permit.
///
/// See [`Semaphore::acquire`].
#[must_use = "dropping the permit releases it"]
pub struct Permit<'a> {
    pub(super) semaphore: &'a Semaphore,
    /// `None` only while the permit is dropped.
    pub(super) slot: Option<Slot>,
}

impl Permit<'_> {
    fn slot(&self) -> &Slot {
        self.slot.as_ref().expect("only dropping the permit takes its slot")
    }

    /// The descriptor that all permits of the same [`Semaphore`] depend on. They are kept as long as any process has
    /// it open.
    ///
    /// See [`keep_in_child`](Permit::keep_in_child).
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.slot().queue.file.descriptor()
    }

    /// Lets programs that this process executes from now on inherit the [descriptor](Permit::descriptor).
    ///
    /// If this process dies before the permit is dropped, the permit is kept until those programs have ended too.
    /// Dropping the permit releases it at once.
    ///
    /// # Errors
    /// If the system call fails.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("doorway-keep-{}", std::process::id()));
    /// let printers = doorway::process::Semaphore::open(&path, 1)?;
    /// let permit = printers.acquire()?;
    /// permit.keep_in_child()?;
    /// std::process::Command::new("true").status().unwrap();
    /// drop(permit);
    /// assert!(printers.try_acquire()?.is_some());
    /// # drop(printers);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn keep_in_child(&self) -> Result<(), Error> {
        self.slot().queue.file.keep_in_children()
    }

    /// Sets the description of this permit, as [`Semaphore::describe`] does for all permits.
    pub fn describe(&self, what: &str) {
        let slot = self.slot();
        if slot.queue.file.is_original_process() {
            slot.memory.describe(what);
        }
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        let Some(mut slot) = self.slot.take() else { return };
        // In a forked child the parent is the holder.
        if self.semaphore.is_original_process() {
            slot.leave();
            self.semaphore.return_slot(slot);
        }
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("path", &self.semaphore.path()).field("slot", &self.slot().number()).finish()
    }
}
