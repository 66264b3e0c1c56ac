//! Values of registers.
use alloc::{vec, vec::Vec};
use core::fmt::{self, Debug};

use crate::{Cyclic, Index, Queue, Ticket};

/// A value of a register: anything that fits one machine word.
///
/// Small structures are packed by hand, which shows how many bits each field takes:
///
/// ```
/// use doorway_memory::Value;
///
/// #[derive(Clone, Copy, PartialEq, Eq, Debug)]
/// struct Pair { color: bool, number: u32 }
///
/// impl Value for Pair {
///     fn to_word(self) -> u64 { u64::from(self.number) << 1 | u64::from(self.color) }
///     fn of_word(word: u64) -> Self { Pair { color: word & 1 == 1, number: (word >> 1) as u32 } }
/// }
///
/// let pair = Pair { color: true, number: 9 };
/// assert_eq!(Pair::of_word(pair.to_word()), pair);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a register's `Value` nor a process' `Local` state",
    label = "implement `Value` if a register holds it; implement `Local` if it is a `Place`, an `Inside` or the state of a loop",
    note = "`Local` is two methods, `save` and `load`, and every `Value` is a `Local`"
)]
pub trait Value: Copy + Eq + Debug + Send + Sync {
    /// The value as a word. Different values have different words.
    fn to_word(self) -> u64;

    /// The value of a word.
    fn of_word(word: u64) -> Self;

    /// The same value with `f` applied to every ticket in it. A type that contains tickets must override this, or the checker
    /// cannot renumber them.
    ///
    /// ```
    /// use doorway_memory::{Ticket, Value};
    /// let one = Ticket::ZERO.next();
    /// assert_eq!(Some(one).map_tickets(&mut |t| t.next()), Some(one.next()));
    /// assert_eq!(7_u64.map_tickets(&mut |t| t.next()), 7);
    /// ```
    fn map_tickets(self, _f: &mut dyn FnMut(Ticket) -> Ticket) -> Self {
        self
    }

    /// The same value with `f` applied to every cyclic number in it. A type that contains cyclic numbers must override this, or
    /// the checker cannot rotate them.
    ///
    /// ```
    /// use doorway_memory::{Cyclic, Value};
    /// let last = Cyclic::new(6, 7);
    /// assert_eq!(last.map_cyclic(&mut |number| number.plus(1)), Cyclic::new(0, 7));
    /// assert_eq!(6_u64.map_cyclic(&mut |number| number.plus(1)), 6);
    /// ```
    fn map_cyclic(self, _f: &mut dyn FnMut(Cyclic) -> Cyclic) -> Self {
        self
    }

    /// Every value of this type whose tickets are among `tickets`; `None` if there are too many to list. A read that overlaps
    /// a write of a *safe* register may return any of them.
    ///
    /// ```
    /// use doorway_memory::{Ticket, Value};
    /// assert_eq!(bool::domain(&[]), Some(vec![false, true]));
    /// assert_eq!(Option::<Ticket>::domain(&[Ticket::ZERO]), Some(vec![None, Some(Ticket::ZERO)]));
    /// assert_eq!(u64::domain(&[]), None);
    /// ```
    #[must_use]
    fn domain(_tickets: &[Ticket]) -> Option<Vec<Self>> {
        None
    }

    /// The next value of a counter, if this is the type of one. It is a hint for waiting: a waiter for the next value is the
    /// next to be served.
    ///
    /// ```
    /// use doorway_memory::{Count, Value};
    /// let zero = Count::in_rounds_of(1);
    /// assert_eq!(zero.counted(), Some(zero.plus(1)));
    /// assert_eq!(true.counted(), None);
    /// ```
    #[inline(always)]
    #[must_use]
    fn counted(self) -> Option<Self> {
        None
    }

