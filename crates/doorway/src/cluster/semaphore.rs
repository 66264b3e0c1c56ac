//! The semaphore: its keys, and the session of this process.
use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use doorway_algorithms::{
    Size,
    kexclusion::fischer_queue_names::{self, FischerQueueNames},
};
use doorway_etcd::{
    Error as EtcdError, Etcd, Keys, Session, Settings,
    api::{Compare, Op, Range, Transaction},
};

use super::{Error, Options, Participant, Permit, Place, options::To, participant::description, passage::Passage};

/// The prefix of all keys.
const PREFIX: &str = "doorway/";

/// The largest capacity: a transaction lists the names.
const MAX_K: usize = 1000;

/// The longest name.
const MAX_NAME: usize = 200;

/// How long the servers are asked for their version, and the pause between two attempts.
const PATIENCE: Duration = Duration::from_secs(6);
const PAUSE: Duration = Duration::from_millis(100);

/// How long dropping a semaphore waits until its lease has ended.
const MAX_DROP: Duration = Duration::from_secs(1);

/// A semaphore for processes on several machines: at most k holders, in order of arrival.
///
/// See the [module](super).
pub struct Semaphore {
    inner: Arc<Inner>,
}

struct Inner {
    session: Arc<Session>,
    lock: Arc<FischerQueueNames<Etcd>>,
    name: String,
    k: usize,
    what: String,
    /// The number of the next passage of this session.
    next: AtomicUsize,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let session = self.session.clone();
        doorway_etcd::settle(MAX_DROP, async move { session.end().await });
    }
}

/// The prefix of a semaphore's keys.
fn prefix(name: &str) -> Result<String, Error> {
    let is_possible = !name.is_empty() && name.chars().count() <= MAX_NAME && !name.contains('/');
    if !is_possible || name.chars().any(char::is_control) {
        return Err(EtcdError::Name { name: name.chars().take(MAX_NAME).collect() }.into());
    }
    Ok(format!("{PREFIX}{name}/"))
}

/// The key of a semaphore's capacity.
fn capacity(prefix: &str) -> String {
    format!("{prefix}K")
}

/// The key of a semaphore's queue.
fn queue(prefix: &str) -> String {
    format!("{prefix}V")
}

impl Options {
    fn session(&self, settings: Settings) -> Result<Arc<Session>, Error> {
        Ok(match &self.to {
            To::Address(address) => Session::new(address, settings)?,
            To::Api(api) => Session::with(api.clone(), settings),
        })
    }

    fn plain_session(&self) -> Result<Arc<Session>, Error> {
        self.session(Settings { prefix: PREFIX.to_string(), k: 1, names: false, time: self.time, guard: None })
    }

    pub(super) async fn opened(self, name: String, k: Option<usize>, creates: bool) -> Result<Semaphore, Error> {
        let prefix = prefix(&name)?;
        if let Some(k) = k.filter(|k| !(1..=MAX_K).contains(k)) {
            return Err(Error::Size { k, max: MAX_K });
        }
        let key = capacity(&prefix);
        let create = Op::Put { key: key.clone(), value: k.unwrap_or(1).to_string().into_bytes(), lease: 0 };
        let outcome = self
            .plain_session()?
            .transact(Transaction {
                when: vec![Compare::Created(key.clone(), 0)],
                then: if creates { vec![create] } else { Vec::new() },
                otherwise: vec![Op::Get(key.clone())],
            })
            .await?;
        let found = match (outcome.held, creates) {
            (true, true) => k.unwrap_or(1),
            (true, false) => return Err(Error::Missing { name }),
            (false, _) => {
                let value = outcome.found.first().and_then(|found| found.first()).map(|entry| entry.value.clone());
                number(&value.unwrap_or_default()).ok_or(EtcdError::Foreign { key: key.clone() })?
            }
        };
        if let Some(asked) = k.filter(|&k| k != found) {
            return Err(Error::OtherK { name, found, asked });
        }
        let guard = Some((key, found.to_string()));
        let session =
            self.session(Settings { prefix: prefix.clone(), k: found, names: true, time: self.time, guard })?;
        let lock = fischer_queue_names::new(&mut Keys::new(prefix), Size { n: usize::MAX, k: found });
        let arguments = || env::args_os().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
        let what = self.what.unwrap_or_else(arguments);
        let next = AtomicUsize::new(0);
        Ok(Semaphore { inner: Arc::new(Inner { session, lock: Arc::new(lock), name, k: found, what, next }) })
    }

