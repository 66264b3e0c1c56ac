//! Dijkstra's algorithm. E. W. Dijkstra, CACM 8(9), 1965; here as in MIT 6.852, *Distributed Algorithms*, Fall 2009,
//! class 13, whose precondition/effect code has one transition for each access.
//!
//! ```text
//!  1  flag(i) := 1                                           set-flag-1 (doorway, the first time)
//!  2  if turn = i then go to 5, else let j be turn           test-turn
//!  3  if flag(j) ≠ 0 then go to 2                            test-flag(j)
//!  4  turn := i                                              set-turn
//!  5  flag(i) := 2                                           set-flag-2
//!  6  for each j ≠ i: if flag(j) = 2 then go to 1            check(j)
//!     critical section
//!  7  flag(i) := 0                                           reset
//! ```
//!
//! The text has no line numbers; these are this project's.
//!
//! Departures: line 6 examines the others in the order of their numbers; the text allows any order. `turn`, initially
//! arbitrary, is 0. The text defines no doorway; here it is the first write.
//!
//! Guarantees: mutual exclusion, deadlock-freedom, bounded exit. Not starvation-freedom: a process that finds `turn`
//! with an active process every time never obtains it.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Size,
    claim::{bypass, holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "dijkstra",
    aliases: &["dijkstra1965"],
    title: "Dijkstra's algorithm",
    source: "Dijkstra 1965; MIT 6.852, class 13",
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        lacks(StarvationFreedom),
        lacks(Fcfs),
        bypass(None),
        holds(BoundedExit),
    ],
    tolerates: &[Tso],
    remark: "the first published solution for n processes",
    pinned: &[
        at(3).finds(2_236),
        at(4).finds(69_140),
        at(3).under(&[Tso]).finds(30_756).fences(1),
        at(2).needs_fences(),
        at(2).refutes(StarvationFreedom, COUNTEREXAMPLE),
        at(3).remote(None, None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Dijkstra<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> Dijkstra<M> {
    Dijkstra::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct Dijkstra<M: Memory> {
    turn: M::Reg<usize>,
    /// 0: in the remainder, 1: competing for `turn`, 2: checking the others or in the critical section.
    flag: Vec<M::Reg<u8>>,
}

impl<M: Memory> Dijkstra<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        Dijkstra { turn: space.shared("turn", 0), flag: space.per_process("flag", n, 0) }
    }

    /// Lines 2 to 4, once: whether process `i` has the turn.
    fn has_turn(&self, m: &mut M, i: Pid) -> Result<bool, M::Halt> {
        let j = m.at("2").read(&self.turn)?;
        if j == i {
            return Ok(true);
        }
        let idle = m.at("3").test(&self.flag[j], |flag| flag == 0)?;
        if idle {
            m.at("4").write(&self.turn, i)?;
        }
        Ok(idle)
    }
}

impl<M: Memory> Exclusion<M> for Dijkstra<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        m.at("1").write(&self.flag[i], 1)
    }

    fn wait(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns((), |m, ()| {
            m.spin(|m| self.has_turn(m, i))?;
            m.at("5").write(&self.flag[i], 2)?;
            m.at("5").fence()?; // without it, two processes may both pass line 6 before either flag is visible
            if m.all_but(i, self.flag.len(), |m, j| m.at("6").test(&self.flag[j], |flag| flag != 2))? {
                return Ok(Break(()));
            }
            m.at("1").write(&self.flag[i], 1)?;
            Ok(Continue(()))
        })
    }

    fn exit(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("7").write(&self.flag[i], 0)
    }
}

/// Dijkstra starves a process that never gets the turn.
const COUNTEREXAMPLE: &str = "\
starvation-freedom FAILS in 1 step, and stays so (for process 0, 1): process 1 never enters
\x20  1  p1  1  flag[1] := 1
\x20 then for ever
\x20  2  p1  2  turn = 0
\x20  3  p0  1  flag[0] := 1
\x20  4  p0  2  turn = 0
\x20  5  p0  5  flag[0] := 2
\x20  6  p0  6  flag[1] = 1   -> inside
\x20  7  p1  3  flag[0] = 2
\x20  8  p0  7  flag[0] := 0  -> out
";
