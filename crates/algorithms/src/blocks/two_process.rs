//! A lock with two sides and local spinning. After J.-H. Yang and J. H. Anderson, *A fast, scalable mutual exclusion
//! algorithm*, Distributed Computing 9(1), 1995.
//!
//! ```text
//!     p on side s; initially C[0], C[1] are ⊥, and each P[p] is 0:
//!  1  C[s] := p
//!  2  T := p
//!  3  P[p] := 0                                              (the announcement ends)
//!  4  r := C[1-s]
//!     if r = ⊥: enter
//!  5  if T ≠ p: enter
//!  6  if P[r] = 0:
//!  7      P[r] := 1
//!  8  await P[p] >= 1
//!  9  if T = p: await P[p] = 2
//!     critical section
//! 10  C[s] := ⊥
//! 11  r := T
//! 12  if r ≠ p: P[r] := 2
//!     to abort, instead of continuing from any point between lines 1 and 9:
//! 10  C[s] := ⊥
//! 13  r := C[1-s]
//! 14  if r ≠ ⊥: P[r] := 2
//! ```
//!
//! The text of the paper was not available; the line numbers are this project's.
//!
//! Aborting is after R. Danek and H. Lee, DISC 2008; the details are this project's. It differs from unlocking. The
//! second process to arrive owes the first a notification, on line 7: it has been seen, and should read T again. If
//! the second process aborts before that, T names the aborting process itself, so line 12 would notify nobody.
//! Notifying a rival that has left, or has arrived again, does no harm: no other process arrives on the aborting
//! process' side before it is done, so the rival reads ⊥ on line 4 and enters.
//!
//! Departures: a side belongs to no process; different processes may arrive on it, one after the other. So each
//! process has a cell `P[p]` of its own in every such lock. `T`, initially arbitrary, is 0.
//!
//! Guarantees: at most one holder, if at most one process is on each side; starvation-freedom, bounded exit. A waiter
//! reads its own `P[p]` and nothing else.
use alloc::vec::Vec;

use doorway_memory::{Home, Memory, Name, Pid, Space, Value};

/// The lock; see the [module](self).
pub struct Lock2<M: Memory> {
    c: [M::Reg<Option<usize>>; 2],
    t: M::Reg<usize>,
    p: Vec<M::Reg<u8>>,
}

impl<M: Memory> Lock2<M> {
    /// A free lock on whose sides any of `n` processes may arrive. The names are those of C, T and P, each with space
    /// for one more index.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, [c, t, p]: [Name; 3]) -> Self {
        Lock2 {
            c: [0, 1].map(|side| space.register(c.index(side), Home::Nobody, None)),
            t: space.register(t, Home::Nobody, 0),
            p: (0..n).map(|i| space.register(p.index(i), Home::Of(i), 0)).collect(),
        }
    }

    /// Acquires the lock in a [`call`](Memory::call).
    pub fn lock(&self, m: &mut M, side: usize, p: Pid) -> Result<(), M::Halt> {
        m.call(|m| {
            self.announce(m, side, p)?;
            self.wait(m, side, p)
        })
    }

    /// The doorway: lines 1 to 3.
    pub fn announce(&self, m: &mut M, side: usize, p: Pid) -> Result<(), M::Halt> {
        m.at("1").write(&self.c[side], Some(p))?;
        m.at("2").write(&self.t, p)?;
        m.at("3").write(&self.p[p], 0)?;
        m.at("3").fence() // without it, both processes may pass line 4 before either is visible
    }

    /// Waits until the process has the lock: lines 4 to 9.
    pub fn wait(&self, m: &mut M, side: usize, p: Pid) -> Result<(), M::Halt> {
        if m.call(|m| self.is_free(m, side, p))? {
            return Ok(());
        }
        m.at("8").until(&self.p[p], |cell| cell >= 1)?;
        if m.at("9").test(&self.t, |t| t == p)? {
            m.at("9").until(&self.p[p], |cell| cell == 2)?;
        }
        Ok(())
    }

    /// Takes the wait as far as it goes without waiting, and returns the stage, for a caller that also waits for
    /// something else.
    pub fn poll(&self, m: &mut M, side: usize, p: Pid, stage: Stage) -> Result<Stage, M::Halt> {
        Ok(match stage {
            Stage::Announced if m.call(|m| self.is_free(m, side, p))? => Stage::Won,
            Stage::Seen if m.at("8").test(&self.p[p], |cell| cell == 0)? => Stage::Seen,
            Stage::Seen if m.at("9").test(&self.t, |t| t != p)? => Stage::Won,
            Stage::Last if m.at("9").test(&self.p[p], |cell| cell == 2)? => Stage::Won,
            Stage::Announced => Stage::Seen,
            Stage::Seen => Stage::Last,
            Stage::Last | Stage::Won => stage,
        })
    }

    /// Whether p has announced itself on this side and not left since.
    pub fn is_announced(&self, m: &mut M, side: usize, p: Pid) -> Result<bool, M::Halt> {
        m.at("10").test(&self.c[side], |c| c == Some(p))
    }

    /// Releases the lock: lines 10 to 12.
    pub fn unlock(&self, m: &mut M, side: usize, p: Pid) -> Result<(), M::Halt> {
        m.call(|m| {
            self.clear_side(m, side)?;
            let r = m.at("11").read(&self.t)?;
            if r != p {
                m.at("12").write(&self.p[r], 2)?;
            }
            Ok(())
        })
    }

    /// Aborts, from any point between line 1 and the end of line 9: lines 10, 13 and 14.
    pub fn withdraw(&self, m: &mut M, side: usize) -> Result<(), M::Halt> {
        m.call(|m| {
            self.clear_side(m, side)?;
            match m.at("13").read(&self.c[1 - side])? {
                Some(r) => m.at("14").write(&self.p[r], 2),
                None => Ok(()),
            }
        })
    }

    fn clear_side(&self, m: &mut M, side: usize) -> Result<(), M::Halt> {
        m.at("10").write(&self.c[side], None)?;
        // Without it, line 11 may miss a rival that has seen this process on line 4 and then waits for ever.
        m.at("10").fence()
    }

    /// Lines 4 to 7: whether the process may enter at once; if not, its rival has been notified that it was seen.
    fn is_free(&self, m: &mut M, side: usize, p: Pid) -> Result<bool, M::Halt> {
        let Some(r) = m.at("4").read(&self.c[1 - side])? else { return Ok(true) };
        if m.at("5").test(&self.t, |t| t != p)? {
            return Ok(true);
        }
        if m.at("6").test(&self.p[r], |cell| cell == 0)? {
            m.at("7").write(&self.p[r], 1)?;
        }
        Ok(false)
    }
}

/// The progress of the wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Before line 4.
    Announced,
    /// The rival has been notified that it was seen: at line 8.
    Seen,
    /// The rival enters first: at the end of line 9.
    Last,
    /// The process has the lock.
    Won,
}

impl Value for Stage {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        match word {
            0 => Stage::Announced,
            1 => Stage::Seen,
            2 => Stage::Last,
            _ => Stage::Won,
        }
    }
}
