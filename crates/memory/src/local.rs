//! The private state of a process.
use alloc::vec::Vec;

use crate::Value;

/// Private state that a process carries from one turn of a loop, or from one section of its passage, to the next.
///
/// Every [`Value`] is a `Local`; so are tuples, arrays and vectors of them. A structure saves its fields in order and
/// loads them in the same order:
///
/// ```
/// use doorway_memory::{Local, Sink, Source, Ticket};
///
/// #[derive(Clone)]
/// struct Place { color: bool, ticket: Ticket }
///
/// impl Local for Place {
///     fn save(&self, to: &mut impl Sink) {
///         to.put(self.color);
///         to.put(self.ticket);
///     }
///     fn load(from: &mut impl Source) -> Self {
///         Place { color: from.take(), ticket: from.take() }
///     }
/// }
/// ```
pub trait Local: Clone + Send + Sync {
    /// Saves the state, value by value.
    ///
    /// ```
    /// # use doorway_memory::{Local, Sink, Value};
    /// struct Words(Vec<u64>);
    /// impl Sink for Words {
    ///     fn put<T: Value>(&mut self, value: T) { self.0.push(value.to_word()) }
    /// }
    /// let mut words = Words(vec![]);
    /// (true, 7_u64).save(&mut words);
    /// assert_eq!(words.0, [1, 7]);
    /// ```
    fn save(&self, to: &mut impl Sink);

    /// Loads a saved state: the same values in the same order.
    ///
    /// ```
    /// # use doorway_memory::{Local, Source, Value};
    /// struct Words(Vec<u64>);
    /// impl Source for Words {
    ///     fn take<T: Value>(&mut self) -> T { T::of_word(self.0.remove(0)) }
    /// }
    /// assert_eq!(<(bool, u64)>::load(&mut Words(vec![1, 7])), (true, 7));
    /// ```
    fn load(from: &mut impl Source) -> Self;
}

/// The destination of [`Local::save`].
pub trait Sink {
    /// Saves one value.
    fn put<T: Value>(&mut self, value: T);
}

/// The source of [`Local::load`].
pub trait Source {
    /// Loads the next value.
    fn take<T: Value>(&mut self) -> T;
}

impl<T: Value> Local for T {
    #[inline(always)]
    fn save(&self, to: &mut impl Sink) {
        to.put(*self);
    }
    #[inline(always)]
    fn load(from: &mut impl Source) -> Self {
        from.take()
    }
}

macro_rules! tuples {
    ($(($($name:ident $field:tt),*))*) => {$(
        impl<$($name: Local),*> Local for ($($name,)*) {
            fn save(&self, to: &mut impl Sink) {
                $(self.$field.save(to);)*
            }
            fn load(from: &mut impl Source) -> Self {
                ($($name::load(from),)*)
            }
        }
    )*};
}
tuples! { (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) }

impl<T: Local> Local for Vec<T> {
    fn save(&self, to: &mut impl Sink) {
        to.put(self.len());
        self.iter().for_each(|item| item.save(to));
    }
    fn load(from: &mut impl Source) -> Self {
        let len: usize = from.take();
        (0..len).map(|_| T::load(from)).collect()
    }
}

impl<T: Local, const N: usize> Local for [T; N] {
    fn save(&self, to: &mut impl Sink) {
        self.iter().for_each(|item| item.save(to));
    }
    fn load(from: &mut impl Source) -> Self {
        core::array::from_fn(|_| T::load(from))
    }
}
