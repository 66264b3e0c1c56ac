//! Lamport's bakery, whose dead are reaped by its exit. L. Lamport, CACM 17(8), 1974; here as in R. Danek, *The k-Bakery*,
//! PODC 2010, Figure 1. The text has no reap: that its exit is none is shown here.
//!
//! ```text
//!  3-10  of `bakery`
//! 10  number[p] := 0                                         (also for a dead p)
//! ```
//!
//! Departures: those of `bakery`, whose code this is.
//!
//! Guarantees: what `bakery` does, as long as nobody dies. Fails if someone does: deadlock-freedom. One that dies while it
//! chooses is choosing for ever, and everyone waits for it on line 7.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Claim::{FailsWithDeaths, Holds},
    mutex::bakery::{self, Bakery},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "bakery-reaped",
    aliases: &[],
    title: "Lamport's bakery, its dead reaped by its exit",
    source: "ours; see `k-bakery`",
    default_n: 2,
    local_spin: None,
    claims: &[Holds(Exclusion), Holds(BoundedExit), FailsWithDeaths(DeadlockFreedom)],
    remark: "without `--deaths` it is `bakery`",
    ..bakery::ABOUT
};

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

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        self.0.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.wait(m, p, mine)
    }

    fn exit(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.exit(m, p, mine)
    }

    const REAPABLE: bool = true;

    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        self.0.exit(m, dead, &Ticket::ZERO) // which does not look at the ticket
    }
}
