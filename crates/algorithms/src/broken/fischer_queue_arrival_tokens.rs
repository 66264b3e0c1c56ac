//! The queue with names, and tokens that are taken on arrival. The mistake is deliberate.
//!
//! ```text
//!     as `fischer-queue-names`, but
//!     initially Arrivals = 0
//!
//!  0  Arrivals := Arrivals + 1; the token of p is its new value, whatever name p has
//! ```
//!
//! A semaphore whose token is the revision at which its holder joined the queue does the same, except that there lines 0
//! and 1 are one step; then it is right for k = 1, where processes enter in the order in which they joined.
//!
//! Guarantees: those of `fischer-queue-names`. Fails: fencing for k > 1. A later arrival may have a name first, and then
//! the resource refuses the earlier one.
use doorway_memory::{Abort, Assign, Exclusion, Fence, Memory, Pid, Property::*, Reap, Space, Ticket};

use crate::{
    About,
    Condition::{Expiries, Tso},
    Size, Survey,
    claim::{fails, holds, lacks},
    kexclusion::fischer_queue_names::{self, FischerQueueNames},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "fischer-queue-arrival-tokens",
    aliases: &[],
    title: "a queue whose tokens are taken on arrival",
    source: "this project; see `fischer-queue-names`",
    survey: Survey::Passages(1),
    local_spin: None,
    remote: None,
    claims: &[
        holds(Exclusion),
        holds(Assignment),
        lacks(Exclusion).under(&[Expiries]),
        lacks(Assignment).under(&[Expiries]),
        fails(Fenced).under(&[Expiries]),
    ],
    tolerates: &[Tso],
    defect: "a resource that refuses smaller tokens refuses a holder",
    remark: "",
    pinned: &[
        at(3).k(2).finds(12_514),
        at(3).under(&[Tso]).finds(12_514).fences(0),
        at(3).k(2).passages_in_all(2).under(&[Expiries]).refutes(Fenced, COUNTEREXAMPLE),
    ],
    ..fischer_queue_names::ABOUT
};

/// The lock's type.
pub type Lock<M> = FischerQueueArrivalTokens<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, Size { n, k }: Size) -> Lock<M> {
    FischerQueueArrivalTokens {
        queue: FischerQueueNames::new(space, n, k),
        arrivals: space.shared("Arrivals", Ticket::ZERO),
    }
}

/// Process 1 arrives after process 0, and has the name first.
const COUNTEREXAMPLE: &str = "\
fenced FAILS in 11 steps: process 0 is a holder, and its token is not larger than one that the resource has seen
\x20  1  p0  0    Arrivals := 1 (was 0)
\x20  2  p0  1    V := [0] (was [])
\x20  3  p0  2    V = [0]
\x20  4  p1  0    Arrivals := 2 (was 1)
\x20  5  p1  1    V := [0, 1] (was [0])
\x20  6  p1  2    V = [0, 1]
\x20  7  p1  3    Name[0] := 1, 1 (was ⊥, 0)  -> inside
\x20  8  p1  use  Resource[0] := 2 (was 0)
\x20  9  p1  4    Name[0] := ⊥, 1 (was 1, 1)
\x20 10  p0  3    Name[0] := 0, 2 (was ⊥, 1)  -> inside
\x20 11  p0  use  Resource[0] := 2 (was 2)
";

/// The lock; see the [module](self).
pub struct FischerQueueArrivalTokens<M: Memory> {
    queue: FischerQueueNames<M>,
    arrivals: M::Reg<Ticket>,
}

impl<M: Memory> Exclusion<M> for FischerQueueArrivalTokens<M> {
    /// The token.
    type Place = Ticket;
    /// The name and the token.
    type Inside = (usize, Ticket);

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        let arrivals = m.at("0").update(&self.arrivals, Ticket::next)?;
        self.queue.doorway(m, p)?;
        Ok(arrivals.next())
    }

    fn wait(&self, m: &mut M, p: Pid, &token: &Ticket) -> Result<(usize, Ticket), M::Halt> {
        let (name, _) = self.queue.wait(m, p, &())?;
        Ok((name, token))
    }

    fn exit(&self, m: &mut M, p: Pid, inside: &(usize, Ticket)) -> Result<(), M::Halt> {
        self.queue.exit(m, p, inside)
    }

    fn recovery(&self) -> Option<&dyn Reap<M>> {
        Some(self)
    }

    fn aborting(&self) -> Option<&dyn Abort<M, Ticket>> {
        Some(self)
    }

    fn names(&self) -> Option<&dyn Assign<(usize, Ticket)>> {
        Some(self)
    }

    fn tokens(&self) -> Option<&dyn Fence<(usize, Ticket)>> {
        Some(self)
    }
}

impl<M: Memory> Abort<M, Ticket> for FischerQueueArrivalTokens<M> {
    fn abort(&self, m: &mut M, p: Pid, _: &Ticket) -> Result<(), M::Halt> {
        self.queue.reap(m, p)
    }
}

impl<M: Memory> Reap<M> for FischerQueueArrivalTokens<M> {
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        self.queue.reap(m, dead)
    }
}

impl<M: Memory> Assign<(usize, Ticket)> for FischerQueueArrivalTokens<M> {
    fn name(&self, &(name, _): &(usize, Ticket)) -> usize {
        name
    }
}

impl<M: Memory> Fence<(usize, Ticket)> for FischerQueueArrivalTokens<M> {
    fn token(&self, &(_, token): &(usize, Ticket)) -> Ticket {
        token
    }

    fn resources(&self) -> usize {
        self.queue.resources()
    }
}
