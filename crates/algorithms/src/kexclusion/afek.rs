//! First-in-first-enabled k-exclusion by reads and writes. After Y. Afek, D. Dolev, E. Gafni, M. Merritt, N. Shavit, *A
//! bounded first-in, first-enabled solution to the l-exclusion problem*, ACM TOPLAS 16(3), 1994, with tickets that grow.
//!
//! ```text
//! 1  X[p] := true
//! 2  max := max(T[1], …, T[N])
//! 3  T[p] := max + 1                                         (doorway ends)
//!    repeat
//! 4      c := the number of j ≠ p with X[j] and (T[j], j) < (T[p], p)
//! 5      if c < k: enter
//! 6      if (T[p], p) < (E[j], j) for some j ≠ p: enter
//! 7  E[p] := T[p]                                            (on the way in)
//!    critical section
//! 8  X[p] := false
//! ```
//!
//! T and E are never reset. A process that has come and has no ticket yet still shows its last one, which is smaller than
//! that of whoever does not wait for it. Who enters says in E with which ticket: who came earlier can then follow at once.
//!
//! We did not have the text of the paper, which bounds the tickets; this is what is told of it, with tickets that grow, and
//! the lines and their numbers are ours.
//!
//! Departures: line 2 is N reads, one after the other. Line 4 reads `X[j]` and then, if that is up, `T[j]`; it ends at the k-th
//! it counts, and line 6 at the first it finds.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, first-in-first-enabled, bounded exit.
//! Everyone waits on everyone's registers. Danek's Table 1 has ∞ for the paper's remote references; here that is so in a
//! distributed shared memory, and with caches there is a bound.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket};

use crate::{
    About,
    Claim::{Crashes, Holds},
    Kind, LocalSpin, Remote, Survey,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "afek",
    aliases: &["afek1994"],
    title: "first-in-first-enabled k-exclusion by reads and writes",
    source: "after Afek et al. 1994",
    kind: Kind::KExclusion,
    survey: Survey::Passages(1),
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(KFcfs),
        Holds(Fife),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Crashes,
    ],
    remark: "tickets are never reset, so they grow with every passage; the paper's are bounded",
    remote: Some(Remote::both("∞")),
    departures: "tickets grow",
    ..About::LOCK
};

/// The lock; see the [module](self).
pub struct Afek<M: Memory> {
    k: usize,
    x: Vec<M::Reg<bool>>,
    t: Vec<M::Reg<Ticket>>,
    e: Vec<M::Reg<Ticket>>,
}

impl<M: Memory> Afek<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        Afek { e: space.per_process("E", n, Ticket::ZERO), ..Afek::without_e(space, n, k) }
    }

    /// Without E, which lines 6 and 7 then pass over.
    pub(crate) fn without_e(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        Afek { k, x: space.per_process("X", n, false), t: space.per_process("T", n, Ticket::ZERO), e: Vec::new() }
    }

    /// Lines 4 and 5.
    fn few_are_before(&self, m: &mut M, p: Pid, mine: Ticket) -> Result<bool, M::Halt> {
        fewer_than(m, self.k, self.t.len(), |m, j| {
            Ok(j != p
                && m.at("4").test(&self.x[j], |up| up)?
                && m.at("4").test(&self.t[j], |ticket| (ticket, j) < (mine, p))?)
        })
    }

    /// Line 6.
    fn one_after_has_entered(&self, m: &mut M, p: Pid, mine: Ticket) -> Result<bool, M::Halt> {
        let none =
            m.all_but(p, self.e.len(), |m, j| m.at("6").test(&self.e[j], |entered| (mine, p) >= (entered, j)))?;
        Ok(!none)
    }
}

impl<M: Memory> Exclusion<M> for Afek<M> {
    type Place = Ticket;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        m.at("1").write(&self.x[p], true)?;
        m.at("1").fence()?; // or one who takes the same ticket does not see that we come
        let max = m.fold(self.t.len(), Ticket::ZERO, |m, max, j| Ok(max.max(m.at("2").read(&self.t[j])?)))?;
        m.at("3").write(&self.t[p], max.next())?;
        m.at("3").fence()?; // or one who comes later takes the same ticket
        Ok(max.next())
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        m.spin(|m| Ok(self.few_are_before(m, p, mine)? || self.one_after_has_entered(m, p, mine)?))?;
        let Some(e) = self.e.get(p) else { return Ok(()) };
        m.at("7").write(e, mine)?;
        m.at("7").fence() // or we are inside before one who came earlier can follow at once
    }

    /// The exit needs no ticket.
    fn inside(&self, _: &Ticket) -> Ticket {
        Ticket::ZERO
    }

    fn exit(&self, m: &mut M, p: Pid, _: &Ticket) -> Result<(), M::Halt> {
        m.at("8").write(&self.x[p], false)
    }
}

/// Whether fewer than `k` of `0..n` are `counted`; looks no further than to the k-th.
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
