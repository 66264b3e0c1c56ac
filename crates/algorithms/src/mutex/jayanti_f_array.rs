//! First-come-first-served by a tree of minima. After P. Jayanti, *f-arrays: implementation and applications*, PODC 2002.
//!
//! ```text
//!     C = 0, Own = ⊥, Go[p] = false at home with p
//!     Tree: a word for each node, ∞ at first; leaf p at home with p. What is in a node is the least of its two children
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
//! 14  e := the least of the children of x
//! 15  return SC(x, e)
//! ```
//!
//! A refresh that fails was disturbed by another. If the second fails too, then that other one began after the first of ours,
//! read the children when they were up to date, and did our work. Whether line 3 succeeds does not matter either: if it does
//! not, somebody else's did. Own breaks the ties: whoever is to be next, only one is told so. It is changed from ⊥ by one
//! who loaded it before looking at the root, so the root was looked at when nobody was inside, and who was there still is.
//!
//! We did not have the text of the paper: that it has such a lock, of LL/SC and with these guarantees, is what others tell of
//! it. The lines are ours.
//!
//! Departures: every process has a leaf of its own, so a passage makes O(log N) remote references, where the paper has
//! O(min(c, log N)) if c processes contend: that is `jayanti-f-array-adaptive`. For at most 255 processes. On real atomics,
//! where LL and SC are made of compare-and-swap, a ticket has 36 bits, and the version beside it 20; see [`Linked`].
//!
//! Guarantees: mutual exclusion, first-come-first-served, starvation-freedom, bounded exit; local spinning with caches and
//! without.
use alloc::vec::Vec;
use core::{
    fmt,
    ops::ControlFlow::{Break, Continue},
};

use doorway_memory::{Exclusion, Home, Linked, Memory, Name, Narrow, Pid, Property::*, Space, Ticket, Value};

use crate::{
    About,
    Claim::{Bypass, Holds},
    LocalSpin, Processes, Remote,
};

/// So many processes have different names in eight bits, beside ∞.
const MOST: usize = 255;

