//! Every lock of the catalogue as the line of a [`Mutex`] or a [`Semaphore`].
//!
//! ```
//! use doorway::{Mutex, Semaphore, algorithms::{Bakery, KBakery}};
//!
//! let value: Mutex<i32, Bakery> = Mutex::with_slots(1, 8);
//! *value.lock() += 1;
//! let printers: Semaphore<KBakery> = Semaphore::with_slots(2, 8);
//! let (first, second) = (printers.acquire(), printers.acquire());
//! ```
//!
//! These algorithms are for a number of processes known beforehand, each with a number of its own. Here that is a *slot*: who
//! arrives takes one, and gives it back when it leaves. There are as many as can be inside or in line at once. Who finds none
//! free waits for one, and those who wait for a slot are in no order; so make enough of them. They cost memory, and for many
//! algorithms time as well.
//!
//! A thread that comes often can keep a slot: it [registers](Registered).
//!
//! Each register has a cache line of its own, which is best for many threads. For two threads it can be better if registers share
//! lines, and if each has a processor for itself, they need not look whether the other sleeps. Both can be asked for:
//!
//! ```
//! use doorway::{Mutex, algorithms::{Filter, Packed, Spinning}};
//!
//! let close: Mutex<i32, Filter<Packed>> = Mutex::with_slots(1, 2);
//! let restless: Mutex<i32, Filter<Spinning>> = Mutex::with_slots(1, 2);
//! ```
use std::{cell::Cell, fmt, marker::PhantomData, thread_local, time::Duration};

use crossbeam_utils::CachePadded;
use doorway_algorithms::{
    kexclusion, mutex,
    parts::{special_set::StaticSet, special_set_adaptive::AdaptiveSet},
};
use doorway_memory::{Exclusion, Pid};
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

use crate::{Mutex, MutexGuard, Permit, Semaphore, line::Line};

/// So long one who finds no slot waits before it looks again.
const NO_SLOT: Duration = Duration::from_micros(50);

/// An algorithm of the catalogue, for a number of processes, on registers in this layout.
pub trait Algorithm<L: Layout = Padded>: Exclusion<Native<L>, Place: Send + Sync> + Send + Sync {
    /// Makes one for `n` processes, of which `k` may be inside.
    fn make(n: usize, k: usize) -> Self;
}

/// A line by an algorithm of the catalogue; see the [module](self).
pub struct Slotted<A, L = Padded> {
    algorithm: A,
    layout: PhantomData<L>,
    k: usize,
    slots: Vec<CachePadded<AtomicU8>>,
}

/// A slot, and the algorithm's place in line.
pub struct Seat<P> {
    slot: Pid,
    place: P,
    /// Whether the slot goes on being somebody's when the seat is left.
    is_kept: bool,
    /// On the way in; see [`Native::has_met_others`].
    has_met_others: bool,
}

/// Somebody who keeps a slot of a lock by an algorithm of the catalogue, and need not look for one each time.
///
/// ```
/// use doorway::{Mutex, Semaphore, algorithms::{Bakery, KBakery}};
///
/// let value: Mutex<i32, Bakery> = Mutex::with_slots(1, 8);
/// let mut here = value.register();
/// for _ in 0..3 {
///     *here.lock() += 1;
/// }
/// let printers: Semaphore<KBakery> = Semaphore::with_slots(2, 8);
/// let mut here = printers.register();
/// let permit = here.acquire();
/// ```
pub struct Registered<'a, X: ?Sized> {
    lock: &'a X,
    slot: Slot<'a>,
}

/// A slot to keep, given back when it is dropped.
struct Slot<'a> {
    number: Pid,
    state: &'a AtomicU8,
}

/// What a slot can be. One who keeps it and forgets a guard stays inside for ever: its slot is `TAKEN` from then on, and a
/// second passage in the midst of the first, for which no algorithm is made, is not begun.
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

impl<T: ?Sized, A: Algorithm<L>, L: Layout> Mutex<T, Slotted<A, L>> {
    /// Takes a slot to keep, for one who comes often; waits until one is free.
    ///
    /// See [`Registered`].
    pub fn register(&self) -> Registered<'_, Self> {
        Registered { lock: self, slot: self.line.slot() }
    }
}

