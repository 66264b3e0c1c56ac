//! The registers of a file: which ones an algorithm allocates, and where each of them is.
use std::{fmt, iter, marker::PhantomData};

use doorway_memory::{Home, Name, Space, Value};

use crate::{MAX_SLOTS, Shared};

/// The registers that an algorithm allocates, in order, with their initial values.
///
/// ```
/// use doorway_memory::Space;
/// use doorway_shm::Plan;
///
/// let mut plan = Plan::new();
/// let flags = plan.per_process("flag", 4, true);
/// assert_eq!(plan.registers(), 4);
/// assert_eq!(plan.initial_values().collect::<Vec<_>>(), [1; 4]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Initial values, run-length encoded: a value, and how many consecutive registers have it, often thousands.
    runs: Vec<(u64, usize)>,
    registers: usize,
}

impl Plan {
    /// A plan without registers.
    ///
    /// See [`Plan`].
    #[must_use]
    pub fn new() -> Plan {
        Plan::default()
    }

    /// The initial value of each register.
    ///
    /// See [`Plan`].
    pub fn initial_values(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().flat_map(|&(value, times)| iter::repeat_n(value, times))
    }

    /// The number of registers.
    ///
    /// See [`Plan`].
    #[must_use]
    pub fn registers(&self) -> usize {
        self.registers
    }
}

impl Space for Plan {
    type Mem = Shared;

    fn register<T: Value>(&mut self, _: Name, home: Home, init: T) -> Reg<T> {
        let value = init.to_word();
        match self.runs.last_mut() {
            Some((last, times)) if *last == value => *times += 1,
            _ => self.runs.push((value, 1)),
        }
        self.registers += 1;
        Reg::new(self.registers - 1, home)
    }
}

/// A register: the index of its word in the file, and the slot at which it is at home.
///
/// It takes half a word, so that a table of them fits into the cache beside the registers themselves.
///
/// See [`Plan`].
pub struct Reg<T>(u32, PhantomData<fn() -> T>);

/// The number of bits of a `Reg` that hold the index; the others hold the home.
const INDEX: u32 = 21;

/// The maximum number of registers of a file.
pub(crate) const MAX_REGISTERS: usize = 1 << INDEX;

/// The number of values that the home of a `Reg` can have.
pub(crate) const HOMES: usize = 1 << (u32::BITS - INDEX);

impl<T> Reg<T> {
    fn new(index: usize, home: Home) -> Reg<T> {
        let home = match home {
            Home::Of(slot) => slot,
            Home::Nobody => MAX_SLOTS,
        };
        assert!(index < MAX_REGISTERS && home <= MAX_SLOTS, "more registers or slots than a file may have");
        Reg((home << INDEX | index) as u32, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn index(&self) -> usize {
        self.0 as usize & ((1 << INDEX) - 1)
    }

    /// The slot at which the register is at home, or `MAX_SLOTS` if it is at home at none.
    #[inline(always)]
    pub(crate) fn home(&self) -> usize {
        self.0 as usize >> INDEX
    }
}

impl<T> fmt::Debug for Reg<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reg").field(&self.index()).finish()
    }
}
