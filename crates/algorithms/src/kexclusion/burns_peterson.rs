//! k-exclusion by one register for each process. After J. Burns, G. Peterson, *The ambiguity of choosing*, PODC 1989.
//!
//! ```text
//!    R[p] = (trying, ticket)
//!
//! 1  R[p] := (true, t)                                       t: the ticket of the last passage
//! 2  max := max(R[1].ticket, …, R[N].ticket)
//! 3  t := max + 1; R[p] := (true, t)                         (doorway ends)
//! 4  await fewer than k of all j ≠ p have R[j].trying and (R[j].ticket, j) < (t, p)
//!    critical section
//! 5  R[p] := (false, t)
//! ```
//!
//! We did not have the text of the paper; this is a bakery with what is told of it, and the lines and their numbers are ours.
//!
//! Departures: line 1 reads `R[p]` for the ticket of the last passage. Line 2 is N reads, one after the other, and so is a turn
//! of line 4, which ends at the k-th it counts.
//!
//! Guarantees: k-exclusion, starvation-freedom even if k-1 processes stop for ever, k-first-come-first-served, bounded exit.
//! Not first-in-first-enabled, from four processes on: as in `afek-no-e`. Danek's Table 1 has
//! ∞ for the paper's remote references; here that is so in a distributed shared memory, and with caches there is a bound.
use alloc::vec::Vec;
use core::fmt;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket, Value};

use super::afek::fewer_than;
use crate::{
    About,
    Claim::{Crashes, Holds},
    Kind, LocalSpin, Remote,
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "burns-peterson",
    aliases: &["burns1989"],
    title: "k-exclusion by one register for each process",
    source: "after Burns & Peterson 1989",
    kind: Kind::KExclusion,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(KFcfs),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Crashes,
    ],
    remark: "tickets are never reset, so they grow with every passage",
    remote: Some(Remote::both("∞")),
    ..About::LOCK
};

/// What a process shows to all: whether it tries to enter or is inside, and its ticket, which stays when it has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shown {
    trying: bool,
    ticket: Ticket,
}

impl Value for Shown {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.ticket.to_word() << 1 | u64::from(self.trying)
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        Shown { trying: word & 1 == 1, ticket: Ticket::of_word(word >> 1) }
    }
    fn map_tickets(self, f: &mut dyn FnMut(Ticket) -> Ticket) -> Self {
        Shown { ticket: f(self.ticket), ..self }
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {:?})", self.trying, self.ticket)
    }
}

/// The lock; see the [module](self).
pub struct BurnsPeterson<M: Memory> {
    k: usize,
    r: Vec<M::Reg<Shown>>,
}

impl<M: Memory> BurnsPeterson<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        BurnsPeterson { k, r: space.per_process("R", n, Shown { trying: false, ticket: Ticket::ZERO }) }
    }
}

impl<M: Memory> Exclusion<M> for BurnsPeterson<M> {
    type Place = Ticket;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        m.call(|m| {
            let last = m.at("1").read(&self.r[p])?;
            m.at("1").write(&self.r[p], Shown { trying: true, ..last })
        })?;
        m.at("1").fence()?; // or one who takes the same ticket does not see that we come
        let max = m.fold(self.r.len(), Ticket::ZERO, |m, max, j| Ok(max.max(m.at("2").read(&self.r[j])?.ticket)))?;
        let ticket = max.next();
        m.at("3").write(&self.r[p], Shown { trying: true, ticket })?;
        m.at("3").fence()?; // or one who comes later takes the same ticket
        Ok(ticket)
    }

    fn wait(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        m.spin(|m| {
            fewer_than(m, self.k, self.r.len(), |m, j| {
                Ok(j != p && m.at("4").test(&self.r[j], |r| r.trying && (r.ticket, j) < (mine, p))?)
            })
        })
    }

    fn exit(&self, m: &mut M, p: Pid, &mine: &Ticket) -> Result<(), M::Halt> {
        m.at("5").write(&self.r[p], Shown { trying: false, ticket: mine })
    }
}
