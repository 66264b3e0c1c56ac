//! The page on which executions of lock algorithms are looked at: its data, a server on the loopback interface, and a
//! report in one file.
//!
//! The terms are those of the [glossary](doorway_memory::glossary). `docs/explorer.md` describes the data.
//!
//! | | |
//! |---|---|
//! | [`Scenario`] | which executions: an algorithm, its size, the options of `doorway check` |
//! | [`execution`] | the execution that takes given choices, as data |
//! | [`graph()`] | every execution, if there are few states |
//! | [`algorithm`], [`found`], [`curves`] | what the source says, what the checker finds, how remote memory references grow |
//! | [`picture`] | an execution as an SVG |
//! | [`Report`] | the page with everything in one file |
//! | [`serve`] | the page, with a checker behind it |
mod algorithm;
mod execution;
mod graph;
mod page;
mod picture;
mod puzzles;
mod report;
mod scenario;
mod server;
mod source;
mod tables;

pub use algorithm::{algorithm, curves, found};
pub use execution::execution;
pub use graph::graph;
pub use picture::picture;
pub use report::Report;
pub use scenario::Scenario;
pub use server::{Server, serve};
