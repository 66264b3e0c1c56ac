//! Every algorithm of the registry, with real threads.
//!
//! A stress test is no proof: that is the checker's. It shows that the native memory is the memory the proofs are about.
//!
//! The registry's types are not known to be shareable between threads, so each thread makes the algorithm for itself, on
//! registers that all threads share: the nth register one of them asks for is the nth register of all. Every access is
//! an access of [`Native`].
use std::{
    marker::PhantomData,
    ops::ControlFlow,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use doorway_algorithms::{
    About, Kind, Size,
    registry::{self, Visitor},
};
use doorway_memory::{Exclusion, Home, Local, Memory, Name, Number, Part, Pid, Property, Sink, Source, Space, Value};
use doorway_native::{Heap, Native, Reg};

const SIZES: std::ops::RangeInclusive<usize> = 2..=4;
const PASSAGES: u64 = 3_000;
/// Every so often someone loses the processor inside, and everyone else comes to the door.
const VISITS_PER_YIELD: u64 = 8;
const ROUNDS: usize = 1_000;
const CALLS_PER_ROUND: usize = 20;
/// How many accesses a passage may take where nothing says that it ends.
const PATIENCE: u64 = 20_000;

#[test]
fn locks_exclude_and_locks_without_deadlocks_let_everyone_through() {
    for (about, size) in every(|about| about.kind != Kind::Part) {
        let room = Room::default();
        let start = Barrier::new(size.n);
        on_threads(size.n, |registers, p| {
            registry::visit(about, size, Lock { registers, p, room: &room, start: &start });
        });
        let (most, count, visits) = (room.most.into_inner(), room.count.into_inner(), room.visits.into_inner());
        if !about.fails(Property::Exclusion) {
            assert!(most <= size.k as u64, "{} n={}: {most} were inside at once", about.name, size.n);
            // Where two may be inside, they may lose each other's updates.
            assert!(size.k > 1 || count == visits, "{} n={}: updates were lost", about.name, size.n);
        }
        if about.holds(Property::DeadlockFreedom) {
            assert_eq!(visits, PASSAGES * size.n as u64, "{} n={}: someone gave up", about.name, size.n);
        }
    }
}

#[test]
fn parts_keep_their_rules() {
    for (about, size) in every(|about| about.kind == Kind::Part) {
        for _ in 0..ROUNDS {
            let latest = Mutex::new(vec![None; size.n]);
            let start = Barrier::new(size.n);
            on_threads(size.n, |registers, p| {
                registry::visit(about, size, Calls { registers, p, latest: &latest, start: &start });
            });
        }
    }
}

/// The algorithms of a kind, at each size they are for.
fn every(kind: impl Fn(&About) -> bool) -> impl Iterator<Item = (&'static About, Size)> {
    let of_kind = registry::all().iter().copied().filter(move |about| kind(about));
    of_kind.flat_map(|about| SIZES.filter_map(move |n| Some((about, about.size(Some(n), None).ok()?))))
}

fn on_threads(n: usize, body: impl Fn(Registers, Pid) + Sync) {
    let all = Registers::default();
    thread::scope(|scope| {
        for p in 0..n {
            let (registers, body) = (all.clone(), &body);
            scope.spawn(move || body(registers, p));
        }
    });
}

/// What is behind the lock.
#[derive(Default)]
struct Room {
    inside: AtomicU64,
    /// The most that were inside at once.
    most: AtomicU64,
    /// Read and then written, in two steps: who is not alone loses an update.
    count: AtomicU64,
    visits: AtomicU64,
}

impl Room {
    /// Asserts nothing: one that panicked inside would leave the others at the door for ever.
    fn visit(&self) {
        self.most.fetch_max(self.inside.fetch_add(1, Relaxed) + 1, Relaxed);
        let count = self.count.load(Relaxed);
        if count.is_multiple_of(VISITS_PER_YIELD) {
            thread::yield_now();
        }
        self.count.store(count + 1, Relaxed);
        self.visits.fetch_add(1, Relaxed);
        self.inside.fetch_sub(1, Relaxed);
    }
}

/// One process of a lock.
struct Lock<'a> {
    registers: Registers,
    p: Pid,
    room: &'a Room,
    start: &'a Barrier,
}

impl Visitor for Lock<'_> {
    type Space = Registers;
    type Output = ();

    fn exclusion<A: Exclusion<Patient>>(mut self, about: &'static About, _: Size, make: impl Fn(&mut Registers) -> A) {
        let lock = make(&mut self.registers);
        self.start.wait();
        let patience = if about.holds(Property::DeadlockFreedom) { u64::MAX } else { PATIENCE };
        for _ in 0..PASSAGES {
            let mut m = Patient { native: Native::new(), left: patience, fenced: false };
            if let Err(GaveUp) = self.passage(&lock, &mut m) {
                break;
            }
        }
    }

    fn part<A: Part<Patient>>(self, about: &'static About, _: Size, _: impl Fn(&mut Registers) -> A) {
        unreachable!("`{}` is not a lock", about.name)
    }
}

impl Lock<'_> {
    fn passage<A: Exclusion<Patient>>(&self, lock: &A, m: &mut Patient) -> Result<(), GaveUp> {
        let place = lock.doorway(m, self.p)?;
        let place = lock.enter(m, self.p, &place)?;
        self.room.visit();
        lock.exit(m, self.p, &place)?;
        m.native.after_you();
        Ok(())
    }
}

