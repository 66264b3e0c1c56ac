//! The page on which executions of lock algorithms are looked at: its data, a server on the loopback interface, and a
//! report in one file.
//!
//! The terms are those of the [glossary](doorway_memory::glossary). `docs/explorer.md` describes the data.
//!
//! ```
//! use doorway_explorer::{Scenario, execution};
//!
//! let scenario = Scenario::parse([("algorithm", "fast-path")])?;
//! let execution = execution(&scenario, "0.0.1.1.0.0.0.0.0.1.1")?;
//! assert_eq!(execution["states"][11]["broken"][0]["property"], "exclusion");
//! # Ok::<(), String>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`Scenario`] | which executions: an algorithm, its size, the options of `doorway check` |
//! | [`execution`], [`step`] | the execution that takes given choices, as data |
//! | [`graph()`] | every execution, if there are few states |
//! | [`algorithm`], [`found`], [`curves`] | what the source says, what the checker finds, how remote memory references grow |
//! | [`picture`] | an execution as an SVG |
//! | [`Report`], [`surveyed`] | the page with everything in one file, and what it says about an algorithm |
//! | [`serve`] | the page, with a checker behind it |
mod algorithm;
mod execution;
mod graph;
mod page;
mod puzzles;
mod report;
mod scenario;
mod server;
mod source;
mod tables;

pub use doorway_checker::picture;

pub use algorithm::{algorithm, curves, found};
pub use execution::{execution, step};
pub use graph::graph;
pub use report::{Report, surveyed};
pub use scenario::Scenario;
pub use server::{Server, serve};
