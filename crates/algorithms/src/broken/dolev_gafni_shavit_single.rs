//! k-exclusion on non-atomic registers, with one copy of each. After D. Dolev, E. Gafni, N. Shavit, *Toward a
//! non-atomic era: l-exclusion as a test case*, STOC 1988; the omission is deliberate.
//!
//! ```text
//! 1-3, 5, 7-8, 10, 12  of `dolev-gafni-shavit`
//! ```
//!
//! Departures: those of `dolev-gafni-shavit`, whose code this is, without the second copies.
//!
//! Guarantees: on atomic registers those of `dolev-gafni-shavit`. Fails on safe registers: k-exclusion. A process
//! reads another's ticket during the write: first when it chooses its own, and gets a small value, then when it
//! waits, and gets a large one. Both processes have the same ticket; the first enters, and the other, whose number is
//! smaller, follows.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Condition::{Crashes, SafeRegisters, Tso},
    Size,
    claim::{fails, holds},
    kexclusion::dolev_gafni_shavit::{self, DolevGafniShavit},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "dolev-gafni-shavit-single",
    aliases: &[],
    title: "k-exclusion on non-atomic registers, with one copy of each",
    source: "this project; see `dolev-gafni-shavit`",
    local_spin: None,
    remote: None,
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
        fails(Exclusion).under(&[SafeRegisters]),
    ],
    tolerates: &[Tso, Crashes],
    defect: "on safe registers it does not exclude",
    remark: "on atomic registers one copy of each is enough",
    pinned: &[
        at(2).k(1).finds(5_260),
        at(2).under(&[Tso]).finds(21_271).fences(2),
        at(2).under(&[SafeRegisters]).refutes(Exclusion, COUNTEREXAMPLE),
    ],
    ..dolev_gafni_shavit::ABOUT
};

/// The lock's type.
pub type Lock<M> = DolevGafniShavitSingle<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> DolevGafniShavitSingle<M> {
    DolevGafniShavitSingle::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct DolevGafniShavitSingle<M: Memory>(DolevGafniShavit<M>);

impl<M: Memory> DolevGafniShavitSingle<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        DolevGafniShavitSingle(DolevGafniShavit::in_copies(space, n, k, 1))
    }
}

impl<M: Memory> Exclusion<M> for DolevGafniShavitSingle<M> {
    type Place = (Ticket, Vec<Ticket>);
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Self::Place, M::Halt> {
        self.0.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, place: &Self::Place) -> Result<(), M::Halt> {
        self.0.wait(m, p, place)
    }

    fn exit(&self, m: &mut M, p: Pid, inside: &()) -> Result<(), M::Halt> {
        self.0.exit(m, p, inside)
    }
}

/// A ticket that is read twice while it is written.
const COUNTEREXAMPLE: &str = "\
exclusion FAILS in 20 steps
\x20  1  p0  1   X[0] := true begins
\x20  2  p0  1   X[0] := true ends
\x20  3  p0  2   N[0][1] = 0
\x20  4  p0  2   N[1][1] = 0
\x20  5  p0  3   N[0][1] := 1 begins
\x20  6  p1  1   X[1] := true begins
\x20  7  p1  1   X[1] := true ends
\x20  8  p1  2   N[0][1] = 0 while it is written
\x20  9  p1  2   N[1][1] = 0
\x20 10  p1  3   N[1][1] := 1 begins
\x20 11  p1  3   N[1][1] := 1 ends
\x20 12  p1  5   A[1][0][1] = 0
\x20 13  p1  7   X[0] = true
\x20 14  p1  8   A[0][1][1] = 0
\x20 15  p1  10  N[0][1] = 2 while it is written  -> inside
\x20 16  p0  3   N[0][1] := 1 ends
\x20 17  p0  5   A[0][1][1] = 0
\x20 18  p0  7   X[1] = true
\x20 19  p0  8   A[1][0][1] = 0
\x20 20  p0  10  N[1][1] = 1                      -> inside
";
