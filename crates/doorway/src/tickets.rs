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
pub struct Tickets {
    lock: Ticket<Threads>,
    gone: Gone,
}

impl Tickets {
    pub(crate) const fn new() -> Tickets {
        let free = Ticket::<Threads>::FREE.word();
        Tickets { lock: Ticket::of(Reg::of_word(free), Reg::of_word(free)), gone: Gone::new() }
    }

    fn serving(&self) -> Count {
        let Ok(serving) = Threads::new().read(self.lock.serving());
        serving
    }

    /// Whether somebody is inside or in line.
    #[cfg(feature = "lock_api")]
    pub(crate) fn is_taken(&self) -> bool {
        let Ok(arrived) = Threads::new().read(self.lock.arrived());
        self.serving() != arrived
    }

    #[inline(always)]
    fn pass(&self, place: Count) {
        let mut m = Threads::new();
        let Ok(()) = self.lock.exit(&mut m, 0, &place);
        m.after_you();
    }
}

impl Line for Tickets {
    type Place = Count;

    #[inline(always)]
    fn arrive(&self) -> Count {
        let Ok(place) = self.lock.doorway(&mut Threads::new(), 0);
        place
    }

    #[inline(always)]
    fn wait(&self, place: &Count) {
        let Ok(()) = self.lock.wait(&mut Threads::new(), 0, place);
    }

    #[inline(always)]
    fn leave(&self, &place: &Count) {
        self.pass(place);
        self.gone.after_leaving(|place| self.serving() == place, |place| self.pass(place));
    }

    fn give_up(&self, &place: &Count) {
        self.gone.give_up(place, |place| self.serving() == place, |place| self.pass(place));
    }
}

impl Patient for Tickets {
    #[inline(always)]
    fn try_arrive(&self) -> Option<Count> {
        let Ok(place) = self.lock.try_enter(&mut Threads::new());
        place
    }

    fn ahead(&self, place: &Count) -> u64 {
        place.since(self.serving())
    }

    fn has_come(&self, &place: &Count) -> bool {
        self.serving() == place
    }

    fn wait_deadline(&self, &place: &Count, deadline: Instant) -> bool {
        Threads::new().until_deadline(self.lock.serving(), |serving| serving == place, deadline)
    }
}

/// At most k at a time: the ticket lock for k. The line of a [`Semaphore`](crate::Semaphore) unless it says otherwise.
pub struct TicketsFor {
    lock: TicketK<Threads>,
    gone: Gone,
}

impl TicketsFor {
    pub(crate) const fn new(k: usize) -> TicketsFor {
        let free = TicketK::<Threads>::free(k).word();
        TicketsFor { lock: TicketK::of(k, Reg::of_word(free), Reg::of_word(free)), gone: Gone::new() }
    }

    fn left(&self) -> Count {
        let Ok(left) = Threads::new().read(self.lock.left());
        left
    }

    /// How many are inside or in line.
    pub(crate) fn there(&self) -> u64 {
        let Ok(arrived) = Threads::new().read(self.lock.arrived());
        arrived.since(self.left())
    }

    #[inline(always)]
    fn pass(&self, place: Count) {
        let mut m = Threads::new();
        let Ok(()) = self.lock.exit(&mut m, 0, &place);
        m.after_you();
    }
}

impl Line for TicketsFor {
    type Place = Count;

    #[inline(always)]
    fn arrive(&self) -> Count {
        let Ok(place) = self.lock.doorway(&mut Threads::new(), 0);
        place
    }

    #[inline(always)]
    fn wait(&self, place: &Count) {
        let Ok(()) = self.lock.wait(&mut Threads::new(), 0, place);
    }

    #[inline(always)]
    fn leave(&self, &place: &Count) {
        self.pass(place);
        self.gone.after_leaving(|place| self.has_come(&place), |place| self.pass(place));
    }

    fn give_up(&self, &place: &Count) {
        self.gone.give_up(place, |place| self.has_come(&place), |place| self.pass(place));
    }
}

impl Patient for TicketsFor {
    #[inline(always)]
    fn try_arrive(&self) -> Option<Count> {
        let mut m = Threads::new();
        loop {
            if let Ok(Some(place)) = self.lock.try_enter(&mut m) {
                return Some(place);
            }
            // Another may have arrived or left in between, and there may still be room.
            if self.there() >= self.lock.k() as u64 {
                return None;
            }
        }
    }

    fn ahead(&self, place: &Count) -> u64 {
        place.since(self.left())
    }

    fn has_come(&self, &place: &Count) -> bool {
        place < self.left().plus(self.lock.k())
    }

    fn wait_deadline(&self, &place: &Count, deadline: Instant) -> bool {
        let k = self.lock.k();
        Threads::new().until_deadline(self.lock.left(), |left| place < left.plus(k), deadline)
    }
}

impl fmt::Debug for Tickets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tickets").field("serving", &self.serving()).finish_non_exhaustive()
    }
}

impl fmt::Debug for TicketsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TicketsFor").field("left", &self.left()).finish_non_exhaustive()
    }
}
