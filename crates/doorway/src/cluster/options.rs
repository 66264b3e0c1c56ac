//! How a semaphore is opened.
use std::{sync::Arc, time::Duration};

use doorway_etcd::{Address, MIN_TIME, api::Api};

use super::{Error, Semaphore};

/// The default time to live of a lease.
const TIME: Duration = Duration::from_secs(10);

/// Where a semaphore is, and how it is used.
///
/// ```no_run
/// use std::time::Duration;
/// use doorway::cluster::Options;
///
/// let gpus = Options::at("etcd://10.0.0.1:2379")?.time(Duration::from_secs(5)).open("gpu", 2)?;
/// # Ok::<(), doorway::cluster::Error>(())
/// ```
#[derive(Clone)]
pub struct Options {
    pub(super) to: To,
    pub(super) time: Duration,
    pub(super) what: Option<String>,
}

/// A connection, or how to get one.
#[derive(Clone)]
pub(super) enum To {
    Address(Address),
    Api(Arc<dyn Api>),
}

impl Options {
    /// A semaphore at this address: `etcd://host:2379,host:2379`, or `etcds://` for TLS.
    ///
    /// # Errors
    /// If that is not an address.
    pub fn at(address: &str) -> Result<Options, Error> {
        Ok(Options { to: To::Address(address.parse()?), time: TIME, what: None })
    }

    /// A semaphore on a connection of the caller's.
    #[must_use]
    pub fn on(api: Arc<dyn Api>) -> Options {
        Options { to: To::Api(api), time: TIME, what: None }
    }

    /// Sets the time to live of the lease, at least 2 s: how long a process that has died keeps its permit.
    #[must_use]
    pub fn time(self, time: Duration) -> Options {
        Options { time: time.max(MIN_TIME), ..self }
    }

    /// Sets the description of this process. The default is its command line.
    #[must_use]
    pub fn describe(self, what: impl Into<String>) -> Options {
        Options { what: Some(what.into()), ..self }
    }

    /// Opens the semaphore of this name with capacity `k`, and creates it if it does not exist.
    ///
    /// # Errors
    /// If it exists with another capacity, if the name or the capacity is not possible, or if etcd does not answer.
    pub fn open(self, name: &str, k: usize) -> Result<Semaphore, Error> {
        let name = name.to_string();
        doorway_etcd::block(async move { self.opened(name, Some(k), true).await })
    }

    /// As [`open`](Options::open), for asynchronous callers.
    ///
    /// # Errors
    /// As [`open`](Options::open).
    pub async fn open_async(self, name: &str, k: usize) -> Result<Semaphore, Error> {
        let name = name.to_string();
        doorway_etcd::spawn(async move { self.opened(name, Some(k), true).await }).await
    }

    /// Opens an existing semaphore, whatever its capacity.
    ///
    /// # Errors
    /// If there is none, or etcd does not answer.
    pub fn existing(self, name: &str) -> Result<Semaphore, Error> {
        let name = name.to_string();
        doorway_etcd::block(async move { self.opened(name, None, false).await })
    }

    /// Removes a semaphore that no process uses.
    ///
    /// # Errors
    /// If a process uses it, there is none, or etcd does not answer.
    pub fn forget(self, name: &str) -> Result<(), Error> {
        let name = name.to_string();
        doorway_etcd::block(async move { self.forgotten(name).await })
    }

    /// The names of all semaphores.
    ///
    /// # Errors
    /// If etcd does not answer.
    pub fn names(self) -> Result<Vec<String>, Error> {
        doorway_etcd::block(async move { self.listed().await })
    }

    /// The version of the server.
    ///
    /// # Errors
    /// If etcd does not answer.
    pub fn server_version(self) -> Result<String, Error> {
        doorway_etcd::block(async move { self.version().await })
    }
}
