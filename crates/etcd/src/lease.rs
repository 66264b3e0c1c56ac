//! Leases, and when they may have expired.
use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch::{self, Receiver, Sender},
    task::AbortHandle,
    time::sleep,
};

use crate::{Error, api::Api, client::MAX_ANSWER, clock::Moment, runtime};

/// A lease is renewed after this part of its time has passed.
const RENEWALS: u32 = 3;

/// The pause after a renewal that failed.
const PAUSE: Duration = Duration::from_millis(100);

/// How often the clock is looked at: the runtime's timers stand still while the machine is suspended.
const TICK: Duration = Duration::from_millis(100);

/// A lease that is renewed until it is dropped.
///
/// It is taken for lost when it may have expired: when its time has passed since the latest renewal that succeeded was
/// *sent*. The server counts from when it received that, so it is never earlier.
#[derive(Debug)]
pub struct Lease {
    id: i64,
    time: Duration,
    /// Until when it is valid for certain; none after it was lost.
    until: Receiver<Option<Moment>>,
    tasks: [AbortHandle; 2],
}

impl Lease {
    pub(crate) async fn grant(api: Arc<dyn Api>, time: Duration) -> Result<Lease, Error> {
        let sent = Moment::now();
        let id = api.grant(time).await?;
        let (sender, until) = watch::channel(Some(sent.after(time)));
        let sender = Arc::new(sender);
        let renewing = runtime::handle().spawn(renew(api, id, time, sender.clone())).abort_handle();
        let ending = runtime::handle().spawn(end(sender)).abort_handle();
        Ok(Lease { id, time, until, tasks: [renewing, ending] })
    }

    /// The number of the lease.
    #[must_use]
    pub fn id(&self) -> i64 {
        self.id
    }

    /// The time to live.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.time
    }

    /// For how long it is valid for certain, if it is not renewed: none once it is lost.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.until.borrow().map_or(Duration::ZERO, Moment::remaining)
    }

    /// Returns when less than this time remains; with no time, when the lease is lost.
    pub async fn falls_below(&self, least: Duration) {
        let mut until = self.until.clone();
        if least.is_zero() {
            // The clock is looked at for all waiters by one task.
            let _ = until.wait_for(Option::is_none).await;
            return;
        }
        loop {
            let spare = match self.remaining().checked_sub(least) {
                Some(spare) if !self.remaining().is_zero() => spare,
                _ => return,
            };
            tokio::select! {
                () = sleep(spare.clamp(Duration::from_millis(1), TICK)) => {}
                Ok(()) = until.changed() => {}
            }
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

/// Renews a lease until it is lost.
async fn renew(api: Arc<dyn Api>, id: i64, time: Duration, until: Arc<Sender<Option<Moment>>>) {
    // Short enough that another server can be asked before a holder has to stop.
    let within = (time / (2 * RENEWALS)).min(MAX_ANSWER);
    let mut pause = time / RENEWALS;
    while until.borrow().is_some() {
        sleep(pause).await;
        let sent = Moment::now();
        let renewed = match api.keep_alive(id, within).await {
            Ok(renewed) => renewed,
            Err(_) => {
                pause = PAUSE;
                continue;
            }
        };
        pause = renewed.map_or(PAUSE, |time| time / RENEWALS);
        // Once it was lost, it stays so.
        until.send_if_modified(|until| {
            let was_valid = until.is_some();
            *until = until.and(renewed.map(|time| sent.after(time)));
            was_valid
        });
    }
}

/// Takes a lease for lost when its time has passed.
async fn end(until: Arc<Sender<Option<Moment>>>) {
    while until.borrow().is_some_and(|until| !until.remaining().is_zero()) {
        sleep(TICK).await;
    }
    until.send_replace(None);
}
