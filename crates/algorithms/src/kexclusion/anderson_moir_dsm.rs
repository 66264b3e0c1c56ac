//! A chain of stages, each process waiting at home. After J. H. Anderson, M. Moir, *Using local-spin k-exclusion algorithms
//! to improve wait-free object implementations*, Distributed Computing 11(1), 1997: the chain for distributed shared memory.
//!
//! ```text
//!     at stage j process p has the cells (p, 0) … (p, j+1); P[p][l] and R[p][l] are at home with p
//!
//!     for j := N-1 down to k:                                stage j lets j of j+1 through
//!  1      if fetch-and-add(X[j], -1) = 0:
//!  2          l := the first that is not last[j][p] and has R[j][p][l] = 0
//!  3          P[j][p][l] := false
//!  4          u := Q[j]
//!  5          fetch-and-add(R[j][u], 1)
//!  6          came := (Q[j] = u)
//!             if came:
//!  7              P[j][u] := true
//!  8              came := compare-and-swap(Q[j], u, (p, l))
//!  9          fetch-and-add(R[j][u], -1)
//!             if came:
//! 10              last[j][p] := l
//! 11              if X[j] < 0:
//! 12                  await P[j][p][l]
//!     critical section
//!     for j := k to N-1:
//! 13      fetch-and-add(X[j], 1)
//! 14      u := Q[j]
//! 15      P[j][u] := true
//! ```
//!
//! Q says in which cell the last one waits that came to wait, so that others can let it go: whoever leaves, and whoever
//! comes to wait next. Who finds that Q has changed need not wait, for another does so in its place, and somebody has left.
//!
//! A cell is used again only if nobody will still write to it. R counts those on lines 5 to 9: j at most, each at one
//! cell, so of j+2 cells one is free that is not the last. Those who leave are not counted. While one of them is on
//! line 14 or 15, at most j others are at the stage and nobody finds 0 on line 1; and who has found it before takes
//! another cell than it had in Q. (That Q has another one now is not enough: who leaves may have read it before.)
//!
//! The one that is replaced is let go *before* the compare-and-swap: if whoever replaces it stopped between the two, nobody
//! else would let it go (`anderson-moir-dsm-late`).
//!
//! We did not have the text of the paper; this is how the algorithm is told, and the line numbers are ours.
//!
//! Departures: `X[j]` is j at first; what is initially arbitrary is (0, 0), true and 0. `last[j][p]`, which is private,
//! is in a register at home with p; with caches it costs a remote reference. For at most 128 processes, since there are
//! O(N³) cells. There is no doorway.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, bounded exit. Nobody waits on a
//! register that is not its own, and a stage costs 11 remote references. With caches line 2 is not local: it costs O(j)
//! more, if so many others are slow.
use alloc::vec::Vec;
use core::{
    fmt,
    ops::ControlFlow::{Break, Continue},
};

use doorway_memory::{Home, Memory, Name, Pid, Space, Value};

use super::anderson_moir::{self, Chain, Stage};
use crate::{About, LocalSpin, Processes, Survey};

/// What is known of it.
pub const ABOUT: About = About {
    name: "anderson-moir-dsm",
    aliases: &[],
    title: "a chain of stages, each process waiting at home",
    processes: Processes::Between(2, 128),
    primitives: &["read", "write", "fetch-and-add", "compare-and-swap"],
    survey: Survey::Passages(2),
    local_spin: Some(LocalSpin::BOTH),
    remark: "a process passes N-k stages, alone or not; `anderson-moir-dsm-tree` is shorter",
    ..anderson_moir::ABOUT
};

/// The lock; see the [module](self).
pub type AndersonMoirDsm<M> = Chain<LocalStage<M>>;

/// A stage at which each process waits at home.
pub struct LocalStage<M: Memory> {
    /// How many more may come.
    x: M::Reg<i64>,
    /// Where the last one waits that came to wait.
    q: M::Reg<Spot>,
    /// Which of its cells a process had in Q the last time.
    last: Vec<M::Reg<usize>>,
    /// Each process' own.
    cells: Vec<Vec<Cell<M>>>,
}

