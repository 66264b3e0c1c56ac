//! The simplest memory.
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::{
    convert::Infallible,
    marker::PhantomData,
    ops::ControlFlow::{self, Break, Continue},
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

use crate::{Home, Local, Memory, Name, Number, Space, Value};

/// The simplest memory, for one process at a time: for examples and for unit tests of single passages.
///
/// ```
/// use doorway_memory::{Memory, Solo, Space};
/// let mut m = Solo::new();
/// let x = m.shared("x", 1_u64);
/// assert_eq!(m.read(&x), Ok(1));
/// ```
#[derive(Debug, Default)]
pub struct Solo(());

impl Solo {
    /// An empty memory.
    #[must_use]
    pub fn new() -> Self {
        Solo(())
    }
}

/// A register of [`Solo`].
#[derive(Clone, Debug)]
pub struct SoloReg<T>(Arc<AtomicU64>, PhantomData<T>);

impl<T: Value> SoloReg<T> {
    fn get(&self) -> T {
        T::of_word(self.0.load(SeqCst))
    }
    fn set(&self, value: T) {
        self.0.store(value.to_word(), SeqCst);
    }
}

impl Space for Solo {
    type Mem = Solo;
    fn register<T: Value>(&mut self, _: Name, _: Home, init: T) -> SoloReg<T> {
        SoloReg(Arc::new(AtomicU64::new(init.to_word())), PhantomData)
    }
}

impl Memory for Solo {
    type Halt = Infallible;
    type Reg<T: Value> = SoloReg<T>;
    type Registers<T: Value> = Vec<SoloReg<T>>;

    fn read<T: Value>(&mut self, reg: &SoloReg<T>) -> Result<T, Infallible> {
        Ok(reg.get())
    }
    fn test<T: Value>(&mut self, reg: &SoloReg<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Infallible> {
        Ok(holds(reg.get()))
    }
    fn write<T: Value>(&mut self, reg: &SoloReg<T>, value: T) -> Result<(), Infallible> {
        reg.set(value);
        Ok(())
    }
    fn fetch_add<T: Number>(&mut self, reg: &SoloReg<T>, by: T) -> Result<T, Infallible> {
        let old = reg.get();
        reg.set(T::of_word(old.to_word().wrapping_add(by.to_word())));
        Ok(old)
    }
    fn swap<T: Value>(&mut self, reg: &SoloReg<T>, value: T) -> Result<T, Infallible> {
        let old = reg.get();
        reg.set(value);
        Ok(old)
    }
    fn compare_swap<T: Value>(&mut self, reg: &SoloReg<T>, old: T, new: T) -> Result<bool, Infallible> {
        let holds = reg.get() == old;
        if holds {
            reg.set(new);
        }
        Ok(holds)
    }
    fn fence(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
    fn barrier(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
    fn turns<S: Local, B: Local>(
        &mut self,
        mut state: S,
        body: impl Fn(&mut Self, S) -> Result<ControlFlow<B, S>, Infallible>,
    ) -> Result<B, Infallible> {
        loop {
            match body(self, state)? {
                Break(end) => return Ok(end),
                Continue(next) => state = next,
            }
        }
    }
}
