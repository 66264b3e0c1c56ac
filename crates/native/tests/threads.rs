//! Every algorithm of the catalogue, with real threads.
//!
//! A stress test is no proof; the proofs are the checker's. It shows that the native memory is the memory of the
//! proofs.
use std::{
    ops::ControlFlow,
    sync::{
        Barrier, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use doorway_algorithms::{About, Size};
use doorway_memory::{Exclusion, Home, Local, Memory, Name, Number, Part, Pid, Property, Space, Value};
use doorway_native::{Heap, Native, Reg};

const SIZES: std::ops::RangeInclusive<usize> = 2..=4;
const PASSAGES: u64 = 3_000;
/// One of this many holders yields the processor in the critical section, so that the other threads have to wait.
const ENTRIES_PER_YIELD: u64 = 8;
const ROUNDS: usize = 1_000;
const CALLS_PER_ROUND: usize = 20;
/// How many accesses a passage may take if deadlock-freedom is not claimed, or a call of a part.
const MAX_ACCESSES: u64 = 20_000;

macro_rules! tests {
    ($($(#[$_:meta])* $folder:ident { $($kind:ident $file:ident $name:ident;)* })*) => {$(
        mod $folder {
            use doorway_algorithms::$folder;

            $(
                #[test]
                fn $file() {
                    super::super::$kind(&$folder::$file::ABOUT, |space, size| $folder::$file::new(space, size));
                }
            )*
        }
    )*};
}

mod threads_find_the_claimed_safety_and_progress {
    doorway_algorithms::for_each_algorithm!(tests);
}

/// A lock excludes, and a deadlock-free lock completes all passages.
fn lock<A: Exclusion<LimitedNative>>(about: &About, make: impl Fn(&mut Registers, Size) -> A) {
    for size in sizes(about) {
        let section = Section::default();
        let lock = make(&mut Registers, size);
        let limit = if about.holds(Property::DeadlockFreedom) { u64::MAX } else { MAX_ACCESSES };
        on_threads(size.n, |p| {
            for _ in 0..PASSAGES {
                let mut m = LimitedNative { native: Native::new(), left: limit, fenced: false };
                if let Err(LimitReached) = passage(&lock, &section, &mut m, p) {
                    break;
                }
            }
        });
        let (most, count) = (section.most_holders.into_inner(), section.count.into_inner());
        let entries = section.entries.into_inner();
        if !about.lacks(Property::Exclusion) {
            assert!(most <= size.k as u64, "{} n={}: {most} holders at once", about.name, size.n);
            // With k > 1, holders may overwrite each other's updates.
            assert!(size.k > 1 || count == entries, "{} n={}: updates were lost", about.name, size.n);
        }
        if about.holds(Property::DeadlockFreedom) {
            assert_eq!(entries, PASSAGES * size.n as u64, "{} n={}: a passage was not completed", about.name, size.n);
        }
    }
}

fn passage<A: Exclusion<LimitedNative>>(
    lock: &A,
    section: &Section,
    m: &mut LimitedNative,
    p: Pid,
) -> Result<(), LimitReached> {
    let place = lock.doorway(m, p)?;
    let inside = lock.wait(m, p, &place)?;
    section.enter_and_leave();
    lock.exit(m, p, &inside)?;
    m.native.yield_after_release();
    Ok(())
}

/// The outcomes of a part obey its rule, in rounds of calls by all processes.
fn part<A: Part<LimitedNative>>(about: &About, make: impl Fn(&mut Registers, Size) -> A) {
    for size in sizes(about) {
        for _ in 0..ROUNDS {
            let part = make(&mut Registers, size);
            let latest: Mutex<Vec<Option<A::Outcome>>> = Mutex::new(vec![None; size.n]);
            on_threads(size.n, |p| {
                for _ in 0..if A::AGAIN { CALLS_PER_ROUND } else { 1 } {
                    // Fenced: not all parts, nor the judging of their outcomes here, are checked with store buffers.
                    let mut m = LimitedNative { native: Native::new(), left: MAX_ACCESSES, fenced: true };
                    let before = about.sequential.then(|| latest.lock().unwrap());
                    let Ok(outcome) = part.call(&mut m, p) else { panic!("`{}` takes too long", about.name) };
                    let mut latest = before.unwrap_or_else(|| latest.lock().unwrap());
                    latest[p] = Some(outcome);
                    if about.holds(Property::Rule) {
                        part.rule(&latest).unwrap_or_else(|why| panic!("{} n={}: {why}", about.name, size.n));
                    }
                }
            });
        }
    }
}

/// The sizes that the algorithm supports, of those that are tested.
fn sizes(about: &About) -> impl Iterator<Item = Size> {
    SIZES.filter_map(|n| about.size(Some(n), None).ok())
}

/// Runs `body` on `n` threads that start together.
///
/// One test at a time: with the threads of two tests, the processors would mostly run waiters.
fn on_threads(n: usize, body: impl Fn(Pid) + Sync) {
    static PROCESSORS: Mutex<()> = Mutex::new(());
    let _processors = PROCESSORS.lock().unwrap_or_else(PoisonError::into_inner);
    let start = Barrier::new(n);
    thread::scope(|scope| {
        for p in 0..n {
            let (start, body) = (&start, &body);
            scope.spawn(move || {
                start.wait();
                body(p);
            });
        }
    });
}

/// A critical section that counts its holders and entries.
#[derive(Default)]
struct Section {
    holders: AtomicU64,
    most_holders: AtomicU64,
    /// Read and then written, in two steps: two concurrent holders lose an update.
    count: AtomicU64,
    entries: AtomicU64,
}

impl Section {
    /// Asserts nothing: a holder that panicked would block the other threads for ever.
    fn enter_and_leave(&self) {
        self.most_holders.fetch_max(self.holders.fetch_add(1, Relaxed) + 1, Relaxed);
        let count = self.count.load(Relaxed);
        if count.is_multiple_of(ENTRIES_PER_YIELD) {
            thread::yield_now();
        }
        self.count.store(count + 1, Relaxed);
        self.entries.fetch_add(1, Relaxed);
        self.holders.fetch_sub(1, Relaxed);
    }
}

/// Registers of the native memory.
struct Registers;

impl Space for Registers {
    type Mem = LimitedNative;

    fn register<T: Value>(&mut self, name: Name, home: Home, init: T) -> Reg<T> {
        Heap.register(name, home, init)
    }
}

/// The native memory, for a limited number of accesses.
struct LimitedNative {
    native: Native,
    left: u64,
    /// Whether every write is followed by a fence, in addition to the algorithm's own.
    fenced: bool,
}

#[derive(Debug)]
struct LimitReached;

impl LimitedNative {
    fn access(&mut self) -> Result<&mut Native, LimitReached> {
        self.left = self.left.checked_sub(1).ok_or(LimitReached)?;
        Ok(&mut self.native)
    }
}

impl Memory for LimitedNative {
    type Halt = LimitReached;
    type Reg<T: Value> = Reg<T>;
    type Registers<T: Value> = Vec<Reg<T>>;

    fn read<T: Value>(&mut self, reg: &Reg<T>) -> Result<T, LimitReached> {
        let Ok(value) = self.access()?.read(reg);
        Ok(value)
    }
    fn test<T: Value>(&mut self, reg: &Reg<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, LimitReached> {
        let Ok(answer) = self.access()?.test(reg, holds);
        Ok(answer)
    }
    fn write<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<(), LimitReached> {
        let Ok(()) = self.access()?.write(reg, value);
        if self.fenced { self.fence() } else { Ok(()) }
    }
    fn fetch_add<T: Number>(&mut self, reg: &Reg<T>, by: T) -> Result<T, LimitReached> {
        let Ok(before) = self.access()?.fetch_add(reg, by);
        Ok(before)
    }
    fn swap<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<T, LimitReached> {
        let Ok(before) = self.access()?.swap(reg, value);
        Ok(before)
    }
    fn compare_swap<T: Value>(&mut self, reg: &Reg<T>, old: T, new: T) -> Result<bool, LimitReached> {
        let Ok(done) = self.access()?.compare_swap(reg, old, new);
        Ok(done)
    }
    fn fence(&mut self) -> Result<(), LimitReached> {
        let Ok(()) = self.native.fence();
        Ok(())
    }
    fn barrier(&mut self) -> Result<(), LimitReached> {
        let Ok(()) = self.native.barrier();
        Ok(())
    }
    fn turns<S: Local, B: Local>(
        &mut self,
        mut state: S,
        body: impl Fn(&mut Self, S) -> Result<ControlFlow<B, S>, LimitReached>,
    ) -> Result<B, LimitReached> {
        loop {
            match body(self, state)? {
                ControlFlow::Break(end) => return Ok(end),
                ControlFlow::Continue(next) => state = next,
            }
        }
    }
    fn relax(&mut self) {
        self.native.relax();
    }
}
