//! The registers of a file: which ones an algorithm allocates, and where each of them is.
use std::{fmt, marker::PhantomData, ops::Deref};

use doorway_memory::{Home, Name, Registers, Space, Value};

use crate::{MAX_SLOTS, Shared};

/// The registers that an algorithm allocates, with their initial values.
///
/// A file keeps the registers that are at home at a slot beside that slot, and begins small: it grows when a slot is
/// taken for the first time. Therefore every slot has as many of them as any other, and initially they are zero.
///
/// ```
/// use doorway_memory::Space;
/// use doorway_shm::Plan;
///
/// let mut plan = Plan::new();
/// let next = plan.shared("next", 7_u64);
/// let flags = plan.per_process("flag", 4, false);
/// assert_eq!((plan.initial_values(), plan.per_slot()), (&[7][..], 1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The initial values of the registers that are at home at no slot.
    shared: Vec<u64>,
    /// How many registers are at home at each slot.
    at_home: Vec<u32>,
}

impl Plan {
    /// A plan without registers.
    ///
    /// See [`Plan`].
    #[must_use]
    pub fn new() -> Plan {
        Plan::default()
    }

    /// The initial values of the registers that are at home at no slot.
    ///
    /// See [`Plan`].
    #[must_use]
    pub fn initial_values(&self) -> &[u64] {
        &self.shared
    }

    /// The number of registers at home at each slot.
    ///
    /// # Panics
    /// If some slots have more than others.
    ///
    /// See [`Plan`].
    #[must_use]
    pub fn per_slot(&self) -> usize {
        let first = self.at_home.first().map_or(0, |&registers| registers as usize);
        assert!(self.at_home.iter().all(|&registers| registers as usize == first), "slots have unequal registers");
        first
    }

    /// Adds `len` registers, and returns where the first one is.
    fn add(&mut self, home: Home, len: usize, init: u64) -> (u16, u32) {
        let slot = match home {
            Home::Nobody => {
                self.shared.extend(std::iter::repeat_n(init, len));
                return (NOBODY, (self.shared.len() - len) as u32);
            }
            Home::Of(slot) => slot,
        };
        assert!(slot < MAX_SLOTS, "a file has at most {MAX_SLOTS} slots");
        assert_eq!(init, 0, "a register at home at a slot is initially zero");
        if self.at_home.len() <= slot {
            self.at_home.resize(slot + 1, 0);
        }
        let first = self.at_home[slot];
        self.at_home[slot] += len as u32;
        (slot as u16, first)
    }
}

impl Space for Plan {
    type Mem = Shared;

    fn register<T: Value>(&mut self, _: Name, home: Home, init: T) -> Reg<T> {
        let (home, index) = self.add(home, 1, init.to_word());
        Reg { home, index, _value: PhantomData }
    }

    fn registers<T: Value>(&mut self, _: Name, home: Home, len: usize, init: T) -> Run<T> {
        let (home, first) = self.add(home, len, init.to_word());
        Run { first: Reg { home, index: first, _value: PhantomData }, len: len as u32 }
    }
}

/// The home of a register that is at home at no slot.
pub(crate) const NOBODY: u16 = u16::MAX;

/// A register: the slot at which it is at home, and its index among the registers there.
///
/// See [`Plan`].
pub struct Reg<T> {
    pub(crate) home: u16,
    pub(crate) index: u32,
    _value: PhantomData<fn() -> T>,
}

/// Consecutive registers.
///
/// See [`Plan`].
#[derive(Debug)]
pub struct Run<T> {
    first: Reg<T>,
    len: u32,
}

impl<T> Registers<Reg<T>> for Run<T> {
    #[inline(always)]
    fn at(&self, index: usize) -> impl Deref<Target = Reg<T>> {
        assert!(index < self.len as usize, "there is no register {index}");
        Computed(Reg { home: self.first.home, index: self.first.index + index as u32, _value: PhantomData })
    }
}

impl<T> FromIterator<Reg<T>> for Run<T> {
    /// # Panics
    /// If the registers are not consecutive, or there are none.
    fn from_iter<I: IntoIterator<Item = Reg<T>>>(registers: I) -> Run<T> {
        let mut registers = registers.into_iter();
        let mut run = Run { first: registers.next().expect("a run has a register"), len: 1 };
        for register in registers {
            let next = (run.first.home, run.first.index + run.len);
            assert_eq!((register.home, register.index), next, "the registers of a run are consecutive");
            run.len += 1;
        }
        run
    }
}

/// A register of a run.
struct Computed<T>(Reg<T>);

impl<T> Deref for Computed<T> {
    type Target = Reg<T>;

    #[inline(always)]
    fn deref(&self) -> &Reg<T> {
        &self.0
    }
}

impl<T> fmt::Debug for Reg<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reg").field("home", &self.home).field("index", &self.index).finish()
    }
}
