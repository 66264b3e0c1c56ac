//! Errors as Python exceptions. The classes are in `_errors.py`.
use doorway::process::Error;
use pyo3::{
    exceptions::{PyFileNotFoundError, PyOSError, PyValueError},
    prelude::*,
    sync::PyOnceLock,
    types::PyType,
};

/// An exception class of the package.
#[derive(Clone, Copy)]
pub(crate) enum Class {
    Capacity,
    Closed,
    Release,
    Forked,
    File,
    #[cfg(feature = "etcd")]
    Cluster,
    #[cfg(not(feature = "etcd"))]
    Unavailable,
    Check,
    Model,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::Capacity => "CapacityError",
            Class::Closed => "ClosedError",
            Class::Release => "ReleaseError",
            Class::Forked => "ForkedError",
            Class::File => "FileError",
            #[cfg(feature = "etcd")]
            Class::Cluster => "ClusterError",
            #[cfg(not(feature = "etcd"))]
            Class::Unavailable => "UnavailableError",
            Class::Check => "CheckError",
            Class::Model => "ModelError",
        }
    }

    /// An exception of this class with a message.
    pub(crate) fn error(self, message: impl Into<String>) -> PyErr {
        let message = message.into();
        Python::attach(|py| match self.class(py) {
            Ok(class) => PyErr::from_type(class, message),
            Err(error) => error,
        })
    }

    pub(crate) fn class(self, py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
        static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
        let module = MODULE.get_or_try_init(py, || PyModule::import(py, "fairdoorway._errors").map(Bound::unbind))?;
        Ok(module.bind(py).getattr(self.name())?.cast_into::<PyType>()?)
    }
}

/// An error of a semaphore on etcd.
#[cfg(feature = "etcd")]
pub(crate) fn of_cluster(error: doorway::cluster::Error) -> PyErr {
    use doorway::cluster::Error;
    let message = error.to_string();
    match error {
        Error::OtherK { .. } => Class::Capacity.error(message),
        Error::Size { .. } => PyValueError::new_err(message),
        Error::Missing { .. } => PyFileNotFoundError::new_err(message),
        _ => Class::Cluster.error(message),
    }
}

/// An error of a semaphore in a file.
pub(crate) fn of_file(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Name { .. } | Error::Size { .. } => PyValueError::new_err(message),
        Error::OtherK { .. } => Class::Capacity.error(message),
        Error::Missing { .. } => PyFileNotFoundError::new_err(message),
        Error::Forked { .. } => Class::Forked.error(message),
        // With a number, Python chooses the class: `PermissionError`, for example.
        Error::Io { source, .. } | Error::Full { source, .. } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, message)),
            None => PyOSError::new_err(message),
        },
        _ => Class::File.error(message),
    }
}
