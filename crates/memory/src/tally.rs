//! A number that processes add to, and compare with constants.
use core::{cmp::Ordering, fmt};

use crate::{Number, Value, observed};

/// A number that processes add to and take from, and that they can only compare with constants.
///
/// What a process does then depends on where the number is between these constants, and on nothing else. So a checker
/// can treat all numbers below the smallest constant as one, and decide for any number of processes at once.
///
/// ```
/// use doorway_memory::{Memory, Solo, Space, Tally};
///
/// let mut m = Solo::new();
/// let free = m.shared("free", Tally::new(2));
/// assert!(m.fetch_add(&free, Tally::new(-1))? >= 1);
/// assert!(m.test(&free, |free| free == 1)?);
/// # Ok::<(), core::convert::Infallible>(())
/// ```
#[derive(Clone, Copy)]
pub struct Tally(i64);

impl Tally {
    /// The tally of this number.
    #[inline(always)]
    #[must_use]
    pub const fn new(number: i64) -> Tally {
        Tally(number)
    }
}

impl PartialEq<i64> for Tally {
    #[inline(always)]
    fn eq(&self, constant: &i64) -> bool {
        observed::weighed(Some(*constant));
        self.0 == *constant
    }
}

impl PartialOrd<i64> for Tally {
    #[inline(always)]
    fn partial_cmp(&self, constant: &i64) -> Option<Ordering> {
        observed::weighed(Some(*constant));
        Some(self.0.cmp(constant))
    }
}

/// Registers hold values that can be compared with each other. An algorithm that does so cannot be decided for any number
/// of processes.
impl PartialEq for Tally {
    #[inline(always)]
    fn eq(&self, other: &Tally) -> bool {
        observed::weighed(None);
        self.0 == other.0
    }
}

impl Eq for Tally {}

impl Value for Tally {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.0.cast_unsigned()
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        Tally(word.cast_signed())
    }
    fn tally(self) -> Option<i64> {
        Some(self.0)
    }
}

impl Number for Tally {}

impl fmt::Debug for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
