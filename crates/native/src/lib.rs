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
mod barrier;
mod lot;
#[doc(hidden)]
pub mod sync;
mod wait;

pub use lot::Call;

use std::{
    convert::Infallible,
    fmt, hint,
    marker::PhantomData,
    num::NonZeroUsize,
    ops::{
        ControlFlow::{self, Break, Continue},
        Deref,
    },
    time::Instant,
};

use crossbeam_utils::CachePadded;

use doorway_memory::{Home, Local, Memory, Name, Number, Space, Value};

use crate::sync::atomic::{
    self, AtomicU64,
    Ordering::{self, Acquire, Release, SeqCst},
};

/// Whether the machine's memory is the one for which the algorithms' fences are checked: total store order.
const TSO: bool = cfg!(any(target_arch = "x86", target_arch = "x86_64"));

// ORDERING: Release, and Acquire for reads, where the machine does the rest; elsewhere SeqCst, which asks for one order of all
// accesses, as the papers do.
// Pairs with: each other. Who sees a value also sees what its writer wrote before it. Neither the compiler nor an x86 then
// exchanges any two accesses of a thread but a write and a later read of another register, which is what the checker's `tso`
// exchanges too (checker/tests/checks/tso.rs: `a_read_can_overtake_a_write_of_another_register`, and
// `nothing_else_is_seen_out_of_order`). Where that does harm the algorithms have a fence: without any one of them
// `every_fence_of_the_catalogue_is_needed` fails.
// Weaker fails: Relaxed accesses may change places in any way, and then message passing fails, on which every lock relies to
// hand on what was done inside; `nothing_else_is_seen_out_of_order` is what must not happen.
// Elsewhere weaker fails: on other machines Acquire and Release promise less than total store order (two readers may see
// two writes in different orders), and nothing has been checked for that.
const READ: Ordering = if TSO { Acquire } else { SeqCst };
const WRITE: Ordering = if TSO { Release } else { SeqCst };

/// A thread's view of the memory. Each thread has its own.
///
/// Every access is one atomic instruction, and the `?` behind it compiles to nothing.
///
/// # Memory ordering
///
/// On x86 processors reads and writes are plain instructions, and a [`fence`](Memory::fence) is there for those places where a
/// read must not overtake an earlier write. Elsewhere every access is sequentially consistent and a fence is nothing.
/// Read-modify-writes are sequentially consistent everywhere: on x86 that costs no more.
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
#[derive(Debug)]
pub struct Native<L = Padded> {
    /// How long the present wait has lasted.
    patience: wait::Patience,
    /// Whether anybody slept or [called](Call) when we wrote.
    is_called: bool,
    /// Whom we have met and should let go first when we have left: who slept on the register at this address, which we have
    /// written; or `SOMEBODY`, if we had to wait. In one word, since it is looked at after every passage.
    met: Option<NonZeroUsize>,
    layout: PhantomData<L>,
}

impl<L> Default for Native<L> {
    fn default() -> Self {
        Native::new()
    }
}

impl<L> Native<L> {
    /// A view of the memory, for one thread.
    ///
    /// ```
    /// let m: doorway_native::Native = doorway_native::Native::new();
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn new() -> Self {
        Native::having_met_others(false)
    }

    /// A view for who leaves a lock with another one than it entered by, and says here whether it [met
    /// others](Native::has_met_others) then.
    ///
    /// ```
    /// let m: doorway_native::Native = doorway_native::Native::having_met_others(true);
    /// assert!(m.has_met_others());
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn having_met_others(has_met_others: bool) -> Self {
        let met = if has_met_others { Some(wait::SOMEBODY) } else { None };
        Native { patience: wait::Patience::new(), is_called: false, met, layout: PhantomData }
    }

    /// Whether we had to wait, or somebody slept on what we wrote, since [`after_you`](Native::after_you).
    ///
    /// See [`having_met_others`](Native::having_met_others).
    #[must_use]
    #[inline(always)]
    pub const fn has_met_others(&self) -> bool {
        self.met.is_some()
    }
}

impl<L: Layout> Native<L> {
    /// Called after having left a lock: lets the others go first, so that we do not stand at the end of its line again before it is
    /// empty. Those who slept in it run until it is: a line that has once slept would else go on sleeping. If nobody slept and we had
    /// to wait, we stay away for a moment: two who do little else would else be in each other's way at every step. Otherwise it is
    /// nothing.
    ///
    /// ```
    /// use doorway_native::{Native, Padded};
    /// let mut m = Native::<Padded>::having_met_others(true);
    /// m.after_you();
    /// assert!(!m.has_met_others());
    /// ```
    #[inline(always)]
    pub fn after_you(&mut self) {
        if let Some(whom) = self.met.take() {
            wait::after_you(whom);
        }
    }

