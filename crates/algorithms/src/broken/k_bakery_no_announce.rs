//! The k-Bakery without its first announcement. R. Danek, *The k-Bakery: Local-spin k-Exclusion Using Non-atomic Reads
//! and Writes*, PODC 2010, section 4: the race that line 14 prevents.
//!
//! ```text
//! 15-25  of `k-bakery`
//! ```
//!
//! Departures: those of `k-bakery`, whose code this is, without line 14.
//!
//! Guarantees: bounded exit. Fails: k-exclusion. A process that has a ticket but has not announced it seems absent, so
//! processes with larger tickets enter before it, and it follows, since its ticket is the smallest.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Condition::Tso,
    Size,
    claim::{fails, holds},
    kexclusion::k_bakery::{self, KBakery},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "k-bakery-no-announce",
    aliases: &[],
    title: "the k-Bakery without its first announcement",
    source: "Danek 2010, section 4",
    default_n: 2,
    claims: &[fails(Exclusion), holds(BoundedExit)],
    tolerates: &[Tso],
    defect: "a process that reads tickets unannounced lets a second one enter",
    remark: "the text describes the race for k = 1; a larger k takes as many more holders",
    remote: None,
    departures: "",
    pinned: &[
        at(2).k(1).finds(945),
        at(3).k(2).finds(626_262),
        at(2).under(&[Tso]).finds(8_917).fences(1),
        at(2).refutes(Exclusion, COUNTEREXAMPLE),
        at(2).k(1).remote(Some(7), Some(3)),
    ],
    ..k_bakery::ABOUT
};

/// The lock's type.
pub type Lock<M> = KBakeryNoAnnounce<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> KBakeryNoAnnounce<M> {
    KBakeryNoAnnounce::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct KBakeryNoAnnounce<M: Memory>(KBakery<M>);

impl<M: Memory> KBakeryNoAnnounce<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        KBakeryNoAnnounce(KBakery::new(space, n, k))
    }
}

impl<M: Memory> Exclusion<M> for KBakeryNoAnnounce<M> {
    type Place = Ticket;
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        self.0.choose(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.wait(m, p, mine)
    }

    fn exit(&self, m: &mut M, p: Pid, inside: &()) -> Result<(), M::Halt> {
        self.0.exit(m, p, inside)
    }
}

/// K bakery without its first announcement admits a second holder.
const COUNTEREXAMPLE: &str = "\
exclusion FAILS in 10 steps
\x20  1  p0  15  Ticket[0] = 0
\x20  2  p0  15  Ticket[1] = 0
\x20  3  p0  15  Ticket[0] := 1
\x20  4  p1  15  Ticket[0] = 1
\x20  5  p1  15  Ticket[1] = 0
\x20  6  p1  15  Ticket[1] := 2
\x20  7  p1  16  Want[1][0] := 2
\x20  8  p1  21  Want[0][1] = ∞   -> inside
\x20  9  p0  16  Want[0][1] := 1
\x20 10  p0  21  Want[1][0] = 2   -> inside
";
