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
use std::{cell::Cell, fmt, thread_local, time::Duration};

use crossbeam_utils::CachePadded;
use doorway_algorithms::{
    kexclusion, mutex,
    parts::{special_set::StaticSet, special_set_adaptive::AdaptiveSet},
};
use doorway_memory::{Exclusion, Pid};
use doorway_native::{
    Heap, Native,
    sync::{
        atomic::{
            AtomicU8, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
        thread,
    },
};

use crate::{Mutex, MutexGuard, Permit, Semaphore, line::Line};

/// So long one who finds no slot waits before it looks again.
const NO_SLOT: Duration = Duration::from_micros(50);

/// An algorithm of the catalogue, for a number of processes.
pub trait Algorithm: Exclusion<Native, Place: Send + Sync> + Send + Sync {
    /// Makes one for `n` processes, of which `k` may be inside.
    fn make(n: usize, k: usize) -> Self;
}

/// A line by an algorithm of the catalogue; see the [module](self).
pub struct Slotted<A> {
    algorithm: A,
    slots: Vec<CachePadded<AtomicU8>>,
}

/// A slot, and the algorithm's place in line.
pub struct Seat<P> {
    slot: Pid,
    place: P,
    /// Whether the slot goes on being somebody's when the seat is left.
    is_kept: bool,
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

impl<T: ?Sized, A: Algorithm> Mutex<T, Slotted<A>> {
    /// Takes a slot to keep, for one who comes often; waits until one is free.
    ///
    /// See [`Registered`].
    pub fn register(&self) -> Registered<'_, Self> {
        Registered { lock: self, slot: self.line.slot() }
    }
}

impl<A: Algorithm> Semaphore<Slotted<A>> {
    /// Takes a slot to keep, for one who comes often; waits until one is free.
    ///
    /// See [`Registered`].
    pub fn register(&self) -> Registered<'_, Self> {
        Registered { lock: self, slot: self.line.slot() }
    }
}

impl<T: ?Sized, A: Algorithm> Registered<'_, Mutex<T, Slotted<A>>> {
    /// Waits in line until it is our turn.
    ///
    /// See [`Registered`].
    pub fn lock(&mut self) -> MutexGuard<'_, T, Slotted<A>> {
        let Registered { lock: mutex, slot } = self;
        MutexGuard { mutex, place: mutex.line.enter(slot) }
    }
}

impl<A: Algorithm> Registered<'_, Semaphore<Slotted<A>>> {
    /// Waits in line until we may go in.
    ///
    /// See [`Registered`].
    pub fn acquire(&mut self) -> Permit<'_, Slotted<A>> {
        let Registered { lock: semaphore, slot } = self;
        Permit { semaphore, place: semaphore.line.enter(slot) }
    }
}

impl<A: Algorithm> Permit<'_, Slotted<A>> {
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
        const { assert!(<A as Exclusion<Native>>::ASSIGNS, "the algorithm gives no names") }
        self.semaphore.line.algorithm.name(&self.place.place)
    }
}

impl<P> fmt::Debug for Seat<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat").field("slot", &self.slot).finish_non_exhaustive()
    }
}

impl<A: Algorithm> Slotted<A> {
    /// A line with `slots` slots, for `k` at a time.
    pub(crate) fn new(slots: usize, k: usize) -> Slotted<A> {
        assert!(slots > k, "{k} at a time need more than {k} slots, not {slots}");
        Slotted { algorithm: A::make(slots, k), slots: (0..slots).map(|_| CachePadded::default()).collect() }
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
        Seat { slot: slot.number, place, is_kept: true }
    }
}

impl<A: Algorithm> Line for Slotted<A> {
    type Place = Seat<A::Place>;

    fn arrive(&self) -> Self::Place {
        let slot = self.take_slot();
        let Ok(place) = self.algorithm.doorway(&mut Native::new(), slot);
        Seat { slot, place, is_kept: false }
    }

    fn wait(&self, seat: &mut Self::Place) {
        let Ok(inside) = self.algorithm.enter(&mut Native::new(), seat.slot, &seat.place);
        seat.place = inside;
    }

