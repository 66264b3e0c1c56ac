//! The checker: algorithms by name, and locks written in Python.
//!
//! | | |
//! |---|---|
//! | `options.rs` | the options of a check as a model |
//! | `worker.rs` | a check in a thread of its own, so that signals and endless loops end it |
//! | `catalogue.rs` | `check` and `survey` by name |
//! | `values.rs` | what a lock written in Python is made of: registers, accesses, loops, tickets |
//! | `locks.rs` | such a lock as one that the checker can execute |
//! | `report.rs` | what was found, as Python objects |
pub(crate) mod catalogue;
pub(crate) mod locks;
mod options;
pub(crate) mod report;
pub(crate) mod values;
mod worker;
