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
//! as the texts intend. A process does not wait for itself, which lines 7 and 8 would allow at once.
//!
//! Guarantees: mutual exclusion, starvation-freedom, first-come-first-served, bounded exit; even if a read that
//! overlaps a write returns anything at all.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Claim::{Bypass, Holds, SafeRegisters},
    LocalSpin,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "bakery",
    aliases: &["lamport1974"],
    title: "Lamport's bakery",
    source: "Lamport 1974; Danek 2010, Fig. 1",
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(Fcfs),
        Bypass(Some(0)),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        SafeRegisters,
    ],
    remark: "numbers grow as long as someone is always there",
    ..About::LOCK
};

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

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        m.at("3").write(&self.choosing[p], true)?;
        m.at("3").fence()?; // or one who does not see us choose misses the number we choose
        let max = m.fold(self.number.len(), Ticket::ZERO, |m, max, i| Ok(max.max(m.at("4").read(&self.number[i])?)))?;
        m.at("4").write(&self.number[p], max.next())?;
        m.at("5").write(&self.choosing[p], false)?;
        m.at("5").fence()?; // or two look on line 8 before either's number can be seen
        Ok(max.next())
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        m.each_but(p, self.number.len(), |m, i| {
            m.at("7").until(&self.choosing[i], |choosing| !choosing)?;
            m.at("8").until(&self.number[i], move |number| number == Ticket::ZERO || (number, i) >= (mine, p))
        })
    }

    fn exit(&self, m: &mut M, p: Pid, _: &Ticket) -> Result<(), M::Halt> {
        m.at("10").write(&self.number[p], Ticket::ZERO)
    }
}