    fn leave(&self, seat: &Self::Place) {
        let mut m = Native::new();
        let Ok(()) = self.algorithm.exit(&mut m, seat.slot, &seat.place);
        // ORDERING: Release. Pairs with: the Acquire in `take_slot`.
        self.slots[seat.slot].store(if seat.is_kept { KEPT } else { FREE }, Release);
        m.after_you();
    }
}

impl<A> fmt::Debug for Slotted<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = self.slots.iter().filter(|slot| slot.load(Relaxed) != FREE).count();
        f.debug_struct("Slotted").field("slots", &self.slots.len()).field("taken", &taken).finish()
    }
}

macro_rules! lock {
    ($name:ident, $lock:ty, |$n:ident, $k:ident| $make:expr, $about:literal) => {
        #[doc = concat!("By ", $about, ".")]
        pub type $name = Slotted<$lock>;

        impl Algorithm for $lock {
            fn make($n: usize, $k: usize) -> Self {
                $make
            }
        }
    };
}

macro_rules! catalogue {
    ($($kind:ident::$file:ident::$name:ident |$n:ident, $k:ident| $make:expr, $about:literal;)*) => {$(
        lock!($name, $kind::$file::$name<Native>, |$n, $k| {
            use $kind::$file::$name;
            $make
        }, $about);
    )*};
}

