//! The array-based queue lock. After T. E. Anderson, *The performance of spin lock alternatives for shared-memory
//! multiprocessors*, IEEE TPDS 1(1), 1990.
//!
//! ```text
//!     initially flags[0] is HAS_LOCK, flags[1] … flags[n-1] are MUST_WAIT, queueLast is 0:
//!  1  myPlace := fetch-and-add(queueLast, 1)
//!  2  if myPlace mod n = 0: fetch-and-add(queueLast, -n)     (doorway ends)
//!     myPlace := myPlace mod n
//!  3  await flags[myPlace] = HAS_LOCK
//!     critical section
//!  4  flags[myPlace] := MUST_WAIT
//!  5  flags[(myPlace + 1) mod n] := HAS_LOCK
//! ```
//!
//! The text of the paper was not available; this is the usual presentation, with line numbers of this project.
//!
//! Departures: HAS_LOCK is true and MUST_WAIT is false. Line 2 keeps `queueLast` from growing for ever, but can make it
//! negative; `mod` is the Euclidean remainder, never negative.
//!
//! Guarantees: mutual exclusion, starvation-freedom, first-come-first-served, bounded exit. With caches, every waiter
//! spins on a cached copy of a cell that no other process waits on.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Remote, Size,
    claim::{bypass, holds},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "anderson-array",
    aliases: &["anderson1990"],
    title: "the array-based queue lock",
    source: "after T. Anderson 1990",
    primitives: &["read", "write", "fetch-and-add"],
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(Fcfs),
        bypass(Some(0)),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso],
    remote: Some(Remote { cc: "O(1)", dsm: "∞" }),
    pinned: &[
        at(3).finds(207),
        at(4).finds(1_232),
        at(3).under(&[Tso]).finds(396).fences(0),
        at(3).remote(Some(6), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = AndersonArray<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> AndersonArray<M> {
    AndersonArray::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct AndersonArray<M: Memory> {
    flags: Vec<M::Reg<bool>>,
    queue_last: M::Reg<i64>,
}

impl<M: Memory> AndersonArray<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        let flag = |i| space.register(Name::new("flags").index(i), Home::Nobody, i == 0);
        AndersonArray { flags: (0..n).map(flag).collect(), queue_last: space.shared("queueLast", 0) }
    }
}

impl<M: Memory> Exclusion<M> for AndersonArray<M> {
    /// The index of the caller's flag.
    type Place = usize;
    type Inside = usize;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<usize, M::Halt> {
        let n = self.flags.len() as i64;
        let my_place = m.at("1").fetch_add(&self.queue_last, 1)?.rem_euclid(n);
        if my_place == 0 {
            m.at("2").fetch_add(&self.queue_last, -n)?;
        }
        Ok(my_place as usize)
    }

    fn wait(&self, m: &mut M, _: Pid, &my_place: &usize) -> Result<usize, M::Halt> {
        m.at("3").until(&self.flags[my_place], |has_lock| has_lock)?;
        Ok(my_place)
    }

    fn exit(&self, m: &mut M, _: Pid, &my_place: &usize) -> Result<(), M::Halt> {
        m.at("4").write(&self.flags[my_place], false)?;
        m.at("5").write(&self.flags[(my_place + 1) % self.flags.len()], true)
    }
}
