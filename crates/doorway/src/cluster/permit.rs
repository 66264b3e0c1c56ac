//! What a holder has.
use std::{future::Future, time::Duration};

use super::{Error, passage::Passage};

/// A lease is taken for lost when less than this part of its time remains.
const RESERVE: u32 = 5;

/// A permit of a [`Semaphore`](super::Semaphore) of a cluster. Dropping it releases it.
pub struct Permit {
    pub(super) passage: Passage,
}

impl Permit {
    /// The index of this holder: from 0 to k - 1, and unlike that of any other holder.
    #[must_use]
    pub fn index(&self) -> usize {
        self.passage.inside().0
    }

    /// The token: larger than those of all earlier holders with the same index.
    ///
    /// A resource that refuses every token smaller than the largest it has seen is safe from a holder that has lost its
    /// permit and does not know.
    #[must_use]
    pub fn token(&self) -> u64 {
        self.passage.inside().1
    }

    /// The revision at which this holder joined the queue: the order of arrival.
    #[must_use]
    pub fn arrival(&self) -> i64 {
        self.passage.session.arrival(self.passage.p).unwrap_or(0)
    }

    /// Whether etcd still has this permit. It takes a round trip, and may be out of date when it arrives.
    ///
    /// # Errors
    /// If etcd does not answer.
    pub fn is_valid(&self) -> Result<bool, Error> {
        doorway_etcd::block(self.validity())
    }

    /// As [`is_valid`](Permit::is_valid), for asynchronous callers.
    ///
    /// # Errors
    /// If etcd does not answer.
    pub async fn is_valid_async(&self) -> Result<bool, Error> {
        doorway_etcd::spawn(self.validity()).await
    }

    fn validity(&self) -> impl Future<Output = Result<bool, Error>> + Send + use<> {
        let (session, lease, p) = (self.passage.session.clone(), self.passage.lease.clone(), self.passage.p);
        async move { Ok(!lease.remaining().is_zero() && session.is_valid(p).await?) }
    }

    /// For how long the permit is valid for certain, if the lease is not renewed any more.
    ///
    /// It is counted from when the latest renewal was sent, on a clock that goes on while the machine is suspended.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.passage.lease.remaining()
    }

    /// The time to live of the lease.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.passage.lease.time()
    }

    /// Returns when the permit is lost, or may soon be: a fifth of the lease's time before. The holder should stop now.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + use<> {
        self.falls_below(self.time() / RESERVE)
    }

    /// Returns when the permit is valid for certain for less than this time.
    pub fn falls_below(&self, least: Duration) -> impl Future<Output = ()> + Send + use<> {
        let lease = self.passage.lease.clone();
        doorway_etcd::spawn(async move { lease.falls_below(least).await })
    }

    /// Releases the permit, and waits until etcd has confirmed it.
    ///
    /// # Errors
    /// If etcd does not answer. Then the permit is released when its lease ends.
    pub fn release(mut self) -> Result<(), Error> {
        self.passage.leave_blocking()
    }

    /// As [`release`](Permit::release), for asynchronous callers.
    ///
    /// # Errors
    /// As [`release`](Permit::release).
    pub async fn release_async(mut self) -> Result<(), Error> {
        doorway_etcd::spawn(async move { Ok(self.passage.leave().await?) }).await
    }
}
