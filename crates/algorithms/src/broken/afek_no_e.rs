//! k-exclusion by reads and writes, whose processes do not say that they have entered. After Y. Afek, D. Dolev, E. Gafni,
//! M. Merritt, N. Shavit, *A bounded first-in, first-enabled solution to the l-exclusion problem*, ACM TOPLAS 16(3), 1994;
//! the omission is ours.
//!
//! ```text
//! 1-5, 8  of `afek`
//! ```
//!
//! Departures: those of `afek`, whose code this is but for lines 6 and 7, which are left out.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, k-first-come-first-served, bounded exit.
//! Fails: first-in-first-enabled. Two who are still choosing show their last tickets, and one who waits for them can be passed
//! by a latecomer that looks when they have chosen; then it waits for their steps.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Claim::{Crashes, Fails, Holds},
    Survey,
    kexclusion::afek::{self, Afek},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "afek-no-e",
    aliases: &[],
    title: "k-exclusion by reads and writes, whose processes do not say that they have entered",
    source: "ours; see `afek`",
    default_n: 4,
    survey: Survey::LeftOut,
    local_spin: None,
    remote: None,
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(KFcfs),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Fails(Fife),
        Crashes,
    ],
    remark: "with `--passages 1` it has 815,633 states",
    departures: "",
    ..afek::ABOUT
};

/// The lock; see the [module](self).
pub struct AfekNoE<M: Memory>(Afek<M>);

impl<M: Memory> AfekNoE<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        AfekNoE(Afek::without_e(space, n, k))
    }
}

impl<M: Memory> Exclusion<M> for AfekNoE<M> {
    type Place = Ticket;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        self.0.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.wait(m, p, mine)
    }

    fn inside(&self, mine: &Ticket) -> Ticket {
        self.0.inside(mine)
    }

    fn exit(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.exit(m, p, mine)
    }
}