/// Somewhere to wait.
struct Cell<M: Memory> {
    /// Whether who waits here may go.
    p: M::Reg<bool>,
    /// How many may be about to say so.
    r: M::Reg<i64>,
}

/// When who comes to wait lets the last one go that came to wait before.
#[derive(Clone, Copy)]
pub(crate) enum Release {
    BeforeReplacing,
    AfterReplacing,
}

impl<M: Memory> LocalStage<M> {
    pub(crate) fn enter_with(&self, m: &mut M, p: Pid, release: Release) -> Result<(), M::Halt> {
        if m.at("1").fetch_add(&self.x, -1)? != 0 {
            return Ok(());
        }
        let placed = m.call(|m| {
            let l = m.call(|m| {
                let last = m.at("2").read(&self.last[p])?;
                m.turns(0, |m, l| {
                    let is_free = l != last && m.at("2").test(&self.cells[p][l].r, |r| r == 0)?;
                    Ok(if is_free { Break(l) } else { Continue(l + 1) })
                })
            })?;
            m.at("3").write(&self.cells[p][l].p, false)?;
            let u = m.at("4").read(&self.q)?;
            let Cell { p: go, r } = &self.cells[u.p][u.l];
            m.call(|m| m.at("5").fetch_add(r, 1).map(drop))?;
            let mut came = m.at("6").test(&self.q, |q| q == u)?;
            if came {
                if let Release::BeforeReplacing = release {
                    m.at("7").write(go, true)?;
                }
                came = m.at("8").compare_swap(&self.q, u, Spot { p, l })?;
                if let (Release::AfterReplacing, true) = (release, came) {
                    m.at("7").write(go, true)?;
                }
            }
            m.at("9").fetch_add(r, -1)?;
            Ok(came.then_some(l))
        })?;
        let Some(l) = placed else { return Ok(()) };
        m.at("10").write(&self.last[p], l)?;
        if m.at("11").test(&self.x, |x| x >= 0)? {
            return Ok(());
        }
        m.at("12").until(&self.cells[p][l].p, |go| go)
    }
}

impl<M: Memory> Stage<M> for LocalStage<M> {
    fn new(space: &mut impl Space<Mem = M>, name: impl Fn(&'static str) -> Name, n: usize, j: usize) -> Self {
        let mut cell = |p, l| Cell {
            p: space.register(name("P").index(p).index(l), Home::Of(p), true),
            r: space.register(name("R").index(p).index(l), Home::Of(p), 0),
        };
        LocalStage {
            cells: (0..n).map(|p| (0..j + 2).map(|l| cell(p, l)).collect()).collect(),
            x: space.register(name("X"), Home::Nobody, j as i64),
            q: space.register(name("Q"), Home::Nobody, Spot { p: 0, l: 0 }),
            last: (0..n).map(|p| space.register(name("last").index(p), Home::Of(p), 0)).collect(),
        }
    }

    fn enter(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        self.enter_with(m, p, Release::BeforeReplacing)
    }

    fn leave(&self, m: &mut M, _: Pid) -> Result<(), M::Halt> {
        m.call(|m| m.at("13").fetch_add(&self.x, 1).map(drop))?;
        let u = m.at("14").read(&self.q)?;
        m.at("15").write(&self.cells[u.p][u.l].p, true)
    }
}

/// The name of a cell: whose it is, and which one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    p: Pid,
    l: usize,
}

impl Value for Spot {
    fn to_word(self) -> u64 {
        (self.p as u64) << 32 | self.l as u64
    }
    fn of_word(word: u64) -> Self {
        Spot { p: (word >> 32) as usize, l: word as u32 as usize }
    }
}

impl fmt::Debug for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.p, self.l)
    }
}