catalogue! {
    mutex::filter::Filter |n, _k| Filter::new(&mut Heap, n), "the filter lock";
    mutex::bakery_labels::BakeryLabels |n, _k| BakeryLabels::new(&mut Heap, n), "the bakery with labels";
    mutex::bakery::Bakery |n, _k| Bakery::new(&mut Heap, n), "Lamport's bakery";
    mutex::peterson_tree::PetersonTree |n, _k| PetersonTree::new(&mut Heap, n), "a tree of Peterson locks";
    mutex::tournament::Tournament |n, _k| Tournament::new(&mut Heap, n), "Peterson's tournament";
    mutex::one_bit::OneBit |n, _k| OneBit::new(&mut Heap, n), "the one-bit algorithm, in which one may starve";
    mutex::dijkstra::Dijkstra |n, _k| Dijkstra::new(&mut Heap, n), "Dijkstra's algorithm, in which one may starve";
    mutex::lamport_fast::LamportFast |n, _k| LamportFast::new(&mut Heap, n), "Lamport's fast lock, in which one may starve";
    mutex::black_white_bakery::BlackWhiteBakery |n, _k| BlackWhiteBakery::new(&mut Heap, n), "the black-white bakery";
    mutex::yang_anderson::YangAnderson |n, _k| YangAnderson::new(&mut Heap, n), "Yang and Anderson's tournament";
    mutex::kim_anderson::KimAnderson |n, _k| KimAnderson::new(&mut Heap, n), "Kim and Anderson's adaptive lock";
    mutex::mcs::Mcs |n, _k| Mcs::new(&mut Heap, n), "the MCS lock";
    mutex::anderson_array::AndersonArray |n, _k| AndersonArray::new(&mut Heap, n), "Anderson's array lock";
    mutex::jayanti_f_array::JayantiFArray |n, _k| JayantiFArray::new(&mut Heap, n), "Jayanti's tree of minima, for up to 255 slots";
    kexclusion::k_bakery::KBakery |n, k| KBakery::new(&mut Heap, n, k), "the k-Bakery";
    kexclusion::k_bakery_fife::KBakeryFife |n, k| KBakeryFife::new(&mut Heap, n, k), "the k-Bakery, first-in-first-enabled";
    kexclusion::k_bakery_safe::KBakerySafe |n, k| KBakerySafe::new(&mut Heap, n, k), "the k-Bakery for non-atomic registers";
    kexclusion::log_k::LogK |n, k| LogK::new(&mut Heap, n, k), "Choi's algorithm, with few remote references";
    kexclusion::filter_k::FilterK |n, k| FilterK::new(&mut Heap, n, k), "the filter lock for k";
    kexclusion::anderson_moir::AndersonMoir |n, k| AndersonMoir::new(&mut Heap, n, k), "Anderson and Moir's chain";
    kexclusion::anderson_moir_tree::AndersonMoirTree |n, k| AndersonMoirTree::new(&mut Heap, n, k), "Anderson and Moir's tree";
    kexclusion::anderson_moir_fast::AndersonMoirFast |n, k| AndersonMoirFast::new(&mut Heap, n, k), "Anderson and Moir's tree with a way past it";
    kexclusion::anderson_moir_adaptive::AndersonMoirAdaptive |n, k| AndersonMoirAdaptive::new(&mut Heap, n, k), "Anderson and Moir's line that is longer if more take part";
    kexclusion::anderson_moir_dsm::AndersonMoirDsm |n, k| AndersonMoirDsm::new(&mut Heap, n, k), "Anderson and Moir's chain, each waiting at home, for up to 128 slots";
    kexclusion::anderson_moir_dsm_tree::AndersonMoirDsmTree |n, k| AndersonMoirDsmTree::new(&mut Heap, n, k), "Anderson and Moir's tree, each waiting at home, for up to 128 slots";
    kexclusion::anderson_moir_dsm_adaptive::AndersonMoirDsmAdaptive |n, k| AndersonMoirDsmAdaptive::new(&mut Heap, n, k), "Anderson and Moir's adaptive line, each waiting at home, for up to 128 slots";
    kexclusion::danek_lee::DanekLee |n, k| DanekLee::new(&mut Heap, n, k), "Danek and Lee's k tournaments at once, which give names";
    kexclusion::decker_jayanti_names::DeckerJayantiNames |n, k| DeckerJayantiNames::new(&mut Heap, n, k), "Decker and Jayanti's k-assignment";
    kexclusion::fischer_queue::FischerQueue |n, k| FischerQueue::new(&mut Heap, n, k), "the queue in one word after Fischer and others, for up to 15 slots";
    kexclusion::colored_ticket::ColoredTicket |n, k| ColoredTicket::new(&mut Heap, n, k), "colored tickets after Fischer and others, for up to 12 slots";
    kexclusion::decker_jayanti::DeckerJayanti |n, k| DeckerJayanti::new(&mut Heap, n, k), "Decker and Jayanti's cells, each with one who waits";
    kexclusion::afek::Afek |n, k| Afek::new(&mut Heap, n, k), "the first-in-first-enabled bakery after Afek and others";
    kexclusion::burns_peterson::BurnsPeterson |n, k| BurnsPeterson::new(&mut Heap, n, k), "the bakery for k after Burns and Peterson";
    kexclusion::dolev_gafni_shavit::DolevGafniShavit |n, k| DolevGafniShavit::new(&mut Heap, n, k), "the bakery for k and non-atomic registers after Dolev, Gafni and Shavit";
}

/// Danek and Golab's transformation of a lock into one in order of arrival.
type DanekGolabOver<A, S> = mutex::danek_golab::DanekGolab<Native, A, S>;

lock!(
    DanekGolab,
    DanekGolabOver<mutex::kim_anderson::KimAnderson<Native>, StaticSet<Native>>,
    |n, _k| mutex::danek_golab::danek_golab(&mut Heap, n),
    "Danek and Golab's transformation of Kim and Anderson's lock"
);
lock!(
    DanekGolabAdaptive,
    DanekGolabOver<mutex::kim_anderson::KimAnderson<Native>, AdaptiveSet<Native>>,
    |n, _k| mutex::danek_golab_adaptive::danek_golab(&mut Heap, n),
    "the adaptive form of Danek and Golab's transformation of Kim and Anderson's lock"
);
lock!(
    DanekGolabYangAnderson,
    DanekGolabOver<mutex::yang_anderson::YangAnderson<Native>, StaticSet<Native>>,
    |n, _k| mutex::danek_golab_yang_anderson::danek_golab(&mut Heap, n),
    "Danek and Golab's transformation of Yang and Anderson's lock, by reads and writes only"
);
