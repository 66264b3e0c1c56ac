//! Every lock of the catalogue as the queue of a [`Mutex`] or a [`Semaphore`].
//!
//! ```
//! use doorway::{Mutex, Semaphore, algorithms::{Bakery, KBakery}};
//!
//! let value: Mutex<i32, Bakery> = Mutex::with_slots(1, 8);
//! *value.lock() += 1;
//! let printers: Semaphore<KBakery> = Semaphore::with_slots(2, 8);
//! let (first, second) = (printers.acquire(), printers.acquire());
//! assert_eq!((value.into_inner(), printers.capacity()), (2, 2));
//! ```
//!
//! These algorithms are for a fixed number of processes, each with a number of its own. Here such a number is a
//! *slot*: a caller takes a slot when it arrives and returns it when it leaves. The number of slots limits the
//! holders and waiters together. A caller that finds no free slot waits for one, in no particular order, so provide
//! enough slots. Slots cost memory, and for many algorithms time. An algorithm that does not support the number of
//! slots, or the capacity, refuses it with a panic:
//!
//! ```should_panic
//! use doorway::{Mutex, algorithms::Peterson};
//!
//! let _: Mutex<i32, Peterson> = Mutex::with_slots(1, 8); // `peterson` is for 2 processes, not 8
//! ```
//!
//! A thread that acquires often can keep a slot: see [`Registered`].
//!
//! Each register has a cache line of its own, which is best for many threads. For two threads, [`Packed`] registers,
//! which share cache lines, can be faster. If each thread has a processor to itself, [`Spinning`] also saves the
//! search for parked waiters:
//!
//! ```
//! use doorway::{Mutex, algorithms::{Filter, Packed, Spinning}};
//!
//! let packed: Mutex<i32, Filter<Packed>> = Mutex::with_slots(1, 2);
//! let spinning: Mutex<i32, Filter<Spinning>> = Mutex::with_slots(1, 2);
//! assert_eq!(*packed.lock() + *spinning.lock(), 2);
//! ```
use std::{cell::Cell, fmt, thread_local, time::Duration};

use crossbeam_utils::CachePadded;
use doorway_algorithms::{About, Size, for_each_algorithm};
use doorway_memory::{Assign, Exclusion, Pid};
use doorway_native::{
    Native,
    sync::{
        atomic::{
            AtomicU8, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
        thread,
    },
};

pub use doorway_native::{Layout, Packed, Padded, Spinning};

use crate::{Mutex, MutexGuard, Permit, Queue, Semaphore};

/// The pause between two searches for a free slot.
const SLOT_SEARCH_INTERVAL: Duration = Duration::from_micros(50);

/// An entry of the catalogue: it makes a lock on registers in any layout.
///
/// ```
/// use doorway::{Mutex, algorithms::{Algorithm, Bakery, Slotted}};
///
/// fn name<A: Algorithm>(_: &Mutex<i32, Slotted<A>>) -> &'static str {
///     A::ABOUT.name
/// }
/// let value: Mutex<i32, Bakery> = Mutex::with_slots(1, 8);
/// assert_eq!(name(&value), "bakery");
/// ```
pub trait Algorithm {
    /// The registry entry: name, source, sizes and claims.
    const ABOUT: &'static About;

    /// The lock, on registers in layout `L`.
    type Lock<L: Layout>: Exclusion<Native<L>>;

    /// Creates the lock for a size that the algorithm supports.
    fn new<L: Layout>(size: Size) -> Self::Lock<L>;
}

/// A queue by an algorithm of the catalogue; see the [module](self).
pub struct Slotted<A: Algorithm, L: Layout = Padded> {
    lock: A::Lock<L>,
    k: usize,
    slots: Vec<CachePadded<AtomicU8>>,
}

/// The position in the queue of an algorithm's lock.
type PlaceIn<A, L> = <<A as Algorithm>::Lock<L> as Exclusion<Native<L>>>::Place;

/// What a holder of an algorithm's lock carries.
type InsideOf<A, L> = <<A as Algorithm>::Lock<L> as Exclusion<Native<L>>>::Inside;

/// A slot and the algorithm's state for it: a position in the queue, or the value that the exit section needs.
pub struct InSlot<T> {
    slot: Pid,
    state: T,
    /// Whether the slot stays taken after the passage.
    is_kept: bool,
    /// Whether the passage has been contended so far; see [`Native::is_contended`].
    is_contended: bool,
}

/// A kept slot of a lock by an algorithm of the catalogue, which saves searching for a slot on each passage.
///
/// ```
/// use doorway::{Mutex, Semaphore, algorithms::{Bakery, KBakery}};
///
/// let value: Mutex<i32, Bakery> = Mutex::with_slots(1, 8);
/// let mut registered = value.register();
/// for _ in 0..3 {
///     *registered.lock() += 1;
/// }
/// assert_eq!(*registered.lock(), 4);
/// let printers: Semaphore<KBakery> = Semaphore::with_slots(2, 8);
/// let mut registered = printers.register();
/// let permit = registered.acquire();
/// ```
pub struct Registered<'a, X: ?Sized> {
    lock: &'a X,
    slot: Slot<'a>,
}