/// What is known of it.
pub const ABOUT: About = About {
    name: "jayanti-f-array",
    aliases: &["jayanti2002"],
    title: "first come, first served by a tree of minima",
    source: "after Jayanti 2002",
    processes: Processes::Between(2, MOST),
    default_n: 2,
    primitives: &["read", "write", "LL/SC"],
    local_spin: Some(LocalSpin::BOTH),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(Fcfs),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Bypass(Some(0)),
    ],
    remote: Some(Remote::both("O(log N)")),
    departures: "everyone has a leaf of its own, so it is not adaptive; `jayanti-f-array-adaptive` is",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct JayantiFArray<M: Memory> {
    n: usize,
    /// How often a node is refreshed, at most.
    refreshes: usize,
    c: M::Reg<Linked<Ticket>>,
    own: M::Reg<Linked<Option<usize>>>,
    go: Vec<M::Reg<bool>>,
    /// Whether a leaf that is anybody's is taken. None here: see `jayanti-f-array-adaptive`.
    slot: Vec<M::Reg<Linked<bool>>>,
    /// That of each slot, then that of each process.
    leaf: Vec<M::Reg<Entry>>,
    /// With S slots, node i <= S has the leaf of slot i-1 and node i+1 below it; and node S+x has S+2x and S+2x+1. From S+n
    /// on these are the leaves of the processes. Node i is at i-1 here.
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

    /// A free lock for `n` processes with so many slots, and so many refreshes of a node, enough or not.
    ///
    /// # Panics
    /// For more than 255 processes.
    pub(crate) fn of(space: &mut impl Space<Mem = M>, n: usize, slots: usize, refreshes: usize) -> Self {
        assert!(n <= MOST, "eight bits name at most {MOST} processes, not {n}");
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

    /// The leaf of the first slot that is free; one's own if there is none.
    fn take_leaf(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt> {
        m.turns(0, |m, i| {
            let Some(slot) = self.slot.get(i) else { return Ok(Break(i + p)) };
            let link = m.at("a").load_linked(slot)?;
            let is_ours = !link.value() && m.at("b").store_conditional(slot, link, true)?;
            Ok(if is_ours { Break(i) } else { Continue(i + 1) })
        })
    }

    fn give_back(&self, m: &mut M, leaf: usize) -> Result<(), M::Halt> {
        match self.slot.get(leaf) {
            Some(slot) => m.at("c").write_linked(slot, false),
            None => Ok(()),
        }
    }

    fn update(&self, m: &mut M, leaf: usize, e: Entry) -> Result<(), M::Halt> {
        m.at("10").write(&self.leaf[leaf], e)?;
        // Who fails twice relies on another having seen the leaf after the first time. Without the fence that one may have
        // looked at it while what we wrote was on its way.
        m.at("10").fence()?;
        let slots = self.slot.len();
        let above_leaf = if leaf < slots { leaf + 1 } else { self.above(self.n + leaf) };
        m.turns(above_leaf, |m, i| {
            if i == 0 {
                return Ok(Break(()));
            }
            // Done when one of them succeeds; all that is asked for is that not all of them fail unnoticed.
            m.all(self.refreshes, |m, _| Ok(!self.refresh(m, i)?))?;
            Ok(Continue(self.above(i)))
        })
    }

    fn refresh(&self, m: &mut M, i: usize) -> Result<bool, M::Halt> {
        m.call(|m| {
            let link = m.at("13").load_linked(&self.node[i - 1])?;
            let (left, right) = self.below(i);
            let e = self.look(m, left)?.least(self.look(m, right)?);
            m.at("15").store_conditional(&self.node[i - 1], link, e)
        })
    }

    /// The node above node i; 0 is above the root.
    fn above(&self, i: usize) -> usize {
        let slots = self.slot.len();
        if i <= slots + 1 { i - 1 } else { slots + (i - slots) / 2 }
    }

    /// What is below node i.
    fn below(&self, i: usize) -> (Below, Below) {
        let slots = self.slot.len();
        if i <= slots {
            return (Below::Leaf(i - 1), Below::Node(i + 1));
        }
        let below = |x: usize| if x < self.n { Below::Node(slots + x) } else { Below::Leaf(slots + x - self.n) };
        let x = i - slots;
        (below(2 * x), below(2 * x + 1))
    }

    fn look(&self, m: &mut M, at: Below) -> Result<Entry, M::Halt> {
        match at {
            Below::Node(i) => m.at("14").read_linked(&self.node[i - 1]),
            Below::Leaf(i) => m.at("14").read(&self.leaf[i]),
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
    /// One's leaf.
    type Place = usize;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<usize, M::Halt> {
        m.at("1").write(&self.go[p], false)?;
        let t = m.at("2").load_linked(&self.c)?;
        m.at("3").store_conditional(&self.c, t, t.value().next())?;
        let leaf = self.take_leaf(m, p)?;
        self.update(m, leaf, Entry(Some((t.value(), p))))?;
        Ok(leaf)
    }

    fn wait(&self, m: &mut M, p: Pid, _: &usize) -> Result<(), M::Halt> {
        self.promote(m)?;
        m.at("6").until(&self.go[p], |go| go)
    }

    fn exit(&self, m: &mut M, _: Pid, &leaf: &usize) -> Result<(), M::Halt> {
        self.update(m, leaf, Entry(None))?;
        self.give_back(m, leaf)?;
        m.at("8").write_linked(&self.own, None)?;
        self.promote(m)
    }
}

/// What a node has below it.
#[derive(Clone, Copy)]
enum Below {
    Node(usize),
    Leaf(usize),
}

/// A ticket and who has it, or ∞.
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

/// The process plus 1 in the lowest eight bits, the ticket above; ∞ is 0.
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
