//! The Rust half of the Python package `fairdoorway`: semaphores for processes, and the checker.
//!
//! | | |
//! |---|---|
//! | `semaphore.rs` | the class `Semaphore`: opening, acquiring, releasing, forking |
//! | `permit.rs` | what a holder has |
//! | `waiting.rs` | a wait that signals interrupt |
//! | `dispatcher.rs` | the thread that waits for all tasks of a semaphore |
//! | `backend.rs` | a semaphore in a file, or on etcd |
//! | `owned.rs` | permits and places without a lifetime |
//! | `checking/` | the checker: algorithms by name, and locks written in Python |
//! | `interrupt.rs` | an exception in another thread |
//! | `errors.rs` | errors as exceptions |
//!
//! The classes that users see are in `package/fairdoorway`: they add what is shorter in Python.
mod backend;
mod checking;
#[cfg(feature = "etcd")]
mod cluster;
mod dispatcher;
mod errors;
mod interrupt;
mod owned;
mod permit;
mod semaphore;
mod waiting;

use pyo3::prelude::*;

/// The compiled half of `fairdoorway`.
///
/// `gil_used`: on a free-threaded interpreter the GIL is enabled when this module is imported. Its locks rely on the GIL
/// at a fork: no other thread is in the midst of a method then.
#[pymodule(gil_used = true)]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::checking::{
        catalogue::{algorithms, check, survey},
        locks::check_lock,
        report::{Execution, Finding, Report, Step},
        values::{
            Access, Count, Loop, Register, Space, Ticket, Turn, again, all_but, all_of, call, compare_swap, done,
            each_but, fence, fetch_add, fold, read, spin, swap, test, turns, until, update, write,
        },
    };
    #[pymodule_export]
    use super::permit::Permit;
    #[pymodule_export]
    use super::semaphore::{Participant, Semaphore, Waiter, after_fork_in_child, forget, shutdown};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("HAS_ETCD", cfg!(feature = "etcd"))
    }
}
