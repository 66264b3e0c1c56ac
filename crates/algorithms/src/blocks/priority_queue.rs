//! A priority queue of processes: a binary min-heap in shared registers, for use under a lock. R. Danek and W. Golab,
//! *Closing the complexity gap between FCFS mutual exclusion and mutual exclusion*, section 3, which asks for one.
//!
//! ```text
//!     initially Size = 0, Heap[0 … N-1] = ⊥, Pos[p] = ⊥. Heap[i] is (process, ticket), and Pos[p] is the index of p
//!
//!     Insert(p, ticket):                              Remove(p):
//! q1  if Pos[p] ≠ ⊥: return                           q5  i := Pos[p]; if i = ⊥: return
//! q2  i := Size; Size := i+1                          q6  Pos[p] := ⊥
//! q3  while i > 0 and (p, ticket) is before           q7  s := Size - 1; Size := s
//!           its parent e = Heap[(i-1)/2]:             q8  last := Heap[s]; Heap[s] := ⊥; if i = s: return
//!         Heap[i] := e; Pos[e] := i                       sift last up from i, as in q3
//!         i := (i-1)/2                                q9  while i has a child before last, e the smallest of them:
//! q4  Heap[i] := (p, ticket); Pos[p] := i                     Heap[i] := e; Pos[e] := i
//!                                                             i := the former index of e
//!     FindMin:                                        q4  Heap[i] := last; Pos[last] := i
//! q10 return the process of Heap[0], or ⊥
//! ```
//!
//! The text leaves the heap to the reader; the lines are this project's. Tickets are ordered as those of the
//! [`ticket_dispenser`](crate::parts::ticket_dispenser); a dummy, -1, is before them all. A process has at most one entry, so
//! Remove takes no ticket.
//!
//! Guarantees: Insert of a process that has an entry, and Remove of a process that has none, change nothing; O(log c)
//! steps for c entries.
use alloc::vec::Vec;
use core::{
    fmt,
    ops::ControlFlow::{Break, Continue},
};

use doorway_memory::{Cyclic, Memory, Pid, Space, Value};

use crate::parts::ticket_dispenser::is_before;

/// The queue; see the [module](self).
pub struct PriorityQueue<M: Memory> {
    size: M::Reg<usize>,
    heap: Vec<M::Reg<Slot>>,
    pos: Vec<M::Reg<Option<usize>>>,
}

impl<M: Memory> PriorityQueue<M> {
    /// An empty queue for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        PriorityQueue {
            size: space.shared("Size", 0),
            heap: space.array("Heap", n, Slot(None)),
            pos: space.array("Pos", n, None),
        }
    }

    /// Insert, with a ticket, or with `None` for the dummy, which is before all tickets.
    pub fn insert(&self, m: &mut M, p: Pid, ticket: Option<Cyclic>) -> Result<(), M::Halt> {
        m.call(|m| {
            if m.at("q1").test(&self.pos[p], |at| at.is_some())? {
                return Ok(());
            }
            let entry = Entry { process: p, ticket };
            let end = m.at("q2").read(&self.size)?;
            m.at("q2").write(&self.size, end + 1)?;
            let hole = self.up(m, end, entry)?;
            self.put(m, "q4", hole, entry)
        })
    }

    /// Remove.
    pub fn remove(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.call(|m| {
            let Some(hole) = m.at("q5").read(&self.pos[p])? else { return Ok(()) };
            m.at("q6").write(&self.pos[p], None)?;
            let end = m.at("q7").read(&self.size)? - 1;
            m.at("q7").write(&self.size, end)?;
            let Slot(last) = m.at("q8").read(&self.heap[end])?;
            m.at("q8").write(&self.heap[end], Slot(None))?;
            let Some(last) = last.filter(|_| hole != end) else { return Ok(()) };
            let hole = self.up(m, hole, last)?;
            let hole = self.down(m, hole, end, last)?;
            self.put(m, "q4", hole, last)
        })
    }

    /// FindMin.
    pub fn find_min(&self, m: &mut M) -> Result<Option<Pid>, M::Halt> {
        m.call(|m| Ok(m.at("q10").read(&self.heap[0])?.0.map(|entry| entry.process)))
    }

    /// Moves the hole up while `entry` is before its parent.
    fn up(&self, m: &mut M, hole: usize, entry: Entry) -> Result<usize, M::Halt> {
        m.turns(hole, |m, hole| {
            if hole == 0 {
                return Ok(Break(hole));
            }
            let parent = (hole - 1) / 2;
            match m.at("q3").read(&self.heap[parent])? {
                Slot(Some(above)) if entry.is_before(above) => {
                    self.put(m, "q3", hole, above)?;
                    Ok(Continue(parent))
                }
                _ => Ok(Break(hole)),
            }
        })
    }

    /// Moves the hole down while a child is before `entry`, within the first `size` slots.
    fn down(&self, m: &mut M, hole: usize, size: usize, entry: Entry) -> Result<usize, M::Halt> {
        m.turns(hole, |m, hole| {
            let mut least = (hole, entry);
            for child in [2 * hole + 1, 2 * hole + 2] {
                if child < size
                    && let Slot(Some(below)) = m.at("q9").read(&self.heap[child])?
                    && below.is_before(least.1)
                {
                    least = (child, below);
                }
            }
            if least.0 == hole {
                return Ok(Break(hole));
            }
            self.put(m, "q9", hole, least.1)?;
            Ok(Continue(least.0))
        })
    }

    fn put(&self, m: &mut M, line: &'static str, hole: usize, entry: Entry) -> Result<(), M::Halt> {
        m.at(line).write(&self.heap[hole], Slot(Some(entry)))?;
        m.at(line).write(&self.pos[entry.process], Some(hole))
    }
}

