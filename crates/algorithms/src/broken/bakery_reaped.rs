//! Lamport's bakery, with its exit as the reap. L. Lamport, CACM 17(8), 1974; here as in R. Danek, *The k-Bakery*, PODC
//! 2010, Figure 1. The text has no reap: this shows that the exit cannot serve as one.
//!
//! ```text
//!  3-10  of `bakery`
//! 10  number[p] := 0                                         (also for a dead p)
//! ```
//!
//! Departures: those of `bakery`, whose code this is.
//!
//! Guarantees: those of `bakery`, without deaths. Fails with deaths: deadlock-freedom. A process that dies while
//! choosing keeps `choosing` up for ever, and all others wait for it on line 7.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Reap, Space, Ticket};

use crate::{
    About,
    Condition::{Deaths, Tso},
    Size,
    claim::{fails, holds},
    mutex::bakery::{self, Bakery},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "bakery-reaped",
    aliases: &[],
    title: "Lamport's bakery, with its exit as the reap",
    source: "this project; see `k-bakery`",
    default_n: 2,
    local_spin: None,
    claims: &[holds(Exclusion), holds(BoundedExit), fails(DeadlockFreedom).under(&[Deaths])],
    tolerates: &[Tso],
    defect: "a process that dies while it chooses blocks the others for ever",
    remark: "without deaths it is `bakery`",
    pinned: &[
        at(2).finds(218),
        at(2).under(&[Deaths]).refutes(DeadlockFreedom, COUNTEREXAMPLE),
        at(2).under(&[Tso]).finds(677).fences(2),
    ],
    ..bakery::ABOUT
};

/// The lock's type.
pub type Lock<M> = BakeryReaped<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> BakeryReaped<M> {
    BakeryReaped::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct BakeryReaped<M: Memory>(Bakery<M>);

impl<M: Memory> BakeryReaped<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        BakeryReaped(Bakery::new(space, n))
    }
}

impl<M: Memory> Exclusion<M> for BakeryReaped<M> {
    type Place = Ticket;
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        self.0.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.wait(m, p, mine)
    }

    fn exit(&self, m: &mut M, p: Pid, inside: &()) -> Result<(), M::Halt> {
        self.0.exit(m, p, inside)
    }

    fn recovery(&self) -> Option<&dyn Reap<M>> {
        Some(self)
    }
}

impl<M: Memory> Reap<M> for BakeryReaped<M> {
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        self.0.exit(m, dead, &())
    }
}

/// Bakery deadlocks if a process dies while choosing.
const COUNTEREXAMPLE: &str = "\
deadlock-freedom FAILS in 8 steps, and stays so
\x20  1  p0  3   choosing[0] := true
\x20  2  p0  4   number[0] = 0
\x20  3  p0  4   number[1] = 0
\x20  4  p0  4   number[0] := 1
\x20  5  p0  5   choosing[0] := false
\x20  6  p1  3   choosing[1] := true
\x20  7  p1      dies
\x20  8  p1  10  number[1] := 0 by another  -> reaped
\x20 then for ever
\x20  9  p0  7   choosing[1] = true
";
