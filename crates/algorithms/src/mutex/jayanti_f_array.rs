//! First-come-first-served by a tree of minima. After P. Jayanti, *f-arrays: implementation and applications*, PODC
//! 2002.
//!
//! ```text
//!     C = 0, Own = ⊥, Go[p] = false at home at p
//!     Tree: one word for each node, initially ∞; leaf p at home at p. A node holds the minimum of its two children
//!
//!  1  Go[p] := false
//!  2  t := LL(C)
//!  3  SC(C, t+1)
//!  4  update((t, p))                                         (doorway ends)
//!  5  promote()
//!  6  await Go[p]
//!     critical section
//!  7  update(∞)
//!  8  Own := ⊥
//!  9  promote()
//!
//!     update(e):                                     promote():
//! 10  leaf p := e                                    16  if LL(Own) ≠ ⊥: return
//! 11  for each x from the leaf's parent to the root: 17  e := Root; if e = ∞: return
//! 12      if not refresh(x): refresh(x)              18  (t, r) := e; if SC(Own, r):
//!     refresh(x):                                    19      Go[r] := true
//! 13  LL(x)
//! 14  e := the minimum of the children of x
//! 15  return SC(x, e)
//! ```
//!
//! A refresh fails if another one intervened. If the second refresh fails too, the intervening one began after the
//! first, so it read the children when they were up to date and did the same work. Line 3 may fail as well: then
//! another process has incremented C. Own breaks ties, so that only one process is promoted at a time. A process that
//! changes it from ⊥ loaded it before it read the root; so the root was read while there was no holder, and the
//! process found there is still waiting.
//!
//! The text of the paper was not available: secondary sources say that it has such a lock, made of LL/SC and with these
//! guarantees. The lines are this project's.
//!
//! Departures: every process has a leaf of its own, so a passage makes O(log N) remote memory references; the paper
//! has O(min(c, log N)) if c processes contend, as has `jayanti-f-array-adaptive`. For at most 255 processes. On real
//! atomics, where LL and SC are made of compare-and-swap, a ticket has 36 bits and the version beside it 20; see
//! [`Linked`].
//!
//! Guarantees: mutual exclusion, first-come-first-served, starvation-freedom, bounded exit; local spinning with
//! caches and without.
use alloc::vec::Vec;
use core::{
    fmt,
    ops::ControlFlow::{Break, Continue},
};

use doorway_memory::{Exclusion, Home, Linked, Memory, Name, Narrow, Pid, Property::*, Space, Ticket, Value};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Processes, Remote, Size,
    claim::{bypass, holds},
    pinned::at,
};