/// A process and its ticket, or the dummy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    process: Pid,
    ticket: Option<Cyclic>,
}

impl Entry {
    fn is_before(self, other: Entry) -> bool {
        match (self.ticket, other.ticket) {
            (Some(one), Some(other)) => is_before(one, other),
            (one, other) => one.is_none() && other.is_some(),
        }
    }
}

/// The content of a heap register: nothing, or an entry whose process is below 2^32 - 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Slot(Option<Entry>);

impl Value for Slot {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.0.map_or(0, |Entry { process, ticket }| ticket.map_or(0, Cyclic::to_word) << 32 | (process as u64 + 1))
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        let process = (word as u32).checked_sub(1);
        let ticket = Some(word >> 32).filter(|&ticket| ticket != 0).map(Cyclic::of_word);
        Slot(process.map(|process| Entry { process: process as usize, ticket }))
    }
    fn map_cyclic(self, f: &mut dyn FnMut(Cyclic) -> Cyclic) -> Self {
        Slot(self.0.map(|Entry { process, ticket }| Entry { process, ticket: ticket.map(f) }))
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("⊥"),
            Some(Entry { process, ticket: Some(ticket) }) => write!(f, "({process}, {})", ticket.index()),
            Some(Entry { process, ticket: None }) => write!(f, "({process}, -1)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use doorway_memory::Solo;

    use super::*;

    /// The next pseudorandom number.
    fn random(seed: &mut u64) -> usize {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 33) as usize
    }

    #[test]
    fn agrees_with_a_list_on_random_operations() {
        for n in [1, 2, 3, 7, 20, 1024] {
            let mut solo = Solo::new();
            let queue = PriorityQueue::new(&mut solo, n);
            let mut list: Vec<Option<Option<Cyclic>>> = vec![None; n];
            let mut seed = n as u64;
            // 3n-1 consecutive tickets, as many as can be in use at once; they wrap around from 7n-1 to 0.
            let age = |ticket: Cyclic| ticket.plus(2 * n).index();
            for _ in 0..5_000 {
                let p = random(&mut seed) % n;
                let ticket = Some(random(&mut seed) % (3 * n)).filter(|&age| age > 0);
                let ticket = ticket.map(|age| Cyclic::new(5 * n + age, 7 * n));
                if random(&mut seed).is_multiple_of(2) {
                    let Ok(()) = queue.insert(&mut solo, p, ticket);
                    list[p].get_or_insert(ticket);
                } else {
                    let Ok(()) = queue.remove(&mut solo, p);
                    list[p] = None;
                }
                // ⊥ is before every number, as the dummy is before every ticket.
                let least = list.iter().flatten().map(|ticket| ticket.map(age)).min();
                let Ok(head) = queue.find_min(&mut solo);
                assert_eq!(head.map(|head| list[head].expect("the head has an entry").map(age)), least, "n={n}");
            }
        }
    }

    #[test]
    fn unused_registers_are_empty() {
        let mut solo = Solo::new();
        let queue = PriorityQueue::new(&mut solo, 4);
        for p in [2, 0, 3, 1] {
            let Ok(()) = queue.insert(&mut solo, p, Some(Cyclic::new(p, 28)));
        }
        for p in [0, 3, 2, 1] {
            let Ok(()) = queue.remove(&mut solo, p);
        }
        assert!(queue.heap.iter().all(|slot| solo.read(slot) == Ok(Slot(None))));
        assert!(queue.pos.iter().all(|pos| solo.read(pos) == Ok(None)));
    }

    #[test]
    fn slots_round_trip_through_words() {
        let entry = |process, ticket| Slot(Some(Entry { process, ticket }));
        let ticket = |i| Some(Cyclic::new(i, 7168));
        for slot in [Slot(None), entry(0, None), entry(1023, ticket(7167)), entry(5, ticket(0))] {
            assert_eq!(Slot::of_word(slot.to_word()), slot);
        }
    }
}
