//! The queue of `fischer-queue` in many words: every change is a copy of it, published in one step. This is the lock
//! of `doorway run`.
//!
//! ```text
//!     a queue: k, and processes in order of arrival, each with a name or with none yet
//!     Copy[p][0], Copy[p][1]: two queues, word by word, which only p writes; initially Copy[0][0] is empty
//!     Current: the number of the copy that is the queue now; initially that of Copy[0][0]
//!
//!  1  change(Q := Q, then p)                                 (doorway ends)
//!  2  await p has a name: repeat c := LL(Current)
//!  3      Q := copy c
//!  4      until p has a name in Q and VL(Current)
//!     critical section
//!  5  change(Q := Q without p)
//!
//!     change(f):
//!  6  repeat c := LL(Current)
//!  7      Q := copy c
//!  8      f; while fewer than k processes have a name, the first one without takes the least that is free
//!  9      the copy of p that is not c := Q
//! 10  until SC(Current, that copy)
//! ```
//!
//! A copy is written only while it is not current, and what was read of it counts only if Current did not change
//! meanwhile. So line 10 is the whole change: a crash leaves nothing half done, and lines 1 and 5 are one step each, as
//! in Fischer's queue. To abort, or to reap a dead process, is line 5 as well. A process that reaps uses its own copies,
//! so any number of processes may reap the same one.
//!
//! The algorithm is this project's. The k-Bakery has registers for every pair of processes, and a doorway that reads
//! one of every process; here, with c processes in the queue, a passage reads and writes O(c) words, however many
//! processes there may be. The price is line 10: it fails only if another process succeeds, so some process always
//! proceeds, but no number bounds the attempts of one. A process that is unlucky again and again, for ever, starves.
//!
//! Guarantees: k-exclusion, k-assignment, first-in-first-enabled.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{
    Abort, Assign, Exclusion, Home, Linked, Local, Memory, Name, Pid, Property::*, Reap, Registers, Space,
};

use crate::{
    About,
    Condition::{Aborts, Crashes, Deaths, Tso},
    Kind, LocalSpin, Processes, Remote, Size,
    blocks::named_queue::{PER_WORD, Queue, Word},
    claim::{holds, lacks},
    pinned::at,
};

