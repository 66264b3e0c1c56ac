//! The algorithms of the catalogue, without wrappers, on the memory of threads.
use doorway_algorithms::{
    About, Kind, Size, Status,
    registry::{self, Visitor},
};
use doorway_memory::{Exclusion, Part, Pid, Property};
use doorway_native::{Heap, Native};

use super::{Candidate, FIFO, Group::Catalogue, NONE};
use crate::job::{AnyLock, Job, Tally, Thread};

/// The correct locks; any other might never finish a measurement.
pub(super) fn locks() -> Vec<Candidate> {
    let is_offered = |about: &&About| {
        about.kind != Kind::Part && about.status() == Status::Correct && about.holds(Property::DeadlockFreedom)
    };
    registry::all()
        .iter()
        .copied()
        .filter(is_offered)
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

/// Makes the algorithm for as many processes as threads, or k + 1 if that is more; `None` if it is not for that size.
fn make(about: &'static About, k: usize, threads: usize) -> Option<Box<dyn AnyLock>> {
    let size = about.size(Some(threads.max(k + 1)), Some(k)).ok()?;
    Some(registry::visit(about, size, Making))
}

struct Making;

impl Visitor for Making {
    type Space = Heap;
    type Output = Box<dyn AnyLock>;

    fn lock<A: Exclusion<Native> + 'static>(
        self,
        _: &'static About,
        _: Size,
        make: impl Fn(&mut Heap) -> A,
    ) -> Box<dyn AnyLock> {
        Box::new(OfCatalogue(make(&mut Heap)))
    }

    fn part<A: Part<Native>>(self, about: &'static About, _: Size, _: impl Fn(&mut Heap) -> A) -> Box<dyn AnyLock> {
        unreachable!("`{}` is not a lock", about.name)
    }
}

struct OfCatalogue<A>(A);

impl<A: Exclusion<Native>> AnyLock for OfCatalogue<A> {
    fn work(&self, p: Pid, job: &Job<'_>) -> Tally {
        job.run(p, Process { lock: &self.0, p, memory: Native::new() })
    }
}

struct Process<'a, A> {
    lock: &'a A,
    p: Pid,
    memory: Native,
}

impl<A: Exclusion<Native>> Thread for Process<'_, A> {
    #[inline(always)]
    fn pass(&mut self, critical_section: impl FnOnce()) {
        let Process { lock, p, memory } = self;
        let Ok(place) = lock.doorway(memory, *p);
        let Ok(inside) = lock.wait(memory, *p, &place);
        critical_section();
        let Ok(()) = lock.exit(memory, *p, &inside);
        memory.yield_after_release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_correct_locks_are_offered() {
        let offered: Vec<_> = locks().iter().map(|candidate| candidate.name).collect();
        let broken = ["afek-no-e", "anderson-moir-dsm-late", "dolev-gafni-shavit-single", "peterson-polite"];
        assert!(broken.iter().all(|name| !offered.contains(name)), "{offered:?}");
        assert!(["bakery", "k-bakery", "ticket"].iter().all(|name| offered.contains(name)), "{offered:?}");
    }
}