impl<A: Algorithm<L>, L: Layout> Semaphore<Slotted<A, L>> {
    /// Takes a slot to keep, for one who comes often; waits until one is free.
    ///
    /// See [`Registered`].
    pub fn register(&self) -> Registered<'_, Self> {
        Registered { lock: self, slot: self.line.slot() }
    }
}

impl<T: ?Sized, A: Algorithm<L>, L: Layout> Registered<'_, Mutex<T, Slotted<A, L>>> {
    /// Waits in line until it is our turn.
    ///
    /// See [`Registered`].
    pub fn lock(&mut self) -> MutexGuard<'_, T, Slotted<A, L>> {
        let Registered { lock: mutex, slot } = self;
        MutexGuard { mutex, place: mutex.line.enter(slot) }
    }
}

impl<A: Algorithm<L>, L: Layout> Registered<'_, Semaphore<Slotted<A, L>>> {
    /// Waits in line until we may go in.
    ///
    /// See [`Registered`].
    pub fn acquire(&mut self) -> Permit<'_, Slotted<A, L>> {
        let Registered { lock: semaphore, slot } = self;
        Permit { semaphore, place: semaphore.line.enter(slot) }
    }
}

impl<A: Algorithm<L>, L: Layout> Permit<'_, Slotted<A, L>> {
    /// The name we have while we are inside: below k, and nobody else inside has it. So it can be the number of one of k things to
    /// use. Does not compile for an algorithm that gives no names.
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
    /// ```compile_fail
    /// use doorway::{Semaphore, algorithms::KBakery};
    ///
    /// let nameless: Semaphore<KBakery> = Semaphore::with_slots(2, 8);
    /// nameless.acquire().name();
    /// ```
    #[must_use]
    pub fn name(&self) -> usize {
        const { assert!(<A as Exclusion<Native<L>>>::ASSIGNS, "the algorithm gives no names") }
        self.semaphore.line.algorithm.name(&self.place.place)
    }
}

impl<P> fmt::Debug for Seat<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat").field("slot", &self.slot).finish_non_exhaustive()
    }
}

impl<A: Algorithm<L>, L: Layout> Slotted<A, L> {
    /// A line with `slots` slots, for `k` at a time.
    pub(crate) fn new(slots: usize, k: usize) -> Slotted<A, L> {
        assert!(slots > k, "{k} at a time need more than {k} slots, not {slots}");
        let free = (0..slots).map(|_| CachePadded::default()).collect();
        Slotted { algorithm: A::make(slots, k), layout: PhantomData, k, slots: free }
    }

    /// Takes a slot: the one this thread had before, if it is free, so that its registers are in the cache.
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
            // ORDERING: Acquire. Pairs with: the Release of whoever gave it back: who has this number now has seen all that was done with
            // it before.
            let free = |slot: &Pid| {
                let state = &self.slots[*slot];
                state.load(Relaxed) == FREE && state.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_ok()
            };
            if let Some(slot) = (0..slots).map(|i| (favourite + i) % slots).find(free) {
                return slot;
            }
            // Nobody is told when a slot is free: there should be enough of them.
            thread::sleep(NO_SLOT);
        }
    }

    /// Takes a slot to keep.
    fn slot(&self) -> Slot<'_> {
        let number = self.take_slot();
        let state = &self.slots[number];
        state.store(KEPT, Relaxed);
        Slot { number, state }
    }

    /// Arrives in a slot that is kept, and waits.
    fn enter(&self, slot: &Slot<'_>) -> Seat<A::Place> {
        // ORDERING: Relaxed. Pairs with: nothing; whoever wrote it last had the slot, as we have now.
        assert_eq!(slot.state.load(Relaxed), KEPT, "a guard of this slot was forgotten: it is inside for ever");
        slot.state.store(TAKEN, Relaxed);
        let mut m = Native::new();
        let Ok(place) = self.algorithm.doorway(&mut m, slot.number);
        let Ok(place) = self.algorithm.enter(&mut m, slot.number, &place);
        Seat { slot: slot.number, place, is_kept: true, has_met_others: m.has_met_others() }
    }
}

impl<A: Algorithm<L>, L: Layout> Line for Slotted<A, L> {
    type Place = Seat<A::Place>;

    fn permits(&self) -> usize {
        self.k
    }

    fn arrive(&self) -> Self::Place {
        let slot = self.take_slot();
        let mut m = Native::new();
        let Ok(place) = self.algorithm.doorway(&mut m, slot);
        Seat { slot, place, is_kept: false, has_met_others: m.has_met_others() }
    }

