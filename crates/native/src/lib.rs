//! The memory of threads: atomic words of the standard library, one cache line each.
//!
//! The terms are those of the [glossary](doorway_memory::glossary).
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
//!                 let Ok(inside) = bakery.wait(&mut m, p, &ticket);
//!                 count.store(count.load(Relaxed) + 1, Relaxed); // no update is lost: this thread is the only holder
//!                 let Ok(()) = bakery.exit(&mut m, p, &inside);
//!             }
//!         });
//!     }
//! });
//! assert_eq!(count.into_inner(), 200);
//! ```
mod account;
mod barrier;
mod clock;
mod hints;
mod parking;
mod runs;
#[doc(hidden)]
pub mod sync;
mod turns;
mod wait;

pub use parking::WakeInterest;

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

/// Whether the machine has the memory model for which the algorithms' fences are checked: total store order.
const TSO: bool = cfg!(any(target_arch = "x86", target_arch = "x86_64"));

// ORDERING: Release for writes and Acquire for reads, where the machine guarantees the rest; elsewhere SeqCst, which
// gives all accesses one order, as the papers assume.
// Pairs with: each other. A reader that sees a value also sees what its writer wrote before it. Neither the compiler
// nor an x86 processor then reorders two accesses of a thread, except a write and a later read of another register.
// The checker's `tso` reorders those too (catalogue/tests/checks/tso.rs:
// `a_read_can_overtake_a_write_of_another_register`, and `nothing_else_is_seen_out_of_order`). Where that would do
// harm, the algorithms have a fence: without any one of the fences, a claim fails (catalogue/tests/pinned.rs: `fences`).
// Weaker fails: Relaxed accesses may be reordered in any way. Message passing then fails, on which every lock relies
// to publish what a holder did to the next one; `nothing_else_is_seen_out_of_order` is what must not happen.
// Elsewhere weaker fails: on other machines Acquire and Release guarantee less than total store order (two readers
// may see two writes in different orders), and nothing has been checked for that.
const READ: Ordering = if TSO { Acquire } else { SeqCst };
const WRITE: Ordering = if TSO { Release } else { SeqCst };

/// A thread's view of the memory. Each thread has its own.
///
/// Every access is one atomic instruction, and the `?` after it compiles to nothing.
///
/// # Memory ordering
///
/// On x86 processors, reads and writes are plain instructions, and a [`fence`](Memory::fence) prevents a read from
/// overtaking an earlier write. On other processors every access is sequentially consistent, and a fence does
/// nothing. Read-modify-writes are sequentially consistent on all of them: on x86 that costs no more.
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
    /// The state of the current wait on several registers.
    backoff: wait::Backoff,
    /// Whether any waiter was parked, or any [`WakeInterest`] existed, after a write.
    has_wake_interest: bool,
    /// Whether this thread had to wait in the current passage.
    has_waited: bool,
    /// The contention of the current passage; `None` if uncontended.
    ///
    /// It is the address of a written register on which waiters were parked; or `NO_PARKED_WAITER`, if this thread had
    /// to wait. In one word, since it is read after every passage.
    contended_with: Option<NonZeroUsize>,
    layout: PhantomData<L>,
}

impl<L> Default for Native<L> {
    fn default() -> Self {
        Native::new()
    }
}

impl<L> Native<L> {
    /// Creates a view of the memory, for one thread.
    ///
    /// See [`Native`].
    #[must_use]
    #[inline(always)]
    pub const fn new() -> Self {
        Native::resumed(false)
    }

    /// Creates a view for the rest of a passage that began with another view. `contended` says whether the passage was
    /// [contended](Native::is_contended) so far.
    ///
    /// ```
    /// let m: doorway_native::Native = doorway_native::Native::resumed(true);
    /// assert!(m.is_contended());
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn resumed(contended: bool) -> Self {
        let contended_with = if contended { Some(wait::NO_PARKED_WAITER) } else { None };
        Native {
            backoff: wait::Backoff::new(),
            has_wake_interest: false,
            has_waited: contended,
            contended_with,
            layout: PhantomData,
        }
    }

    /// Whether the current passage is contended: this thread had to wait, or a waiter was parked on a register it
    /// wrote.
    ///
    /// [`yield_after_release`](Native::yield_after_release) resets it.
    ///
    /// See [`resumed`](Native::resumed).
    #[must_use]
    #[inline(always)]
    pub const fn is_contended(&self) -> bool {
        self.contended_with.is_some()
    }
}

