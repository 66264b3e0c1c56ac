//! The source of registers.
use alloc::vec::Vec;
use core::{fmt, ops::Deref};

use crate::{Memory, Pid, Queue, Value};

/// A source of registers. An algorithm's constructor takes one and makes the registers that its paper declares.
///
/// ```
/// use doorway_memory::{Memory, Space};
///
/// struct Bakery<M: Memory> {
///     choosing: Vec<M::Reg<bool>>,
///     number: Vec<M::Reg<u64>>,
/// }
///
/// impl<M: Memory> Bakery<M> {
///     fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
///         Bakery { choosing: space.per_process("choosing", n, false), number: space.per_process("number", n, 0) }
///     }
/// }
/// ```
pub trait Space {
    /// The memory of the registers.
    type Mem: Memory;

    /// Makes one register. The other methods call this one.
    ///
    /// ```
    /// use doorway_memory::{Home, Memory, Name, Solo, Space};
    /// let mut m = Solo::new();
    /// let want = m.register(Name::new("Want").index(0).index(1), Home::Of(1), 5_u64);
    /// assert_eq!(m.read(&want), Ok(5));
    /// ```
    fn register<T: Value>(&mut self, name: Name, home: Home, init: T) -> <Self::Mem as Memory>::Reg<T>;

    /// One register without a home: `victim`.
    fn shared<T: Value>(&mut self, name: &'static str, init: T) -> <Self::Mem as Memory>::Reg<T> {
        self.register(Name::new(name), Home::Nobody, init)
    }

    /// One register for each process, which is its home: `flag[0]` … `flag[n-1]`.
    ///
    /// ```
    /// # use doorway_memory::{Solo, Space};
    /// assert_eq!(Solo::new().per_process("flag", 3, false).len(), 3);
    /// ```
    fn per_process<T: Value>(&mut self, name: &'static str, n: usize, init: T) -> Vec<<Self::Mem as Memory>::Reg<T>> {
        (0..n).map(|i| self.register(Name::new(name).index(i), Home::Of(i), init)).collect()
    }

    /// An array without a home: `victim[0]` … `victim[len-1]`.
    ///
    /// ```
    /// # use doorway_memory::{Solo, Space};
    /// assert_eq!(Solo::new().array("victim", 4, 0_usize).len(), 4);
    /// ```
    fn array<T: Value>(&mut self, name: &'static str, len: usize, init: T) -> Vec<<Self::Mem as Memory>::Reg<T>> {
        (0..len).map(|i| self.register(Name::new(name).index(i), Home::Nobody, init)).collect()
    }

    /// Registers that [cyclic numbers](crate::Cyclic) modulo `len` select: `Tickets[0]` … `Tickets[len-1]`. The one with index i
    /// is `init(i)` initially.
    ///
    /// ```
    /// # use doorway_memory::{Cyclic, Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let tickets = m.ring("Tickets", 7, |i| i < 3);
    /// assert_eq!(m.read(&tickets[Cyclic::new(6, 7).plus(2).index()]), Ok(true));
    /// ```
    fn ring<T: Value>(
        &mut self,
        name: &'static str,
        len: usize,
        init: impl Fn(usize) -> T,
    ) -> Vec<<Self::Mem as Memory>::Reg<T>> {
        (0..len).map(|i| self.register(Name::new(name).index(i), Home::Nobody, init(i))).collect()
    }

    /// An empty queue for processes 0 to n-1. See [`Queue`].
    ///
    /// # Panics
    /// If the memory's queues are words, and n is larger than [`Queue::MOST`].
    ///
    /// ```
    /// # use doorway_memory::{Memory, Queue, Solo, Space};
    /// let mut m = Solo::new();
    /// let queue = m.queue("V", 4);
    /// assert_eq!(m.read(&queue), Ok(Queue::EMPTY));
    /// ```
    fn queue(&mut self, name: &'static str, n: usize) -> <Self::Mem as Memory>::Reg<Queue> {
        assert!(n <= Queue::MOST, "a word holds a queue of at most {} processes, not {n}", Queue::MOST);
        self.shared(name, Queue::EMPTY)
    }

    /// Many registers at one home, which a memory may keep in less space than a list of them takes:
    /// `Copy[3][0]` … `Copy[3][len-1]`.
    ///
    /// ```
    /// use doorway_memory::{Home, Memory, Name, Registers, Solo, Space};
    /// let mut m = Solo::new();
    /// let copy = m.registers(Name::new("Copy").index(3), Home::Of(3), 100, 5_u64);
    /// assert_eq!(m.read(&copy.at(99)), Ok(5));
    /// ```
    fn registers<T: Value>(
        &mut self,
        name: Name,
        home: Home,
        len: usize,
        init: T,
    ) -> <Self::Mem as Memory>::Registers<T> {
        (0..len).map(|i| self.register(name.index(i), home, init)).collect()
    }
}

/// Several registers, by index.
///
/// See [`Space::registers`].
pub trait Registers<R> {
    /// The register with this index.
    fn at(&self, index: usize) -> impl Deref<Target = R>;
}

impl<R> Registers<R> for Vec<R> {
    #[inline(always)]
    fn at(&self, index: usize) -> impl Deref<Target = R> {
        &self[index]
    }
}

/// A register's name in its paper, with up to four indices: `P[0][1][2][3]`.
///
/// ```
/// use doorway_memory::Name;
/// assert_eq!(Name::new("P").index(0).index(1).index(2).index(3).to_string(), "P[0][1][2][3]");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    text: &'static str,
    indices: [Option<usize>; 4],
}

impl Name {
    /// A name without an index.
    ///
    /// ```
    /// # use doorway_memory::Name;
    /// assert_eq!(Name::new("victim").to_string(), "victim");
    /// ```
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Name { text, indices: [None; 4] }
    }

    /// The name without its indices.
    ///
    /// ```
    /// # use doorway_memory::Name;
    /// assert_eq!(Name::new("flag").index(2).text(), "flag");
    /// ```
    #[must_use]
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// The indices, in order.
    ///
    /// ```
    /// # use doorway_memory::Name;
    /// assert!(Name::new("Want").index(2).index(0).indices().eq([2, 0]));
    /// ```
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        self.indices.into_iter().flatten()
    }

    /// The name with one more index.
    ///
    /// # Panics
    /// With a fifth index.
    ///
    /// ```
    /// # use doorway_memory::Name;
    /// assert_eq!(Name::new("flag").index(2).to_string(), "flag[2]");
    /// ```
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        let free = self.indices.iter_mut().find(|i| i.is_none());
        *free.expect("a register's name has at most four indices") = Some(index);
        self
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)?;
        self.indices.iter().flatten().try_for_each(|i| write!(f, "[{i}]"))
    }
}

/// Where a register is in distributed shared memory: a process accesses its own registers locally, and waits on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// Remote to every process.
    Nobody,
    /// Local to one process.
    Of(Pid),
}
