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
pub type AndersonMoir<M> = Chain<CachedStage<M>>;

/// A chain of stages of any kind.
pub struct Chain<S> {
    /// From the first one that is entered, which lets most through, to stage k.
    stages: Vec<S>,
}

/// One stage: of j+1 who come, j come through. Whoever stops for ever takes one of the j with it, and no more.
pub trait Stage<M: Memory> {
    /// A free stage j for some of `n` processes, never more than j+1 of them at a time. What `name` makes of a register's
    /// name tells it from those of other stages, and has room for two more indices.
    fn new(space: &mut impl Space<Mem = M>, name: impl Fn(&'static str) -> Name, n: usize, j: usize) -> Self;

    /// Waits until p may come through.
    fn enter(&self, m: &mut M, p: Pid) -> Result<(), M::Halt>;

    /// Lets another through.
    fn leave(&self, m: &mut M, p: Pid) -> Result<(), M::Halt>;
}

impl<S> Chain<S> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self
    where
        S: Stage<M>,
    {
        Chain::block(space, Name::new, n, n, k)
    }

    /// A free lock for some of `n` processes, of which `most` come at a time and `k` may be inside, with other names for its
    /// registers: with room for three more indices.
    pub(crate) fn block<M: Memory>(
        space: &mut impl Space<Mem = M>,
        name: impl Fn(&'static str) -> Name,
        n: usize,
        most: usize,
        k: usize,
    ) -> Self
    where
        S: Stage<M>,
    {
        Chain { stages: (k..most).rev().map(|j| S::new(space, |register| name(register).index(j), n, j)).collect() }
    }
}

impl<M: Memory, S: Stage<M>> Exclusion<M> for Chain<S> {
    type Place = ();

    fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
        Ok(())
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.fold(self.stages.len(), (), |m, (), i| self.stages[i].enter(m, p))
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.fold(self.stages.len(), (), |m, (), i| self.stages[self.stages.len() - 1 - i].leave(m, p))
    }
}

/// A stage for caches: who waits looks at a register that is nobody's.
pub struct CachedStage<M: Memory> {
    /// How many more may come.
    x: M::Reg<i64>,
    /// Who came last to wait, or has left since.
    q: M::Reg<usize>,
}

impl<M: Memory> Stage<M> for CachedStage<M> {
    fn new(space: &mut impl Space<Mem = M>, name: impl Fn(&'static str) -> Name, _: usize, j: usize) -> Self {
        CachedStage {
            x: space.register(name("X"), Home::Nobody, j as i64),
            q: space.register(name("Q"), Home::Nobody, 0),
        }
    }

    fn enter(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        let CachedStage { x, q } = self;
        if m.at("1").fetch_add(x, -1)? != 0 {
            return Ok(());
        }
        m.at("2").write(q, p)?;
        m.at("2").fence()?; // or who leaves after we looked on line 3 may be overwritten by us, and we wait for ever
        if m.at("3").test(x, |x| x >= 0)? {
            return Ok(());
        }
        m.at("4").until(q, move |q| q != p)
    }

    fn leave(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("5").fetch_add(&self.x, 1)?;
        m.at("6").write(&self.q, p)
    }
}