    fn wait(&self, seat: &mut Self::Place) {
        let mut m = Native::having_met_others(seat.has_met_others);
        let Ok(inside) = self.algorithm.enter(&mut m, seat.slot, &seat.place);
        (seat.place, seat.has_met_others) = (inside, m.has_met_others());
    }

    fn leave(&self, seat: &Self::Place) {
        let mut m = Native::having_met_others(seat.has_met_others);
        let Ok(()) = self.algorithm.exit(&mut m, seat.slot, &seat.place);
        // ORDERING: Release. Pairs with: the Acquire in `take_slot`.
        self.slots[seat.slot].store(if seat.is_kept { KEPT } else { FREE }, Release);
        m.after_you();
    }
}

impl<A, L> fmt::Debug for Slotted<A, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = self.slots.iter().filter(|slot| slot.load(Relaxed) != FREE).count();
        f.debug_struct("Slotted").field("slots", &self.slots.len()).field("taken", &taken).finish()
    }
}

macro_rules! lock {
    ($name:ident, $lock:ty, |$n:ident, $k:ident| $make:expr, $about:literal) => {
        #[doc = concat!("By ", $about, ".")]
        pub type $name<L = Padded> = Slotted<$lock, L>;

        impl<L: Layout> Algorithm<L> for $lock {
            fn make($n: usize, $k: usize) -> Self {
                $make
            }
        }
    };
}

macro_rules! catalogue {
    ($($kind:ident::$file:ident::$name:ident |$n:ident, $k:ident| $make:expr, $about:literal;)*) => {$(
        lock!($name, $kind::$file::$name<Native<L>>, |$n, $k| {
            use $kind::$file::$name;
            $make
        }, $about);
    )*};
}

