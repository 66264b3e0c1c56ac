//! The k-Bakery, first-in-first-enabled. R. Danek, *The k-Bakery: Local-spin k-Exclusion Using Non-atomic Reads and
//! Writes*, PODC 2010, Figure 2 with its shaded part.
//!
//! ```text
//! 14  for each i ≠ p: Want[p][i] := Ticket[p]                the ticket of the last passage
//! 15  Ticket[p] := 1 + max(Ticket[1], …, Ticket[N])          (doorway ends)
//! 16  for each i ≠ p: Want[p][i] := Ticket[p]
//! 17  captured := false
//! 18  predecessor_set := all but p
//! 19  while |predecessor_set| >= k and not captured:
//! 20      for each i in predecessor_set:
//! 21          if (Ticket[p], p) < (Want[i][p], i): predecessor_set := predecessor_set - {i}
//! 22      for each i: if Ticket[p] < Capture[i][p]: captured := true
//! 23  for each i: Capture[p][i] := Ticket[p]
//!     critical section
//! 25  for each i ≠ p: Want[p][i] := ∞
//! ```
//!
//! Departures: those of `k-bakery`, whose code this is but for lines 22 and 23. These pass over `Capture[p][p]`, which
//! does not exist: a process does not capture itself.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, first-in-first-enabled, bounded
//! exit. Who enters before one that came earlier has captured it on the way, so that one can follow at once. In a
//! distributed shared memory a passage makes 5(N-1) remote references.
//!
//! Death and giving up are as in `k-bakery`, and leave Capture as it is. `Capture[p][i]` is never above `Ticket[p]`, which
//! stays too, so whoever takes a ticket later takes a larger one and is not captured by what a dead one has left behind. Who
//! is captured by it was in line already, and may go in: p was allowed inside with that one ahead of it, and p is no longer
//! there. If p dies or gives up in the midst of line 23, those it has not told of are as if p had never got so far, and it
//! was not inside, so it has not overtaken them. (`broken/k_bakery_fife_reset.rs` is what happens if `Ticket[p]` does not
//! stay.)
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use super::k_bakery::{self, KBakery, Told};
use crate::{
    About,
    Claim::{Abandons, Crashes, Deaths, Holds},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "k-bakery-fife",
    aliases: &[],
    title: "the k-Bakery, first-in-first-enabled",
    source: "Danek 2010, Fig. 2, shaded",
    default_n: 2,
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(KFcfs),
        Holds(Fife),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Crashes,
        Deaths,
        Abandons,
    ],
    ..k_bakery::ABOUT
};

/// The lock; see the [module](self).
pub struct KBakeryFife<M: Memory> {
    pub(crate) base: KBakery<M>,
    /// `Capture[i][p]`: the largest ticket with which i has entered, as p is told.
    capture: Told<M, Ticket>,
}

impl<M: Memory> KBakeryFife<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        KBakeryFife { base: KBakery::new(space, n, k), capture: Told::new(space, "Capture", n, Ticket::ZERO) }
    }

    /// Line 22.
    fn captured(&self, m: &mut M, p: Pid, mine: Ticket) -> Result<bool, M::Halt> {
        m.fold(self.base.ticket.len(), false, |m, captured, i| {
            let by_i = i != p && m.at("22").test(&self.capture[(i, p)], |ticket| mine < ticket)?;
            Ok(captured || by_i)
        })
    }
}

impl<M: Memory> Exclusion<M> for KBakeryFife<M> {
    type Place = Ticket;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        self.base.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        self.base.wait_unless(m, p, mine, |m| self.captured(m, p, mine))?;
        self.capture.tell(m, "23", p, mine)?;
        m.at("23").fence() // or we are inside before one who came earlier can follow at once
    }

    fn exit(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.base.exit(m, p, mine)
    }

    const ABANDONABLE: bool = true;

    fn abandon(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.base.abandon(m, p, mine)
    }

    const REAPABLE: bool = true;

    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        self.base.reap(m, dead)
    }
}
