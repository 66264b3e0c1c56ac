//! Lamport's bakery. L. Lamport, CACM 17(8), 1974; here as in R. Danek, *The k-Bakery*, PODC 2010, Figure 1.
//!
//! ```text
//!  3  choosing[p] := true
//!  4  number[p] := 1 + max(number[1], …, number[N])
//!  5  choosing[p] := false                                   (doorway ends)
//!  7  await not choosing[i]                                  for each i
//!  8  await number[i] = 0 or (number[i], i) >= (number[p], p)
//!     critical section
//! 10  number[p] := 0
//! ```
//!
//! Departures: the names are Lamport's; the figure has `Doorway` and `Ticket`. Line 4 is N reads, one after the other,
//! as the texts intend. A process skips itself on lines 7 and 8, where the conditions would hold at once.
//!
//! Guarantees: mutual exclusion, starvation-freedom, first-come-first-served, bounded exit; also on safe registers,
//! where a read that overlaps a write returns any value.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Condition::{SafeRegisters, Tso},
    LocalSpin, Size,
    claim::{bypass, holds},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "bakery",
    aliases: &["lamport1974"],
    title: "Lamport's bakery",
    source: "Lamport 1974; Danek 2010, Fig. 1",
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(Fcfs),
        bypass(Some(0)),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso, SafeRegisters],
    remark: "numbers grow until a moment at which no process competes",
    pinned: &[
        at(2).finds(218),
        at(3).finds(12_173),
        at(4).finds(926_989),
        at(2).under(&[SafeRegisters]).finds(817),
        at(3).under(&[SafeRegisters]).finds(89_905),
        at(3).under(&[Tso]).finds(45_278).fences(2),
        at(2).needs_fences(),
        at(2).remote(Some(10), None),
        at(3).remote(Some(14), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Bakery<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> Bakery<M> {
    Bakery::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct Bakery<M: Memory> {
    choosing: Vec<M::Reg<bool>>,
    number: Vec<M::Reg<Ticket>>,
}

impl<M: Memory> Bakery<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        Bakery {
            choosing: space.per_process("choosing", n, false),
            number: space.per_process("number", n, Ticket::ZERO),
        }
    }
}

impl<M: Memory> Exclusion<M> for Bakery<M> {
    type Place = Ticket;
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        m.at("3").write(&self.choosing[p], true)?;
        m.at("3").fence()?; // without it, a process that misses `choosing` may also miss the new number
        let max = m.fold(self.number.len(), Ticket::ZERO, |m, max, i| Ok(max.max(m.at("4").read(&self.number[i])?)))?;
        m.at("4").write(&self.number[p], max.next())?;
        m.at("5").write(&self.choosing[p], false)?;
        m.at("5").fence()?; // without it, two processes may both pass line 8 before either number is visible
        Ok(max.next())
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        m.each_but(p, self.number.len(), |m, i| {
            m.at("7").until(&self.choosing[i], |choosing| !choosing)?;
            m.at("8").until(&self.number[i], move |number| number == Ticket::ZERO || (number, i) >= (mine, p))
        })
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("10").write(&self.number[p], Ticket::ZERO)
    }
}
