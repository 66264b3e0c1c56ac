//! The ticket lock with suspended tasks that look at the counter too early. After `ticket-async`; the mistake is
//! deliberate.
//!
//! ```text
//!  d  (left out: line 2 is the last look)
//!     else as `ticket-async`
//! ```
//!
//! Departures: those of `ticket-async`, whose code this is, except for line d.
//!
//! Guarantees: mutual exclusion, first-come-first-served. Fails: deadlock-freedom. Between line 2 and line c the holder
//! can leave, finding an empty list; then the task adds its waker to the list, and no release calls it. Its turn has come,
//! so nobody else enters either.
use doorway_memory::{Abort, Count, Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    Size,
    claim::{bypass, fails, holds, lacks},
    mutex::ticket_async::{self, LastLook, TicketAsync},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "ticket-async-late",
    title: "the ticket lock with tasks that are suspended without a last look",
    source: "this project; see `ticket-async`",
    claims: &[holds(Exclusion), fails(DeadlockFreedom), holds(Fcfs), bypass(Some(0)), lacks(WaitFreeDoorway)],
    tolerates: &[Tso],
    defect: "a wake-up is lost between the last look and the registration of the waker",
    remark: "",
    pinned: &[
        at(2).finds(19_304),
        at(2).under(&[Tso]).finds(49_230).fences(2),
        at(2).refutes(DeadlockFreedom, COUNTEREXAMPLE),
    ],
    ..ticket_async::ABOUT
};

/// The lock's type.
pub type Lock<M> = TicketAsyncLate<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> TicketAsyncLate<M> {
    TicketAsyncLate::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct TicketAsyncLate<M: Memory>(TicketAsync<M>);

impl<M: Memory> TicketAsyncLate<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        TicketAsyncLate(TicketAsync::of(space, n, LastLook::Early))
    }
}

impl<M: Memory> Exclusion<M> for TicketAsyncLate<M> {
    type Place = (Count, bool);
    type Inside = Count;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(Count, bool), M::Halt> {
        self.0.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, place: &(Count, bool)) -> Result<Count, M::Halt> {
        self.0.wait(m, p, place)
    }

    fn exit(&self, m: &mut M, p: Pid, t: &Count) -> Result<(), M::Halt> {
        self.0.exit(m, p, t)
    }

    fn aborting(&self) -> Option<&dyn Abort<M, (Count, bool)>> {
        self.0.aborting()
    }
}

/// The holder leaves before the task is in the list, which no release looks at again.
const COUNTEREXAMPLE: &str = "\
deadlock-freedom FAILS in 17 steps, and stays so
\x20  1  p0  0  entry[0] = 0
\x20  2  p1  0  entry[1] = 0
\x20  3  p1  1  fetch-and-add(Entry, 1) = 0
\x20  4  p0  1  fetch-and-add(Entry, 1) = 1
\x20  5  p0  2  Exit = 0
\x20  6  p0  L  swap(lock, true) = false
\x20  7  p0  b  fenced = false
\x20  8  p1  2  Exit = 0                     -> inside
\x20  9  p1  3  Exit := 1
\x20 10  p1  4  fenced = false               -> out
\x20 11  p0  b  fenced := true
\x20 12  p0  c  listed = false
\x20 13  p0  c  swap(listed, true) = false
\x20 14  p0  e  woken[0] := false
\x20 15  p0  e  wants[0] := 1
\x20 16  p0  e  entry[0] := 1
\x20 17  p0  U  lock := false
\x20 then for ever
\x20 18  p0  f  woken[0] = false
";
