//! k-exclusion by reads and writes, whose processes do not announce their entry. After Y. Afek, D. Dolev, E. Gafni, M.
//! Merritt, N. Shavit, *A bounded first-in, first-enabled solution to the l-exclusion problem*, ACM TOPLAS 16(3), 1994;
//! the omission is deliberate.
//!
//! ```text
//! 1-5, 8  of `afek`
//! ```
//!
//! Departures: those of `afek`, whose code this is, without lines 6 and 7.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, k-first-come-first-served, bounded exit.
//! Fails: first-in-first-enabled. Two processes that are still choosing show their previous tickets. A waiter for
//! them can be overtaken by a later arrival that reads their tickets after they have chosen; then it depends on their
//! steps.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Condition::{Crashes, Tso},
    Size, Survey,
    claim::{fails, holds},
    kexclusion::afek::{self, Afek},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "afek-no-e",
    aliases: &[],
    title: "k-exclusion by reads and writes, whose processes do not announce their entry",
    source: "this project; see `afek`",
    default_n: 4,
    survey: Survey::LeftOut,
    local_spin: None,
    remote: None,
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
        fails(Fife),
    ],
    tolerates: &[Tso, Crashes],
    defect: "a waiter can be overtaken while it depends on processes that have not chosen",
    remark: "",
    departures: "",
    pinned: &[at(4).k(2).passages(1).finds(815_633), at(4).passages(1).refutes(Fife, COUNTEREXAMPLE)],
    ..afek::ABOUT
};

/// The lock's type.
pub type Lock<M> = AfekNoE<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> AfekNoE<M> {
    AfekNoE::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct AfekNoE<M: Memory>(Afek<M>);

impl<M: Memory> AfekNoE<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        AfekNoE(Afek::without_e(space, n, k))
    }
}

impl<M: Memory> Exclusion<M> for AfekNoE<M> {
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
}

/// Afek without e waits for two processes that have not chosen.
const COUNTEREXAMPLE: &str = "\
fife FAILS in 18 steps, and stays so: process 1 starts the doorway after process 0 has completed it and enters first, and process 0 still waits
\x20  1  p0  1  X[0] := true
\x20  2  p0  2  T[0] = 0
\x20  3  p0  2  T[1] = 0
\x20  4  p0  2  T[2] = 0
\x20  5  p0  2  T[3] = 0
\x20  6  p0  3  T[0] := 1
\x20  7  p1  1  X[1] := true
\x20  8  p1  2  T[0] = 1
\x20  9  p1  2  T[1] = 0
\x20 10  p1  2  T[2] = 0
\x20 11  p1  2  T[3] = 0
\x20 12  p1  3  T[1] := 2
\x20 13  p1  4  X[0] = true
\x20 14  p1  4  T[0] = 1
\x20 15  p1  4  X[2] = false
\x20 16  p1  4  X[3] = false  -> inside
\x20 17  p2  1  X[2] := true
\x20 18  p3  1  X[3] := true
\x20 then for ever
\x20 19  p0  4  X[1] = true
\x20 20  p0  4  T[1] = 2
\x20 21  p0  4  X[2] = true
\x20 22  p0  4  T[2] = 0
\x20 23  p0  4  X[3] = true
\x20 24  p0  4  T[3] = 0
";
