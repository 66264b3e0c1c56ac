//! The shared memory of an algorithm, and the sections of a passage.
//!
//! An algorithm is plain sequential Rust, generic over a [`Memory`]. Every shared access ends in `?`. On real atomics the
//! `?` compiles to nothing; under a model checker it is the point at which the process can be stopped. So the source that
//! ships is the source that is checked.
//!
//! | | |
//! |---|---|
//! | [`Memory`] | reads, writes, read-modify-writes and the loops [`turns`](Memory::turns), [`fold`](Memory::fold), [`spin`](Memory::spin) |
//! | [`Space`] | the source of registers, each with the paper's name, index and home |
//! | [`Value`], [`Number`] | the content of a register |
//! | [`Ticket`] | a number that can only be compared and incremented |
//! | [`Tally`] | a number that can only be added to and compared with constants |
//! | [`Count`] | a counter that only grows, read in rounds |
//! | [`Cyclic`] | a number modulo another, of which only differences matter |
//! | [`Linked`], [`Narrow`] | the content of a register for load-linked and store-conditional |
//! | [`Queue`], [`Claim`] | a queue of processes, and names that its first ones claim |
//! | [`Local`] | the private state that a process carries from turn to turn and from section to section |
//! | [`Exclusion`] | a lock: `doorway`, `wait`, `exit` |
//! | [`Reap`], [`Abort`], [`Assign`], [`Fence`] | what some locks can do besides: recover from deaths, let waiters abort, name holders, give them tokens |
//! | [`Part`] | a building block that papers share: an operation, and a rule about its results |
//! | [`Property`] | the properties that are claimed and checked |
//! | [`Cost`] | which accesses are remote memory references |
//! | [`Solo`] | the simplest memory, for one process |
//! | [`conformance`] | the tests that every memory passes |
//! | [`glossary`] | the terms, and the definitions of the properties |
//!
//! # Example: a lock in twenty lines
//!
//! ```
//! use doorway_memory::{Exclusion, Memory, Pid, Solo, Space};
//!
//! struct Peterson<M: Memory> {
//!     flag: Vec<M::Reg<bool>>,
//!     victim: M::Reg<usize>,
//! }
//!
//! impl<M: Memory> Peterson<M> {
//!     fn new(space: &mut impl Space<Mem = M>) -> Self {
//!         Peterson { flag: space.per_process("flag", 2, false), victim: space.shared("victim", 0) }
//!     }
//! }
//!
//! impl<M: Memory> Exclusion<M> for Peterson<M> {
//!     type Place = ();
//!     type Inside = ();
//!     fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
//!         m.at("1").write(&self.flag[p], true)?;
//!         m.at("2").write(&self.victim, p)
//!     }
//!     fn wait(&self, m: &mut M, p: Pid, _: &()) -> Result<(), M::Halt> {
//!         m.spin(|m| Ok(m.at("3").test(&self.flag[1 - p], |up| !up)? || m.at("3").test(&self.victim, |v| v != p)?))
//!     }
//!     fn exit(&self, m: &mut M, p: Pid, _: &()) -> Result<(), M::Halt> {
//!         m.at("4").write(&self.flag[p], false)
//!     }
//! }
//!
//! let mut solo = Solo::new();
//! let lock = Peterson::new(&mut solo);
//! let Ok(place) = lock.doorway(&mut solo, 0);
//! let Ok(inside) = lock.wait(&mut solo, 0, &place);
//! let Ok(()) = lock.exit(&mut solo, 0, &inside);
//! ```
#![no_std]
extern crate alloc;
#[cfg(feature = "observed")]
extern crate std;

pub mod conformance;
mod cost;
mod count;
mod cyclic;
#[doc = include_str!("glossary.md")]
pub mod glossary {}
mod index;
mod linked;
mod local;
mod memory;
mod observed;
mod property;
mod protocol;
mod queue;
mod solo;
mod space;
mod tally;
mod ticket;
mod value;

pub use cost::{Cost, FailedCas};
pub use count::Count;
pub use cyclic::Cyclic;
pub use index::Index;
pub use linked::{Linked, Narrow};
pub use local::{Local, Sink, Source};
pub use memory::Memory;
#[cfg(feature = "observed")]
pub use observed::{queue_questions, tally_comparisons, ticket_comparisons};
pub use property::Property;
pub use protocol::{Abort, Assign, Exclusion, Fence, Part, Reap};
pub use queue::{Claim, Queue};
pub use solo::{Solo, SoloReg};
pub use space::{Home, Name, Registers, Space};
pub use tally::Tally;
pub use ticket::Ticket;
pub use value::{Number, Value};

/// The number of a process, from 0.
pub type Pid = usize;
