//! A chain of local-spin stages that releases the previous waiter too late. After J. H. Anderson, M. Moir, *Using
//! local-spin k-exclusion algorithms to improve wait-free object implementations*, Distributed Computing 11(1), 1997;
//! the mistake is deliberate.
//!
//! ```text
//!  8          last := compare-and-swap(Q[j], u, (p, l))
//!             if last:
//!  7              P[j][u] := true
//!     else as `anderson-moir-dsm`
//! ```
//!
//! Departures: those of `anderson-moir-dsm`, whose code this is, with lines 7 and 8 in the other order.
//!
//! Guarantees: k-exclusion, bounded exit; starvation-freedom without crashes. Fails after one crash, although k is 2:
//! starvation-freedom, and even deadlock-freedom. If a process crashes between the two lines, the waiter in u is never
//! released: Q leads releasing processes to another cell.
use doorway_memory::{Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Condition::{Crashes, Tso},
    Size,
    claim::{fails, holds},
    kexclusion::{
        anderson_moir::{Chain, Stage},
        anderson_moir_dsm::{self, LocalStage, Release},
    },
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "anderson-moir-dsm-late",
    title: "a chain of local-spin stages that releases the previous waiter too late",
    source: "this project; see `anderson-moir-dsm`",
    local_spin: None,
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(BoundedExit),
        fails(StarvationFreedom).under(&[Crashes]),
    ],
    tolerates: &[Tso],
    defect: "a waiter can starve if the next arrival crashes",
    remark: "without crashes it is as claimed for `anderson-moir-dsm`",
    departures: "",
    pinned: &[
        at(3).k(2).finds(399_450),
        at(2).whole().finds(4_720),
        at(3).under(&[Tso]).finds(1_055_254).fences(0),
        at(3).crashes(1).refutes(StarvationFreedom, COUNTEREXAMPLE),
    ],
    ..anderson_moir_dsm::ABOUT
};

/// The lock's type.
pub type Lock<M> = AndersonMoirDsmLate<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> AndersonMoirDsmLate<M> {
    AndersonMoirDsmLate::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub type AndersonMoirDsmLate<M> = Chain<LateStage<M>>;

/// A stage that is entered with lines 7 and 8 in the wrong order.
pub struct LateStage<M: Memory>(LocalStage<M>);

impl<M: Memory> Stage<M> for LateStage<M> {
    fn new(space: &mut impl Space<Mem = M>, name: impl Fn(&'static str) -> Name, n: usize, j: usize) -> Self {
        LateStage(LocalStage::new(space, name, n, j))
    }

    fn enter(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        self.0.enter_with(m, p, Release::AfterReplacing)
    }

    fn leave(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        self.0.leave(m, p)
    }
}

/// Anderson moir dsm late loses a waiter if the next arrival crashes.
const COUNTEREXAMPLE: &str = "\
starvation-freedom FAILS in 29 steps, and stays so (for process 0, 1, 2): process 0 never enters
\x20  1  p0  1   fetch-and-add(X[2], -1) = 2                    -> inside
\x20  2  p1  1   fetch-and-add(X[2], -1) = 1                    -> inside
\x20  3  p2  1   fetch-and-add(X[2], -1) = 0
\x20  4  p0  13  fetch-and-add(X[2], 1) = -1
\x20  5  p0  14  Q[2] = (0, 0)
\x20  6  p0  15  P[2][0][0] := true                             -> out
\x20  7  p0  1   fetch-and-add(X[2], -1) = 0
\x20  8  p0  2   last[2][0] = 0
\x20  9  p0  2   R[2][0][1] = 0
\x20 10  p0  3   P[2][0][1] := false
\x20 11  p0  4   Q[2] = (0, 0)
\x20 12  p0  5   fetch-and-add(R[2][0][0], 1) = 0
\x20 13  p0  6   Q[2] = (0, 0)
\x20 14  p0  8   compare-and-swap(Q[2], (0, 0), (0, 1)) = true
\x20 15  p0  7   P[2][0][0] := true
\x20 16  p0  9   fetch-and-add(R[2][0][0], -1) = 1
\x20 17  p0  10  last[2][0] := 1
\x20 18  p0  11  X[2] = -1
\x20 19  p1  13  fetch-and-add(X[2], 1) = -1
\x20 20  p2  2   last[2][2] = 0
\x20 21  p2  2   R[2][2][1] = 0
\x20 22  p2  3   P[2][2][1] := false
\x20 23  p2  4   Q[2] = (0, 1)
\x20 24  p2  5   fetch-and-add(R[2][0][1], 1) = 0
\x20 25  p2  6   Q[2] = (0, 1)
\x20 26  p2  8   compare-and-swap(Q[2], (0, 1), (2, 1)) = true
\x20 27  p1  14  Q[2] = (2, 1)
\x20 28  p1  15  P[2][2][1] := true                             -> out
\x20 29  p2      crashes
\x20 then for ever
\x20 30  p0  12  P[2][0][1] = false
";
