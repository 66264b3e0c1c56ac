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
//! We did not have the text of the paper; this is how the algorithm is told, and the line numbers are ours.
//!
//! Departures: S, initially k, may fall below 0 for a moment, to k-n at the lowest. There is no doorway.
//!
//! Guarantees: k-exclusion, deadlock-freedom, bounded exit. Not starvation-freedom: who looks at S only while it is
//! taken, or takes from it only what is not there, waits for ever.
use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Crashes, Fails, Holds},
    Kind, LocalSpin, Remote,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "gottlieb",
    aliases: &["gottlieb1983"],
    title: "a semaphore by fetch-and-add",
    source: "after Gottlieb et al. 1983",
    kind: Kind::KExclusion,
    primitives: &["read", "fetch-and-add"],
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[Holds(Exclusion), Holds(DeadlockFreedom), Fails(StarvationFreedom), Holds(BoundedExit), Crashes],
    remark: "one register for any number of processes",
    remote: Some(Remote::both("∞")),
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct Gottlieb<M: Memory> {
    s: M::Reg<i64>,
}

impl<M: Memory> Gottlieb<M> {
    /// A free lock for any number of processes, of which `k` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, k: usize) -> Self {
        Gottlieb { s: space.shared("S", k as i64) }
    }
}

impl<M: Memory> Exclusion<M> for Gottlieb<M> {
    type Place = ();
    const SYMMETRIC: bool = true;

    fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
        Ok(())
    }

    fn wait(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.spin(|m| {
            m.at("1").until(&self.s, |s| s >= 1)?;
            if m.at("2").fetch_add(&self.s, -1)? >= 1 {
                return Ok(true);
            }
            m.at("3").fetch_add(&self.s, 1)?;
            Ok(false)
        })
    }

    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("4").fetch_add(&self.s, 1)?;
        Ok(())
    }
}
