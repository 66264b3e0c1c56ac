//! First-come-first-served mutual exclusion with O(log N) remote references. R. Danek and W. Golab, *Closing the
//! complexity gap between FCFS mutual exclusion and mutual exclusion*, Figure 1.
//!
//! ```text
//!     shared: Set, a special set; Q, a priority queue; Head[p], at home with p; LOCK, any lock
//!
//!  3  Set.InsertSelf()
//!  4  ticket := ObtainTicket()                                                       (doorway ends)
//!  5  LOCK
//!  6      Head[p] := false
//!  7      other := Set.RemoveSelf()
//!  8      if other ≠ ⊥:
//!  9          Q.Insert(other, -1)
//! 10      Q.Remove(p, -1)
//! 11      Q.Insert(p, ticket)
//! 12      first := Q.FindMin()
//! 13      Head[first] := true
//! 14  UNLOCK
//! 15  await Head[p]
//! 16  LOCK
//!     critical section
//! 18      Q.Remove(p, ticket)
//! 19      DoneWithTicket()
//! 20      first := Q.FindMin()
//! 21      if first ≠ ⊥:
//! 22          Head[first] := true
//! 23  UNLOCK
//! ```
//!
//! Set is the [`special_set`](crate::parts::special_set), lines 25-43; tickets come from the
//! [`ticket_dispenser`](crate::parts::ticket_dispenser), lines 45-60; Q is the
//! [`priority_queue`](crate::parts::priority_queue), lines q1-q10. LOCK is the lock of
//! [`kim_anderson`](super::kim_anderson), as in the text.
//!
//! Departures: the numbers of lines 8-13 are those the text refers to; in our copy of the figure the lines after 8 are
//! moved by one, and 10-11 look as if they were inside the `if`, where they would deadlock. A process has at most one
//! entry in Q, so Remove is told the process only. What LOCK hands from line 16 to line 23 is kept in `place[p]`: a
//! private variable, at home with p.
//!
//! Guarantees: mutual exclusion, first-come-first-served, starvation-freedom, bounded exit. A passage makes O(log N)
//! remote references, even without caches; with the adaptive set, O(min(c, log N)) if c processes contend.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Value};

use super::kim_anderson::KimAnderson;
use crate::{
    About,
    Claim::{Bypass, Holds},
    LocalSpin, Remote, Survey,
    parts::{
        priority_queue::PriorityQueue,
        special_set::{SpecialSet, StaticSet},
        ticket_dispenser::{Dispenser, TicketDispenser},
    },
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "danek-golab",
    title: "Danek and Golab's fair lock",
    source: "Danek & Golab, Fig. 1",
    default_n: 2,
    survey: Survey::LeftOut,
    local_spin: Some(LocalSpin::BOTH),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(Fcfs),
        Bypass(Some(0)),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
    ],
    remark: "for a complete search it is too large; try --passages 1, or `danek-golab-yang-anderson`",
    remote: Some(Remote::both("O(log N)")),
    departures: "lines 10 and 11 are outside the `if` of line 8; inside, as our copy has them, they deadlock",
    ..About::LOCK
};

/// The lock; see the [module](self). `A` is the lock inside, `S` the set and `D` the ticket dispenser.
pub struct DanekGolab<M: Memory, A: Exclusion<M, Place: Value>, S, D = TicketDispenser<M>> {
    set: S,
    dispenser: D,
    queue: PriorityQueue<M>,
    head: Vec<M::Reg<bool>>,
    lock: A,
    place: Vec<M::Reg<A::Place>>,
}

/// The lock for `n` processes, with the static set and Kim and Anderson's lock inside.
pub fn danek_golab<M: Memory>(
    space: &mut impl Space<Mem = M>,
    n: usize,
) -> DanekGolab<M, KimAnderson<M>, StaticSet<M>> {
    let set = StaticSet::new(space, n);
    let lock = KimAnderson::new(space, n);
    DanekGolab::new(space, n, lock, set)
}

impl<M, A, S> DanekGolab<M, A, S>
where
    M: Memory,
    A: Exclusion<M, Place: Value>,
    S: SpecialSet<M>,
{
    /// A free lock for `n` processes, made of a lock and an empty set.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, lock: A, set: S) -> Self {
        let dispenser = TicketDispenser::new(space, n);
        DanekGolab::over(space, n, lock, set, dispenser)
    }
}

