//! Eisenberg and McGuire's algorithm. After M. A. Eisenberg, M. R. McGuire, *Further comments on Dijkstra's concurrent
//! programming control problem*, CACM 15(11), 1972.
//!
//! ```text
//!  1  flag[i] := waiting                                     (doorway, the first time)
//!  2  j := turn
//!     while j ≠ i:
//!  3      if flag[j] ≠ idle: j := turn                       as on line 2
//!         else: j := j + 1 mod n
//!  4  flag[i] := active
//!  5  if flag[j] = active for some j ≠ i: go to 1
//!  6  j := turn
//!  7  if j ≠ i and flag[j] ≠ idle: go to 1
//!  8  turn := i
//!     critical section
//!  9  j := turn + 1 mod n; while flag[j] = idle: j := j + 1 mod n
//! 10  turn := j
//! 11  flag[i] := idle
//! ```
//!
//! The text of the paper was not available; this is the usual presentation, with line numbers of this project.
//!
//! Departures: line 9 does not read `turn`, which the holder has set to i on line 8. The scan ends at the latest with
//! j = i, whose flag is active, and does not read it.
//!
//! Guarantees: mutual exclusion, starvation-freedom, bounded exit. The next in the order of numbers has the turn, so a
//! process is overtaken at most once; with store buffers there is no bound, since the write of line 10 may arrive late.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Size,
    claim::{holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "eisenberg-mcguire",
    aliases: &["eisenberg1972"],
    title: "Eisenberg and McGuire's algorithm",
    source: "after Eisenberg & McGuire 1972",
    local_spin: Some(LocalSpin::NEITHER),
    claims: &[holds(Exclusion), holds(DeadlockFreedom), holds(StarvationFreedom), lacks(Fcfs), holds(BoundedExit)],
    tolerates: &[Tso],
    remark: "a waiter is overtaken at most once, as long as writes are visible at once",
    pinned: &[
        at(2).finds(168),
        at(3).finds(3_688),
        at(4).finds(99_373),
        at(3).under(&[Tso]).finds(79_278).fences(1),
        at(2).needs_fences(),
        at(3).remote(None, None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = EisenbergMcguire<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> EisenbergMcguire<M> {
    EisenbergMcguire::new(space, size.n)
}

const IDLE: u8 = 0;
const WAITING: u8 = 1;
const ACTIVE: u8 = 2;

/// The lock; see the [module](self).
pub struct EisenbergMcguire<M: Memory> {
    turn: M::Reg<usize>,
    flag: Vec<M::Reg<u8>>,
}

impl<M: Memory> EisenbergMcguire<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        EisenbergMcguire { turn: space.shared("turn", 0), flag: space.per_process("flag", n, IDLE) }
    }

    /// Lines 2 and 3, once: whether no process from `turn` to `i` competes.
    fn has_turn(&self, m: &mut M, i: Pid) -> Result<bool, M::Halt> {
        let n = self.flag.len();
        let turn = m.at("2").read(&self.turn)?;
        m.turns(turn, move |m, j| {
            if j == i {
                return Ok(Break(true));
            }
            let idle = m.at("3").test(&self.flag[j], |flag| flag == IDLE)?;
            Ok(if idle { Continue((j + 1) % n) } else { Break(false) })
        })
    }

    /// Lines 4 to 7: whether no other process is active, and the process whose turn it is does not compete.
    fn is_alone(&self, m: &mut M, i: Pid) -> Result<bool, M::Halt> {
        m.at("4").write(&self.flag[i], ACTIVE)?;
        m.at("4").fence()?;
        if !m.all_but(i, self.flag.len(), |m, j| m.at("5").test(&self.flag[j], |flag| flag != ACTIVE))? {
            return Ok(false);
        }
        let turn = m.at("6").read(&self.turn)?;
        Ok(turn == i || m.at("7").test(&self.flag[turn], |flag| flag == IDLE)?)
    }
}

impl<M: Memory> Exclusion<M> for EisenbergMcguire<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        m.at("1").write(&self.flag[i], WAITING)
    }

    fn wait(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns((), |m, ()| {
            m.spin(|m| self.has_turn(m, i))?;
            if self.is_alone(m, i)? {
                return Ok(Break(()));
            }
            m.at("1").write(&self.flag[i], WAITING)?;
            Ok(Continue(()))
        })?;
        m.at("8").write(&self.turn, i)
    }

    fn exit(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        let n = self.flag.len();
        let next = m.turns(1, move |m, distance| {
            let j = (i + distance) % n;
            let is_found = j == i || m.at("9").test(&self.flag[j], |flag| flag != IDLE)?;
            Ok(if is_found { Break(j) } else { Continue(distance + 1) })
        })?;
        m.at("10").write(&self.turn, next)?;
        m.at("11").write(&self.flag[i], IDLE)
    }
}