    /// Whether anybody slept or [called](Call) when we wrote something.
    ///
    /// See [`Call`].
    #[must_use]
    #[inline(always)]
    pub fn is_called(&self) -> bool {
        self.is_called
    }

    /// Called when we have to wait, or had to.
    #[inline(always)]
    fn has_to_wait(&mut self) {
        self.met = self.met.or(Some(wait::SOMEBODY));
    }

    /// Called after each write. Who writes does not wait.
    #[inline(always)]
    fn written(&mut self, register: &AtomicU64) {
        if !L::SLEEPS {
            return;
        }
        self.patience = wait::Patience::new();
        if lot::is_called() {
            self.is_called = true;
            if lot::wake(register) {
                self.met = NonZeroUsize::new(lot::address(register));
            }
        }
    }
}

/// How registers lie in memory, and how threads wait there. It is also where registers come from: they live in the structure that
/// asked for them. Names and homes are not kept.
///
/// ```
/// use doorway_algorithms::mutex::filter::Filter;
/// use doorway_native::{Layout, Native, Packed, Padded};
/// fn size<L: Layout>() -> usize { size_of::<L::Cell>() }
/// assert!(size::<Packed>() == 8 && size::<Padded>() >= 64);
/// let lock: Filter<Native<Packed>> = Filter::new(&mut Packed, 2);
/// ```
pub trait Layout: Space<Mem = Native<Self>> + Copy + Default + fmt::Debug + Send + Sync + 'static {
    /// What holds a register's word.
    type Cell: Deref<Target = AtomicU64> + From<AtomicU64> + Send + Sync + fmt::Debug;

    /// Whether who waits long gives way and sleeps. If not, who writes need not look for sleepers.
    const SLEEPS: bool = true;
}

/// Each register has a cache line of its own, so that who writes one does not disturb who waits on another.
///
/// See [`Layout`].
#[derive(Clone, Copy, Default, Debug)]
pub struct Padded;

/// Registers take as much room as a word, and share cache lines.
///
/// Two processes that read whatever the other writes then exchange one line instead of several; with more of them, who waits is
/// disturbed by every write.
///
/// See [`Layout`].
#[derive(Clone, Copy, Default, Debug)]
pub struct Packed;

/// As [`Packed`], and who waits spins until its turn has come: for threads that have a processor each. With fewer processors than
/// threads nothing moves while somebody spins for one who has none.
///
/// See [`Layout`].
#[derive(Clone, Copy, Default, Debug)]
pub struct Spinning;

impl Layout for Padded {
    type Cell = CachePadded<AtomicU64>;
}

impl Layout for Packed {
    type Cell = Word;
}

impl Layout for Spinning {
    type Cell = Word;
    const SLEEPS: bool = false;
}

/// A word.
///
/// See [`Packed`].
#[derive(Debug)]
pub struct Word(AtomicU64);

impl Deref for Word {
    type Target = AtomicU64;
    #[inline(always)]
    fn deref(&self) -> &AtomicU64 {
        &self.0
    }
}

impl From<AtomicU64> for Word {
    fn from(word: AtomicU64) -> Word {
        Word(word)
    }
}

/// A register: an atomic word.
///
/// ```
/// use doorway_memory::Space;
/// use doorway_native::{Heap, Reg};
/// let flag: Reg<bool> = Heap.shared("flag", false);
/// ```
pub struct Reg<T, L: Layout = Padded>(L::Cell, PhantomData<fn() -> T>);

impl<T: Value> Reg<T, Packed> {
    /// A register that holds the value of this word.
    ///
    /// ```
    /// use doorway_native::{Packed, Reg};
    /// static FLAG: Reg<bool, Packed> = Reg::of_word(1);
    /// assert_eq!(format!("{FLAG:?}"), "Reg(true)");
    /// ```
    #[must_use]
    pub const fn of_word(word: u64) -> Self {
        Reg(Word(AtomicU64::new(word)), PhantomData)
    }
}

impl<T: Value, L: Layout> Reg<T, L> {
    fn of(init: T) -> Self {
        Reg(AtomicU64::new(init.to_word()).into(), PhantomData)
    }
}

impl<T: Value, L: Layout> fmt::Debug for Reg<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reg").field(&T::of_word(self.0.load(SeqCst))).finish()
    }
}

/// Where registers come from, unless another [layout](Layout) is asked for: each in a cache line of its own.
///
/// ```
/// use doorway_memory::Space;
/// use doorway_native::Heap;
/// let flags = Heap.per_process("flag", 4, false);
/// assert_eq!(flags.len(), 4);
/// ```
pub use self::Padded as Heap;

impl Space for Padded {
    type Mem = Native;

    fn register<T: Value>(&mut self, _: Name, _: Home, init: T) -> Reg<T> {
        Reg::of(init)
    }
}

impl Space for Packed {
    type Mem = Native<Packed>;

