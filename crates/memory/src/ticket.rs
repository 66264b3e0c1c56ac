//! Numbers that can only be compared and followed.
use core::{cmp::Ordering, fmt, hash};

use crate::observed;

/// A number that can only be compared and followed.
///
/// Bakery tickets grow for ever. An algorithm that can do nothing with a ticket but compare it, copy it and take the
/// [`next`](Ticket::next) one cannot tell two states apart whose tickets are ordered alike, so a checker may renumber them
/// and search without a cap. It tests, at every step, that the algorithm keeps to this, and that no comparison depends on how
/// far apart two tickets are, beyond a few `next`s.
///
/// ```
/// use doorway_memory::Ticket;
/// let one = Ticket::ZERO.next();
/// assert!(Ticket::ZERO < one && one < one.next());
/// assert_eq!(one.max(one.next()), one.next());
/// ```
#[derive(Clone, Copy, Default)]
pub struct Ticket(u64);

impl Ticket {
    /// The first ticket; many algorithms use it to say "none".
    ///
    /// ```
    /// # use doorway_memory::Ticket;
    /// assert!(Ticket::ZERO < Ticket::ZERO.next());
    /// ```
    pub const ZERO: Ticket = Ticket(0);

    /// The next ticket.
    ///
    /// ```
    /// # use doorway_memory::Ticket;
    /// assert_eq!(Ticket::ZERO.next(), Ticket::ZERO.next());
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn next(self) -> Ticket {
        Ticket(self.0 + 1)
    }

    #[inline(always)]
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    #[inline(always)]
    pub(crate) fn numbered(number: u64) -> Ticket {
        Ticket(number)
    }
}

impl PartialEq for Ticket {
    #[inline(always)]
    fn eq(&self, other: &Ticket) -> bool {
        observed::compared(*self, *other);
        self.0 == other.0
    }
}

impl Eq for Ticket {}

impl PartialOrd for Ticket {
    #[inline(always)]
    fn partial_cmp(&self, other: &Ticket) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ticket {
    #[inline(always)]
    fn cmp(&self, other: &Ticket) -> Ordering {
        observed::compared(*self, *other);
        self.0.cmp(&other.0)
    }
}

impl hash::Hash for Ticket {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
