//! The k-Bakery, first-in-first-enabled. R. Danek, *The k-Bakery: Local-spin k-Exclusion Using Non-atomic Reads and
//! Writes*, PODC 2010, Figure 2 with its shaded part.
//!
//! ```text
//! 14  for each i ≠ p: Want[p][i] := Ticket[p]                the ticket of the previous passage
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
//! Departures: those of `k-bakery`, whose code this is, except for lines 22 and 23. These skip `Capture[p][p]`, which
//! does not exist: a process does not capture itself.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, first-in-first-enabled, bounded exit. A
//! process that overtakes an earlier arrival captures it before it enters, so that the earlier arrival can follow at
//! once. In distributed shared memory a passage makes 5(N-1) remote memory references.
//!
//! Deaths and aborts are as in `k-bakery`, and leave Capture unchanged. `Capture[p][i]` never exceeds `Ticket[p]`,
//! which stays too, so a later arrival takes a larger ticket and is not captured by what a dead process left behind.
//! A process that is captured by it was waiting already, and may enter: p was allowed to enter with that process
//! ahead of it, and p is not a holder any more. If p dies or aborts in the middle of line 23, then for the processes
//! it has not captured yet it is as if p had not reached the line; p has not entered, so it has not overtaken them.
//! (`broken/k_bakery_fife_reset.rs` shows what happens if `Ticket[p]` does not stay.)
use doorway_memory::{Abort, Exclusion, Memory, Pid, Property::*, Reap, Space, Ticket};

use super::k_bakery::{self, KBakery, PairRegisters};
use crate::{
    About,
    Condition::{Aborts, Crashes, Deaths, Tso},
    Size,
    claim::holds,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "k-bakery-fife",
    aliases: &[],
    title: "the k-Bakery, first-in-first-enabled",
    source: "Danek 2010, Fig. 2, shaded",
    default_n: 2,
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(Fife),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso, Crashes, Deaths, Aborts],
    pinned: &[
        at(2).k(1).finds(2_189),
        at(3).k(1).finds(6_057_217).takes("30 s"),
        at(3).k(2).finds(11_645_431).takes("90 s"),
        at(2).k(1).under(&[Deaths]).finds(90_347),
        at(2).k(1).under(&[Aborts]).finds(76_397),
        at(2).k(1).under(&[Deaths, Aborts]).finds(125_829),
        at(3).k(2).passages(1).under(&[Deaths]).finds(756_799),
        at(2).k(1).under(&[Deaths, Tso]).finds(1_207_441),
        at(2).k(1).under(&[Deaths, Aborts, Tso]).finds(2_413_701).takes("10 s"),
        at(2).under(&[Tso]).finds(7_807).fences(3),
        at(3).k(2).passages(1).under(&[Tso]).finds(583_143).fences(3),
        at(3).k(2).passages(1).needs_fences(),
        at(2).k(1).remote(Some(13), Some(5)),
    ],
    ..k_bakery::ABOUT
};

/// The lock's type.
pub type Lock<M> = KBakeryFife<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> KBakeryFife<M> {
    KBakeryFife::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct KBakeryFife<M: Memory> {
    pub(crate) base: KBakery<M>,
    /// `Capture[i][p]`: the largest ticket with which i has entered, written for p.
    capture: PairRegisters<M, Ticket>,
}

impl<M: Memory> KBakeryFife<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        KBakeryFife { base: KBakery::new(space, n, k), capture: PairRegisters::new(space, "Capture", n, Ticket::ZERO) }
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
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        self.base.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        self.base.wait_unless(m, p, mine, |m| self.captured(m, p, mine))?;
        self.capture.broadcast(m, "23", p, mine)?;
        m.at("23").fence() // without it, the process may enter before an earlier arrival can follow at once
    }

    fn exit(&self, m: &mut M, p: Pid, inside: &()) -> Result<(), M::Halt> {
        self.base.exit(m, p, inside)
    }

    fn recovery(&self) -> Option<&dyn Reap<M>> {
        Some(self)
    }

    fn aborting(&self) -> Option<&dyn Abort<M, Ticket>> {
        Some(self)
    }
}

impl<M: Memory> Abort<M, Ticket> for KBakeryFife<M> {
    fn abort(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.base.abort(m, p, mine)
    }
}

impl<M: Memory> Reap<M> for KBakeryFife<M> {
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        self.base.reap(m, dead)
    }
}
