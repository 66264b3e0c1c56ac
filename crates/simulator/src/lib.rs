//! Seeded runs of an algorithm for up to a thousand processes: how remote references grow.
//!
//! | | |
//! |---|---|
//! | [`measure`] | runs a lock under every [`Schedule`], as a [`Plan`] says, and counts the remote references of passages |
//! | [`Machine`] | the memory it runs on |
//! | [`Growth`], [`Fit`] | how that grows with n, k or how many take part, and which shape it has |
//!
//! What is seen is a lower bound of the worst case. The exact one, for few processes, is the checker's.
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
pub use measure::{Measured, Plan, Unbounded, measure};
pub use schedule::Schedule;
