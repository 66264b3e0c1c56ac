//! What a holder has.
use std::{
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use pyo3::prelude::*;

use crate::{backend::Held, errors::Class};

/// A permit, whichever object refers to it.
pub(crate) struct Inner {
    name: Arc<str>,
    index: usize,
    token: Option<u64>,
    /// The process that is the holder.
    pid: u32,
    /// `None` after its release. Locked for a moment only, and only by threads that are attached.
    held: Mutex<Option<Held>>,
}

impl Inner {
    pub(crate) fn new(name: &Arc<str>, held: Held) -> Arc<Inner> {
        let (index, token) = (held.index(), held.token());
        Arc::new(Inner { name: name.clone(), index, token, pid: process::id(), held: Mutex::new(Some(held)) })
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_released(&self) -> bool {
        self.held().is_none()
    }

    /// Releases the permit.
    pub(crate) fn release(&self, py: Python<'_>) -> PyResult<()> {
        if self.pid != process::id() {
            return Err(Class::Forked.error(format!(
                "this permit of `{}` belongs to process {}, which was forked; acquire one in this process",
                self.name, self.pid
            )));
        }
        let held = self.held().take();
        match held {
            Some(held) => held.release(py),
            None => Err(Class::Release.error(format!("this permit of `{}` was released already", self.name))),
        }
    }
}

/// A permit of a semaphore. The end of its `with` block, or `release`, releases it.
#[pyclass(frozen, module = "fairdoorway")]
pub(crate) struct Permit {
    pub(crate) inner: Arc<Inner>,
}

#[pymethods]
impl Permit {
    /// A number from 0 to k - 1 that no other holder has: to choose one of k devices, for example.
    #[getter]
    fn index(&self) -> usize {
        self.inner.index
    }

    /// The fencing token, on etcd: larger than those of all earlier holders with the same index. Otherwise `None`.
    #[getter]
    fn token(&self) -> Option<u64> {
        self.inner.token
    }

    /// Whether the permit was released.
    #[getter]
    fn released(&self) -> bool {
        self.inner.is_released()
    }

    /// Releases the permit before the end of its `with` block, or where there is none.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.release(py)
    }

    fn __reduce__(&self) -> PyResult<()> {
        let why = "a permit cannot be pickled: it belongs to its process; send the semaphore, and acquire one there";
        Err(pyo3::exceptions::PyTypeError::new_err(why))
    }

    fn __repr__(&self) -> String {
        let released = if self.inner.is_released() { ", released" } else { "" };
        format!("<Permit {} of `{}`{released}>", self.inner.index, self.inner.name)
    }
}