/// One process of a part. `latest` has what the calls returned, in words.
struct Calls<'a> {
    registers: Registers,
    p: Pid,
    latest: &'a Mutex<Vec<Option<Vec<u64>>>>,
    start: &'a Barrier,
}

impl Visitor for Calls<'_> {
    type Space = Registers;
    type Output = ();

    fn exclusion<A: Exclusion<Patient>>(self, about: &'static About, _: Size, _: impl Fn(&mut Registers) -> A) {
        unreachable!("`{}` is not a part", about.name)
    }

    fn part<A: Part<Patient>>(mut self, about: &'static About, size: Size, make: impl Fn(&mut Registers) -> A) {
        let part = make(&mut self.registers);
        self.start.wait();
        for _ in 0..if A::AGAIN { CALLS_PER_ROUND } else { 1 } {
            // Not all parts, nor what judges them here, are checked with store buffers.
            let mut m = Patient { native: Native::new(), left: PATIENCE, fenced: true };
            let before = about.sequential.then(|| self.latest.lock().unwrap());
            let Ok(outcome) = part.call(&mut m, self.p) else { panic!("`{}` takes too long", about.name) };
            let mut latest = before.unwrap_or_else(|| self.latest.lock().unwrap());
            let mut words = Words(vec![]);
            outcome.save(&mut words);
            latest[self.p] = Some(words.0);
            if about.holds(Property::Rule) {
                let outcomes: Vec<_> = latest.iter().map(|words| words.clone().map(load::<A::Outcome>)).collect();
                part.rule(&outcomes).unwrap_or_else(|why| panic!("{} n={}: {why}", about.name, size.n));
            }
        }
    }
}

/// An outcome on its way from one thread to another.
struct Words(Vec<u64>);

impl Sink for Words {
    fn put<T: Value>(&mut self, value: T) {
        self.0.push(value.to_word());
    }
}

impl Source for Words {
    fn take<T: Value>(&mut self) -> T {
        T::of_word(self.0.remove(0))
    }
}

fn load<T: Local>(words: Vec<u64>) -> T {
    T::load(&mut Words(words))
}

/// The registers all threads share, and how many of them this thread has asked for.
#[derive(Clone, Default)]
struct Registers {
    all: Arc<Mutex<Vec<Arc<Reg<u64>>>>>,
    asked: usize,
}

struct Handle<T>(Arc<Reg<u64>>, PhantomData<T>);

impl Space for Registers {
    type Mem = Patient;

    fn register<T: Value>(&mut self, name: Name, home: Home, init: T) -> Handle<T> {
        let mut all = self.all.lock().unwrap();
        if self.asked == all.len() {
            all.push(Arc::new(Heap.register(name, home, init.to_word())));
        }
        self.asked += 1;
        Handle(all[self.asked - 1].clone(), PhantomData)
    }
}

/// The native memory, for so many accesses and no more.
struct Patient {
    native: Native,
    left: u64,
    /// Whether there is a fence after every write, whatever the algorithm says.
    fenced: bool,
}

#[derive(Debug)]
struct GaveUp;

impl Patient {
    fn access(&mut self) -> Result<&mut Native, GaveUp> {
        self.left = self.left.checked_sub(1).ok_or(GaveUp)?;
        Ok(&mut self.native)
    }
}

impl Memory for Patient {
    type Halt = GaveUp;
    type Reg<T: Value> = Handle<T>;

    fn read<T: Value>(&mut self, reg: &Handle<T>) -> Result<T, GaveUp> {
        let Ok(word) = self.access()?.read(&reg.0);
        Ok(T::of_word(word))
    }
    fn test<T: Value>(&mut self, reg: &Handle<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, GaveUp> {
        let Ok(answer) = self.access()?.test(&reg.0, |word| holds(T::of_word(word)));
        Ok(answer)
    }
    fn write<T: Value>(&mut self, reg: &Handle<T>, value: T) -> Result<(), GaveUp> {
        let Ok(()) = self.access()?.write(&reg.0, value.to_word());
        if self.fenced { self.fence() } else { Ok(()) }
    }
    fn fetch_add<T: Number>(&mut self, reg: &Handle<T>, by: T) -> Result<T, GaveUp> {
        let Ok(word) = self.access()?.fetch_add(&reg.0, by.to_word());
        Ok(T::of_word(word))
    }
    fn swap<T: Value>(&mut self, reg: &Handle<T>, value: T) -> Result<T, GaveUp> {
        let Ok(word) = self.access()?.swap(&reg.0, value.to_word());
        Ok(T::of_word(word))
    }
    fn compare_swap<T: Value>(&mut self, reg: &Handle<T>, old: T, new: T) -> Result<bool, GaveUp> {
        let Ok(done) = self.access()?.compare_swap(&reg.0, old.to_word(), new.to_word());
        Ok(done)
    }
    fn fence(&mut self) -> Result<(), GaveUp> {
        let Ok(()) = self.native.fence();
        Ok(())
    }
    fn barrier(&mut self) -> Result<(), GaveUp> {
        let Ok(()) = self.native.barrier();
        Ok(())
    }
    fn turns<S: Local, B: Local>(
        &mut self,
        mut state: S,
        body: impl Fn(&mut Self, S) -> Result<ControlFlow<B, S>, GaveUp>,
    ) -> Result<B, GaveUp> {
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
