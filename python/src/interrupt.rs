//! Raises an exception in another thread, which executes a lock that does not end.
#![allow(unsafe_code, reason = "PyO3 has no safe function for it")]
use pyo3::{ffi, prelude::*, sync::PyOnceLock, types::PyType};

/// The class of the exception, which only this crate raises.
pub(crate) fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let import = || {
        let module = PyModule::import(py, "fairdoorway._errors")?;
        Ok::<_, PyErr>(module.getattr("_Stuck")?.cast_into::<PyType>()?.unbind())
    };
    Ok(CLASS.get_or_try_init(py, import)?.bind(py))
}

/// Raises the exception in the Python thread of this number, as soon as it executes Python code. 0 is no thread.
pub(crate) fn raise_in(py: Python<'_>, thread: u64) {
    if thread == 0 {
        return;
    }
    if let Ok(class) = class(py) {
        // SAFETY: this thread is attached, as `py` shows; the class is alive, and the interpreter takes a reference of
        // its own. The number of a thread that has ended is not found, which changes nothing.
        unsafe { ffi::PyThreadState_SetAsyncExc(thread as _, class.as_ptr()) };
    }
}
