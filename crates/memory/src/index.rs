//! The position of a loop.
use crate::Value;

/// How far a loop over `0..of` has come: the content of a process' local state by which a checker knows that a number is
/// the position of a loop, and not an amount.
///
/// The loops of [`Memory`](crate::Memory) use it where a memory has to tell the two apart.
///
/// ```
/// use doorway_memory::{Index, Value};
/// let second = Index::first_of(3).next();
/// assert_eq!((second.at, second.of), (1, 3));
/// assert_eq!(Index::of_word(second.to_word()).index(), Some(second));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Index {
    /// The position; `of` if the loop is over.
    pub at: usize,
    /// The number of positions, below 2^32.
    pub of: usize,
}

impl Index {
    /// The first position.
    #[must_use]
    pub const fn first_of(of: usize) -> Index {
        Index { at: 0, of }
    }

    /// The next position.
    #[must_use]
    pub const fn next(self) -> Index {
        Index { at: self.at + 1, ..self }
    }
}

impl Value for Index {
    fn to_word(self) -> u64 {
        (self.of as u64) << 32 | self.at as u64
    }
    fn of_word(word: u64) -> Self {
        Index { at: (word & 0xffff_ffff) as usize, of: (word >> 32) as usize }
    }
    fn index(self) -> Option<Index> {
        Some(self)
    }
}