/// The largest number of processes: eight bits hold a process number or ∞.
const MAX_N: usize = 255;

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "jayanti-f-array",
    aliases: &["jayanti2002"],
    title: "first come, first served by a tree of minima",
    source: "after Jayanti 2002",
    processes: Processes::Between(2, MAX_N),
    default_n: 2,
    primitives: &["read", "write", "LL/SC"],
    local_spin: Some(LocalSpin::BOTH),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(Fcfs),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
        bypass(Some(0)),
    ],
    tolerates: &[Tso],
    remote: Some(Remote::both("O(log N)")),
    departures: "every process has a leaf of its own, so it is not adaptive; `jayanti-f-array-adaptive` is",
    pinned: &[
        at(2).finds(39_048),
        at(3).passages(1).finds(3_070_039),
        at(2).under(&[Tso]).finds(57_165).fences(1),
        at(2).needs_fences(),
        at(2).remote(Some(24), Some(23)),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = JayantiFArray<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> JayantiFArray<M> {
    JayantiFArray::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct JayantiFArray<M: Memory> {
    n: usize,
    /// The largest number of attempts to refresh a node.
    refreshes: usize,
    c: M::Reg<Linked<Ticket>>,
    own: M::Reg<Linked<Option<usize>>>,
    go: Vec<M::Reg<bool>>,
    /// Whether each shared leaf is taken. Empty here: see `jayanti-f-array-adaptive`.
    slot: Vec<M::Reg<Linked<bool>>>,
    /// The leaves of the slots, then those of the processes.
    leaf: Vec<M::Reg<Entry>>,
    /// With S slots, node i <= S has the leaf of slot i-1 and node i+1 as children, and node S+x has S+2x and S+2x+1.
    /// The numbers from S+n on are the leaves of the processes. Node i is at index i-1.
    node: Vec<M::Reg<Linked<Entry>>>,
}

impl<M: Memory> JayantiFArray<M> {
    /// A free lock for `n` processes.
    ///
    /// # Panics
    /// For more than 255 processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        JayantiFArray::of(space, n, 0, 2)
    }

    /// A free lock for `n` processes with `slots` shared leaves and at most `refreshes` attempts to refresh a node.
    ///
    /// Two attempts are enough; one is not.
    ///
    /// # Panics
    /// For more than 255 processes.
    pub(crate) fn of(space: &mut impl Space<Mem = M>, n: usize, slots: usize, refreshes: usize) -> Self {
        assert!(n <= MAX_N, "this lock is for at most {MAX_N} processes, not {n}");
        let node = |i: usize| space.register(Name::new("Node").index(i), Home::Nobody, Linked::new(Entry(None)));
        let node = (1..slots + n).map(node).collect();
        let home = |leaf: usize| leaf.checked_sub(slots).map_or(Home::Nobody, Home::Of);
        let leaf = |i: usize| space.register(Name::new("Leaf").index(i), home(i), Entry(None));
        let leaf = (0..slots + n).map(leaf).collect();
        JayantiFArray {
            n,
            refreshes,
            c: space.shared("C", Linked::new(Ticket::ZERO)),
            own: space.shared("Own", Linked::new(None)),
            go: space.per_process("Go", n, false),
            slot: space.array("Slot", slots, Linked::new(false)),
            leaf,
            node,
        }
    }

    /// Takes the leaf of the first free slot, or the process' own leaf if no slot is free.
    fn take_leaf(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt> {
        m.turns(0, |m, i| {
            let Some(slot) = self.slot.get(i) else { return Ok(Break(i + p)) };
            let link = m.at("a").load_linked(slot)?;
            let taken = !link.value() && m.at("b").store_conditional(slot, link, true)?;
            Ok(if taken { Break(i) } else { Continue(i + 1) })
        })
    }

    fn return_leaf(&self, m: &mut M, leaf: usize) -> Result<(), M::Halt> {
        match self.slot.get(leaf) {
            Some(slot) => m.at("c").write_linked(slot, false),
            None => Ok(()),
        }
    }

    fn update(&self, m: &mut M, leaf: usize, e: Entry) -> Result<(), M::Halt> {
        m.at("10").write(&self.leaf[leaf], e)?;
        // Without the fence, the process whose refresh makes both of these fail may have read the leaf while this
        // write was still in the store buffer.
        m.at("10").fence()?;
        let slots = self.slot.len();
        let above_leaf = if leaf < slots { leaf + 1 } else { self.above(self.n + leaf) };
        m.turns(above_leaf, |m, i| {
            if i == 0 {
                return Ok(Break(()));
            }
            // `all` stops at the first refresh that succeeds. If all fail, another process did the work.
            m.all(self.refreshes, |m, _| Ok(!self.refresh(m, i)?))?;
            Ok(Continue(self.above(i)))
        })
    }

    fn refresh(&self, m: &mut M, i: usize) -> Result<bool, M::Halt> {
        m.call(|m| {
            let link = m.at("13").load_linked(&self.node[i - 1])?;
            let (left, right) = self.below(i);
            let e = self.read_child(m, left)?.least(self.read_child(m, right)?);
            m.at("15").store_conditional(&self.node[i - 1], link, e)
        })
    }

    /// The parent of node i; the root's is 0.
    fn above(&self, i: usize) -> usize {
        let slots = self.slot.len();
        if i <= slots + 1 { i - 1 } else { slots + (i - slots) / 2 }
    }

    /// The children of node i.
    fn below(&self, i: usize) -> (Child, Child) {
        let slots = self.slot.len();
        if i <= slots {
            return (Child::Leaf(i - 1), Child::Node(i + 1));
        }
        let below = |x: usize| if x < self.n { Child::Node(slots + x) } else { Child::Leaf(slots + x - self.n) };
        let x = i - slots;
        (below(2 * x), below(2 * x + 1))
    }

    fn read_child(&self, m: &mut M, child: Child) -> Result<Entry, M::Halt> {
        match child {
            Child::Node(i) => m.at("14").read_linked(&self.node[i - 1]),
            Child::Leaf(i) => m.at("14").read(&self.leaf[i]),
        }
    }

    fn promote(&self, m: &mut M) -> Result<(), M::Halt> {
        m.call(|m| {
            let link = m.at("16").load_linked(&self.own)?;
            if link.value().is_some() {
                return Ok(());
            }
            if let Entry(Some((_, r))) = m.at("17").read_linked(&self.node[0])?
                && m.at("18").store_conditional(&self.own, link, Some(r))?
            {
                m.at("19").write(&self.go[r], true)?;
            }
            Ok(())
        })
    }
}

impl<M: Memory> Exclusion<M> for JayantiFArray<M> {
    /// The process' leaf.
    type Place = usize;
    type Inside = usize;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt> {
        m.at("1").write(&self.go[p], false)?;
        let t = m.at("2").load_linked(&self.c)?;
        m.at("3").store_conditional(&self.c, t, t.value().next())?;
        let leaf = self.take_leaf(m, p)?;
        self.update(m, leaf, Entry(Some((t.value(), p))))?;
        Ok(leaf)
    }

    fn wait(&self, m: &mut M, p: Pid, &leaf: &usize) -> Result<usize, M::Halt> {
        self.promote(m)?;
        m.at("6").until(&self.go[p], |go| go)?;
        Ok(leaf)
    }

    fn exit(&self, m: &mut M, _: Pid, &leaf: &usize) -> Result<(), M::Halt> {
        self.update(m, leaf, Entry(None))?;
        self.return_leaf(m, leaf)?;
        m.at("8").write_linked(&self.own, None)?;
        self.promote(m)
    }
}

/// A child of a node.
#[derive(Clone, Copy)]
enum Child {
    Node(usize),
    Leaf(usize),
}

/// A ticket and the process that has it, or ∞.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Entry(Option<(Ticket, Pid)>);

impl Entry {
    fn least(self, other: Entry) -> Entry {
        match (self.0, other.0) {
            (Some(a), Some(b)) => Entry(Some(a.min(b))),
            (a, b) => Entry(a.or(b)),
        }
    }
}

/// The lowest eight bits hold the process plus 1, the others the ticket; ∞ is 0.
impl Value for Entry {
    fn to_word(self) -> u64 {
        self.0.map_or(0, |(ticket, process)| ticket.to_word() << 8 | (process as u64 + 1))
    }
    fn of_word(word: u64) -> Self {
        Entry((word & 255).checked_sub(1).map(|process| (Ticket::of_word(word >> 8), process as Pid)))
    }
    fn map_tickets(self, f: &mut dyn FnMut(Ticket) -> Ticket) -> Self {
        Entry(self.0.map(|(ticket, process)| (f(ticket), process)))
    }
}

impl Narrow for Entry {
    const BITS: u32 = Ticket::BITS + 8;
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((ticket, process)) => write!(f, "({ticket:?}, {process})"),
            None => f.write_str("∞"),
        }
    }
}
