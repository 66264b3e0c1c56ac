//! A queue in one shared variable. After M. J. Fischer, N. A. Lynch, J. E. Burns, A. Borodin, *Resource allocation with
//! immunity to limited process failure*, FOCS 1979.
//!
//! ```text
//!     V = an empty sequence of processes at first; lines 1 and 3 are one step each
//!
//!  1  V := V, then p                                         (doorway ends)
//!  2  await p is among the first k of V
//!     critical section
//!  3  V := V without p
//! ```
//!
//! We did not have the text of the paper: that it keeps a queue in one variable, changed by atomic actions, is what others
//! tell of it. The lines are ours, and so is how a sequence is packed into a word.
//!
//! Departures: for at most 15 processes, since four bits name one of them.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, first-in-first-enabled, bounded exit.
//! The variable has more than n! values; [`colored_ticket`](super::colored_ticket) does the same with fewer. Everyone waits
//! on the one variable that everyone changes.
use core::fmt;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Value};

use crate::{
    About,
    Claim::{Crashes, Holds},
    Kind, LocalSpin, Processes, Remote,
};

/// So many names of processes fit in a word.
const MOST: usize = 15;

/// What is known of it.
pub const ABOUT: About = About {
    name: "fischer-queue",
    aliases: &["fischer1979"],
    title: "a queue in one shared variable",
    source: "after Fischer et al. 1979",
    kind: Kind::KExclusion,
    processes: Processes::Between(2, MOST),
    primitives: &["read", "update"],
    local_spin: Some(LocalSpin::CACHED),
    remote: Some(Remote::both("∞")),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(KFcfs),
        Holds(Fife),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Crashes,
    ],
    remark: "one register; a step changes it in any way",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct FischerQueue<M: Memory> {
    k: usize,
    v: M::Reg<Queue>,
}

impl<M: Memory> FischerQueue<M> {
    /// A free lock for `n` processes, of which `k` may be inside.
    ///
    /// # Panics
    /// For more than 15 processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        assert!(n <= MOST, "a word holds a queue of at most {MOST} processes, not {n}");
        FischerQueue { k, v: space.shared("V", Queue(0)) }
    }
}

impl<M: Memory> Exclusion<M> for FischerQueue<M> {
    type Place = ();

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

/// A sequence of processes: four bits for each, the first one lowest; process p is p+1, and 0 is nobody.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Queue(u64);

impl Queue {
    fn processes(self) -> impl Iterator<Item = Pid> {
        (0..MOST).map_while(move |i| (self.0 >> (4 * i) & 15).checked_sub(1)).map(|p| p as Pid)
    }

    /// How many are before the first `p`: all, if it is not there.
    fn before(self, p: Pid) -> usize {
        self.processes().take_while(|&q| q != p).count()
    }

    fn with(self, p: Pid) -> Queue {
        Queue(self.0 | (p as u64 + 1) << (4 * self.processes().count()))
    }

    /// Without `p`, who is there.
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
    fn a_queue_is_a_list_even_when_it_is_full() {
        let mut list: Vec<Pid> = vec![];
        let mut queue = Queue(0);
        for p in (0..MOST).rev() {
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
