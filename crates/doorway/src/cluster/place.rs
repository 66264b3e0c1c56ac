//! A position in the queue.
use std::time::{Duration, Instant};

use super::{Error, Permit, passage::Passage};

/// A position in the queue of a [`Semaphore`](super::Semaphore). Dropping it is an abort.
pub struct Place {
    pub(super) passage: Passage,
    pub(super) queue: String,
}

impl Place {
    /// The number of processes ahead in the queue, holders included. It takes a round trip.
    ///
    /// # Errors
    /// If the lease is lost, or etcd does not answer.
    pub fn ahead(&self) -> Result<usize, Error> {
        let (session, queue, p) = (self.passage.session.clone(), self.queue.clone(), self.passage.p);
        Ok(doorway_etcd::block(async move { session.ahead(&queue, p).await })?)
    }

    /// Waits until the caller may enter.
    ///
    /// # Errors
    /// If etcd does not answer.
    pub fn wait(self) -> Result<Permit, Error> {
        Ok(self.wait_until(None)?.expect("a wait without a deadline does not abort"))
    }

    /// Waits for at most this time. On timeout, aborts and returns `None`.
    ///
    /// # Errors
    /// If etcd does not answer.
    pub fn wait_timeout(self, time: Duration) -> Result<Option<Permit>, Error> {
        self.wait_until(Instant::now().checked_add(time))
    }

    fn wait_until(self, deadline: Option<Instant>) -> Result<Option<Permit>, Error> {
        doorway_etcd::block(async move { self.entered(deadline).await })
    }

    /// As [`wait`](Place::wait), for asynchronous callers. Dropping the future is an abort.
    ///
    /// # Errors
    /// If etcd does not answer.
    pub async fn wait_async(self) -> Result<Permit, Error> {
        let entered = doorway_etcd::spawn(async move { self.entered(None).await }).await?;
        Ok(entered.expect("a wait without a deadline does not abort"))
    }

    pub(super) async fn entered(mut self, deadline: Option<Instant>) -> Result<Option<Permit>, Error> {
        Ok(self.passage.enter(deadline).await?.then(|| Permit { passage: self.passage }))
    }
}
