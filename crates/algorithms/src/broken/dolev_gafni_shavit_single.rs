//! k-exclusion on non-atomic registers, with one copy of each. After D. Dolev, E. Gafni, N. Shavit, *Toward a non-atomic
//! era: l-exclusion as a test case*, STOC 1988; the omission is ours.
//!
//! ```text
//! 1-3, 5, 7-8, 10, 12  of `dolev-gafni-shavit`
//! ```
//!
//! Departures: those of `dolev-gafni-shavit`, whose code this is but for the second copies, which are left out.
//!
//! Guarantees: on atomic registers those of `dolev-gafni-shavit`. Fails on safe registers: k-exclusion. One reads another's
//! ticket while it is written, first when it chooses its own, and sees a small one, and then when it waits, and sees a large
//! one. Both have the same ticket; it goes in, and the other, whose number is smaller, follows.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Claim::{Crashes, Holds},
    kexclusion::dolev_gafni_shavit::{self, DolevGafniShavit},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "dolev-gafni-shavit-single",
    aliases: &[],
    title: "k-exclusion on non-atomic registers, with one copy of each",
    source: "ours; see `dolev-gafni-shavit`",
    local_spin: None,
    remote: None,
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(KFcfs),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Crashes,
    ],
    remark: "on safe registers it does not exclude: `--registers safe`",
    ..dolev_gafni_shavit::ABOUT
};

/// The lock; see the [module](self).
pub struct DolevGafniShavitSingle<M: Memory>(DolevGafniShavit<M>);

impl<M: Memory> DolevGafniShavitSingle<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        DolevGafniShavitSingle(DolevGafniShavit::in_copies(space, n, k, 1))
    }
}

impl<M: Memory> Exclusion<M> for DolevGafniShavitSingle<M> {
    type Place = (Ticket, Vec<Ticket>);

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Self::Place, M::Halt> {
        self.0.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, place: &Self::Place) -> Result<(), M::Halt> {
        self.0.wait(m, p, place)
    }

    fn inside(&self, place: &Self::Place) -> Self::Place {
        self.0.inside(place)
    }

    fn exit(&self, m: &mut M, p: Pid, place: &Self::Place) -> Result<(), M::Halt> {
        self.0.exit(m, p, place)
    }
}
