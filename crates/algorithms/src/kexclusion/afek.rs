//! First-in-first-enabled k-exclusion by reads and writes. After Y. Afek, D. Dolev, E. Gafni, M. Merritt, N. Shavit,
//! *A bounded first-in, first-enabled solution to the l-exclusion problem*, ACM TOPLAS 16(3), 1994, with tickets that
//! grow.
//!
//! ```text
//! 1  X[p] := true
//! 2  max := max(T[1], …, T[N])
//! 3  T[p] := max + 1                                         (doorway ends)
//!    repeat
//! 4      c := the number of j ≠ p with X[j] and (T[j], j) < (T[p], p)
//! 5      if c < k: enter
//! 6      if (T[p], p) < (E[j], j) for some j ≠ p: enter
//! 7  E[p] := T[p]                                            (before entering)
//!    critical section
//! 8  X[p] := false
//! ```
//!
//! T and E are never reset. A process that has arrived but has no ticket yet still shows its previous one, which is
//! smaller than the ticket of any process that does not wait for it. A process that enters writes its ticket to E, so
//! that processes with earlier tickets can enter at once.
//!
//! The text of the paper, which bounds the tickets, was not available; this follows secondary sources, with tickets
//! that grow. The lines and their numbers are this project's.
//!
//! Departures: line 2 is N reads, one after the other. Line 4 reads `X[j]` and then, if that is up, `T[j]`; it ends
//! at the k-th process it counts, and line 6 at the first it finds.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, first-in-first-enabled, bounded exit. Every
//! waiter reads the registers of all processes. Danek's Table 1 has ∞ for the paper's RMRs; here that holds in
//! distributed shared memory, and with caches there is a bound.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Condition::{Crashes, Tso},
    Kind, LocalSpin, Remote, Size, Survey,
    claim::holds,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "afek",
    aliases: &["afek1994"],
    title: "first-in-first-enabled k-exclusion by reads and writes",
    source: "after Afek et al. 1994",
    kind: Kind::KExclusion,
    survey: Survey::Passages(1),
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(Fife),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso, Crashes],
    remark: "tickets are never reset, so they grow for ever; the paper's are bounded",
    remote: Some(Remote::both("∞")),
    departures: "tickets grow",
    pinned: &[
        at(3).k(2).finds(17_386),
        at(4).k(2).finds(2_553_419).takes("10 s"),
        at(4).k(3).finds(5_249_253).takes("20 s"),
        at(2).k(1).whole().finds(1_647),
        at(3).k(1).whole().finds(693_256),
        at(3).k(2).whole().crashes(1).finds(4_690_330).takes("20 s, 1 GB"),
        at(3).under(&[Tso]).finds(41_166).fences(3),
        at(3).needs_fences(),
        at(4).k(2).needs_fences_for(&[Fife]),
        at(2).k(1).whole().remote(Some(12), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Afek<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> Afek<M> {
    Afek::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct Afek<M: Memory> {
    k: usize,
    x: Vec<M::Reg<bool>>,
    t: Vec<M::Reg<Ticket>>,
    e: Vec<M::Reg<Ticket>>,
}

impl<M: Memory> Afek<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        Afek { e: space.per_process("E", n, Ticket::ZERO), ..Afek::without_e(space, n, k) }
    }

    /// A lock without E, which skips lines 6 and 7.
    pub(crate) fn without_e(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        Afek { k, x: space.per_process("X", n, false), t: space.per_process("T", n, Ticket::ZERO), e: Vec::new() }
    }

    /// Lines 4 and 5.
    fn fewer_than_k_precede(&self, m: &mut M, p: Pid, mine: Ticket) -> Result<bool, M::Halt> {
        fewer_than(m, self.k, self.t.len(), |m, j| {
            Ok(j != p
                && m.at("4").test(&self.x[j], |up| up)?
                && m.at("4").test(&self.t[j], |ticket| (ticket, j) < (mine, p))?)
        })
    }

    /// Line 6.
    fn later_ticket_has_entered(&self, m: &mut M, p: Pid, mine: Ticket) -> Result<bool, M::Halt> {
        let none =
            m.all_but(p, self.e.len(), |m, j| m.at("6").test(&self.e[j], |entered| (mine, p) >= (entered, j)))?;
        Ok(!none)
    }
}

impl<M: Memory> Exclusion<M> for Afek<M> {
    type Place = Ticket;
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        m.at("1").write(&self.x[p], true)?;
        m.at("1").fence()?; // without it, a process with the same ticket may miss the announcement
        let max = m.fold(self.t.len(), Ticket::ZERO, |m, max, j| Ok(max.max(m.at("2").read(&self.t[j])?)))?;
        m.at("3").write(&self.t[p], max.next())?;
        m.at("3").fence()?; // without it, a later arrival may take the same ticket
        Ok(max.next())
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        m.spin(|m| Ok(self.fewer_than_k_precede(m, p, mine)? || self.later_ticket_has_entered(m, p, mine)?))?;
        let Some(e) = self.e.get(p) else { return Ok(()) };
        m.at("7").write(e, mine)?;
        m.at("7").fence() // without it, the process may enter before an earlier arrival can follow at once
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("8").write(&self.x[p], false)
    }
}

/// Whether fewer than `k` of `0..n` are `counted`; stops at the k-th.
pub(crate) fn fewer_than<M: Memory>(
    m: &mut M,
    k: usize,
    n: usize,
    counted: impl Fn(&mut M, Pid) -> Result<bool, M::Halt>,
) -> Result<bool, M::Halt> {
    m.turns((0, 0), |m, (j, count)| {
        if count == k || j == n {
            return Ok(Break(count < k));
        }
        Ok(Continue((j + 1, count + usize::from(counted(m, j)?))))
    })
}
