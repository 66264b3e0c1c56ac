//! k-exclusion by one register for each process. After J. Burns, G. Peterson, *The ambiguity of choosing*, PODC 1989.
//!
//! ```text
//!    R[p] = (trying, ticket)
//!
//! 1  R[p] := (true, t)                                       t: the ticket of the previous passage
//! 2  max := max(R[1].ticket, …, R[N].ticket)
//! 3  t := max + 1; R[p] := (true, t)                         (doorway ends)
//! 4  await fewer than k of all j ≠ p have R[j].trying and (R[j].ticket, j) < (t, p)
//!    critical section
//! 5  R[p] := (false, t)
//! ```
//!
//! The text of the paper was not available; this is a bakery with the properties that secondary sources report. The
//! lines and their numbers are this project's.
//!
//! Departures: line 1 reads `R[p]` for the ticket of the previous passage. Line 2 is N reads, one after the other,
//! and so is an iteration of line 4, which ends at the k-th process it counts.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes crash, k-first-come-first-served, bounded exit.
//! Not first-in-first-enabled, from four processes on: as in `afek-no-e`. Danek's Table 1 has ∞ for the paper's RMRs;
//! here that holds in distributed shared memory, and with caches there is a bound.
use alloc::vec::Vec;
use core::fmt;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket, Value};

use super::afek::fewer_than;
use crate::{
    About,
    Condition::{Crashes, Tso},
    Kind, LocalSpin, Remote, Size,
    claim::holds,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "burns-peterson",
    aliases: &["burns1989"],
    title: "k-exclusion by one register for each process",
    source: "after Burns & Peterson 1989",
    kind: Kind::KExclusion,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso, Crashes],
    remark: "tickets are never reset, so they grow for ever",
    remote: Some(Remote::both("∞")),
    pinned: &[
        at(2).k(1).finds(560),
        at(3).k(1).finds(46_455),
        at(3).k(2).finds(276_374),
        at(2).under(&[Tso]).finds(1_678).fences(2),
        at(3).k(2).passages(1).under(&[Tso]).finds(9_690).fences(2),
        at(2).passages(1).needs_fences(),
        at(2).k(1).remote(Some(9), None),
        at(3).k(1).remote(Some(14), None),
        at(3).k(2).remote(Some(14), None).takes("5 s"),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = BurnsPeterson<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> BurnsPeterson<M> {
    BurnsPeterson::new(space, size.n, size.k)
}

/// The announcement of a process: whether it competes or is a holder, and its ticket, which stays after it has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Announcement {
    trying: bool,
    ticket: Ticket,
}

impl Value for Announcement {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.ticket.to_word() << 1 | u64::from(self.trying)
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        Announcement { trying: word & 1 == 1, ticket: Ticket::of_word(word >> 1) }
    }
    fn map_tickets(self, f: &mut dyn FnMut(Ticket) -> Ticket) -> Self {
        Announcement { ticket: f(self.ticket), ..self }
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {:?})", self.trying, self.ticket)
    }
}

/// The lock; see the [module](self).
pub struct BurnsPeterson<M: Memory> {
    k: usize,
    r: Vec<M::Reg<Announcement>>,
}

impl<M: Memory> BurnsPeterson<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        BurnsPeterson { k, r: space.per_process("R", n, Announcement { trying: false, ticket: Ticket::ZERO }) }
    }
}

impl<M: Memory> Exclusion<M> for BurnsPeterson<M> {
    type Place = Ticket;
    type Inside = Ticket;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        m.call(|m| {
            let last = m.at("1").read(&self.r[p])?;
            m.at("1").write(&self.r[p], Announcement { trying: true, ..last })
        })?;
        m.at("1").fence()?; // without it, a process with the same ticket may miss the announcement
        let max = m.fold(self.r.len(), Ticket::ZERO, |m, max, j| Ok(max.max(m.at("2").read(&self.r[j])?.ticket)))?;
        let ticket = max.next();
        m.at("3").write(&self.r[p], Announcement { trying: true, ticket })?;
        m.at("3").fence()?; // without it, a later arrival may take the same ticket
        Ok(ticket)
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<Ticket, M::Halt> {
        m.spin(|m| {
            fewer_than(m, self.k, self.r.len(), |m, j| {
                Ok(j != p && m.at("4").test(&self.r[j], |r| r.trying && (r.ticket, j) < (mine, p))?)
            })
        })?;
        Ok(mine)
    }

    fn exit(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        m.at("5").write(&self.r[p], Announcement { trying: false, ticket: mine })
    }
}