    /// The queue, if this is a [`Queue`](crate::Queue).
    ///
    /// ```
    /// use doorway_memory::{Queue, Value};
    /// assert_eq!((Queue::EMPTY.queue(), 7_u64.queue()), (Some(Queue::EMPTY), None));
    /// ```
    #[must_use]
    fn queue(self) -> Option<Queue> {
        None
    }

    /// The number, if this is a [`Tally`](crate::Tally).
    ///
    /// ```
    /// use doorway_memory::{Tally, Value};
    /// assert_eq!((Tally::new(-3).tally(), 7_i64.tally()), (Some(-3), None));
    /// ```
    #[must_use]
    fn tally(self) -> Option<i64> {
        None
    }

    /// The position, if this is an [`Index`](crate::Index).
    ///
    /// ```
    /// use doorway_memory::{Index, Value};
    /// assert_eq!((Index::first_of(3).index(), 7_u64.index()), (Some(Index::first_of(3)), None));
    /// ```
    #[must_use]
    fn index(self) -> Option<Index> {
        None
    }

    /// Prints the value in an execution, in the papers' notation.
    ///
    /// ```
    /// use doorway_memory::Value;
    /// struct Show<T>(T);
    /// impl<T: Value> std::fmt::Display for Show<T> {
    ///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { self.0.show(f) }
    /// }
    /// assert_eq!(Show(None::<usize>).to_string(), "⊥");
    /// ```
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// A value that [`fetch_add`](crate::Memory::fetch_add) can add to.
///
/// Words must add as the numbers do: `a.to_word() + b.to_word()`, wrapping, is a word of `a + b`.
///
/// ```
/// use doorway_memory::{Number, Value};
/// fn adds<T: Number>(a: T, b: T, sum: T) {
///     assert_eq!(T::of_word(a.to_word().wrapping_add(b.to_word())), sum);
/// }
/// adds(3_u64, 4, 7);
/// adds(3_i64, -4, -1);
/// ```
pub trait Number: Value {}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Value for $type {
            #[inline(always)]
            fn to_word(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn of_word(word: u64) -> Self {
                word as $type
            }
        }
        impl Number for $type {}
    )*};
}
numbers!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

impl Value for bool {
    #[inline(always)]
    fn to_word(self) -> u64 {
        u64::from(self)
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        word != 0
    }
    fn domain(_: &[Ticket]) -> Option<Vec<Self>> {
        Some(vec![false, true])
    }
}

impl Value for () {
    #[inline(always)]
    fn to_word(self) -> u64 {
        0
    }
    #[inline(always)]
    fn of_word(_: u64) -> Self {}
}

/// `None` is the papers' ⊥. Its word is 0, so `Some(usize::MAX)` has no word; a checker refuses it.
impl Value for Option<usize> {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.map_or(0, |value| (value as u64).wrapping_add(1))
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        word.checked_sub(1).map(|value| value as usize)
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Some(value) => write!(f, "{value}"),
            None => f.write_str("⊥"),
        }
    }
}

impl Value for Ticket {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.number()
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        Ticket::numbered(word)
    }
    fn map_tickets(self, f: &mut dyn FnMut(Ticket) -> Ticket) -> Self {
        f(self)
    }
    fn domain(tickets: &[Ticket]) -> Option<Vec<Self>> {
        Some(tickets.to_vec())
    }
}

/// `None` is the papers' ∞: no ticket, or one that is later than every other. Its word is 0.
impl Value for Option<Ticket> {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.map_or(0, |ticket| ticket.to_word().wrapping_add(1))
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        word.checked_sub(1).map(Ticket::of_word)
    }
    fn map_tickets(self, f: &mut dyn FnMut(Ticket) -> Ticket) -> Self {
        self.map(f)
    }
    fn domain(tickets: &[Ticket]) -> Option<Vec<Self>> {
        Some([None].into_iter().chain(tickets.iter().copied().map(Some)).collect())
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Some(ticket) => ticket.show(f),
            None => f.write_str("∞"),
        }
    }
}
