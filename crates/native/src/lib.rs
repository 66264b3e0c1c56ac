//! The memory of threads: atomic words of the standard library, one cache line each.
//!
//! ```
//! use std::{sync::atomic::{AtomicU64, Ordering::Relaxed}, thread};
//!
//! use doorway_algorithms::mutex::bakery::Bakery;
//! use doorway_memory::Exclusion;
//! use doorway_native::{Heap, Native};
//!
//! let bakery = Bakery::new(&mut Heap, 2);
//! let count = AtomicU64::new(0);
//! thread::scope(|scope| {
//!     for p in 0..2 {
//!         let (bakery, count) = (&bakery, &count);
//!         scope.spawn(move || {
//!             let mut m = Native::new();
//!             for _ in 0..100 {
//!                 let Ok(ticket) = bakery.doorway(&mut m, p);
//!                 let Ok(()) = bakery.wait(&mut m, p, &ticket);
//!                 count.store(count.load(Relaxed) + 1, Relaxed); // only one of us is here
//!                 let Ok(()) = bakery.exit(&mut m, p, &ticket);
//!             }
//!         });
//!     }
//! });
//! assert_eq!(count.into_inner(), 200);
//! ```
use std::{
    convert::Infallible,
    fmt, hint,
    marker::PhantomData,
    ops::ControlFlow::{self, Break, Continue},
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
};

use crossbeam_utils::CachePadded;

use doorway_memory::{Home, Local, Memory, Name, Number, Space, Value};

/// How many unsuccessful turns of a wait make us yield the processor: a few, since whoever we wait for may need it to
/// go on. The number is a guess; waiting well is not measured yet.
const TURNS_PER_YIELD: u32 = 16;

/// A thread's view of the memory. Each thread has its own.
///
/// Every access is one atomic instruction, and the `?` behind it compiles to nothing.
///
/// ```
/// use doorway_memory::{Memory, Space};
/// use doorway_native::{Heap, Native};
///
/// let x = Heap.shared("x", 3_u64);
/// let mut m = Native::new();
/// assert_eq!(m.fetch_add(&x, 4), Ok(3));
/// assert_eq!(m.read(&x), Ok(7));
/// ```
// ORDERING: SeqCst everywhere, as the papers assume one order of all accesses.
// Pairs with: every other access, to whichever register.
// Weaker fails: with Acquire and Release a read may complete before our own earlier write to another register is
// visible to others; in `peterson`, lines 8-10, both processes then miss each other's flag and both enter.
#[derive(Debug, Default)]
pub struct Native {
    /// Unsuccessful turns of waits so far, modulo 2^32; never reset, since all that counts is its remainder.
    waited: u32,
}

impl Native {
    /// A view of the memory, for one thread.
    ///
    /// ```
    /// let m = doorway_native::Native::new();
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Native { waited: 0 }
    }
}

/// A register: an atomic word, alone in its cache line.
///
/// ```
/// use doorway_memory::Space;
/// use doorway_native::{Heap, Reg};
/// let flag: Reg<bool> = Heap.shared("flag", false);
/// ```
pub struct Reg<T>(CachePadded<AtomicU64>, PhantomData<fn() -> T>);

impl<T: Value> fmt::Debug for Reg<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reg").field(&T::of_word(self.0.load(SeqCst))).finish()
    }
}

/// Where registers come from: they live in the structure that asked for them. Names and homes are not kept.
///
/// ```
/// use doorway_memory::Space;
/// use doorway_native::Heap;
/// let flags = Heap.per_process("flag", 4, false);
/// assert_eq!(flags.len(), 4);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap;

impl Space for Heap {
    type Mem = Native;

    fn register<T: Value>(&mut self, _: Name, _: Home, init: T) -> Reg<T> {
        Reg(CachePadded::new(AtomicU64::new(init.to_word())), PhantomData)
    }
}

impl Memory for Native {
    type Halt = Infallible;
    type Reg<T: Value> = Reg<T>;

    #[inline(always)]
    fn read<T: Value>(&mut self, reg: &Reg<T>) -> Result<T, Infallible> {
        Ok(T::of_word(reg.0.load(SeqCst)))
    }

    #[inline(always)]
    fn test<T: Value>(&mut self, reg: &Reg<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Infallible> {
        Ok(holds(T::of_word(reg.0.load(SeqCst))))
    }

    #[inline(always)]
    fn write<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<(), Infallible> {
        reg.0.store(value.to_word(), SeqCst);
        Ok(())
    }

    #[inline(always)]
    fn fetch_add<T: Number>(&mut self, reg: &Reg<T>, by: T) -> Result<T, Infallible> {
        Ok(T::of_word(reg.0.fetch_add(by.to_word(), SeqCst)))
    }

    #[inline(always)]
    fn swap<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<T, Infallible> {
        Ok(T::of_word(reg.0.swap(value.to_word(), SeqCst)))
    }

    #[inline(always)]
    fn compare_swap<T: Value>(&mut self, reg: &Reg<T>, old: T, new: T) -> Result<bool, Infallible> {
        let mut word = old.to_word();
        loop {
            match reg.0.compare_exchange(word, new.to_word(), SeqCst, SeqCst) {
                Ok(_) => return Ok(true),
                // A sum that overflowed a narrow type has another word than the value it stands for.
                Err(found) if T::of_word(found) == old => word = found,
                Err(_) => return Ok(false),
            }
        }
    }

    #[inline(always)]
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

    #[inline(always)]
    fn relax(&mut self) {
        self.waited = self.waited.wrapping_add(1);
        if self.waited.is_multiple_of(TURNS_PER_YIELD) {
            give_way();
        } else {
            hint::spin_loop();
        }
    }
}

/// Out of line and out of the way: a call in the middle of a wait would cost registers even where nobody waits.
#[cold]
#[inline(never)]
fn give_way() {
    thread::yield_now();
}
