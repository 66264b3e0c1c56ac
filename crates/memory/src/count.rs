//! A counter that only grows, read in rounds.
use core::{fmt, hash};

use crate::{Number, Ticket, Value, observed};

/// A counter that only grows, read in rounds of a fixed length: a [`round`](Count::round), from 1, and a
/// [`slot`](Count::slot) in it, from 0.
///
/// Many algorithms number arrivals with a counter and use the number as an index of a circular array. Such an algorithm
/// uses a number's slot and compares its round, and nothing else; so a round can be a [`Ticket`], and a checker can search
/// without a cap.
///
/// ```
/// use doorway_memory::{Count, Memory, Solo, Space};
/// let mut m = Solo::new();
/// let entry = m.shared("Entry", Count::in_rounds_of(3));
/// for slot in [0, 1, 2, 0] {
///     assert_eq!(m.fetch_add(&entry, Count::ONE)?.slot(), slot);
/// }
/// let now = m.read(&entry)?;
/// assert!(now.round() > Count::in_rounds_of(3).round() && now == Count::in_rounds_of(3).plus(4));
/// # Ok::<(), core::convert::Infallible>(())
/// ```
#[derive(Clone, Copy)]
pub struct Count {
    /// Below 2^48.
    number: u64,
    /// The number of slots of a round.
    round: u16,
}

impl Count {
    /// The increment.
    pub const ONE: Count = Count { number: 1, round: 0 };

    /// Zero, with `slots` slots to a round.
    ///
    /// # Panics
    /// If a round has no slot, or more than 65,535.
    #[must_use]
    pub const fn in_rounds_of(slots: usize) -> Count {
        assert!(slots > 0, "a round has at least one slot");
        assert!(slots <= u16::MAX as usize, "a round has at most 65,535 slots");
        Count { number: 0, round: slots as u16 }
    }

    /// The difference to an earlier count.
    ///
    /// ```
    /// use doorway_memory::Count;
    /// let none = Count::in_rounds_of(3);
    /// assert_eq!(none.plus(5).since(none.plus(3)), 2);
    /// ```
    #[inline(always)]
    #[must_use]
    pub const fn since(self, earlier: Count) -> u64 {
        self.number.saturating_sub(earlier.number)
    }

    /// [`to_word`](Value::to_word) as a constant function.
    ///
    /// ```
    /// use doorway_memory::{Count, Value};
    /// const NONE: Count = Count::in_rounds_of(3);
    /// const WORD: u64 = NONE.word();
    /// assert_eq!(WORD, NONE.to_word());
    /// ```
    #[inline(always)]
    #[must_use]
    pub const fn word(self) -> u64 {
        self.number << 16 | self.round as u64
    }

    /// The round; the first is the ticket after zero.
    #[inline(always)]
    #[must_use]
    pub fn round(self) -> Ticket {
        Ticket::numbered(self.number / u64::from(self.round) + 1)
    }

    /// The slot in the round.
    #[inline(always)]
    #[must_use]
    pub fn slot(self) -> usize {
        (self.number % u64::from(self.round)) as usize
    }

    /// The count `further` steps later: at most one round, or a checker cannot follow it.
    #[inline(always)]
    #[must_use]
    pub fn plus(self, further: usize) -> Count {
        Count { number: self.number + further as u64, ..self }
    }
}

impl Count {
    /// Reports a comparison of two counts to the checker, as a comparison of their rounds.
    #[inline(always)]
    fn compared(self, other: Count) {
        if cfg!(feature = "observed") && self.round != 0 && other.round != 0 {
            observed::compared(self.round(), other.round());
        }
    }
}

impl PartialEq for Count {
    #[inline(always)]
    fn eq(&self, other: &Count) -> bool {
        self.compared(*other);
        (self.number, self.round) == (other.number, other.round)
    }
}

impl Eq for Count {}

impl hash::Hash for Count {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        (self.number, self.round).hash(state);
    }
}

impl PartialOrd for Count {
    #[inline(always)]
    fn partial_cmp(&self, other: &Count) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The earlier count is smaller. Both must have the same number of slots to a round.
impl Ord for Count {
    #[inline(always)]
    fn cmp(&self, other: &Count) -> core::cmp::Ordering {
        self.compared(*other);
        self.number.cmp(&other.number)
    }
}

impl Value for Count {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.word()
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        Count { number: word >> 16, round: word as u16 }
    }
    #[inline(always)]
    fn counted(self) -> Option<Self> {
        Some(self.plus(1))
    }
    fn map_tickets(self, f: &mut dyn FnMut(Ticket) -> Ticket) -> Self {
        if self.round == 0 {
            return self; // an increment, not a count
        }
        let round = f(self.round()).number().saturating_sub(1);
        Count { number: round * u64::from(self.round) + self.slot() as u64, ..self }
    }
}

/// Adding words adds the numbers: the length of the rounds is in the lower bits, and [`ONE`](Count::ONE) has none.
impl Number for Count {}

impl fmt::Debug for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)
    }
}
