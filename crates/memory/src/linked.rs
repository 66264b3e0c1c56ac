//! Registers for load-linked and store-conditional.
use core::fmt;

use crate::{Ticket, Value};

/// A value that leaves room in its word.
///
/// ```
/// use doorway_memory::Narrow;
/// assert_eq!(u8::BITS, <u8 as Narrow>::BITS);
/// ```
pub trait Narrow: Value {
    /// How many bits it has; what is above them is cut off.
    ///
    /// See the [trait's example](Narrow).
    const BITS: u32;
}

macro_rules! narrow {
    ($($type:ty: $bits:literal),*) => {$(
        impl Narrow for $type {
            const BITS: u32 = $bits;
        }
    )*};
}
narrow!(bool: 1, u8: 8, u16: 16, u32: 32, Option<usize>: 32, Ticket: 36);

/// What a register holds that is accessed by [`load_linked`](crate::Memory::load_linked) and
/// [`store_conditional`](crate::Memory::store_conditional): a value, and beside it a *tag* in the rest of the word.
///
/// The tag is what makes a store-conditional fail if anything was written since the load, even what was there before. In
/// most memories it is a version: every write makes it one more, and a store-conditional is a compare-and-swap of both. It
/// begins again after 2^(64 - [`BITS`](Narrow::BITS)) writes; who sleeps between load and store for exactly as many, and
/// finds the same value, is deceived. A checker cannot count for ever: there the tag is the set of those who have loaded and
/// may still store, which a write empties. That is what the operations mean, and no number grows.
///
/// ```
/// use doorway_memory::{Linked, Memory, Solo, Space};
///
/// let mut m = Solo::new();
/// let x = m.shared("x", Linked::new(7_u8));
/// let early = m.load_linked(&x)?;
/// assert_eq!(early.value(), 7);
/// let late = m.load_linked(&x)?;
/// assert!(m.store_conditional(&x, late, 8)?);
/// m.write_linked(&x, 7)?;
/// assert!(!m.store_conditional(&x, early, 9)?, "it is 7 again, but not still");
/// assert_eq!(m.read_linked(&x), Ok(7));
/// # Ok::<(), core::convert::Infallible>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Linked<T> {
    value: T,
    tag: u64,
}

impl<T: Narrow> Linked<T> {
    /// What a register holds at first.
    ///
    /// ```
    /// assert_eq!(doorway_memory::Linked::new(7_u8).value(), 7);
    /// ```
    #[must_use]
    pub const fn new(value: T) -> Self {
        const { assert!(T::BITS <= 48, "there is room for a tag") };
        Linked { value, tag: 0 }
    }

    /// The value.
    ///
    /// See [`new`](Self::new).
    #[inline(always)]
    #[must_use]
    pub fn value(self) -> T {
        self.value
    }

    /// The tag: a version, or in a checker a set of processes.
    ///
    /// ```
    /// assert_eq!(doorway_memory::Linked::new(7_u8).tag(), 0);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn tag(self) -> u64 {
        self.tag
    }

    /// The same value with another tag, of which as much is kept as there is room for.
    ///
    /// ```
    /// assert_eq!(doorway_memory::Linked::new(7_u8).with_tag(3).tag(), 3);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn with_tag(self, tag: u64) -> Self {
        Linked { tag: tag & (u64::MAX >> T::BITS), ..self }
    }

    /// What is there after the next write.
    ///
    /// ```
    /// let next = doorway_memory::Linked::new(7_u8).followed_by(9);
    /// assert_eq!((next.value(), next.tag()), (9, 1));
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn followed_by(self, value: T) -> Self {
        Linked::new(value).with_tag(self.tag.wrapping_add(1))
    }
}

impl<T: Narrow> Value for Linked<T> {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.tag << T::BITS | self.value.to_word() & !(u64::MAX << T::BITS)
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        Linked { value: T::of_word(word & !(u64::MAX << T::BITS)), tag: word >> T::BITS }
    }
    fn map_tickets(self, f: &mut dyn FnMut(Ticket) -> Ticket) -> Self {
        Linked { value: self.value.map_tickets(f), ..self }
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.show(f)
    }
}

impl<T: fmt::Debug> fmt::Debug for Linked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}
