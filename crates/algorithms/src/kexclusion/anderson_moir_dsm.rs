//! A chain of local-spin stages. After J. H. Anderson, M. Moir, *Using local-spin k-exclusion algorithms to improve
//! wait-free object implementations*, Distributed Computing 11(1), 1997: the chain for distributed shared memory.
//!
//! ```text
//!     at stage j process p has the cells (p, 0) … (p, j+1); P[p][l] and R[p][l] are at home at p
//!
//!     for j := N-1 down to k:                                stage j lets j of j+1 through
//!  1      if fetch-and-add(X[j], -1) = 0:
//!  2          l := the first that is not last[j][p] and has R[j][p][l] = 0
//!  3          P[j][p][l] := false
//!  4          u := Q[j]
//!  5          fetch-and-add(R[j][u], 1)
//!  6          installed := (Q[j] = u)
//!             if installed:
//!  7              P[j][u] := true
//!  8              installed := compare-and-swap(Q[j], u, (p, l))
//!  9          fetch-and-add(R[j][u], -1)
//!             if installed:
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
//! Q names the cell of the latest waiter, so that others can release it: a process that leaves, and the next waiter. A
//! process that finds Q changed need not wait, for another process waits instead, and some process has left.
//!
//! A cell is reused only if no process can still write to it. R counts the processes on lines 5 to 9: at most j, each
//! at one cell, so of j+2 cells at least one is free and not the last. Leaving processes are not counted. While one
//! of them is on line 14 or 15, at most j others are at the stage, and no process reads 0 on line 1; and a process
//! that has read 0 before takes another cell than the one it had in Q. (That Q names another cell by now is not
//! enough: a leaving process may have read Q before.)
//!
//! The replaced waiter is released *before* the compare-and-swap: if the replacing process crashed between the two,
//! no other process would release it (`anderson-moir-dsm-late`).
//!
//! The text of the paper was not available; this is the usual presentation, with line numbers of this project.
//!
//! Departures: `X[j]` is initially j; initially arbitrary registers are (0, 0), true and 0. `last[j][p]`, which is
//! private, is in a register at home at p; with caches it costs one remote memory reference. For at most 128
//! processes, since there are O(N³) cells. There is no doorway.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, bounded exit. A waiter spins only on
//! registers of its own, and a stage costs 11 remote memory references. With caches line 2 is not local: it costs up
//! to O(j) more, if j others are slow.
use alloc::vec::Vec;
use core::{
    fmt,
    ops::ControlFlow::{Break, Continue},
};

use doorway_memory::{Home, Memory, Name, Pid, Space, Value};

use super::anderson_moir::{self, Chain, Stage};
use crate::{About, Condition::Tso, LocalSpin, Processes, Size, Survey, pinned::at};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "anderson-moir-dsm",
    aliases: &[],
    title: "a chain of local-spin stages",
    processes: Processes::Between(2, 128),
    primitives: &["read", "write", "fetch-and-add", "compare-and-swap"],
    survey: Survey::Passages(2),
    local_spin: Some(LocalSpin::BOTH),
    remark: "every passage has N-k stages, contended or not; `anderson-moir-dsm-tree` has fewer",
    pinned: &[
        at(3).k(2).finds(341_612),
        at(3).k(1).passages(1).finds(59_056),
        at(2).whole().finds(4_200),
        at(3).under(&[Tso]).finds(942_821).fences(0),
        at(2).k(1).whole().remote(Some(15), Some(11)),
    ],
    ..anderson_moir::ABOUT
};

/// The lock's type.
pub type Lock<M> = AndersonMoirDsm<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> AndersonMoirDsm<M> {
    AndersonMoirDsm::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub type AndersonMoirDsm<M> = Chain<LocalStage<M>>;

/// A stage at which each waiter spins on a cell of its own.
pub struct LocalStage<M: Memory> {
    /// The number of processes that may still pass.
    x: M::Reg<i64>,
    /// The cell of the latest waiter.
    q: M::Reg<CellId>,
    /// The cell that a process last had in Q.
    last: Vec<M::Reg<usize>>,
    /// The cells of each process.
    cells: Vec<Vec<Cell<M>>>,
}

/// A cell in which a process waits.
struct Cell<M: Memory> {
    /// Whether the waiter in this cell has been released.
    p: M::Reg<bool>,
    /// The number of processes that may be about to release it.
    r: M::Reg<i64>,
}

/// When a new waiter releases the previous one.
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
        let installed_in = m.call(|m| {
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
            let mut installed = m.at("6").test(&self.q, |q| q == u)?;
            if installed {
                if let Release::BeforeReplacing = release {
                    m.at("7").write(go, true)?;
                }
                installed = m.at("8").compare_swap(&self.q, u, CellId { p, l })?;
                if let (Release::AfterReplacing, true) = (release, installed) {
                    m.at("7").write(go, true)?;
                }
            }
            m.at("9").fetch_add(r, -1)?;
            Ok(installed.then_some(l))
        })?;
        let Some(l) = installed_in else { return Ok(()) };
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
            q: space.register(name("Q"), Home::Nobody, CellId { p: 0, l: 0 }),
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

/// The name of a cell: its process, and its index there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CellId {
    p: Pid,
    l: usize,
}

impl Value for CellId {
    fn to_word(self) -> u64 {
        (self.p as u64) << 32 | self.l as u64
    }
    fn of_word(word: u64) -> Self {
        CellId { p: (word >> 32) as usize, l: word as u32 as usize }
    }
}

impl fmt::Debug for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.p, self.l)
    }
}
