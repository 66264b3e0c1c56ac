//! A read-only view of the memory.
use std::ops::ControlFlow::{self, Break, Continue};

use doorway_memory::{Home, Local, Memory, Name, Number, Space, Value};

use crate::{Halt, Plan, Reg, map::Words, memory::READ};

/// A read-only view of the memory: writes have no effect, and a wait ends with [`Halt::Abort`] instead of waiting.
///
/// Run on it, the waiting section of an algorithm tells whether a parked process could enter. A writer evaluates it
/// before it wakes the process: that is a hundred times cheaper than a spurious wake-up.
///
/// ```
/// use doorway_memory::{Memory, Space};
/// use doorway_shm::{File, Halt, Location, Mapping, PeekPlan, Plan};
///
/// let mut plan = Plan::new();
/// let flag = plan.shared("flag", false);
/// let same = PeekPlan::new().shared("flag", false);
/// let path = std::env::temp_dir().join(format!("doorway-peek-{}", std::process::id()));
/// let mapping = Mapping::open_or_create(&Location::path(&path), 1, 2, || plan.registers())?;
/// let file = File::new(mapping, plan)?;
/// assert_eq!(file.peek().until(&same, |flag| flag), Err(Halt::Abort));
/// assert_eq!(file.peek().write(&same, true), Ok(()));
/// assert_eq!(file.memory(0).read(&flag), Ok(false));
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), doorway_shm::Error>(())
/// ```
#[derive(Debug)]
pub struct Peek {
    registers: Words,
    /// Whether the algorithm has come to a point where it waits.
    would_wait: bool,
}

impl Peek {
    pub(crate) fn new(registers: Words) -> Peek {
        Peek { registers, would_wait: false }
    }
}

/// A [`Plan`] for a [`Peek`]: the same registers, if they are allocated in the same order.
///
/// See [`Peek`].
#[derive(Clone, Debug, Default)]
pub struct PeekPlan(Plan);

impl PeekPlan {
    /// A plan without registers.
    ///
    /// See [`Peek`].
    #[must_use]
    pub fn new() -> PeekPlan {
        PeekPlan::default()
    }
}

impl Space for PeekPlan {
    type Mem = Peek;

    fn register<T: Value>(&mut self, name: Name, home: Home, init: T) -> Reg<T> {
        self.0.register(name, home, init)
    }
}

impl Memory for Peek {
    type Halt = Halt;
    type Reg<T: Value> = Reg<T>;
    type Registers<T: Value> = Vec<Reg<T>>;

    fn read<T: Value>(&mut self, reg: &Reg<T>) -> Result<T, Halt> {
        Ok(T::of_word(self.registers.get(reg.index()).load(READ)))
    }

    fn test<T: Value>(&mut self, reg: &Reg<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Halt> {
        self.read(reg).map(holds)
    }

    fn write<T: Value>(&mut self, _: &Reg<T>, _: T) -> Result<(), Halt> {
        Ok(())
    }

    fn fetch_add<T: Number>(&mut self, reg: &Reg<T>, _: T) -> Result<T, Halt> {
        self.read(reg)
    }

    fn swap<T: Value>(&mut self, reg: &Reg<T>, _: T) -> Result<T, Halt> {
        self.read(reg)
    }

    fn compare_swap<T: Value>(&mut self, reg: &Reg<T>, old: T, _: T) -> Result<bool, Halt> {
        self.test(reg, |value| value == old)
    }

    fn fence(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    fn barrier(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    fn turns<S: Local, B: Local>(
        &mut self,
        mut state: S,
        body: impl Fn(&mut Self, S) -> Result<ControlFlow<B, S>, Halt>,
    ) -> Result<B, Halt> {
        while !self.would_wait {
            match body(self, state)? {
                Break(end) => return Ok(end),
                Continue(next) => state = next,
            }
        }
        Err(Halt::Abort)
    }

    fn relax(&mut self) {
        self.would_wait = true;
    }
}