impl<L: Layout> Native<L> {
    /// Lets other threads go first after a contended passage. To be called after leaving a lock.
    ///
    /// If waiters were parked, this yields while their number keeps falling, so that the queue drains before this
    /// thread arrives again; otherwise every later waiter would have to park too. If none was parked but this thread
    /// had to wait, it backs off briefly; otherwise two threads that do little else would slow each other down at
    /// every step. After an uncontended passage it does nothing.
    ///
    /// ```
    /// use doorway_native::{Native, Padded};
    /// let mut m = Native::<Padded>::resumed(true);
    /// m.yield_after_release();
    /// assert!(!m.is_contended());
    /// ```
    #[inline(always)]
    pub fn yield_after_release(&mut self) {
        if let Some(contended_with) = self.contended_with.take() {
            wait::yield_or_back_off(contended_with, self.has_waited);
        }
    }

    /// As [`yield_after_release`](Native::yield_after_release), for a lock with capacity `k` that serves waiters in order of
    /// arrival by this counter. `before` is how many holders and waiters there were before the release, with this thread;
    /// `queued` says how many there are.
    ///
    /// It keeps this thread away from the lock for as long as that lets threads enter more often: while parked waiters
    /// are woken; and for k = 1 while another thread runs alone, if taking turns takes longer than the work, or while
    /// there are waiters, if two threads keep the lock busy. docs/after-a-release.md explains why.
    ///
    /// ```
    /// use doorway_memory::{Count, Space};
    /// use doorway_native::{Heap, Native};
    /// let counter = Heap.shared("counter", Count::in_rounds_of(1));
    /// let mut m = Native::resumed(true);
    /// m.yield_in_order(&counter, 1, 2, || 1);
    /// assert!(!m.is_contended());
    /// ```
    pub fn yield_in_order<T: Value>(&mut self, counter: &Reg<T, L>, k: usize, before: u64, queued: impl Fn() -> u64) {
        let Some(contended_with) = self.contended_with.take() else { return };
        let address = parking::address(&counter.0);
        let now = clock::ticks();
        parking::hints(address).note_release(now, before);
        let held = if self.has_waited { turns::held(address, now) } else { None };
        // With a larger capacity there are other holders, and they need the processors.
        let takes_turns = k == 1 && self.has_waited;
        let seems_long = held.map(|held| account::note_held(address, held));
        if let Some(held) = held.filter(|_| takes_turns) {
            turns::left(address, held);
        }
        if takes_turns && turns::two_saturate(address) {
            wait::yield_while_crowded(&counter.0, seems_long, queued);
        } else if contended_with != wait::NO_PARKED_WAITER {
            wait::yield_if_parked(contended_with, seems_long, before, || counter.0.load(READ));
        } else if !takes_turns || !runs::after_release(&counter.0, held, now) {
            return;
        }
        turns::begin_remainder();
    }

    /// Whether any waiter was parked, or any [`WakeInterest`] existed, after a write of this view.
    ///
    /// See [`WakeInterest`].
    #[must_use]
    #[inline(always)]
    pub fn has_wake_interest(&self) -> bool {
        self.has_wake_interest
    }

    /// Notes that this thread has to wait, or had to.
    #[inline(always)]
    fn set_contended(&mut self) {
        self.contended_with = self.contended_with.or(Some(wait::NO_PARKED_WAITER));
        self.has_waited = true;
    }

    /// Wakes waiters after a write, and resets the backoff: a thread that writes is not waiting.
    #[inline(always)]
    fn after_write(&mut self, register: &AtomicU64) {
        if !L::PARKS {
            return;
        }
        self.backoff = wait::Backoff::new();
        if parking::has_wake_interest() {
            self.has_wake_interest = true;
            if parking::wake(register) {
                self.contended_with = NonZeroUsize::new(parking::address(register));
            }
        }
    }
}

/// How registers are laid out in memory, and how threads wait on them.
///
/// A layout is also the [`Space`] that creates the registers. They are stored in the structure that asked for them;
/// their names and homes are not kept.
///
/// ```
/// use doorway_algorithms::mutex::filter::Filter;
/// use doorway_native::{Layout, Native, Packed, Padded};
/// fn size<L: Layout>() -> usize { size_of::<L::Cell>() }
/// assert!(size::<Packed>() == 8 && size::<Padded>() >= 64);
/// let _lock: Filter<Native<Packed>> = Filter::new(&mut Packed, 2);
/// ```
pub trait Layout: Space<Mem = Native<Self>> + Copy + Default + fmt::Debug + Send + Sync + 'static {
    /// The cell that holds a register's word.
    type Cell: Deref<Target = AtomicU64> + From<AtomicU64> + Send + Sync + fmt::Debug;

    /// Whether a waiter yields and parks after a while. If not, writers need not search for parked waiters.
    const PARKS: bool = true;
}