/// A kept slot, returned when dropped.
struct Slot<'a> {
    number: Pid,
    state: &'a AtomicU8,
}

/// The states of a slot.
///
/// If the owner of a kept slot forgets a guard, it remains a holder for ever, and the slot remains `TAKEN`. This
/// prevents a second passage during the first, which no algorithm allows.
const FREE: u8 = 0;
const TAKEN: u8 = 1;
const KEPT: u8 = 2;

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        // ORDERING: Release. Pairs with: the Acquire in `take_slot`.
        let _ = self.state.compare_exchange(KEPT, FREE, Release, Relaxed);
    }
}

impl<X: ?Sized> fmt::Debug for Registered<'_, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("slot", &self.slot.number).finish_non_exhaustive()
    }
}

impl<T: ?Sized, A: Algorithm, L: Layout> Mutex<T, Slotted<A, L>> {
    /// Takes a slot to keep, for a thread that acquires often; waits until one is free.
    ///
    /// See [`Registered`].
    pub fn register(&self) -> Registered<'_, Self> {
        Registered { lock: self, slot: self.queue.slot() }
    }
}

impl<A: Algorithm, L: Layout> Semaphore<Slotted<A, L>> {
    /// Takes a slot to keep, for a thread that acquires often; waits until one is free.
    ///
    /// See [`Registered`].
    pub fn register(&self) -> Registered<'_, Self> {
        Registered { lock: self, slot: self.queue.slot() }
    }
}

impl<T: ?Sized, A: Algorithm, L: Layout> Registered<'_, Mutex<T, Slotted<A, L>>> {
    /// Acquires the mutex, waiting in the queue until it is the caller's turn.
    ///
    /// See [`Registered`].
    pub fn lock(&mut self) -> MutexGuard<'_, T, Slotted<A, L>> {
        let Registered { lock: mutex, slot } = self;
        MutexGuard { mutex, inside: mutex.queue.enter(slot) }
    }
}

impl<A: Algorithm, L: Layout> Registered<'_, Semaphore<Slotted<A, L>>> {
    /// Acquires a permit, waiting in the queue until the caller may enter.
    ///
    /// See [`Registered`].
    pub fn acquire(&mut self) -> Permit<'_, Slotted<A, L>> {
        let Registered { lock: semaphore, slot } = self;
        Permit { semaphore, inside: semaphore.queue.enter(slot) }
    }
}

impl<A: Algorithm<Lock<L>: Assign<InsideOf<A, L>>>, L: Layout> Permit<'_, Slotted<A, L>> {
    /// The holder's name: a number below k that no other holder has.
    ///
    /// It can serve as the index of one of k resources. Algorithms that assign no names do not have this method.
    ///
    /// ```
    /// use doorway::{Semaphore, algorithms::DeckerJayantiNames};
    ///
    /// let printers = ["left", "right"];
    /// let free: Semaphore<DeckerJayantiNames> = Semaphore::with_slots(2, 8);
    /// let (first, second) = (free.acquire(), free.acquire());
    /// assert_ne!(printers[first.name()], printers[second.name()]);
    /// ```
    ///
    /// ```compile_fail,E0599
    /// use doorway::{Semaphore, algorithms::KBakery};
    ///
    /// let nameless: Semaphore<KBakery> = Semaphore::with_slots(2, 8);
    /// nameless.acquire().name();
    /// ```
    #[must_use]
    pub fn name(&self) -> usize {
        self.semaphore.queue.lock.name(&self.inside.state)
    }
}

impl<T> fmt::Debug for InSlot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InSlot").field("slot", &self.slot).finish_non_exhaustive()
    }
}

impl<A: Algorithm, L: Layout> Slotted<A, L> {
    /// Creates a queue with `slots` slots and capacity `k`.
    ///
    /// # Panics
    /// If the algorithm does not support that number of processes, or that capacity.
    pub(crate) fn new(slots: usize, k: usize) -> Slotted<A, L> {
        let size = A::ABOUT.size(Some(slots), Some(k)).unwrap_or_else(|error| panic!("{error}"));
        let free = (0..slots).map(|_| CachePadded::default()).collect();
        Slotted { lock: A::new(size), k, slots: free }
    }

