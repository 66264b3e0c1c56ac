//! The default lines: `ticket` and `ticket-k` of the catalogue, and giving up.
use std::{fmt, time::Instant};

use doorway_algorithms::{kexclusion::ticket_k::TicketK, mutex::ticket::Ticket};
use doorway_memory::{Count, Exclusion, Memory};
use doorway_native::{Native, Packed, Reg};

use crate::{
    gone::Gone,
    line::{Line, Patient},
};

type Threads = Native<Packed>;

/// One at a time: the ticket lock. The line of a [`Mutex`](crate::Mutex) unless it says otherwise.
pub type Tickets = Numbered<Ticket<Threads>>;

/// At most k at a time: the ticket lock for k. The line of a [`Semaphore`](crate::Semaphore) unless it says otherwise.
pub type TicketsFor = Numbered<TicketK<Threads>>;

/// A line in which everyone has a number, and a counter says who may enter. See [`Tickets`] and [`TicketsFor`].
pub struct Numbered<A> {
    lock: A,
    gone: Gone,
}

/// An algorithm in which a place is a number and one counter lets in.
trait Numbers: Exclusion<Threads, Place = Count> + Send + Sync {
    /// How many may be inside.
    fn permits(&self) -> usize;

    /// What everyone waits on.
    fn counter(&self) -> &Reg<Count, Packed>;

    /// How many have arrived.
    fn arrived(&self) -> &Reg<Count, Packed>;

    /// Whether the counter lets this place in.
    fn lets_in(&self, counter: Count, place: Count) -> bool;

    /// Takes a number if it may enter at once.
    fn try_enter(&self) -> Option<Count>;
}

impl Numbers for Ticket<Threads> {
    fn permits(&self) -> usize {
        1
    }

    fn counter(&self) -> &Reg<Count, Packed> {
        self.serving()
    }

    fn arrived(&self) -> &Reg<Count, Packed> {
        self.arrived()
    }

    #[inline(always)]
    fn lets_in(&self, counter: Count, place: Count) -> bool {
        counter == place
    }

    #[inline(always)]
    fn try_enter(&self) -> Option<Count> {
        let Ok(place) = self.try_enter(&mut Threads::new());
        place
    }
}

impl Numbers for TicketK<Threads> {
    fn permits(&self) -> usize {
        self.k()
    }

    fn counter(&self) -> &Reg<Count, Packed> {
        self.left()
    }

    fn arrived(&self) -> &Reg<Count, Packed> {
        self.arrived()
    }

    #[inline(always)]
    fn lets_in(&self, counter: Count, place: Count) -> bool {
        place < counter.plus(self.k())
    }

    #[inline(always)]
    fn try_enter(&self) -> Option<Count> {
        loop {
            if let Ok(Some(place)) = self.try_enter(&mut Threads::new()) {
                return Some(place);
            }
            // Another may have arrived or left in between, and there may still be room.
            if there(self) >= self.k() as u64 {
                return None;
            }
        }
    }
}

impl Tickets {
    pub(crate) const fn new() -> Tickets {
        let free = Ticket::<Threads>::FREE.word();
        Numbered { lock: Ticket::of(Reg::of_word(free), Reg::of_word(free)), gone: Gone::new() }
    }
}

impl TicketsFor {
    pub(crate) const fn new(k: usize) -> TicketsFor {
        let free = TicketK::<Threads>::free(k).word();
        Numbered { lock: TicketK::of(k, Reg::of_word(free), Reg::of_word(free)), gone: Gone::new() }
    }
}

#[inline(always)]
fn read(counter: &Reg<Count, Packed>) -> Count {
    let Ok(count) = Threads::new().read(counter);
    count
}

/// How many are inside or in line.
fn there(lock: &impl Numbers) -> u64 {
    read(lock.arrived()).since(read(lock.counter()))
}

#[allow(private_bounds, reason = "which locks there are is not for others to add to")]
impl<A: Numbers> Numbered<A> {
    /// How many are inside or in line.
    pub(crate) fn there(&self) -> u64 {
        there(&self.lock)
    }

    #[inline(always)]
    fn exit(&self, m: &mut Threads, place: Count) {
        let Ok(()) = self.lock.exit(m, 0, &place);
    }

    /// After having left, if somebody called or slept: moves on those who have given up, and lets those run who slept.
    #[cold]
    #[inline(never)]
    fn after_leaving(&self, mut m: Threads) {
        self.gone.after_leaving(|place| self.has_come(&place), |place| self.exit(&mut Threads::new(), place));
        m.after_you();
    }
}

#[allow(private_bounds, reason = "which locks there are is not for others to add to")]
impl<A: Numbers> Line for Numbered<A> {
    type Place = Count;

    fn permits(&self) -> usize {
        self.lock.permits()
    }

    #[inline(always)]
    fn arrive(&self) -> Count {
        let Ok(place) = self.lock.doorway(&mut Threads::new(), 0);
        place
    }

    #[inline(always)]
    fn wait(&self, place: &mut Count) {
        let Ok(()) = self.lock.wait(&mut Threads::new(), 0, place);
    }

    #[inline(always)]
    fn leave(&self, &place: &Count) {
        let mut m = Threads::new();
        self.exit(&mut m, place);
        if m.is_called() {
            self.after_leaving(m);
        }
    }

    fn give_up(&self, &mut place: &mut Count) {
        self.gone.give_up(place, |place| self.has_come(&place), |place| self.exit(&mut Threads::new(), place));
    }
}

#[allow(private_bounds, reason = "which locks there are is not for others to add to")]
impl<A: Numbers> Patient for Numbered<A> {
    #[inline(always)]
    fn try_arrive(&self) -> Option<Count> {
        self.lock.try_enter()
    }

    fn ahead(&self, place: &Count) -> u64 {
        place.since(read(self.lock.counter()))
    }

    fn has_come(&self, &place: &Count) -> bool {
        self.lock.lets_in(read(self.lock.counter()), place)
    }

    fn wait_deadline(&self, &place: &Count, deadline: Instant) -> bool {
        let lets_in = |counter| self.lock.lets_in(counter, place);
        Threads::new().until_deadline(self.lock.counter(), lets_in, deadline)
    }
}

impl<A: Numbers> fmt::Debug for Numbered<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Numbered").field("inside or in line", &self.there()).finish_non_exhaustive()
    }
}