    fn register<T: Value>(&mut self, _: Name, _: Home, init: T) -> Reg<T, Packed> {
        Reg::of(init)
    }
}

impl Space for Spinning {
    type Mem = Native<Spinning>;

    fn register<T: Value>(&mut self, _: Name, _: Home, init: T) -> Reg<T, Spinning> {
        Reg::of(init)
    }
}

impl<L: Layout> Native<L> {
    /// As [`until`](Memory::until), but not longer than to the deadline; says whether the register holds what it should.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// use doorway_memory::Space;
    /// use doorway_native::{Heap, Native};
    ///
    /// let flag = Heap.shared("flag", false);
    /// let soon = Instant::now() + Duration::from_millis(1);
    /// assert!(!Native::new().until_deadline(&flag, |flag| flag, soon));
    /// ```
    pub fn until_deadline<T: Value>(
        &mut self,
        reg: &Reg<T, L>,
        holds: impl Fn(T) -> bool + Sync,
        deadline: Instant,
    ) -> bool {
        holds(T::of_word(reg.0.load(READ))) || {
            self.has_to_wait();
            wait_until(reg, holds, Some(deadline))
        }
    }
}

impl<L: Layout> Memory for Native<L> {
    type Halt = Infallible;
    type Reg<T: Value> = Reg<T, L>;

    #[inline(always)]
    fn read<T: Value>(&mut self, reg: &Reg<T, L>) -> Result<T, Infallible> {
        Ok(T::of_word(reg.0.load(READ)))
    }

    #[inline(always)]
    fn test<T: Value>(&mut self, reg: &Reg<T, L>, holds: impl FnOnce(T) -> bool) -> Result<bool, Infallible> {
        Ok(holds(T::of_word(reg.0.load(READ))))
    }

    #[inline(always)]
    fn write<T: Value>(&mut self, reg: &Reg<T, L>, value: T) -> Result<(), Infallible> {
        reg.0.store(value.to_word(), WRITE);
        self.written(&reg.0);
        Ok(())
    }

    #[inline(always)]
    fn fetch_add<T: Number>(&mut self, reg: &Reg<T, L>, by: T) -> Result<T, Infallible> {
        let old = T::of_word(reg.0.fetch_add(by.to_word(), SeqCst));
        self.written(&reg.0);
        Ok(old)
    }

    #[inline(always)]
    fn swap<T: Value>(&mut self, reg: &Reg<T, L>, value: T) -> Result<T, Infallible> {
        let old = T::of_word(reg.0.swap(value.to_word(), SeqCst));
        self.written(&reg.0);
        Ok(old)
    }

    #[inline(always)]
    fn compare_swap<T: Value>(&mut self, reg: &Reg<T, L>, old: T, new: T) -> Result<bool, Infallible> {
        let mut word = old.to_word();
        loop {
            match reg.0.compare_exchange(word, new.to_word(), SeqCst, SeqCst) {
                Ok(_) => {
                    self.written(&reg.0);
                    return Ok(true);
                }
                // A sum that overflowed a narrow type has another word than the value it stands for.
                Err(found) if T::of_word(found) == old => word = found,
                Err(_) => return Ok(false),
            }
        }
    }

    fn barrier(&mut self) -> Result<(), Infallible> {
        barrier::everywhere_surely();
        Ok(())
    }

    #[inline(always)]
    fn fence(&mut self) -> Result<(), Infallible> {
        if TSO {
            // On x86-64 this is `lock or` of a word on the stack: as long as one sequentially consistent write.
            atomic::fence(SeqCst);
        }
        Ok(())
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
    fn until<T: Value>(&mut self, reg: &Reg<T, L>, holds: impl Fn(T) -> bool + Sync) -> Result<(), Infallible> {
        if !holds(T::of_word(reg.0.load(READ))) {
            wait_until(reg, holds, None);
            self.has_to_wait();
        }
        Ok(())
    }

    #[inline(always)]
    fn relax(&mut self) {
        self.has_to_wait();
        if L::SLEEPS {
            self.patience.relax();
        } else {
            hint::spin_loop();
        }
    }
}

/// Waits until the register holds what is wanted, or until the deadline; says whether it does. What is wanted is handed over,
/// not lent: else it would lie in memory even where nobody waits.
#[cold]
#[inline(never)]
fn wait_until<T: Value, L: Layout>(
    reg: &Reg<T, L>,
    holds: impl Fn(T) -> bool + Sync,
    deadline: Option<Instant>,
) -> bool {
    let is_there = |word| holds(T::of_word(word));
    if !L::SLEEPS {
        // Nobody would wake us.
        return wait::spinning(&reg.0, is_there, deadline);
    }
    let is_next = |word| T::of_word(word).counted().map(&holds);
    wait::until(&reg.0, is_there, is_next, deadline)
}
