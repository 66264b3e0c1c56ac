//! The shared memory an algorithm runs on, and the protocol it follows there.
//!
//! An algorithm is plain sequential Rust, generic over a [`Memory`]. Every shared access ends in `?`. On real atomics the
//! `?` compiles to nothing; under a model checker it is the place where the process can be stopped. So the source that is
//! shipped is the source that is proved.
//!
//! | | |
//! |---|---|
//! | [`Memory`] | reads, writes, read-modify-writes and the loops [`turns`](Memory::turns), [`fold`](Memory::fold), [`spin`](Memory::spin) |
//! | [`Space`] | where registers come from, each with the paper's name, index and home |
//! | [`Value`], [`Number`] | what fits in a register |
//! | [`Ticket`] | a number that can only be compared and followed |
//! | [`Count`] | a counter that only grows, read in rounds |
//! | [`Linked`], [`Narrow`] | what is in a register for load-linked and store-conditional |
//! | [`Local`] | what a process may carry from one loop turn, or section, to the next |
//! | [`Exclusion`] | the trying protocol: `doorway`, `wait`, `exit`, with a place in line |
//! | [`Part`] | a piece that papers share, with an operation and a rule about what it returns |
//! | [`Property`] | what can be claimed of an algorithm |
//! | [`Cost`] | which accesses are remote |
//! | [`Solo`] | the simplest memory: one process, plain cells; used in the examples here |
//! | [`conformance`] | the tests every memory passes |
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
//! let Ok(()) = lock.wait(&mut solo, 0, &place);
//! let Ok(()) = lock.exit(&mut solo, 0, &place);
//! ```
#![no_std]
extern crate alloc;
#[cfg(feature = "observed")]
extern crate std;

pub mod conformance;
mod cost;
mod count;
mod linked;
mod local;
mod memory;
mod observed;
mod property;
mod protocol;
mod solo;
mod space;
mod ticket;
mod value;

pub use cost::{Cost, FailedCas};
pub use count::Count;
pub use linked::{Linked, Narrow};
pub use local::{Local, Sink, Source};
pub use memory::Memory;
#[cfg(feature = "observed")]
pub use observed::ticket_comparisons;
pub use property::Property;
pub use protocol::{Exclusion, Part};
pub use solo::{Solo, SoloReg};
pub use space::{Home, Name, Space};
pub use ticket::Ticket;
pub use value::{Number, Value};

/// A process' number, from 0.
///
/// ```
/// let p: doorway_memory::Pid = 0;
/// ```
pub type Pid = usize;
