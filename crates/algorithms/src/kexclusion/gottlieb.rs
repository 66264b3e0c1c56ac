//! A semaphore by fetch-and-add. After A. Gottlieb, B. D. Lubachevsky, L. Rudolph, *Basic techniques for the efficient
//! coordination of very large numbers of cooperating sequential processors*, ACM TOPLAS 5(2), 1983.
//!
//! ```text
//!     repeat
//!  1      await S >= 1
//!  2      if fetch-and-add(S, -1) >= 1: enter
//!  3      fetch-and-add(S, 1)
//!     critical section
//!  4  fetch-and-add(S, 1)
//! ```
//!
//! The text of the paper was not available; this is the usual presentation, with line numbers of this project.
//!
//! Departures: S, initially k, may be negative for a moment, k-n at the lowest. There is no doorway.
//!
//! Guarantees: k-exclusion, deadlock-freedom, bounded exit. Not starvation-freedom: a process that reads S only while
//! it is below 1, or decrements it only after others have, waits for ever.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Tally};

use crate::{
    About,
    Condition::{Crashes, Tso},
    Kind, LocalSpin, Remote, Size,
    claim::{holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "gottlieb",
    aliases: &["gottlieb1983"],
    title: "a semaphore by fetch-and-add",
    source: "after Gottlieb et al. 1983",
    kind: Kind::KExclusion,
    primitives: &["read", "fetch-and-add"],
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[holds(Exclusion), holds(DeadlockFreedom), lacks(StarvationFreedom), holds(BoundedExit)],
    tolerates: &[Tso, Crashes],
    remark: "one register for any number of processes",
    remote: Some(Remote::both("∞")),
    pinned: &[at(3).k(2).finds(120), at(3).under(&[Tso]).finds(120).fences(0), at(3).k(2).remote(None, None)],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Gottlieb<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> Gottlieb<M> {
    Gottlieb::new(space, size.k)
}

/// The lock; see the [module](self).
pub struct Gottlieb<M: Memory> {
    s: M::Reg<Tally>,
}

impl<M: Memory> Gottlieb<M> {
    /// A free lock for any number of processes with capacity `k`.
    pub fn new(space: &mut impl Space<Mem = M>, k: usize) -> Self {
        Gottlieb { s: space.shared("S", Tally::new(k as i64)) }
    }
}

impl<M: Memory> Exclusion<M> for Gottlieb<M> {
    type Place = ();
    type Inside = ();
    const SYMMETRIC: bool = true;

    fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
        Ok(())
    }

    fn wait(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.spin(|m| {
            m.at("1").until(&self.s, |s| s >= 1)?;
            if m.at("2").fetch_add(&self.s, Tally::new(-1))? >= 1 {
                return Ok(true);
            }
            m.at("3").fetch_add(&self.s, Tally::new(1))?;
            Ok(false)
        })
    }

    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("4").fetch_add(&self.s, Tally::new(1))?;
        Ok(())
    }
}
