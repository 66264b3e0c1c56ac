//! The algorithms of the catalogue, as they are, on the memory of threads.
//!
//! The registry's types are not known to be shareable between threads, so each thread makes the algorithm for itself, on
//! registers that all threads share: the nth register one of them asks for is the nth register of all. Every access is an
//! access of [`Native`], and one pointer further away than in a lock that is shared as a whole.
use std::{
    convert::Infallible,
    marker::PhantomData,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
};

use doorway_algorithms::{
    About, Kind, Size,
    registry::{self, Visitor},
};
use doorway_memory::{Exclusion, Home, Local, Memory, Name, Number, Part, Pid, Property, Space, Value};
use doorway_native::{Heap, Native, Reg};

use super::{Candidate, FIFO, Group::Catalogue, NONE};
use crate::job::{Job, Made, Tally, Thread};

pub(super) fn locks() -> Vec<Candidate> {
    let works = |about: &About| about.holds(Property::Exclusion) && about.holds(Property::DeadlockFreedom);
    registry::all()
        .iter()
        .copied()
        .filter(|about| about.kind != Kind::Part && works(about))
        .map(|about| {
            let order = match () {
                () if about.holds(Property::Fcfs) => FIFO,
                () if about.holds(Property::Fife) => "fife",
                () if about.holds(Property::KFcfs) => "k-fcfs",
                () => NONE,
            };
            Candidate::new(Catalogue, about.name, order, |k, threads| make(about, k, threads))
        })
        .collect()
}

/// With as few processes as there are threads, if it is for so few.
fn make(about: &'static About, k: usize, threads: usize) -> Option<Box<dyn Made>> {
    if k > 1 && about.kind == Kind::Mutex {
        return None;
    }
    let size = about.simulated_size(Some(threads.max(k + 1)), Some(k)).ok()?;
    Some(Box::new(OnRegisters { about, size, registers: Registers::default() }))
}

struct OnRegisters {
    about: &'static About,
    size: Size,
    registers: Registers,
}

impl Made for OnRegisters {
    fn work(&self, p: Pid, job: &Job<'_>) -> Tally {
        registry::visit(self.about, self.size, Working { registers: self.registers.clone(), p, job })
    }
}

struct Working<'a> {
    registers: Registers,
    p: Pid,
    job: &'a Job<'a>,
}

impl Visitor for Working<'_> {
    type Space = Registers;
    type Output = Tally;

    fn exclusion<A: Exclusion<Shared>>(
        mut self,
        _: &'static About,
        _: Size,
        make: impl Fn(&mut Registers) -> A,
    ) -> Tally {
        let lock = make(&mut self.registers);
        self.job.run(self.p, Process { lock, p: self.p, memory: Shared(Native::new()) })
    }

    fn part<A: Part<Shared>>(self, about: &'static About, _: Size, _: impl Fn(&mut Registers) -> A) -> Tally {
        unreachable!("`{}` is not a lock", about.name)
    }
}

struct Process<A> {
    lock: A,
    p: Pid,
    memory: Shared,
}

impl<A: Exclusion<Shared>> Thread for Process<A> {
    #[inline(always)]
    fn pass(&mut self, inside: impl FnOnce()) {
        let Process { lock, p, memory } = self;
        let Ok(place) = lock.doorway(memory, *p);
        let Ok(place) = lock.enter(memory, *p, &place);
        inside();
        let Ok(()) = lock.exit(memory, *p, &place);
        memory.0.after_you();
    }
}

/// The registers all threads share, and how many of them this thread has asked for.
#[derive(Clone, Default)]
struct Registers {
    all: Arc<Mutex<Vec<Arc<Reg<u64>>>>>,
    asked: usize,
}

struct Handle<T>(Arc<Reg<u64>>, PhantomData<T>);

impl Space for Registers {
    type Mem = Shared;

    fn register<T: Value>(&mut self, name: Name, home: Home, init: T) -> Handle<T> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if self.asked == all.len() {
            all.push(Arc::new(Heap.register(name, home, init.to_word())));
        }
        self.asked += 1;
        Handle(all[self.asked - 1].clone(), PhantomData)
    }
}

/// The native memory, with registers that are shared one by one.
struct Shared(Native);

impl Memory for Shared {
    type Halt = Infallible;
    type Reg<T: Value> = Handle<T>;

    #[inline(always)]
    fn read<T: Value>(&mut self, reg: &Handle<T>) -> Result<T, Infallible> {
        self.0.read(&reg.0).map(T::of_word)
    }

    #[inline(always)]
    fn test<T: Value>(&mut self, reg: &Handle<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Infallible> {
        self.0.test(&reg.0, |word| holds(T::of_word(word)))
    }

    #[inline(always)]
    fn write<T: Value>(&mut self, reg: &Handle<T>, value: T) -> Result<(), Infallible> {
        self.0.write(&reg.0, value.to_word())
    }

    #[inline(always)]
    fn fetch_add<T: Number>(&mut self, reg: &Handle<T>, by: T) -> Result<T, Infallible> {
        self.0.fetch_add(&reg.0, by.to_word()).map(T::of_word)
    }

    #[inline(always)]
    fn swap<T: Value>(&mut self, reg: &Handle<T>, value: T) -> Result<T, Infallible> {
        self.0.swap(&reg.0, value.to_word()).map(T::of_word)
    }

    #[inline(always)]
    fn compare_swap<T: Value>(&mut self, reg: &Handle<T>, old: T, new: T) -> Result<bool, Infallible> {
        self.0.compare_swap(&reg.0, old.to_word(), new.to_word())
    }

    #[inline(always)]
    fn fence(&mut self) -> Result<(), Infallible> {
        self.0.fence()
    }

    fn barrier(&mut self) -> Result<(), Infallible> {
        self.0.barrier()
    }

    #[inline(always)]
    fn turns<S: Local, B: Local>(
        &mut self,
        mut state: S,
        body: impl Fn(&mut Self, S) -> Result<ControlFlow<B, S>, Infallible>,
    ) -> Result<B, Infallible> {
        loop {
            match body(self, state)? {
                ControlFlow::Break(end) => return Ok(end),
                ControlFlow::Continue(next) => state = next,
            }
        }
    }

    #[inline(always)]
    fn until<T: Value>(&mut self, reg: &Handle<T>, holds: impl Fn(T) -> bool + Sync) -> Result<(), Infallible> {
        self.0.until(&reg.0, |word| holds(T::of_word(word)))
    }

    #[inline(always)]
    fn relax(&mut self) {
        self.0.relax();
    }
}