    pub(super) async fn forgotten(self, name: String) -> Result<(), Error> {
        let prefix = prefix(&name)?;
        let key = capacity(&prefix);
        let outcome = self
            .plain_session()?
            .transact(Transaction {
                when: vec![Compare::Nothing(format!("{}/", queue(&prefix)))],
                then: vec![Op::Get(key.clone()), Op::Delete(key.clone())],
                otherwise: vec![],
            })
            .await?;
        match &outcome.found[..] {
            _ if !outcome.held => Err(Error::InUse { name }),
            [found, ..] if found.is_empty() => Err(Error::Missing { name }),
            _ => Ok(()),
        }
    }

    pub(super) async fn listed(self) -> Result<Vec<String>, Error> {
        let all = Op::Range(Range { prefix: PREFIX.to_string(), ..Range::default() });
        let outcome = self.plain_session()?.transact(Transaction { then: vec![all], ..Transaction::default() }).await?;
        let name = |key: &str| key.strip_prefix(PREFIX)?.strip_suffix("/K").map(String::from);
        let mut names: Vec<String> = outcome.found.iter().flatten().filter_map(|entry| name(&entry.key)).collect();
        names.sort_unstable();
        Ok(names)
    }

    pub(super) async fn version(self) -> Result<String, Error> {
        let (session, begun) = (self.plain_session()?, Instant::now());
        loop {
            match session.api().version().await {
                // The next server is asked then; or the same one again, if it has no leader at the moment.
                Err(error) if error.is_temporary() && begun.elapsed() < PATIENCE => tokio::time::sleep(PAUSE).await,
                answer => return Ok(answer?),
            }
        }
    }
}

fn number(value: &[u8]) -> Option<usize> {
    str::from_utf8(value).ok()?.parse().ok().filter(|k| (1..=MAX_K).contains(k))
}

