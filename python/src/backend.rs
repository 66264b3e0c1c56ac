//! A semaphore in a file or, with the feature `etcd`, on etcd.
use std::{
    sync::Arc,
    time::{Instant, SystemTime},
};

use doorway::process;
use pyo3::prelude::*;

use crate::{
    errors::{self, Class},
    owned::OwnedPermit,
    semaphore::Participant,
    waiting::{self, Interrupts},
};

#[cfg(feature = "etcd")]
use doorway::cluster;

/// An open semaphore.
#[derive(Clone)]
pub(crate) enum Backend {
    File(Arc<process::Semaphore>),
    #[cfg(feature = "etcd")]
    Cluster(Arc<cluster::Semaphore>),
}

/// A permit of an open semaphore.
pub(crate) enum Held {
    File(OwnedPermit),
    #[cfg(feature = "etcd")]
    Cluster(cluster::Permit),
}

impl Backend {
    /// Opens the semaphore, and creates it if it does not exist.
    pub(crate) fn open(
        py: Python<'_>,
        name: &str,
        k: usize,
        on: Option<&str>,
        description: Option<&str>,
    ) -> PyResult<Backend> {
        let Some(on) = on else {
            let opened = py.detach(|| process::Semaphore::open(name, k)).map_err(errors::of_file)?;
            // Not the command line of the interpreter: `sys.argv` is what the user called.
            let description = description.map_or_else(|| command_line(py), str::to_string);
            return Ok(Backend::File(Arc::new(opened.describe(description))));
        };
        on_etcd(py, name, k, on, description)
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> Option<String> {
        match self {
            Backend::File(semaphore) => Some(semaphore.path().to_string_lossy().into_owned()),
            #[cfg(feature = "etcd")]
            Backend::Cluster(_) => None,
        }
    }

    /// Acquires a permit if there are fewer than k holders and waiters.
    pub(crate) fn try_acquire(&self, py: Python<'_>) -> PyResult<Option<Held>> {
        match self {
            Backend::File(semaphore) => {
                let acquired = py.detach(|| OwnedPermit::try_acquire(semaphore)).map_err(errors::of_file)?;
                Ok(acquired.map(Held::File))
            }
            #[cfg(feature = "etcd")]
            Backend::Cluster(semaphore) => {
                Ok(py.detach(|| semaphore.try_acquire()).map_err(crate::errors::of_cluster)?.map(Held::Cluster))
            }
        }
    }

    /// Acquires a permit, waiting until the deadline at most.
    pub(crate) fn acquire(
        &self,
        py: Python<'_>,
        deadline: Option<Instant>,
        interrupts: &Interrupts,
    ) -> PyResult<Option<Held>> {
        match self {
            Backend::File(semaphore) => Ok(waiting::acquire(py, semaphore, deadline, interrupts)?.map(Held::File)),
            #[cfg(feature = "etcd")]
            Backend::Cluster(semaphore) => {
                Ok(crate::cluster::acquire(py, semaphore, deadline, interrupts)?.map(Held::Cluster))
            }
        }
    }

    /// The holders and the waiters at one moment, each in order of arrival.
    pub(crate) fn participants(&self, py: Python<'_>) -> PyResult<(Vec<Participant>, Vec<Participant>)> {
        match self {
            Backend::File(semaphore) => {
                let (holders, waiters) = py.detach(|| semaphore.participants());
                Ok((holders.into_iter().map(of_file).collect(), waiters.into_iter().map(of_file).collect()))
            }
            #[cfg(feature = "etcd")]
            Backend::Cluster(semaphore) => {
                let found = py.detach(|| semaphore.participants()).map_err(crate::errors::of_cluster)?;
                let shown = |found: Vec<cluster::Participant>| found.into_iter().map(of_cluster).collect();
                Ok((shown(found.0), shown(found.1)))
            }
        }
    }
}

impl Held {
    pub(crate) fn index(&self) -> usize {
        match self {
            Held::File(permit) => permit.index(),
            #[cfg(feature = "etcd")]
            Held::Cluster(permit) => permit.index(),
        }
    }

    pub(crate) fn token(&self) -> Option<u64> {
        match self {
            Held::File(_) => None,
            #[cfg(feature = "etcd")]
            Held::Cluster(permit) => Some(permit.token()),
        }
    }

    /// Releases the permit.
    #[cfg_attr(not(feature = "etcd"), allow(unused_variables))]
    pub(crate) fn release(self, py: Python<'_>) -> PyResult<()> {
        match self {
            // It takes no system call but to wake the next waiter: it is not worth detaching.
            Held::File(permit) => drop(permit),
            #[cfg(feature = "etcd")]
            Held::Cluster(permit) => py.detach(|| permit.release()).map_err(crate::errors::of_cluster)?,
        }
        Ok(())
    }
}

/// The words of `sys.argv`.
fn command_line(py: Python<'_>) -> String {
    let words = PyModule::import(py, "sys").and_then(|sys| sys.getattr("argv")?.extract::<Vec<String>>());
    words.map_or_else(|_| "python".to_string(), |words| words.join(" "))
}

fn seconds(time: SystemTime) -> f64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

fn of_file(found: process::Participant) -> Participant {
    let process::Participant { pid, since, what, index, alive, command, .. } = found;
    Participant { pid, description: what, since: seconds(since), index, alive, command, host: None }
}

#[cfg(feature = "etcd")]
fn of_cluster(found: cluster::Participant) -> Participant {
    let cluster::Participant { host, pid, since, what, index, .. } = found;
    let since = seconds(since);
    Participant { pid, description: what, since, index, alive: true, command: None, host: Some(host) }
}

#[cfg(feature = "etcd")]
fn on_etcd(py: Python<'_>, name: &str, k: usize, on: &str, description: Option<&str>) -> PyResult<Backend> {
    // The connection belongs to a thread, which a forked child does not have.
    static USER: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    if *USER.get_or_init(std::process::id) != std::process::id() {
        return Err(Class::Forked.error(
            "this process was forked from one that uses etcd, and cannot use it; start processes with \"spawn\" or \"forkserver\"",
        ));
    }
    let description = description.map_or_else(|| command_line(py), str::to_string);
    let open = || cluster::Options::at(on)?.describe(description).open(name, k);
    Ok(Backend::Cluster(Arc::new(py.detach(open).map_err(crate::errors::of_cluster)?)))
}

#[cfg(not(feature = "etcd"))]
fn on_etcd(_: Python<'_>, _: &str, _: usize, on: &str, _: Option<&str>) -> PyResult<Backend> {
    Err(Class::Unavailable.error(format!(
        "`{on}` needs a build of fairdoorway with the feature `etcd`, which this one does not have; \
         build the wheel with `--features etcd`, or leave out `on` for the processes of one machine"
    )))
}
