//! A lock for two sides on which everyone waits at home. After J.-H. Yang and J. H. Anderson, *A fast, scalable mutual
//! exclusion algorithm*, Distributed Computing 9(1), 1995.
//!
//! ```text
//!     p on side s; C[0], C[1] are ⊥ at first, and each P[p] is 0:
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
//!     to give up, instead of going on from anywhere between lines 1 and 9:
//! 10  C[s] := ⊥
//! 13  r := C[1-s]
//! 14  if r ≠ ⊥: P[r] := 2
//! ```
//!
//! We did not have the text of the paper; the line numbers are ours.
//!
//! Giving up is after R. Danek and H. Lee, DISC 2008; how is ours. It is not an unlock. Who comes second owes the first one a
//! word, on line 7: that it has been seen, and should look at T again. If it gives up before that, T says that it came last
//! itself, and on line 12 it would tell nobody. To tell a rival that has gone, or has come again, does no harm, for until we are
//! done nobody else comes on our side: whom it finds on line 4 it finds there alone.
//!
//! Departures: a side belongs to nobody; different processes may come on it, one after the other. So each process has a
//! cell `P[p]` of its own in every such lock. `T`, initially arbitrary, is 0.
//!
//! Guarantees: at most one process inside, as long as at most one is on each side; starvation-freedom, bounded exit.
//! Whoever waits reads its own `P[p]` and nothing else.
use alloc::vec::Vec;

use doorway_memory::{Home, Memory, Name, Pid, Space, Value};

/// The lock; see the [module](self).
pub struct Lock2<M: Memory> {
    c: [M::Reg<Option<usize>>; 2],
    t: M::Reg<usize>,
    p: Vec<M::Reg<u8>>,
}

impl<M: Memory> Lock2<M> {
    /// A free lock on whose sides any of `n` processes may come. The names are those of C, T and P, each with room for
    /// one more index.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, [c, t, p]: [Name; 3]) -> Self {
        Lock2 {
            c: [0, 1].map(|side| space.register(c.index(side), Home::Nobody, None)),
            t: space.register(t, Home::Nobody, 0),
            p: (0..n).map(|i| space.register(p.index(i), Home::Of(i), 0)).collect(),
        }
    }

    /// Takes the lock, and forgets how.
    pub fn lock(&self, m: &mut M, side: usize, p: Pid) -> Result<(), M::Halt> {
        m.call(|m| {
            self.announce(m, side, p)?;
            self.wait(m, side, p)
        })
    }

    /// The part that waits for nobody: lines 1 to 3.
    pub fn announce(&self, m: &mut M, side: usize, p: Pid) -> Result<(), M::Halt> {
        m.at("1").write(&self.c[side], Some(p))?;
        m.at("2").write(&self.t, p)?;
        m.at("3").write(&self.p[p], 0)?;
        m.at("3").fence() // or both look on line 4 before either can be seen
    }

    /// Waits until the lock is ours: lines 4 to 9.
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

    /// As much of the waiting as waits for nobody, and how far one is then: for who waits elsewhere too.
    pub fn look(&self, m: &mut M, side: usize, p: Pid, stage: Stage) -> Result<Stage, M::Halt> {
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

    /// Whether p has come on this side, and not gone yet.
    pub fn has(&self, m: &mut M, side: usize, p: Pid) -> Result<bool, M::Halt> {
        m.at("10").test(&self.c[side], |c| c == Some(p))
    }

    /// Gives the lock back: lines 10 to 12.
    pub fn unlock(&self, m: &mut M, side: usize, p: Pid) -> Result<(), M::Halt> {
        m.call(|m| {
            self.step_aside(m, side)?;
            let r = m.at("11").read(&self.t)?;
            if r != p {
                m.at("12").write(&self.p[r], 2)?;
            }
            Ok(())
        })
    }

    /// Gives up, wherever one is between line 1 and the end of line 9: lines 10, 13 and 14.
    pub fn withdraw(&self, m: &mut M, side: usize) -> Result<(), M::Halt> {
        m.call(|m| {
            self.step_aside(m, side)?;
            match m.at("13").read(&self.c[1 - side])? {
                Some(r) => m.at("14").write(&self.p[r], 2),
                None => Ok(()),
            }
        })
    }

    fn step_aside(&self, m: &mut M, side: usize) -> Result<(), M::Halt> {
        m.at("10").write(&self.c[side], None)?;
        m.at("10").fence() // or we miss on line 11 one who has seen us on line 4, and it waits for ever
    }

    /// Whether we may enter at once; if not, the rival knows that we have seen it: lines 4 to 7.
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

/// How far one is with the waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Before line 4.
    Announced,
    /// The rival knows that we have seen it: at line 8.
    Seen,
    /// The rival goes first: at the end of line 9.
    Last,
    /// The lock is ours.
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
