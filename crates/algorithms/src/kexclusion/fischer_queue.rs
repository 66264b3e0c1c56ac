//! A queue in one shared variable. After M. J. Fischer, N. A. Lynch, J. E. Burns, A. Borodin, *Resource allocation with
//! immunity to limited process failure*, FOCS 1979.
//!
//! ```text
//!     initially V = an empty sequence of processes; lines 1 and 3 are one step each
//!
//!  1  V := V, then p                                         (doorway ends)
//!  2  await p is among the first k of V
//!     critical section
//!  3  V := V without p
//! ```
//!
//! The text of the paper was not available: secondary sources say that it keeps a queue in one variable, changed by
//! atomic actions. The lines and the encoding of a sequence in a word are this project's.
//!
//! Departures: for at most 15 processes, since a word has 64 bits and a process takes four.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, first-in-first-enabled, bounded exit. The
//! variable has more than n! values; [`colored_ticket`](super::colored_ticket) does the same with fewer. All waiters
//! spin on the one variable that every process changes.
use core::fmt;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Value};

use crate::{
    About,
    Condition::{Crashes, Tso},
    Kind, LocalSpin, Processes, Remote, Size,
    claim::holds,
    pinned::at,
};

/// The largest number of processes whose queue fits in a word.
const MAX_N: usize = 15;

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "fischer-queue",
    aliases: &["fischer1979"],
    title: "a queue in one shared variable",
    source: "after Fischer et al. 1979",
    kind: Kind::KExclusion,
    processes: Processes::Between(2, MAX_N),
    primitives: &["read", "update"],
    local_spin: Some(LocalSpin::CACHED),
    remote: Some(Remote::both("∞")),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(Fife),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso, Crashes],
    remark: "one register, changed in any way in one step",
    pinned: &[
        at(2).k(1).finds(9),
        at(3).k(1).finds(31),
        at(3).k(2).finds(55),
        at(4).k(2).finds(249),
        at(4).k(3).finds(441),
        at(5).k(2).finds(1_291),
        at(3).k(2).crashes(1).finds(55),
        at(4).k(2).crashes(1).finds(249),
        at(4).k(3).crashes(2).finds(441),
        at(3).under(&[Tso]).finds(55).fences(0),
        at(2).k(1).remote(Some(3), None),
        at(3).k(1).remote(Some(5), None),
        at(3).k(2).remote(Some(3), None),
        at(4).k(2).remote(Some(5), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = FischerQueue<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> FischerQueue<M> {
    FischerQueue::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct FischerQueue<M: Memory> {
    k: usize,
    v: M::Reg<Queue>,
}

impl<M: Memory> FischerQueue<M> {
    /// A free lock for `n` processes with capacity `k`.
    ///
    /// # Panics
    /// For more than 15 processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        assert!(n <= MAX_N, "a word holds a queue of at most {MAX_N} processes, not {n}");
        FischerQueue { k, v: space.shared("V", Queue(0)) }
    }
}

impl<M: Memory> Exclusion<M> for FischerQueue<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("1").update(&self.v, |v| v.with(p))?;
        Ok(())
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        let k = self.k;
        m.at("2").until(&self.v, move |v| v.before(p) < k)
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("3").update(&self.v, |v| v.without(p))?;
        Ok(())
    }
}

/// A sequence of processes: four bits for each, the first one lowest. Process p is encoded as p+1, the end as 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Queue(u64);

impl Queue {
    fn processes(self) -> impl Iterator<Item = Pid> {
        (0..MAX_N).map_while(move |i| (self.0 >> (4 * i) & 15).checked_sub(1)).map(|p| p as Pid)
    }

    /// The number of processes before `p`: all, if `p` is not in the queue.
    fn before(self, p: Pid) -> usize {
        self.processes().take_while(|&q| q != p).count()
    }

    fn with(self, p: Pid) -> Queue {
        Queue(self.0 | (p as u64 + 1) << (4 * self.processes().count()))
    }

    /// The queue without `p`, which must be in it.
    fn without(self, p: Pid) -> Queue {
        let at = 4 * self.before(p);
        let before = (1 << at) - 1;
        Queue(self.0 & before | self.0 >> 4 & !before)
    }
}

impl Value for Queue {
    fn to_word(self) -> u64 {
        self.0
    }
    fn of_word(word: u64) -> Self {
        Queue(word)
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.processes()).finish()
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;

    #[test]
    fn queue_agrees_with_a_list_even_when_full() {
        let mut list: Vec<Pid> = vec![];
        let mut queue = Queue(0);
        for p in (0..MAX_N).rev() {
            list.push(p);
            queue = queue.with(p);
        }
        for p in [7, 14, 0, 3, 8] {
            assert_eq!(queue.processes().collect::<Vec<_>>(), list);
            assert_eq!(Some(queue.before(p)), list.iter().position(|&q| q == p));
            list.retain(|&q| q != p);
            queue = queue.without(p);
        }
        assert_eq!(queue.processes().collect::<Vec<_>>(), list);
    }
}