impl Semaphore {
    /// Opens the semaphore of this name at this address with capacity `k`, and creates it if it does not exist.
    ///
    /// # Errors
    /// If it exists with another capacity, if address, name or capacity are not possible, or if etcd does not answer.
    pub fn open(address: &str, name: &str, k: usize) -> Result<Semaphore, Error> {
        Options::at(address)?.open(name, k)
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The capacity k: how many holders there may be at once.
    #[must_use]
    pub fn k(&self) -> usize {
        self.inner.k
    }

    /// The number of round trips to etcd so far, without those for the lease.
    #[must_use]
    pub fn round_trips(&self) -> u64 {
        self.inner.session.round_trips()
    }

    /// Joins the queue without waiting.
    ///
    /// # Errors
    /// If the semaphore was removed, or created again with another capacity, or etcd does not answer.
    pub fn arrive(&self) -> Result<Place, Error> {
        let inner = self.inner.clone();
        doorway_etcd::block(async move { inner.arrived().await })
    }

    /// As [`arrive`](Semaphore::arrive), for asynchronous callers.
    ///
    /// # Errors
    /// As [`arrive`](Semaphore::arrive).
    pub async fn arrive_async(&self) -> Result<Place, Error> {
        let inner = self.inner.clone();
        doorway_etcd::spawn(async move { inner.arrived().await }).await
    }

    /// Acquires a permit, waiting in the queue until the caller may enter.
    ///
    /// # Errors
    /// As [`arrive`](Semaphore::arrive).
    pub fn acquire(&self) -> Result<Permit, Error> {
        let inner = self.inner.clone();
        let entered = doorway_etcd::block(async move { inner.entered(None).await })?;
        Ok(entered.expect("a wait without a deadline does not abort"))
    }

    /// As [`acquire`](Semaphore::acquire), for asynchronous callers. Dropping the future is an abort.
    ///
    /// # Errors
    /// As [`arrive`](Semaphore::arrive).
    pub async fn acquire_async(&self) -> Result<Permit, Error> {
        let inner = self.inner.clone();
        let entered = doorway_etcd::spawn(async move { inner.entered(None).await }).await?;
        Ok(entered.expect("a wait without a deadline does not abort"))
    }

    /// Acquires a permit, waiting for at most `time`. On timeout, aborts and returns `None`.
    ///
    /// # Errors
    /// As [`arrive`](Semaphore::arrive).
    pub fn acquire_timeout(&self, time: Duration) -> Result<Option<Permit>, Error> {
        let (inner, deadline) = (self.inner.clone(), Instant::now().checked_add(time));
        doorway_etcd::block(async move { inner.entered(deadline).await })
    }

    /// Acquires a permit if there are fewer than k holders and waiters. Of several concurrent calls, as many succeed as
    /// the capacity allows.
    ///
    /// # Errors
    /// As [`arrive`](Semaphore::arrive).
    pub fn try_acquire(&self) -> Result<Option<Permit>, Error> {
        let inner = self.inner.clone();
        doorway_etcd::block(async move { inner.tried().await })
    }

    /// As [`try_acquire`](Semaphore::try_acquire), for asynchronous callers.
    ///
    /// # Errors
    /// As [`arrive`](Semaphore::arrive).
    pub async fn try_acquire_async(&self) -> Result<Option<Permit>, Error> {
        let inner = self.inner.clone();
        doorway_etcd::spawn(async move { inner.tried().await }).await
    }

    /// The holders and the waiters at one moment, each in order of arrival. A process that may enter counts as a holder.
    ///
    /// # Errors
    /// If etcd does not answer.
    pub fn participants(&self) -> Result<(Vec<Participant>, Vec<Participant>), Error> {
        let inner = self.inner.clone();
        doorway_etcd::block(async move { inner.participants().await })
    }
}

impl Inner {
    fn prefix(&self) -> &str {
        &self.session.settings().prefix
    }

    async fn joined(&self) -> Result<Passage, Error> {
        let p = self.next.fetch_add(1, SeqCst);
        self.session.describe(p, description(&self.what));
        let joined = Passage::join(self.session.clone(), self.lock.clone(), p).await;
        joined.map_err(|error| self.explained(error))
    }

    fn explained(&self, error: EtcdError) -> Error {
        match error {
            EtcdError::Guarded { found: None } => Error::Missing { name: self.name.clone() },
            EtcdError::Guarded { found: Some(found) } => match number(found.as_bytes()) {
                Some(found) => Error::OtherK { name: self.name.clone(), found, asked: self.k },
                None => EtcdError::Foreign { key: capacity(self.prefix()) }.into(),
            },
            error => error.into(),
        }
    }

    async fn arrived(&self) -> Result<Place, Error> {
        Ok(Place { passage: self.joined().await?, queue: queue(self.prefix()) })
    }

    async fn entered(&self, deadline: Option<Instant>) -> Result<Option<Permit>, Error> {
        self.arrived().await?.entered(deadline).await
    }

    async fn tried(&self) -> Result<Option<Permit>, Error> {
        let (holders, waiters) = self.participants().await?;
        if holders.len() + waiters.len() >= self.k {
            return Ok(None);
        }
        // It may have become the (k+1)th meanwhile: then it does not wait.
        self.entered(Some(Instant::now())).await
    }

    async fn participants(&self) -> Result<(Vec<Participant>, Vec<Participant>), Error> {
        let all = Range { prefix: format!("{}/", queue(self.prefix())), values: true, ..Range::default() };
        let then = vec![Op::Range(all)];
        let outcome = self.session.transact(Transaction { then, ..Transaction::default() }).await?;
        let mut holders: Vec<Participant> = outcome.found.iter().flatten().map(Participant::of).collect();
        let waiters = holders.split_off(self.k.min(holders.len()));
        if self.k == 1 {
            holders.iter_mut().for_each(|holder| holder.index = Some(0));
        }
        Ok((holders, waiters))
    }
}
