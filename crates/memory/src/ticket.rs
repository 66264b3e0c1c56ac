//! Numbers that can only be compared and incremented.
use core::{cmp::Ordering, fmt, hash};

use crate::observed;

/// A number that can only be compared and incremented.
///
/// Bakery tickets grow for ever. An algorithm that can only compare tickets, copy them and take the [`next`](Ticket::next)
/// one cannot distinguish two states whose tickets are in the same order; so a checker may renumber them and search without
/// a cap. The checker tests at every step that no comparison depends on the distance of two tickets beyond a few `next`s.
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
    /// The first ticket; many algorithms use it for "none".
    pub const ZERO: Ticket = Ticket(0);

    /// The next ticket.
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