impl<M, A, S, D> DanekGolab<M, A, S, D>
where
    M: Memory,
    A: Exclusion<M, Place: Value>,
    S: SpecialSet<M>,
    D: Dispenser<M>,
{
    /// As [`new`](DanekGolab::new), with tickets from `dispenser`.
    pub fn over(space: &mut impl Space<Mem = M>, n: usize, lock: A, set: S, dispenser: D) -> Self {
        let queue = PriorityQueue::new(space, n);
        let head = space.per_process("Head", n, false);
        let place = space.per_process("place", n, Value::of_word(0));
        DanekGolab { set, dispenser, queue, head, lock, place }
    }

    /// Lines 5 to 14.
    fn join(&self, m: &mut M, p: Pid, ticket: usize) -> Result<(), M::Halt> {
        let place = self.lock(m, p)?;
        m.at("6").write(&self.head[p], false)?;
        m.call(|m| {
            let other = m.call(|m| self.set.remove_self(m, p))?; // 7
            if let Some(q) = other {
                self.queue.insert(m, q, None)?; // 9
            }
            Ok(())
        })?;
        self.queue.remove(m, p)?; // 10
        self.queue.insert(m, p, Some(ticket))?; // 11
        self.notify(m, "13")?;
        self.lock.exit(m, p, &place) // 14
    }

    /// Lines 12-13 and 20-22: tells the first one in the queue.
    fn notify(&self, m: &mut M, line: &'static str) -> Result<(), M::Halt> {
        m.call(|m| match self.queue.find_min(m)? {
            Some(first) => m.at(line).write(&self.head[first], true),
            None => Ok(()),
        })
    }

    fn lock(&self, m: &mut M, p: Pid) -> Result<A::Place, M::Halt> {
        m.call(|m| {
            let place = self.lock.doorway(m, p)?;
            self.lock.wait(m, p, &place)?;
            Ok(place)
        })
    }

    /// Most locks have nothing to keep.
    const KEEPS_PLACE: bool = size_of::<A::Place>() > 0;
}

impl<M, A, S, D> Exclusion<M> for DanekGolab<M, A, S, D>
where
    M: Memory,
    A: Exclusion<M, Place: Value>,
    S: SpecialSet<M>,
    D: Dispenser<M>,
{
    /// The ticket.
    type Place = usize;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt> {
        m.call(|m| self.set.insert_self(m, p))?; // 3
        m.at("3").fence()?; // or others come and go, again and again, while we obtain a ticket that is long past
        let ticket = self.dispenser.obtain(m, p)?; // 4
        m.at("4").fence()?; // or one who comes later sees neither our ticket nor us in the set
        Ok(ticket)
    }

    fn wait(&self, m: &mut M, p: Pid, &ticket: &usize) -> Result<(), M::Halt> {
        m.call(|m| self.join(m, p, ticket))?;
        m.at("15").until(&self.head[p], |head| head)?;
        let place = self.lock(m, p)?; // 16
        if Self::KEEPS_PLACE {
            m.at("16").write(&self.place[p], place)?;
        }
        Ok(())
    }

    fn exit(&self, m: &mut M, p: Pid, &ticket: &usize) -> Result<(), M::Halt> {
        self.queue.remove(m, p)?; // 18
        m.call(|m| self.dispenser.done(m, p, ticket))?; // 19
        self.notify(m, "22")?;
        // Without content, any place is the one that was taken.
        let place = if Self::KEEPS_PLACE { m.at("23").read(&self.place[p])? } else { Value::of_word(0) };
        self.lock.exit(m, p, &place) // 23
    }
}

#[cfg(test)]
mod tests {
    use doorway_memory::Solo;

    use super::*;
    use crate::parts::{special_set_adaptive::AdaptiveSet, test_and_set::TestAndSet};

    /// Everyone once, one after the other, and the tickets start again.
    fn passages<S: SpecialSet<Solo>>(n: usize, set: S, mut solo: Solo) {
        let inside = TestAndSet::new(&mut solo);
        let lock = DanekGolab::new(&mut solo, n, inside, set);
        for passage in 0..8 * n {
            let Ok(ticket) = lock.doorway(&mut solo, passage % n);
            assert_eq!(ticket, passage % (7 * n));
            let Ok(()) = lock.wait(&mut solo, passage % n, &ticket);
            let Ok(()) = lock.exit(&mut solo, passage % n, &ticket);
        }
    }

    #[test]
    fn a_thousand_processes_are_not_too_many() {
        let n = 1024;
        let mut solo = Solo::new();
        let set = StaticSet::new(&mut solo, n);
        passages(n, set, solo);
        let mut solo = Solo::new();
        let set = AdaptiveSet::new(&mut solo, n);
        passages(n, set, solo);
    }
}
