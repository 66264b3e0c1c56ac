//! Registers for load-linked and store-conditional.
use core::fmt;

use crate::{Ticket, Value};

/// A value that leaves part of its word unused.
pub trait Narrow: Value {
    /// The number of bits of the word that are used; higher bits are cut off.
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

/// The content of a register for [`load_linked`](crate::Memory::load_linked) and
/// [`store_conditional`](crate::Memory::store_conditional): a value, and a *tag* in the rest of the word.
///
/// The tag makes a store-conditional fail if the register was written since the load, even with the same value. In most
/// memories it is a version: every write increments it, and a store-conditional is a compare-and-swap of both. A version
/// wraps after 2^(64 - [`BITS`](Narrow::BITS)) writes: a store-conditional succeeds wrongly if exactly that many writes came
/// after its load and the last one wrote the same value. A checker cannot let a number grow for ever: there the tag is
/// the set of processes whose links are intact, which a write empties. That is the definition of the operations.
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
    /// The initial content of a register.
    ///
    /// ```
    /// assert_eq!(doorway_memory::Linked::new(7_u8).value(), 7);
    /// ```
    #[must_use]
    pub const fn new(value: T) -> Self {
        const { assert!(T::BITS <= 48, "a tag needs at least 16 bits") };
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

    /// The tag: a version, or a set of processes in a checker.
    ///
    /// ```
    /// assert_eq!(doorway_memory::Linked::new(7_u8).tag(), 0);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn tag(self) -> u64 {
        self.tag
    }

    /// The same value with another tag, cut to the bits that are left for it.
    ///
    /// ```
    /// assert_eq!(doorway_memory::Linked::new(7_u8).with_tag(3).tag(), 3);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn with_tag(self, tag: u64) -> Self {
        Linked { tag: tag & (u64::MAX >> T::BITS), ..self }
    }

    /// The content after the next write.
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