/// The largest number of processes: an entry has 15 bits for the number of one.
const MAX_N: usize = 1 << 15;

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "fischer-queue-copied",
    aliases: &[],
    title: "a queue of which every change is a copy",
    source: "doorway, after Fischer et al. 1979",
    kind: Kind::KExclusion,
    processes: Processes::Between(2, MAX_N),
    default_n: 2,
    primitives: &["read", "write", "LL/SC"],
    local_spin: Some(LocalSpin { cc: false, dsm: false }),
    remote: Some(Remote::both("∞")),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(KFcfs),
        holds(Fife),
        holds(Assignment),
        lacks(StarvationFreedom),
        lacks(WaitFreeDoorway),
        lacks(DeadlockFreedom).under(&[Aborts]),
    ],
    tolerates: &[Tso, Crashes, Deaths, Aborts],
    remark: "the lock of `doorway run`: crash-safe, for any number of processes, and it assigns names",
    pinned: &[
        at(2).k(1).finds(36_020),
        at(3).k(1).passages(1).finds(87_746),
        at(3).k(2).passages(1).finds(224_331),
        at(3).k(2).passages(1).crashes(1).finds(224_331),
        at(2).k(1).under(&[Deaths]).finds(672_684),
        at(2).k(1).under(&[Aborts]).finds(104_294),
        at(2).k(1).under(&[Deaths, Aborts]).finds(796_640),
        at(3).k(2).passages(1).under(&[Aborts]).finds(401_973),
        at(3).k(2).passages(1).under(&[Deaths]).finds(39_506_145).takes("3 minutes, 3 GB"),
        at(2).k(1).under(&[Deaths, Tso]).finds(1_584_467),
        at(2).under(&[Tso]).finds(61_654).fences(0),
        at(2).k(1).remote(None, None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = FischerQueueCopied<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> FischerQueueCopied<M> {
    FischerQueueCopied::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct FischerQueueCopied<M: Memory> {
    /// The capacity at first.
    k: usize,
    current: M::Reg<Linked<u16>>,
    /// The two copies of each process, one after the other.
    copies: Vec<M::Registers<Word>>,
    /// The number of words of a copy: its head, and the entries.
    words: usize,
}

impl<M: Memory> FischerQueueCopied<M> {
    /// A free lock for `n` processes with capacity `k`.
    ///
    /// # Panics
    /// For more than 32768 processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        assert!(n <= MAX_N, "this lock is for at most {MAX_N} processes, not {n}");
        let words = 1 + n.div_ceil(PER_WORD);
        let current = space.shared("Current", Linked::new(0));
        let copies = |p: Pid| space.registers(Name::new("Copy").index(p), Home::Of(p), 2 * words, Word(0));
        FischerQueueCopied { k, current, copies: (0..n).map(copies).collect(), words }
    }

    /// Changes the queue in one step, as process `by`: `f` is applied to what is current. If `f` changes nothing,
    /// nothing is published.
    ///
    /// `f` may be called several times, also with a queue that never was one, because others changed its words while
    /// they were read. Only the result of the last call is returned, and that queue was current.
    ///
    /// # Errors
    /// If the memory halts.
    pub fn change<B: Local>(&self, m: &mut M, by: Pid, f: impl Fn(&mut Queue) -> B) -> Result<B, M::Halt> {
        m.turns((), |m, ()| {
            let link = m.at("6").load_linked(&self.current)?;
            let mut queue = self.read(m, "7", link.value())?;
            let result = f(&mut queue);
            let is_done = if queue.is_changed {
                let first = 2 * by as u16;
                let copy = if link.value() == first { first + 1 } else { first };
                self.write(m, copy, &queue)?;
                m.at("10").store_conditional(&self.current, link, copy)?
            } else {
                m.at("10").validate(&self.current, link)?
            };
            Ok(if is_done { Break(result) } else { Continue(()) })
        })
    }

    /// The queue as it is now.
    ///
    /// # Errors
    /// If the memory halts.
    pub fn queue(&self, m: &mut M) -> Result<Queue, M::Halt> {
        m.turns((), |m, ()| {
            let link = m.load_linked(&self.current)?;
            let queue = self.read(m, "7", link.value())?;
            Ok(if m.validate(&self.current, link)? { Break(queue) } else { Continue(()) })
        })
    }

    /// Reads a copy, which may change meanwhile.
    fn read(&self, m: &mut M, line: &'static str, copy: u16) -> Result<Queue, M::Halt> {
        let (registers, first) = self.registers(copy);
        let (k, length) = m.at(line).read(&registers.at(first))?.k_and_length().unwrap_or((self.k, 0));
        // Not longer than a copy, whatever was read.
        let length = length.min(self.copies.len());
        let mut entries = Vec::with_capacity(length + 1);
        for i in 0..length.div_ceil(PER_WORD) {
            let word = m.at(line).read(&registers.at(first + 1 + i))?;
            entries.extend(word.entries().take(length - entries.len()));
        }
        Ok(Queue { k, entries, ..Queue::default() })
    }

    fn write(&self, m: &mut M, copy: u16, queue: &Queue) -> Result<(), M::Halt> {
        let (registers, first) = self.registers(copy);
        m.at("9").write(&registers.at(first), queue.head())?;
        // Not more than a copy has, which happens only to a queue that never was one, and is not published.
        for (i, entries) in queue.entries.chunks(PER_WORD).take(self.words - 1).enumerate() {
            m.at("9").write(&registers.at(first + 1 + i), Word::of(entries))?;
        }
        Ok(())
    }

    /// The registers of the process that has this copy, and the index of the copy's first one.
    fn registers(&self, copy: u16) -> (&M::Registers<Word>, usize) {
        let process = usize::from(copy / 2).min(self.copies.len() - 1);
        (&self.copies[process], usize::from(copy % 2) * self.words)
    }
}

impl<M: Memory> Exclusion<M> for FischerQueueCopied<M> {
    /// The name, if it was assigned at once.
    type Place = Option<usize>;
    /// The name.
    type Inside = usize;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Option<usize>, M::Halt> {
        self.change(m, p, |queue| queue.arrive(p))
    }

    fn wait(&self, m: &mut M, p: Pid, &place: &Option<usize>) -> Result<usize, M::Halt> {
        if let Some(name) = place {
            return Ok(name);
        }
        m.turns((), |m, ()| {
            let link = m.at("2").load_linked(&self.current)?;
            let queue = self.read(m, "3", link.value())?;
            if let Some(name) = queue.name(p)
                && m.at("4").validate(&self.current, link)?
            {
                return Ok(Break(name));
            }
            m.relax();
            Ok(Continue(()))
        })
    }

    fn exit(&self, m: &mut M, p: Pid, _: &usize) -> Result<(), M::Halt> {
        self.change(m, p, |queue| queue.remove(p))
    }

    fn recovery(&self) -> Option<&dyn Reap<M>> {
        Some(self)
    }

    fn aborting(&self) -> Option<&dyn Abort<M, Option<usize>>> {
        Some(self)
    }

    fn names(&self) -> Option<&dyn Assign<usize>> {
        Some(self)
    }
}

impl<M: Memory> Abort<M, Option<usize>> for FischerQueueCopied<M> {
    fn abort(&self, m: &mut M, p: Pid, _: &Option<usize>) -> Result<(), M::Halt> {
        self.change(m, p, |queue| queue.remove(p))
    }
}

impl<M: Memory> Reap<M> for FischerQueueCopied<M> {
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        self.change(m, dead, |queue| queue.remove(dead))
    }
}

impl<M: Memory> Assign<usize> for FischerQueueCopied<M> {
    fn name(&self, &name: &usize) -> usize {
        name
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use doorway_memory::Solo;

    use super::*;

    #[test]
    fn a_copy_is_read_as_it_was_written() {
        let mut solo = Solo::new();
        let lock = FischerQueueCopied::new(&mut solo, 7, 2);
        for p in [3, 0, 6, 1, 5] {
            let Ok(_) = lock.doorway(&mut solo, p);
        }
        let Ok(()) = lock.exit(&mut solo, 0, &1);
        let Ok(queue) = lock.queue(&mut solo);
        let entries: Vec<_> = queue.entries.iter().map(|entry| (entry.process, entry.name)).collect();
        assert_eq!((queue.k, entries), (2, vec![(3, Some(0)), (6, Some(1)), (1, None), (5, None)]));
        assert_eq!(lock.wait(&mut solo, 6, &None), Ok(1));
        let Ok(()) = lock.change(&mut solo, 2, |queue| queue.resize(3));
        let Ok(queue) = lock.queue(&mut solo);
        assert_eq!((queue.k(), queue.name(1), queue.name(5)), (3, Some(2), None));
    }
}
