//! Seeded executions of an algorithm for up to a thousand processes: how remote memory references (RMRs) grow.
//!
//! The terms are those of the [glossary](doorway_memory::glossary).
//!
//! | | |
//! |---|---|
//! | [`measure`] | runs a lock under every [`Schedule`], as a [`Plan`] says, and counts the RMRs of passages |
//! | [`Machine`] | the memory on which the lock runs |
//! | [`Growth`], [`Fit`] | how the RMRs grow with n, k or the number of participants, and the shape of the curve |
//!
//! The worst passage of the sampled executions is a lower bound of the worst case. The checker computes the exact worst
//! case for few processes.
//!
//! ```
//! use doorway_algorithms::kexclusion::k_bakery::KBakery;
//! use doorway_memory::Cost;
//! use doorway_simulator::{Plan, measure};
//!
//! let found = measure(&Plan::new(32, Cost::Dsm), |space| KBakery::new(space, 32, 2));
//! assert_eq!(found.worst, 4 * 31);
//! ```
mod execution;
mod fit;
mod growth;
mod machine;
mod measure;
mod random;
mod ready;
mod registers;
mod schedule;

pub use fit::{Fit, Shape, Variable};
pub use growth::Growth;
pub use machine::{Halt, Machine, Reg};
pub use measure::{MAX_PROCESSES, Measured, Plan, Unbounded, measure};
pub use schedule::Schedule;