/// A layout in which each register has a cache line of its own.
///
/// A write to one register does not slow down waiters on another.
///
/// See [`Layout`].
#[derive(Clone, Copy, Default, Debug)]
pub struct Padded;

/// A layout in which a register is as large as a word, and registers share cache lines.
///
/// Two processes that read everything the other writes then exchange one cache line instead of several. With more
/// processes, every write slows down the waiters.
///
/// See [`Layout`].
#[derive(Clone, Copy, Default, Debug)]
pub struct Packed;

/// As [`Packed`], but waiters only spin: for threads that have a processor each.
///
/// With fewer processors than threads, there is no progress while a waiter spins on the processor that the holder
/// needs.
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
    const PARKS: bool = false;
}

/// The cell of a [`Packed`] register: a word.
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
/// assert_eq!(format!("{flag:?}"), "Reg(false)");
/// ```
pub struct Reg<T, L: Layout = Padded>(L::Cell, PhantomData<fn() -> T>);

impl<T: Value> Reg<T, Packed> {
    /// Creates a register that holds the value of this word.
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

/// The default space for registers: the [layout](Layout) that gives each a cache line of its own.
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
    /// As [`until`](Memory::until), until the deadline at most; returns whether the predicate holds.
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
            self.set_contended();
            wait_until(reg, holds, Some(deadline))
        }
    }
}

impl<L: Layout> Memory for Native<L> {
    type Halt = Infallible;
    type Reg<T: Value> = Reg<T, L>;
    type Registers<T: Value> = Vec<Reg<T, L>>;

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
        self.after_write(&reg.0);
        Ok(())
    }

    #[inline(always)]
    fn fetch_add<T: Number>(&mut self, reg: &Reg<T, L>, by: T) -> Result<T, Infallible> {
        let old = T::of_word(reg.0.fetch_add(by.to_word(), SeqCst));
        self.after_write(&reg.0);
        Ok(old)
    }

    #[inline(always)]
    fn swap<T: Value>(&mut self, reg: &Reg<T, L>, value: T) -> Result<T, Infallible> {
        let old = T::of_word(reg.0.swap(value.to_word(), SeqCst));
        self.after_write(&reg.0);
        Ok(old)
    }

    #[inline(always)]
    fn compare_swap<T: Value>(&mut self, reg: &Reg<T, L>, old: T, new: T) -> Result<bool, Infallible> {
        let mut word = old.to_word();
        loop {
            match reg.0.compare_exchange(word, new.to_word(), SeqCst, SeqCst) {
                Ok(_) => {
                    self.after_write(&reg.0);
                    return Ok(true);
                }
                // After an overflow of a narrow type, the register's word differs from the word of the value that it
                // stands for.
                Err(found) if T::of_word(found) == old => word = found,
                Err(_) => return Ok(false),
            }
        }
    }

    fn barrier(&mut self) -> Result<(), Infallible> {
        barrier::process_wide();
        Ok(())
    }

    #[inline(always)]
    fn fence(&mut self) -> Result<(), Infallible> {
        if TSO {
            // On x86-64 this is a `lock or` of a word on the stack, which takes as long as a sequentially consistent
            // write.
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
            self.set_contended();
        }
        Ok(())
    }

    #[inline(always)]
    fn relax(&mut self) {
        self.set_contended();
        if L::PARKS {
            self.backoff.relax();
        } else {
            hint::spin_loop();
        }
    }
}

/// Waits until the predicate holds of the register, or until the deadline; returns whether it holds.
///
/// The predicate is passed by value: a reference would force it into memory even on the uncontended path.
#[cold]
#[inline(never)]
fn wait_until<T: Value, L: Layout>(
    reg: &Reg<T, L>,
    holds: impl Fn(T) -> bool + Sync,
    deadline: Option<Instant>,
) -> bool {
    let holds_word = |word| holds(T::of_word(word));
    if !L::PARKS {
        // In this layout no writer wakes parked waiters.
        return wait::spin_until(&reg.0, holds_word, deadline);
    }
    let holds_next = |word| T::of_word(word).counted().map(&holds);
    wait::until(&reg.0, holds_word, holds_next, deadline)
}
