//! A chain of stages, each process waiting at home, whose last one is let go too late. After J. H. Anderson, M. Moir, *Using
//! local-spin k-exclusion algorithms to improve wait-free object implementations*, Distributed Computing 11(1), 1997; the
//! mistake is ours.
//!
//! ```text
//!  8          last := compare-and-swap(Q[j], u, (p, l))
//!             if last:
//!  7              P[j][u] := true
//!     else as `anderson-moir-dsm`
//! ```
//!
//! Departures: those of `anderson-moir-dsm`, whose code this is but for the order of lines 7 and 8.
//!
//! Guarantees: k-exclusion, bounded exit; starvation-freedom as long as nobody stops. Fails when one process stops for ever,
//! though k is 2: starvation-freedom, and even deadlock-freedom. If it stops between the two lines, whoever waits in u is
//! forgotten: Q leads those who leave to another cell.
use doorway_memory::{Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Claim::Holds,
    kexclusion::{
        anderson_moir::{Chain, Stage},
        anderson_moir_dsm::{self, LocalStage, Release},
    },
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "anderson-moir-dsm-late",
    title: "a chain of stages, each process waiting at home, whose last one is let go too late",
    source: "ours; see `anderson-moir-dsm`",
    claims: &[Holds(Exclusion), Holds(DeadlockFreedom), Holds(StarvationFreedom), Holds(BoundedExit)],
    remark: "after one crash it deadlocks, with `--passages 2`",
    departures: "",
    ..anderson_moir_dsm::ABOUT
};

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
