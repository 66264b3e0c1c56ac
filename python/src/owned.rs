//! Permits and places that own what they borrow, for objects without a lifetime: all unsafe code of this crate.
#![allow(unsafe_code, reason = "extends a borrow of what the same structure keeps alive")]
use std::{
    mem::{ManuallyDrop, transmute},
    sync::Arc,
    time::Instant,
};

use doorway::process::{Error, Interrupter, Permit, Semaphore, Waiter};

/// A permit that keeps its semaphore open.
pub(crate) struct OwnedPermit {
    /// Dropped before what it borrows.
    permit: ManuallyDrop<Permit<'static>>,
    _semaphore: Arc<Semaphore>,
}

/// A position in the queue that keeps its semaphore open.
pub(crate) struct OwnedWaiter {
    /// `None` only while it is waited on. Dropped before what it borrows, because it is the first field.
    place: Option<Waiter<'static>>,
    semaphore: Arc<Semaphore>,
}

impl OwnedPermit {
    fn new(permit: Permit<'_>, semaphore: Arc<Semaphore>) -> OwnedPermit {
        // SAFETY: the permit borrows `semaphore`, as both callers show, which is on the heap and is neither moved nor
        // dropped as long as the `Arc` beside it exists. The permit never leaves this structure, and `drop` ends it first.
        let permit = unsafe { transmute::<Permit<'_>, Permit<'static>>(permit) };
        OwnedPermit { permit: ManuallyDrop::new(permit), _semaphore: semaphore }
    }

    /// Acquires a permit if one is free.
    pub(crate) fn try_acquire(semaphore: &Arc<Semaphore>) -> Result<Option<OwnedPermit>, Error> {
        Ok(semaphore.try_acquire()?.map(|permit| OwnedPermit::new(permit, semaphore.clone())))
    }

    pub(crate) fn index(&self) -> usize {
        self.permit.index()
    }
}

impl Drop for OwnedPermit {
    fn drop(&mut self) {
        // SAFETY: it is dropped here and nowhere else, and not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.permit) }
    }
}

impl OwnedWaiter {
    /// Joins the queue.
    pub(crate) fn arrive(semaphore: &Arc<Semaphore>) -> Result<OwnedWaiter, Error> {
        let place = semaphore.line_up()?;
        // SAFETY: as in `OwnedPermit::new`. The place leaves this structure only in `wait_with`, which puts it back or
        // makes a permit of it; fields are dropped in the order of their declaration.
        let place = unsafe { transmute::<Waiter<'_>, Waiter<'static>>(place) };
        Ok(OwnedWaiter { place: Some(place), semaphore: semaphore.clone() })
    }

    pub(crate) fn is_admitted(&self) -> bool {
        self.place.as_ref().is_some_and(Waiter::is_admitted)
    }

    pub(crate) fn interrupter(&mut self) -> Option<Interrupter> {
        self.place.as_mut().map(Waiter::interrupter)
    }

    /// As [`Waiter::wait_deadline`] without a deadline.
    pub(crate) fn wait(self) -> Result<Result<OwnedPermit, OwnedWaiter>, Error> {
        self.wait_with(|place| place.wait_deadline(None))
    }

    /// As [`Waiter::wait_deadline`].
    pub(crate) fn wait_deadline(self, deadline: Option<Instant>) -> Result<Result<OwnedPermit, OwnedWaiter>, Error> {
        self.wait_with(|place| place.wait_deadline(deadline))
    }

    /// As [`Waiter::wait_briefly`].
    pub(crate) fn wait_briefly(self, deadline: Instant) -> Result<Result<OwnedPermit, OwnedWaiter>, Error> {
        self.wait_with(|place| place.wait_briefly(Some(deadline)))
    }

    fn wait_with(
        mut self,
        wait: impl FnOnce(Waiter<'static>) -> Result<Result<Permit<'static>, Waiter<'static>>, Error>,
    ) -> Result<Result<OwnedPermit, OwnedWaiter>, Error> {
        let Some(place) = self.place.take() else { unreachable!("only waiting takes it, which consumes `self`") };
        Ok(match wait(place)? {
            Ok(permit) => Ok(OwnedPermit::new(permit, self.semaphore.clone())),
            Err(place) => {
                self.place = Some(place);
                Err(self)
            }
        })
    }
}
