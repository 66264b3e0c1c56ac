//! A passage: from joining the queue to leaving it.
use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use doorway_algorithms::kexclusion::fischer_queue_names::FischerQueueNames;
use doorway_etcd::{Error as EtcdError, Etcd, Lease, Session, replay};
use doorway_memory::{Exclusion, Pid, Ticket, Value};
use tokio::time::{Instant as Timer, sleep, sleep_until};

use super::Error;

/// How long dropping a place or a permit waits until it is out of the queue.
const MAX_DROP: Duration = Duration::from_secs(2);

/// The pause before a caller that has lost its lease while it waited joins again.
const PAUSE: Duration = Duration::from_millis(100);

/// A process of the algorithm that is in the queue. Dropping it leaves the queue.
pub(super) struct Passage {
    pub(super) session: Arc<Session>,
    lock: Arc<FischerQueueNames<Etcd>>,
    pub(super) p: Pid,
    pub(super) lease: Arc<Lease>,
    /// What the exit section needs, once it has entered: the name and the token.
    inside: Option<(usize, Ticket)>,
    is_over: bool,
}

impl Passage {
    /// Joins the queue.
    pub(super) async fn join(
        session: Arc<Session>,
        lock: Arc<FischerQueueNames<Etcd>>,
        p: Pid,
    ) -> Result<Passage, EtcdError> {
        let lease = session.lease().await?;
        // From here on the key may exist, so that the passage must be left even if this future is dropped.
        let mut passage = Passage { session, lock, p, lease, inside: None, is_over: false };
        match passage.doorway().await {
            // A lease that was lost without notice.
            Err(EtcdError::Lost) => passage.join_anew().await?,
            joined => joined?,
        }
        Ok(passage)
    }

    async fn doorway(&self) -> Result<(), EtcdError> {
        replay(&self.session, |m| self.lock.doorway(m, self.p)).await
    }

    /// Joins the queue, at its end, under a new lease.
    async fn join_anew(&mut self) -> Result<(), EtcdError> {
        self.session.forget(self.p);
        self.session.lose(self.lease.id()).await;
        self.lease = self.session.lease().await?;
        self.doorway().await
    }

    /// The same for a waiter, which keeps trying until its deadline if the cluster does not answer; false after that.
    async fn join_again(&mut self, deadline: Option<Instant>) -> Result<bool, EtcdError> {
        loop {
            let joined = self.join_anew().await;
            let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            match joined {
                Ok(()) => return Ok(true),
                Err(error) if error != EtcdError::Lost && !error.is_temporary() => return Err(error),
                Err(_) if is_late => return Ok(false),
                Err(_) => sleep(PAUSE).await,
            }
        }
    }

    /// Waits until the process may enter; false after the deadline, when it has left the queue.
    ///
    /// If the lease is lost meanwhile, joins again, at the end.
    pub(super) async fn enter(&mut self, deadline: Option<Instant>) -> Result<bool, EtcdError> {
        loop {
            let (lock, p) = (self.lock.clone(), self.p);
            let entered = {
                let session = self.session.clone();
                let mut waiting = pin!(replay(&session, |m| lock.wait(m, p, &())));
                match deadline {
                    None => Some(waiting.await),
                    Some(deadline) => tokio::select! {
                        biased;
                        entered = &mut waiting => Some(entered),
                        // What is left does not wait for other processes.
                        () = sleep_until(Timer::from_std(deadline)) => match session.is_admitted(p) {
                            true => Some(waiting.await),
                            false => None,
                        },
                    },
                }
            };
            let Some(entered) = entered else {
                self.leave().await?;
                return Ok(false);
            };
            match entered {
                Ok(inside) => {
                    self.inside = Some(inside);
                    return Ok(true);
                }
                Err(EtcdError::Lost) => {
                    if !self.join_again(deadline).await? {
                        self.is_over = true;
                        return Ok(false);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Leaves the queue: the exit section of a holder, or the abort of a waiter.
    pub(super) async fn leave(&mut self) -> Result<(), EtcdError> {
        if self.is_over {
            return Ok(());
        }
        self.is_over = true;
        let (lock, p, inside) = (&self.lock, self.p, self.inside);
        replay(&self.session, |m| match &inside {
            Some(inside) => lock.exit(m, p, inside),
            None => lock.aborting().expect("waiters of this lock can abort").abort(m, p, &()),
        })
        .await
    }

    /// The name and the token of a holder.
    pub(super) fn inside(&self) -> (usize, u64) {
        self.inside.map_or((0, 0), |(name, token)| (name, token.to_word()))
    }

    /// A passage that does not leave the queue when it is dropped, in place of this one.
    fn taken(&mut self) -> Passage {
        let taken = Passage {
            session: self.session.clone(),
            lock: self.lock.clone(),
            p: self.p,
            lease: self.lease.clone(),
            inside: self.inside,
            is_over: self.is_over,
        };
        self.is_over = true;
        taken
    }

    /// Leaves the queue, and waits for that.
    pub(super) fn leave_blocking(&mut self) -> Result<(), Error> {
        let mut passage = self.taken();
        Ok(doorway_etcd::block(async move { passage.leave().await })?)
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        if !self.is_over {
            let mut passage = self.taken();
            // If there is no answer, the lease's end does it.
            doorway_etcd::settle(MAX_DROP, async move {
                let _ = passage.leave().await;
            });
        }
    }
}