    /// Takes a free slot, preferably the one this thread used before, whose registers are in its cache.
    fn take_slot(&self) -> Pid {
        thread_local! {
            static FAVOURITE: Cell<usize> = {
                static THREADS: AtomicUsize = AtomicUsize::new(0);
                Cell::new(THREADS.fetch_add(1, Relaxed))
            };
        }
        let favourite = FAVOURITE.get();
        let slots = self.slots.len();
        loop {
            // ORDERING: Acquire. Pairs with: the Release by which the slot was returned, so that the new owner of
            // this number sees everything that earlier owners did with it.
            let free = |slot: &Pid| {
                let state = &self.slots[*slot];
                state.load(Relaxed) == FREE && state.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_ok()
            };
            if let Some(slot) = (0..slots).map(|i| (favourite + i) % slots).find(free) {
                return slot;
            }
            // Returning a slot wakes no thread: there should be enough slots.
            thread::sleep(SLOT_SEARCH_INTERVAL);
        }
    }

    /// Takes a slot to keep.
    fn slot(&self) -> Slot<'_> {
        let number = self.take_slot();
        let state = &self.slots[number];
        state.store(KEPT, Relaxed);
        Slot { number, state }
    }

    /// Arrives in a kept slot, waits and enters.
    fn enter(&self, slot: &Slot<'_>) -> InSlot<InsideOf<A, L>> {
        // ORDERING: Relaxed. Pairs with: nothing; only the owner of the slot writes its state, and that is this caller.
        assert_eq!(
            slot.state.load(Relaxed),
            KEPT,
            "a guard of this slot was forgotten: the slot holds the lock for ever"
        );
        slot.state.store(TAKEN, Relaxed);
        let mut m = Native::new();
        let Ok(place) = self.lock.doorway(&mut m, slot.number);
        let Ok(inside) = self.lock.wait(&mut m, slot.number, &place);
        InSlot { slot: slot.number, state: inside, is_kept: true, is_contended: m.is_contended() }
    }
}

impl<A: Algorithm, L: Layout> Queue for Slotted<A, L> {
    type Place = InSlot<PlaceIn<A, L>>;
    type Inside = InSlot<InsideOf<A, L>>;

    fn capacity(&self) -> usize {
        self.k
    }

    fn arrive(&self) -> Self::Place {
        let slot = self.take_slot();
        let mut m = Native::new();
        let Ok(place) = self.lock.doorway(&mut m, slot);
        InSlot { slot, state: place, is_kept: false, is_contended: m.is_contended() }
    }

    fn wait(&self, place: Self::Place) -> Self::Inside {
        let mut m = Native::resumed(place.is_contended);
        let Ok(inside) = self.lock.wait(&mut m, place.slot, &place.state);
        InSlot { slot: place.slot, state: inside, is_kept: place.is_kept, is_contended: m.is_contended() }
    }

    fn leave(&self, inside: &Self::Inside) {
        let mut m = Native::resumed(inside.is_contended);
        let Ok(()) = self.lock.exit(&mut m, inside.slot, &inside.state);
        // ORDERING: Release. Pairs with: the Acquire in `take_slot`.
        self.slots[inside.slot].store(if inside.is_kept { KEPT } else { FREE }, Release);
        m.yield_after_release();
    }
}

impl<A: Algorithm, L: Layout> fmt::Debug for Slotted<A, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = self.slots.iter().filter(|slot| slot.load(Relaxed) != FREE).count();
        f.debug_struct("Slotted").field("slots", &self.slots.len()).field("taken", &taken).finish()
    }
}

macro_rules! queues {
    ($($(#[$_:meta])* $folder:ident { $($kind:ident $file:ident $name:ident;)* })*) => {
        $($(queue!($folder $kind $file $name);)*)*
    };
}

macro_rules! queue {
    (mutex lock $file:ident $name:ident) => {
        queue!(mutex::$file, $name);
    };
    (kexclusion lock $file:ident $name:ident) => {
        queue!(kexclusion::$file, $name);
    };
    ($other:ident $kind:ident $file:ident $name:ident) => {}; // broken algorithms and parts
    ($folder:ident::$file:ident, $name:ident) => {
        #[doc = concat!("The queue by [`", stringify!($file), "`][entry].")]
        ///
        #[doc = concat!("[entry]: doorway_algorithms::", stringify!($folder), "::", stringify!($file))]
        pub type $name<L = Padded> = Slotted<$file::Entry, L>;

        mod $file {
            /// The entry as a type, since entries can have the same type of lock.
            #[derive(Debug)]
            pub enum Entry {}
        }

        impl Algorithm for $file::Entry {
            const ABOUT: &'static About = &doorway_algorithms::$folder::$file::ABOUT;
            type Lock<L: Layout> = doorway_algorithms::$folder::$file::Lock<Native<L>>;

            fn new<L: Layout>(size: Size) -> Self::Lock<L> {
                doorway_algorithms::$folder::$file::new(&mut L::default(), size)
            }
        }
    };
}

for_each_algorithm!(queues);
