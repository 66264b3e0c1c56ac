//! The first-in-first-enabled k-Bakery with a reap that resets too much. After R. Danek, *The k-Bakery: Local-spin
//! k-Exclusion Using Non-atomic Reads and Writes*, PODC 2010, Figure 2 with its shaded part; the mistake is deliberate.
//!
//! ```text
//! 14-25  of `k-bakery-fife`
//! 25  for each i ≠ p: Want[p][i] := ∞                        (also for a dead p)
//!  *  Ticket[p] := 0                                         (for a dead p)
//! ```
//!
//! Departures: those of `k-bakery-fife`, whose code this is, except for the reap.
//!
//! Guarantees: k-exclusion, bounded exit, without deaths. Fails with deaths: k-exclusion. Resetting `Ticket[p]` loses
//! the largest ticket, but `Capture[p][i]` still has it, and captures later arrivals with smaller tickets.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Reap, Space, Ticket};

use crate::{
    About,
    Condition::{Deaths, Tso},
    Size,
    claim::{fails, holds},
    kexclusion::k_bakery_fife::{self, KBakeryFife},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "k-bakery-fife-reset",
    aliases: &[],
    title: "the k-Bakery, first-in-first-enabled, with a reap that resets the ticket",
    source: "this project; see `k-bakery-fife`",
    local_spin: None,
    remote: None,
    claims: &[holds(Exclusion), holds(BoundedExit), fails(Exclusion).under(&[Deaths])],
    tolerates: &[Tso],
    defect: "after deaths, old captures count again and two processes enter",
    remark: "without deaths it is `k-bakery-fife`; with them, five passages in all are enough",
    departures: "",
    pinned: &[
        at(2).k(1).finds(2_189),
        at(2).passages_in_all(5).under(&[Deaths]).refutes(Exclusion, COUNTEREXAMPLE),
        at(2).k(1).under(&[Tso]).finds(7_807).fences(3),
    ],
    ..k_bakery_fife::ABOUT
};

/// The lock's type.
pub type Lock<M> = KBakeryFifeReset<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> KBakeryFifeReset<M> {
    KBakeryFifeReset::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct KBakeryFifeReset<M: Memory>(KBakeryFife<M>);

impl<M: Memory> KBakeryFifeReset<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        KBakeryFifeReset(KBakeryFife::new(space, n, k))
    }
}

impl<M: Memory> Exclusion<M> for KBakeryFifeReset<M> {
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

impl<M: Memory> Reap<M> for KBakeryFifeReset<M> {
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        self.0.reap(m, dead)?;
        m.at("*").write(&self.0.base.ticket[dead], Ticket::ZERO)
    }
}

/// A reap that resets the ticket lets old captures count.
const COUNTEREXAMPLE: &str = "\
exclusion FAILS in 38 steps
\x20  1  p0  14  Ticket[0] = 0
\x20  2  p0  14  Want[0][1] := 0
\x20  3  p0  15  Ticket[0] = 0
\x20  4  p1  14  Ticket[1] = 0
\x20  5  p1  14  Want[1][0] := 0
\x20  6  p1  15  Ticket[0] = 0
\x20  7  p1  15  Ticket[1] = 0
\x20  8  p1  15  Ticket[1] := 1
\x20  9  p0  15  Ticket[1] = 1
\x20 10  p0  15  Ticket[0] := 2
\x20 11  p0  16  Want[0][1] := 2
\x20 12  p1      dies
\x20 13  p1  25  Want[1][0] := ∞ by another
\x20 14  p0  21  Want[1][0] = ∞
\x20 15  p0  22  Capture[1][0] = 0
\x20 16  p0  23  Capture[0][1] := 2          -> inside
\x20 17  p1  *   Ticket[1] := 0 by another   -> reaped
\x20 18  p1  14  Ticket[1] = 0
\x20 19  p1  14  Want[1][0] := 0
\x20 20  p0      dies
\x20 21  p0  25  Want[0][1] := ∞ by another
\x20 22  p0  *   Ticket[0] := 0 by another   -> reaped
\x20 23  p0  14  Ticket[0] = 0
\x20 24  p0  14  Want[0][1] := 0
\x20 25  p0  15  Ticket[0] = 0
\x20 26  p0  15  Ticket[1] = 0
\x20 27  p1  15  Ticket[0] = 0
\x20 28  p0  15  Ticket[0] := 1
\x20 29  p0  16  Want[0][1] := 1
\x20 30  p1  15  Ticket[1] = 0
\x20 31  p1  15  Ticket[1] := 1
\x20 32  p1  16  Want[1][0] := 1
\x20 33  p0  21  Want[1][0] = 1
\x20 34  p0  22  Capture[1][0] = 0
\x20 35  p1  21  Want[0][1] = 1
\x20 36  p1  22  Capture[0][1] = 2
\x20 37  p0  23  Capture[0][1] := 1          -> inside
\x20 38  p1  23  Capture[1][0] := 1          -> inside
";
