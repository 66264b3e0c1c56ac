//! A chain of stages. After J. H. Anderson, M. Moir, *Using local-spin k-exclusion algorithms to improve wait-free
//! object implementations*, Distributed Computing 11(1), 1997: the chain for caches.
//!
//! ```text
//!     for j := N-1 down to k:                                stage j lets j of j+1 through
//!  1      if fetch-and-add(X[j], -1) = 0:
//!  2          Q[j] := p
//!  3          if X[j] < 0:
//!  4              await Q[j] ≠ p
//!     critical section
//!     for j := k to N-1:
//!  5      fetch-and-add(X[j], 1)
//!  6      Q[j] := p
//! ```
//!
//! We did not have the text of the paper; this is how the algorithm is told, and the line numbers are ours.
//!
//! Departures: `X[j]` is j at first; `Q[j]`, initially arbitrary, is 0. There is no doorway.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, bounded exit. Who waits at a stage
//! is let go by whoever leaves it or comes to wait there next.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Crashes, Holds},
    Kind, LocalSpin,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "anderson-moir",
    aliases: &["anderson-moir1997"],
    title: "a chain of stages",
    source: "after Anderson & Moir 1997",
    kind: Kind::KExclusion,
    primitives: &["read", "write", "fetch-and-add"],
    local_spin: Some(LocalSpin::CACHED),
    claims: &[Holds(Exclusion), Holds(DeadlockFreedom), Holds(StarvationFreedom), Holds(BoundedExit), Crashes],
    remark: "a process passes N-k stages, alone or not; `anderson-moir-tree` is shorter",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct AndersonMoir<M: Memory> {
    /// From stage N-1 down to stage k: as they are entered.
    stages: Vec<Stage<M>>,
}

/// One stage: j of j+1 come through.
struct Stage<M: Memory> {
    /// How many more may come.
    x: M::Reg<i64>,
    /// Who came last to wait, or has left since.
    q: M::Reg<usize>,
}

impl<M: Memory> AndersonMoir<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        Self::named(space, n, k, ["X", "Q"].map(Name::new))
    }

    /// A free lock with other names for X and Q, each with room for one more index.
    pub(crate) fn named(space: &mut impl Space<Mem = M>, n: usize, k: usize, [x, q]: [Name; 2]) -> Self {
        let stage = |j| Stage {
            x: space.register(x.index(j), Home::Nobody, j as i64),
            q: space.register(q.index(j), Home::Nobody, 0),
        };
        AndersonMoir { stages: (k..n).rev().map(stage).collect() }
    }
}

impl<M: Memory> Exclusion<M> for AndersonMoir<M> {
    type Place = ();

    fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
        Ok(())
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.fold(self.stages.len(), (), |m, (), i| {
            let Stage { x, q } = &self.stages[i];
            if m.at("1").fetch_add(x, -1)? != 0 {
                return Ok(());
            }
            m.at("2").write(q, p)?;
            m.at("2").fence()?; // or who leaves after we looked on line 3 may be overwritten by us, and we wait for ever
            if m.at("3").test(x, |x| x >= 0)? {
                return Ok(());
            }
            m.at("4").until(q, move |q| q != p)
        })
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.fold(self.stages.len(), (), |m, (), i| {
            let Stage { x, q } = &self.stages[self.stages.len() - 1 - i];
            m.at("5").fetch_add(x, 1)?;
            m.at("6").write(q, p)
        })
    }
}
