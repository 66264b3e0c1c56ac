//! A number modulo another.
use core::fmt;

use crate::Value;

/// A number modulo another one, such as a ticket of a bounded supply that is used again and again.
///
/// An algorithm that only counts on from such numbers, compares how far one is ahead of another, and selects registers of a
/// [ring](crate::Space::ring) by them, does not depend on which of them is called 0. A checker that tests this can count states
/// that differ only in that as one.
///
/// ```
/// use doorway_memory::Cyclic;
/// let last = Cyclic::new(6, 7);
/// assert_eq!(last.plus(2).index(), 1);
/// assert_eq!((last.plus(2).ahead_of(last), last.ahead_of(last.plus(2))), (2, 5));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cyclic {
    at: u16,
    of: u16,
}

impl Cyclic {
    /// The number `at` modulo `of`.
    ///
    /// # Panics
    /// If `of` is zero or not below 2^15.
    #[inline(always)]
    #[must_use]
    pub const fn new(at: usize, of: usize) -> Cyclic {
        assert!(0 < of && of < 1 << 15, "a cyclic number is modulo one from 1 to 2^15 - 1");
        Cyclic { at: (at % of) as u16, of: of as u16 }
    }

    /// How many such numbers there are.
    #[inline(always)]
    #[must_use]
    pub const fn of(self) -> usize {
        self.of as usize
    }

    /// The number that comes `by` places later.
    #[inline(always)]
    #[must_use]
    pub const fn plus(self, by: usize) -> Cyclic {
        Cyclic::new(self.at as usize + by, self.of())
    }

    /// How many places this number comes after `other`, from 0 to one less than there are.
    #[inline(always)]
    #[must_use]
    pub const fn ahead_of(self, other: Cyclic) -> usize {
        (self.index() + self.of() - other.index()) % self.of()
    }

    /// The index of the register that this number selects in a [ring](crate::Space::ring).
    #[inline(always)]
    #[must_use]
    pub const fn index(self) -> usize {
        self.at as usize
    }
}

/// The word is not 0, and below 2^31.
impl Value for Cyclic {
    #[inline(always)]
    fn to_word(self) -> u64 {
        u64::from(self.of) << 16 | u64::from(self.at)
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        Cyclic { at: word as u16, of: (word >> 16) as u16 }
    }
    fn map_cyclic(self, f: &mut dyn FnMut(Cyclic) -> Cyclic) -> Self {
        f(self)
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_neither_zero_nor_longer_than_31_bits() {
        for number in [Cyclic::new(0, 1), Cyclic::new(6, 7), Cyclic::new((1 << 15) - 2, (1 << 15) - 1)] {
            assert_eq!(Cyclic::of_word(number.to_word()), number);
            assert!(number.to_word() != 0 && number.to_word() < 1 << 31);
        }
    }
}
