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
//! The text of the paper was not available; this is the usual presentation, with line numbers of this project.
//!
//! Departures: `X[j]` is initially j; `Q[j]`, initially arbitrary, is 0. There is no doorway.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, bounded exit. The waiter of a stage is
//! released by the next process to leave the stage or to wait at it.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Condition::{Crashes, Tso},
    Kind, LocalSpin, Size,
    claim::holds,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "anderson-moir",
    aliases: &["anderson-moir1997"],
    title: "a chain of stages",
    source: "after Anderson & Moir 1997",
    kind: Kind::KExclusion,
    primitives: &["read", "write", "fetch-and-add"],
    local_spin: Some(LocalSpin::CACHED),
    claims: &[holds(Exclusion), holds(DeadlockFreedom), holds(StarvationFreedom), holds(BoundedExit)],
    tolerates: &[Tso, Crashes],
    remark: "every passage has N-k stages, contended or not; `anderson-moir-tree` has fewer",
    pinned: &[
        at(3).k(2).finds(816),
        at(3).k(1).finds(10_182),
        at(4).k(2).finds(388_468),
        at(3).under(&[Tso]).finds(1_608).fences(1),
        at(3).needs_fences(),
        at(3).k(2).remote(Some(6), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = AndersonMoir<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> AndersonMoir<M> {
    AndersonMoir::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub type AndersonMoir<M> = Chain<CachedStage<M>>;

/// A chain of stages of any kind.
pub struct Chain<S> {
    /// From the first to be entered, which lets the most processes through, to stage k.
    stages: Vec<S>,
}

/// A stage: of j+1 processes, j come through. A crashed process uses up one of the j, and no more.
pub trait Stage<M: Memory>: Send + Sync {
    /// A free stage j for `n` processes, at most j+1 of which use it at a time.
    ///
    /// `name` maps a register's name to one that is unique to the stage and has space for two more indices.
    fn new(space: &mut impl Space<Mem = M>, name: impl Fn(&'static str) -> Name, n: usize, j: usize) -> Self;

    /// Waits until p may pass.
    fn enter(&self, m: &mut M, p: Pid) -> Result<(), M::Halt>;

    /// Lets another process pass.
    fn leave(&self, m: &mut M, p: Pid) -> Result<(), M::Halt>;
}

impl<S> Chain<S> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self
    where
        S: Stage<M>,
    {
        Chain::block(space, Name::new, n, n, k)
    }

    /// A free lock with capacity `k` for `n` processes, at most `most` of which use it at a time.
    ///
    /// `name` maps the names of its registers, and leaves space for three more indices.
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
    type Inside = ();

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

/// A stage for caches: its waiter spins on a register that is at home at no process.
pub struct CachedStage<M: Memory> {
    /// The number of processes that may still pass.
    x: M::Reg<i64>,
    /// The latest process to wait, or to leave since.
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
        // Without it, this write may overwrite that of a process that leaves after line 3, and the wait never ends.
        m.at("2").fence()?;
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
