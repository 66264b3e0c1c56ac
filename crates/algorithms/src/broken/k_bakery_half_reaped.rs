//! The k-Bakery with a reap that stops at the number of the dead process. After R. Danek, *The k-Bakery: Local-spin
//! k-Exclusion Using Non-atomic Reads and Writes*, PODC 2010, Figure 2; the mistake is deliberate.
//!
//! ```text
//! 14-25  of `k-bakery`
//! 25  for each i < p: Want[p][i] := ∞                        (for a dead p; it should be i ≠ p)
//! ```
//!
//! Departures: those of `k-bakery`, whose code this is, except for the reap.
//!
//! Guarantees: k-exclusion, bounded exit. Fails with deaths: deadlock-freedom. Processes with a larger number than
//! the dead process never find out that it is gone.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Reap, Space, Ticket};

use crate::{
    About,
    Condition::{Deaths, Tso},
    Size,
    claim::{fails, holds},
    kexclusion::k_bakery::{self, KBakery},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "k-bakery-half-reaped",
    aliases: &[],
    title: "the k-Bakery with half a reap",
    source: "this project; see `k-bakery`",
    default_n: 2,
    local_spin: None,
    remote: None,
    claims: &[holds(Exclusion), holds(BoundedExit), fails(DeadlockFreedom).under(&[Deaths])],
    tolerates: &[Tso],
    defect: "a death leaves an announcement for which the others wait for ever",
    remark: "without deaths it is `k-bakery`",
    departures: "",
    pinned: &[
        at(2).k(1).finds(852),
        at(2).under(&[Deaths]).refutes(DeadlockFreedom, COUNTEREXAMPLE),
        at(2).k(1).under(&[Tso]).finds(4_122).fences(2),
    ],
    ..k_bakery::ABOUT
};

/// The lock's type.
pub type Lock<M> = KBakeryHalfReaped<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> KBakeryHalfReaped<M> {
    KBakeryHalfReaped::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct KBakeryHalfReaped<M: Memory>(KBakery<M>);

impl<M: Memory> KBakeryHalfReaped<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        KBakeryHalfReaped(KBakery::new(space, n, k))
    }
}

impl<M: Memory> Exclusion<M> for KBakeryHalfReaped<M> {
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

impl<M: Memory> Reap<M> for KBakeryHalfReaped<M> {
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        m.fold(dead, (), |m, (), i| m.at("25").write(&self.0.want[(dead, i)], None))
    }
}

/// Half a reap deadlocks.
const COUNTEREXAMPLE: &str = "\
deadlock-freedom FAILS in 10 steps, and stays so
\x20  1  p0  14  Ticket[0] = 0
\x20  2  p0  14  Want[0][1] := 0
\x20  3  p1  14  Ticket[1] = 0
\x20  4  p1  14  Want[1][0] := 0
\x20  5  p1  15  Ticket[0] = 0
\x20  6  p1  15  Ticket[1] = 0
\x20  7  p1  15  Ticket[1] := 1
\x20  8  p1  16  Want[1][0] := 1
\x20  9  p0      dies
\x20 10  p0      (no access) by another  -> reaped
\x20 then for ever
\x20 11  p1  21  Want[0][1] = 0
";
