//! First-come-first-served mutual exclusion with O(log N) RMRs. R. Danek and W. Golab, *Closing the
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
//! [`priority_queue`](crate::blocks::priority_queue), lines q1-q10. LOCK is the lock of
//! [`kim_anderson`](super::kim_anderson), as in the text.
//!
//! Departures: lines 8-13 are numbered as the text refers to them. In the available copy of the figure the lines
//! after 8 are shifted by one, and 10-11 are indented as if they belonged to the `if`, where they would deadlock. A
//! process has at most one entry in Q, so Remove takes only the process.
//!
//! Guarantees: mutual exclusion, first-come-first-served, starvation-freedom, bounded exit. A passage makes O(log N)
//! remote memory references, even without caches; with the adaptive set, O(min(c, log N)) if c processes contend.
use alloc::vec::Vec;

use doorway_memory::{Cyclic, Exclusion, Memory, Pid, Property::*, Space};

use super::kim_anderson::KimAnderson;
use crate::{
    About,
    Condition::Tso,
    LocalSpin, Remote, Size, Survey,
    blocks::priority_queue::PriorityQueue,
    claim::{bypass, holds},
    parts::{
        special_set::{SpecialSet, StaticSet},
        ticket_dispenser::{Dispenser, TicketDispenser},
    },
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "danek-golab",
    title: "Danek and Golab's fair lock",
    source: "Danek & Golab, Fig. 1",
    default_n: 2,
    survey: Survey::LeftOut,
    local_spin: Some(LocalSpin::BOTH),
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
    remark: "too large for a complete search; `danek-golab-simple` and `danek-golab-yang-anderson` are not",
    remote: Some(Remote::both("O(log N)")),
    departures: "lines 10 and 11 follow the `if` of line 8; in it, as the available copy has them, they deadlock",
    pinned: &[at(2).passages(1).finds(2_236_575).takes("10 s")],
    ..About::LOCK
};

/// The lock; see the [module](self). `A` is the auxiliary lock LOCK, `S` the set and `D` the ticket dispenser.
pub struct DanekGolab<M: Memory, A, S, D = TicketDispenser<M>> {
    set: S,
    dispenser: D,
    queue: PriorityQueue<M>,
    head: Vec<M::Reg<bool>>,
    lock: A,
}

/// The lock's type.
pub type Lock<M> = DanekGolab<M, KimAnderson<M>, StaticSet<M>>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, .. }: Size) -> Lock<M> {
    let set = StaticSet::new(space, n);
    let lock = KimAnderson::new(space, n);
    DanekGolab::new(space, n, lock, set)
}

impl<M, A, S> DanekGolab<M, A, S>
where
    M: Memory,
    A: Exclusion<M>,
    S: SpecialSet<M>,
{
    /// A free lock for `n` processes, built from a free lock and an empty set.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, lock: A, set: S) -> Self {
        let dispenser = TicketDispenser::new(space, n);
        DanekGolab::over(space, n, lock, set, dispenser)
    }
}

impl<M, A, S, D> DanekGolab<M, A, S, D>
where
    M: Memory,
    A: Exclusion<M>,
    S: SpecialSet<M>,
    D: Dispenser<M>,
{
    /// As [`new`](DanekGolab::new), with tickets from `dispenser`.
    pub fn over(space: &mut impl Space<Mem = M>, n: usize, lock: A, set: S, dispenser: D) -> Self {
        let queue = PriorityQueue::new(space, n);
        let head = space.per_process("Head", n, false);
        DanekGolab { set, dispenser, queue, head, lock }
    }

    /// Lines 5 to 14.
    fn join(&self, m: &mut M, p: Pid, ticket: Cyclic) -> Result<(), M::Halt> {
        let inside = self.lock(m, p)?; // 5
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
        self.lock.exit(m, p, &inside) // 14
    }

    /// Lines 12-13 and 20-22: notifies the first process in the queue.
    fn notify(&self, m: &mut M, line: &'static str) -> Result<(), M::Halt> {
        m.call(|m| match self.queue.find_min(m)? {
            Some(first) => m.at(line).write(&self.head[first], true),
            None => Ok(()),
        })
    }

    fn lock(&self, m: &mut M, p: Pid) -> Result<A::Inside, M::Halt> {
        m.call(|m| {
            let place = self.lock.doorway(m, p)?;
            self.lock.wait(m, p, &place)
        })
    }
}

impl<M, A, S, D> Exclusion<M> for DanekGolab<M, A, S, D>
where
    M: Memory,
    A: Exclusion<M>,
    S: SpecialSet<M>,
    D: Dispenser<M>,
{
    /// The ticket.
    type Place = Cyclic;
    /// The ticket, and the value that the inner lock's exit needs.
    type Inside = (Cyclic, A::Inside);

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Cyclic, M::Halt> {
        m.call(|m| self.set.insert_self(m, p))?; // 3
        // Without it, other processes may complete any number of passages before the insertion is visible, and the
        // ticket obtained meanwhile is outdated.
        m.at("3").fence()?;
        let ticket = self.dispenser.obtain(m, p)?; // 4
        m.at("4").fence()?; // without it, a later arrival may see neither the ticket nor the insertion into the set
        Ok(ticket)
    }

    fn wait(&self, m: &mut M, p: Pid, &ticket: &Cyclic) -> Result<Self::Inside, M::Halt> {
        m.call(|m| self.join(m, p, ticket))?;
        m.at("15").until(&self.head[p], |head| head)?;
        Ok((ticket, self.lock(m, p)?)) // 16
    }

    fn exit(&self, m: &mut M, p: Pid, (ticket, inside): &Self::Inside) -> Result<(), M::Halt> {
        self.queue.remove(m, p)?; // 18
        m.call(|m| self.dispenser.done(m, p, *ticket))?; // 19
        self.notify(m, "22")?;
        self.lock.exit(m, p, inside) // 23
    }
}

#[cfg(test)]
mod tests {
    use doorway_memory::Solo;

    use super::*;
    use crate::{blocks::test_and_set::TestAndSet, parts::special_set_adaptive::AdaptiveSet};

    /// Makes sequential passages, the processes taking turns, until the tickets have wrapped around.
    fn passages<S: SpecialSet<Solo>>(n: usize, set: S, mut solo: Solo) {
        let inner = TestAndSet::new(&mut solo);
        let lock = DanekGolab::new(&mut solo, n, inner, set);
        for passage in 0..8 * n {
            let Ok(ticket) = lock.doorway(&mut solo, passage % n);
            assert_eq!(ticket, Cyclic::new(passage, 7 * n));
            let Ok(inside) = lock.wait(&mut solo, passage % n, &ticket);
            let Ok(()) = lock.exit(&mut solo, passage % n, &inside);
        }
    }

    #[test]
    fn supports_1024_processes() {
        let n = 1024;
        let mut solo = Solo::new();
        let set = StaticSet::new(&mut solo, n);
        passages(n, set, solo);
        let mut solo = Solo::new();
        let set = AdaptiveSet::new(&mut solo, n);
        passages(n, set, solo);
    }
}
