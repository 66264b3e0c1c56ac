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
//! The text has no line numbers; these are ours.
//!
//! Departures: line 6 goes through the others in the order of their numbers; the text allows any. `turn`, initially
//! arbitrary, is 0. The text defines no doorway; ours is the first write.
//!
//! Guarantees: mutual exclusion, deadlock-freedom, bounded exit. Not starvation-freedom: who finds the turn in busy
//! hands each time it looks never gets it.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Claim::{Bypass, Fails, Holds},
    LocalSpin,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "dijkstra",
    aliases: &["dijkstra1965"],
    title: "Dijkstra's algorithm",
    source: "Dijkstra 1965; MIT 6.852, class 13",
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Fails(StarvationFreedom),
        Fails(Fcfs),
        Bypass(None),
        Holds(BoundedExit),
    ],
    remark: "the first solution for n processes",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct Dijkstra<M: Memory> {
    turn: M::Reg<usize>,
    /// 0: not interested, 1: after the turn, 2: at the door or inside.
    flag: Vec<M::Reg<u8>>,
}

impl<M: Memory> Dijkstra<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        Dijkstra { turn: space.shared("turn", 0), flag: space.per_process("flag", n, 0) }
    }

    /// Lines 2 to 4, once: whether the turn is ours.
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

    fn doorway(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        m.at("1").write(&self.flag[i], 1)
    }

    fn wait(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns((), |m, ()| {
            m.spin(|m| self.has_turn(m, i))?;
            m.at("5").write(&self.flag[i], 2)?;
            m.at("5").fence()?; // or two look on line 6 before either can be seen
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
