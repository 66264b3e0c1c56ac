//! Every lock of the catalogue as the line of a [`Mutex`](crate::Mutex) or a [`Semaphore`](crate::Semaphore).
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
use std::{
    cell::Cell,
    fmt,
    sync::atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
};

use crossbeam_utils::CachePadded;
use doorway_algorithms::{kexclusion, mutex};
use doorway_memory::{Exclusion, Pid};
use doorway_native::{Heap, Native};

use crate::line::Line;

/// An algorithm of the catalogue, for a number of processes.
pub trait Algorithm: Exclusion<Native, Place: Send + Sync> + Send + Sync {
    /// Makes one for `n` processes, of which `k` may be inside.
    fn make(n: usize, k: usize) -> Self;
}

/// A line by an algorithm of the catalogue; see the [module](self).
pub struct Slotted<A> {
    algorithm: A,
    /// Whether each slot is taken.
    taken: Vec<CachePadded<AtomicBool>>,
}

/// A slot, and the algorithm's place in line.
pub struct Seat<P> {
    slot: Pid,
    place: P,
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
        Slotted { algorithm: A::make(slots, k), taken: (0..slots).map(|_| CachePadded::default()).collect() }
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
        let slots = self.taken.len();
        loop {
            // ORDERING: Acquire. Pairs with: the Release in `leave`: who has this number now has seen all that was done with
            // it before.
            let free = |slot: &Pid| {
                let taken = &self.taken[*slot];
                !taken.load(Relaxed) && taken.compare_exchange(false, true, Acquire, Relaxed).is_ok()
            };
            if let Some(slot) = (0..slots).map(|i| (favourite + i) % slots).find(free) {
                return slot;
            }
            thread::yield_now();
        }
    }
}

impl<A: Algorithm> Line for Slotted<A> {
    type Place = Seat<A::Place>;

    fn arrive(&self) -> Self::Place {
        let slot = self.take_slot();
        let Ok(place) = self.algorithm.doorway(&mut Native::new(), slot);
        Seat { slot, place }
    }

    fn wait(&self, seat: &Self::Place) {
        let Ok(()) = self.algorithm.wait(&mut Native::new(), seat.slot, &seat.place);
    }

    fn leave(&self, seat: &Self::Place) {
        let mut m = Native::new();
        let Ok(()) = self.algorithm.exit(&mut m, seat.slot, &seat.place);
        self.taken[seat.slot].store(false, Release);
        m.after_you();
    }
}

impl<A> fmt::Debug for Slotted<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = self.taken.iter().filter(|taken| taken.load(Relaxed)).count();
        f.debug_struct("Slotted").field("slots", &self.taken.len()).field("taken", &taken).finish()
    }
}

macro_rules! catalogue {
    ($($kind:ident::$file:ident::$name:ident |$n:ident, $k:ident| $make:expr, $about:literal;)*) => {$(
        #[doc = concat!("By ", $about, ".")]
        pub type $name = Slotted<$kind::$file::$name<Native>>;

        impl Algorithm for $kind::$file::$name<Native> {
            fn make($n: usize, $k: usize) -> Self {
                use $kind::$file::$name;
                $make
            }
        }
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
    kexclusion::k_bakery::KBakery |n, k| KBakery::new(&mut Heap, n, k), "the k-Bakery";
    kexclusion::k_bakery_fife::KBakeryFife |n, k| KBakeryFife::new(&mut Heap, n, k), "the k-Bakery, first-in-first-enabled";
    kexclusion::k_bakery_safe::KBakerySafe |n, k| KBakerySafe::new(&mut Heap, n, k), "the k-Bakery for non-atomic registers";
    kexclusion::log_k::LogK |n, k| LogK::new(&mut Heap, n, k), "Choi's algorithm, with few remote references";
    kexclusion::filter_k::FilterK |n, k| FilterK::new(&mut Heap, n, k), "the filter lock for k";
    kexclusion::anderson_moir::AndersonMoir |n, k| AndersonMoir::new(&mut Heap, n, k), "Anderson and Moir's chain";
    kexclusion::anderson_moir_tree::AndersonMoirTree |n, k| AndersonMoirTree::new(&mut Heap, n, k), "Anderson and Moir's tree";
}