catalogue! {
    mutex::filter::Filter |n, _k| Filter::new(&mut L::default(), n), "the filter lock";
    mutex::bakery_labels::BakeryLabels |n, _k| BakeryLabels::new(&mut L::default(), n), "the bakery with labels";
    mutex::bakery::Bakery |n, _k| Bakery::new(&mut L::default(), n), "Lamport's bakery";
    mutex::peterson_tree::PetersonTree |n, _k| PetersonTree::new(&mut L::default(), n), "a tree of Peterson locks";
    mutex::tournament::Tournament |n, _k| Tournament::new(&mut L::default(), n), "Peterson's tournament";
    mutex::one_bit::OneBit |n, _k| OneBit::new(&mut L::default(), n), "the one-bit algorithm, in which one may starve";
    mutex::dijkstra::Dijkstra |n, _k| Dijkstra::new(&mut L::default(), n), "Dijkstra's algorithm, in which one may starve";
    mutex::lamport_fast::LamportFast |n, _k| LamportFast::new(&mut L::default(), n), "Lamport's fast lock, in which one may starve";
    mutex::black_white_bakery::BlackWhiteBakery |n, _k| BlackWhiteBakery::new(&mut L::default(), n), "the black-white bakery";
    mutex::yang_anderson::YangAnderson |n, _k| YangAnderson::new(&mut L::default(), n), "Yang and Anderson's tournament";
    mutex::kim_anderson::KimAnderson |n, _k| KimAnderson::new(&mut L::default(), n), "Kim and Anderson's adaptive lock";
    mutex::mcs::Mcs |n, _k| Mcs::new(&mut L::default(), n), "the MCS lock";
    mutex::anderson_array::AndersonArray |n, _k| AndersonArray::new(&mut L::default(), n), "Anderson's array lock";
    mutex::jayanti_f_array::JayantiFArray |n, _k| JayantiFArray::new(&mut L::default(), n), "Jayanti's tree of minima, for up to 255 slots";
    kexclusion::k_bakery::KBakery |n, k| KBakery::new(&mut L::default(), n, k), "the k-Bakery";
    kexclusion::k_bakery_fife::KBakeryFife |n, k| KBakeryFife::new(&mut L::default(), n, k), "the k-Bakery, first-in-first-enabled";
    kexclusion::k_bakery_safe::KBakerySafe |n, k| KBakerySafe::new(&mut L::default(), n, k), "the k-Bakery for non-atomic registers";
    kexclusion::log_k::LogK |n, k| LogK::new(&mut L::default(), n, k), "Choi's algorithm, with few remote references";
    kexclusion::filter_k::FilterK |n, k| FilterK::new(&mut L::default(), n, k), "the filter lock for k";
    kexclusion::anderson_moir::AndersonMoir |n, k| AndersonMoir::new(&mut L::default(), n, k), "Anderson and Moir's chain";
    kexclusion::anderson_moir_tree::AndersonMoirTree |n, k| AndersonMoirTree::new(&mut L::default(), n, k), "Anderson and Moir's tree";
    kexclusion::anderson_moir_fast::AndersonMoirFast |n, k| AndersonMoirFast::new(&mut L::default(), n, k), "Anderson and Moir's tree with a way past it";
    kexclusion::anderson_moir_adaptive::AndersonMoirAdaptive |n, k| AndersonMoirAdaptive::new(&mut L::default(), n, k), "Anderson and Moir's line that is longer if more take part";
    kexclusion::anderson_moir_dsm::AndersonMoirDsm |n, k| AndersonMoirDsm::new(&mut L::default(), n, k), "Anderson and Moir's chain, each waiting at home, for up to 128 slots";
    kexclusion::anderson_moir_dsm_tree::AndersonMoirDsmTree |n, k| AndersonMoirDsmTree::new(&mut L::default(), n, k), "Anderson and Moir's tree, each waiting at home, for up to 128 slots";
    kexclusion::anderson_moir_dsm_adaptive::AndersonMoirDsmAdaptive |n, k| AndersonMoirDsmAdaptive::new(&mut L::default(), n, k), "Anderson and Moir's adaptive line, each waiting at home, for up to 128 slots";
    kexclusion::danek_lee::DanekLee |n, k| DanekLee::new(&mut L::default(), n, k), "Danek and Lee's k tournaments at once, which give names";
    kexclusion::decker_jayanti_names::DeckerJayantiNames |n, k| DeckerJayantiNames::new(&mut L::default(), n, k), "Decker and Jayanti's k-assignment";
    kexclusion::fischer_queue::FischerQueue |n, k| FischerQueue::new(&mut L::default(), n, k), "the queue in one word after Fischer and others, for up to 15 slots";
    kexclusion::colored_ticket::ColoredTicket |n, k| ColoredTicket::new(&mut L::default(), n, k), "colored tickets after Fischer and others, for up to 12 slots";
    kexclusion::decker_jayanti::DeckerJayanti |n, k| DeckerJayanti::new(&mut L::default(), n, k), "Decker and Jayanti's cells, each with one who waits";
    kexclusion::afek::Afek |n, k| Afek::new(&mut L::default(), n, k), "the first-in-first-enabled bakery after Afek and others";
    kexclusion::burns_peterson::BurnsPeterson |n, k| BurnsPeterson::new(&mut L::default(), n, k), "the bakery for k after Burns and Peterson";
    kexclusion::dolev_gafni_shavit::DolevGafniShavit |n, k| DolevGafniShavit::new(&mut L::default(), n, k), "the bakery for k and non-atomic registers after Dolev, Gafni and Shavit";
}

/// Danek and Golab's transformation of a lock into one in order of arrival.
type DanekGolabOver<A, S, L> = mutex::danek_golab::DanekGolab<Native<L>, A, S>;

lock!(
    DanekGolab,
    DanekGolabOver<mutex::kim_anderson::KimAnderson<Native<L>>, StaticSet<Native<L>>, L>,
    |n, _k| mutex::danek_golab::danek_golab(&mut L::default(), n),
    "Danek and Golab's transformation of Kim and Anderson's lock"
);
lock!(
    DanekGolabAdaptive,
    DanekGolabOver<mutex::kim_anderson::KimAnderson<Native<L>>, AdaptiveSet<Native<L>>, L>,
    |n, _k| mutex::danek_golab_adaptive::danek_golab(&mut L::default(), n),
    "the adaptive form of Danek and Golab's transformation of Kim and Anderson's lock"
);
lock!(
    DanekGolabYangAnderson,
    DanekGolabOver<mutex::yang_anderson::YangAnderson<Native<L>>, StaticSet<Native<L>>, L>,
    |n, _k| mutex::danek_golab_yang_anderson::danek_golab(&mut L::default(), n),
    "Danek and Golab's transformation of Yang and Anderson's lock, by reads and writes only"
);
