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

    /// Tells other processes that a child with this process id keeps the permit if this process dies.
    ///
    /// The child must have [inherited the descriptor](Permit::keep_in_child). This only helps the others: they notice the
    /// end of the child sooner, and can show it.
    pub fn keep_for(&self, child: u32) {
        let slot = self.slot();
        if slot.queue.file.is_original_process() {
            slot.memory.record().run(child);
        }
    }

    /// Keeps the permit until this process has ended, also if it executes another program from now on.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn keep(self) -> Result<(), Error> {
        self.keep_in_child()?;
        std::mem::forget(self);
        Ok(())
    }

    /// Sets the description of this permit, as [`Semaphore::describe`] does for all permits.
    pub fn describe(&self, what: &str) {
        let slot = self.slot();
        if slot.queue.file.is_original_process() {
            slot.memory.record().describe(what);
        }
    }

    /// A number from 0 to k - 1 that no other holder has: to choose one of k devices, for example.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("doorway-index-{}", std::process::id()));
    /// let gpus = doorway::process::Semaphore::open(&path, 2)?;
    /// let (first, second) = (gpus.acquire()?, gpus.acquire()?);
    /// assert_eq!((first.index(), second.index()), (0, 1));
    /// drop(first);
    /// assert_eq!(gpus.acquire()?.index(), 0);
    /// # drop(second);
    /// # drop(gpus);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    #[must_use]
    pub fn index(&self) -> usize {
        self.slot().name.expect("a holder has a name")
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
        } else {
            slot.disown();
        }
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("path", &self.semaphore.path()).field("slot", &self.slot().number()).finish()
    }
}
