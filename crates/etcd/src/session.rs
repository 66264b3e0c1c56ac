//! A session: what the processes of one caller do on one set of keys, under one lease.
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use doorway_memory::Pid;
use tokio::{sync, time::sleep};

use crate::{
    Address, Error, Lease,
    api::{Answer, Api, Outcome, Transaction},
    client::Client,
    queue::{Joined, Successor},
    runtime,
};

/// How long a request without a lease is tried.
const PATIENCE: Duration = Duration::from_secs(6);

/// The first pause after a request that failed, and the longest.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);
const MAX_PAUSE: Duration = Duration::from_millis(500);

/// The shortest time to live of a lease that etcd grants reliably.
pub const MIN_TIME: Duration = Duration::from_secs(2);

/// What a session is about.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The prefix of all its keys; it ends in `/`.
    pub prefix: String,
    /// The capacity that its queue is asked for, so that joining it can find out at once whether the caller may enter.
    pub k: usize,
    /// The time to live of its lease.
    pub time: Duration,
    /// Whether those who enter claim names, so that whoever leaves can give its own to the next waiter.
    pub names: bool,
    /// A key with a value without which nobody can join its queue.
    pub guard: Option<(String, String)>,
}

/// A connection with a lease, and what its processes have joined and claimed.
pub struct Session {
    api: Arc<dyn Api>,
    settings: Settings,
    lease: sync::Mutex<Option<Arc<Lease>>>,
    pub(crate) state: Mutex<State>,
    trips: AtomicU64,
    /// How many keys were made for passages.
    pub(crate) passages: AtomicU64,
}

/// What the processes of a session have in etcd.
#[derive(Default)]
pub(crate) struct State {
    /// By process: where it is in the queue.
    pub(crate) joined: HashMap<Pid, Joined>,
    /// By process: the names that it has, as keys, with their numbers and the revisions of the claims.
    pub(crate) claims: HashMap<Pid, HashMap<String, (usize, i64)>>,
    /// By process: what others may read about it.
    pub(crate) descriptions: HashMap<Pid, String>,
    /// Who is next, while there are holders with names.
    pub(crate) successor: Option<Successor>,
}

impl Session {
    /// A session at this address. It connects when it is first asked.
    ///
    /// # Errors
    /// If the environment names a user without a password, or a certificate that cannot be read.
    pub fn new(address: &Address, settings: Settings) -> Result<Arc<Session>, Error> {
        Ok(Session::with(Arc::new(Client::new(address)?), settings))
    }

    /// A session on a connection of the caller's.
    #[must_use]
    pub fn with(api: Arc<dyn Api>, settings: Settings) -> Arc<Session> {
        let settings = Settings { time: settings.time.max(MIN_TIME), ..settings };
        let (lease, state) = (sync::Mutex::default(), Mutex::default());
        Arc::new(Session { api, settings, lease, state, trips: AtomicU64::new(0), passages: AtomicU64::new(0) })
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The connection.
    #[must_use]
    pub fn api(&self) -> &Arc<dyn Api> {
        &self.api
    }

    /// The number of transactions so far: of round trips to the cluster, without those for the lease.
    #[must_use]
    pub fn round_trips(&self) -> u64 {
        self.trips.load(SeqCst)
    }

    /// The lease: the current one or, if that is lost, a new one.
    ///
    /// # Errors
    /// If the cluster does not answer, or refuses.
    pub async fn lease(&self) -> Result<Arc<Lease>, Error> {
        let mut lease = self.lease.lock().await;
        if let Some(lease) = lease.as_ref().filter(|lease| !lease.remaining().is_zero()) {
            return Ok(lease.clone());
        }
        let new = self.persist(PATIENCE, || Box::pin(Lease::grant(self.api.clone(), self.settings.time))).await?;
        Ok(lease.insert(Arc::new(new)).clone())
    }

    /// Takes a lease for lost, whatever its time: the next one is a new one.
    pub async fn lose(&self, id: i64) {
        let mut lease = self.lease.lock().await;
        if lease.as_ref().is_some_and(|lease| lease.id() == id) {
            *lease = None;
        }
    }

    /// Ends the lease, and with it everything that is held under it.
    pub async fn end(&self) {
        let lease = self.lease.lock().await.take();
        if let Some(lease) = lease {
            // Without an answer it expires.
            let _ = self.api.revoke(lease.id()).await;
        }
    }

    /// Sets what others may read about process `p`.
    pub fn describe(&self, p: Pid, description: String) {
        self.state().descriptions.insert(p, description);
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes a transaction, again and again until there is an answer; not for longer than the lease is valid, if the
    /// session has one.
    ///
    /// # Errors
    /// If the cluster does not answer, or refuses.
    pub async fn transact(&self, transaction: Transaction) -> Result<Outcome, Error> {
        Ok(self.transact_noting(transaction).await?.0)
    }

    /// The same; and whether it was asked more than once.
    pub(crate) async fn transact_noting(&self, transaction: Transaction) -> Result<(Outcome, bool), Error> {
        let lease = self.lease.lock().await.clone();
        let times = AtomicU64::new(0);
        let ask = || {
            self.trips.fetch_add(1, SeqCst);
            times.fetch_add(1, SeqCst);
            self.api.transact(transaction.clone())
        };
        let answer = match lease {
            None => self.persist(PATIENCE, ask).await,
            Some(lease) => tokio::select! {
                answer = self.persist(Duration::MAX, ask) => answer,
                () = lease.falls_below(Duration::ZERO) => Err(Error::Lost),
            },
        };
        Ok((answer?, times.load(SeqCst) > 1))
    }

    /// Asks until there is an answer, or the patience is over.
    async fn persist<'a, T>(&self, patience: Duration, ask: impl Fn() -> Answer<'a, T>) -> Result<T, Error> {
        runtime::check_fork()?;
        let (begun, mut pause) = (Instant::now(), PAUSE);
        loop {
            match ask().await {
                Err(error) if error.is_temporary() && begun.elapsed() < patience => {}
                answer => return answer,
            }
            sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }
}
