//! What must be decided, what must not, and that the views of all states of a few processes are in the set.
use doorway_algorithms::{
    Size,
    blocks::test_and_set::TestAndSet,
    kexclusion::{fischer_queue, fischer_queue_names, gottlieb, ticket_k},
    mutex::ticket,
};
use doorway_memory::{Exclusion, Memory, Pid, Space, Tally, Value};

use super::{
    EveryN, Undecided, every_n,
    views::{Config, Views},
};
use crate::{Model, Property, Subject, tickets::WIDTHS};

fn ticket_lock(n: usize) -> Option<Subject> {
    Some(Subject::lock(move |space| ticket::new(space, Size { n, k: 1 })))
}

fn ticket_k(k: usize) -> impl Fn(usize) -> Option<Subject> {
    move |n| Some(Subject::lock(move |space| ticket_k::new(space, Size { n, k })))
}

fn gottlieb(k: usize) -> impl Fn(usize) -> Option<Subject> {
    move |n| Some(Subject::lock(move |space| gottlieb::new(space, Size { n, k })))
}

fn queue(k: usize) -> impl Fn(usize) -> Option<Subject> {
    move |n| Some(Subject::lock(move |space| fischer_queue::new(space, Size { n, k })))
}

fn test_and_set(_: usize) -> Option<Subject> {
    Some(Subject::lock(TestAndSet::new))
}

#[test]
fn exclusion_of_ticket_locks_holds_for_every_n() {
    let found = every_n(1, ticket_lock).unwrap();
    assert!(found.holds(), "{found:?}");
    for k in 1..=2 {
        let found = every_n(k, ticket_k(k)).unwrap();
        assert!(found.holds(), "{found:?}");
    }
    let found = every_n(1, test_and_set).unwrap();
    assert!(found.holds(), "{found:?}");
}

#[test]
#[ignore = "1 minute"]
fn exclusion_of_a_ticket_lock_for_three_holds_for_every_n() {
    let found = every_n(3, ticket_k(3)).unwrap();
    assert_eq!(found.to_string(), "exclusion holds for every n (m = 4, 400160 views)");
}

#[test]
fn exclusion_of_a_queue_holds_for_every_n() {
    for k in 1..=3 {
        let found = every_n(k, queue(k)).unwrap();
        println!("{found}");
        assert!(found.holds(), "{found:?}");
    }
    let found = every_n(2, queue(3)).unwrap();
    assert!(matches!(found.undecided, Some(Undecided::Crowded(_))), "{found:?}");
    // Its names are registers that hold the numbers of processes.
    let names = |n| Some(Subject::lock(move |space| fischer_queue_names::new(space, Size { n, k: 2 })));
    let found = every_n(2, names).unwrap();
    assert!(matches!(found.undecided, Some(Undecided::DoesNotApply(_))), "{found:?}");
}

/// Every reachable state of `n` processes has its views in the set.
fn is_covered(k: usize, n: usize, make: impl Fn(usize) -> Option<Subject>) {
    let has_tally =
        make(n).unwrap().registers.list.iter().any(|register| (register.kind.tally)(register.init).is_some());
    let EveryN { m, .. } = every_n(k, &make).unwrap();
    let subject = make(m + 1).unwrap();
    let mut views = Views::new(&subject, k, m, WIDTHS[0]).unwrap();
    assert_eq!(views.close(usize::MAX, &mut |_| true).unwrap(), None);
    views.is_exact = true;
    let initial = views.initial(n);
    let mut states = rustc_hash::FxHashSet::from_iter([initial.clone()]);
    let mut waiting = vec![initial];
    while let Some(state) = waiting.pop() {
        assert_in_the_set(&mut views, &state, m);
        for mover in 0..n {
            for after in views.steps(&state, mover).unwrap() {
                if states.insert(after.clone()) {
                    waiting.push(after);
                }
            }
        }
    }
    if n <= crate::symmetry::MOST && subject.program.is_symmetric() {
        let model = Model::new(n).k(k).symmetric().only([Property::Exclusion]);
        let found = make(n).unwrap().check(&model).unwrap().states;
        // Numbers of a tally that are alike count once here.
        assert!(found == states.len() as u64 || has_tally && found > states.len() as u64, "{found}, {}", states.len());
    }
}

fn assert_in_the_set(views: &mut Views<'_>, state: &Config, m: usize) {
    if state.processes.len() == m {
        assert!(views.contains(state), "{state:?}");
        return;
    }
    for left_out in 0..state.processes.len() {
        let smaller = views.without(state, left_out).unwrap();
        assert_in_the_set(views, &smaller, m);
    }
}

#[test]
fn views_of_reachable_states_are_in_the_set() {
    for n in 3..=6 {
        is_covered(1, n, ticket_lock);
        is_covered(1, n, test_and_set);
    }
    is_covered(2, 4, ticket_k(2));
    is_covered(2, 5, ticket_k(2));
    for k in 1..=2 {
        (k + 2..=6).for_each(|n| is_covered(k, n, gottlieb(k)));
        (k + 2..=6).for_each(|n| is_covered(k, n, queue(k)));
    }
}

#[test]
fn exclusion_of_a_semaphore_by_fetch_and_add_holds_for_every_n() {
    for k in 1..=3 {
        let found = every_n(k, gottlieb(k)).unwrap();
        assert!(found.holds(), "{found:?}");
    }
    let found = every_n(2, gottlieb(3)).unwrap();
    assert!(matches!(found.undecided, Some(Undecided::Crowded(_))), "{found:?}");
}

/// The semaphore, but it reads and then writes, so that an update may be lost.
struct LostUpdate<M: Memory> {
    s: M::Reg<Tally>,
}

impl<M: Memory> Exclusion<M> for LostUpdate<M> {
    type Place = ();
    type Inside = ();
    const SYMMETRIC: bool = true;
    fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
        Ok(())
    }
    fn wait(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("1").until(&self.s, |s| s >= 1)?;
        m.at("2").write(&self.s, Tally::new(0))
    }
    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("3").write(&self.s, Tally::new(1))
    }
}

#[test]
fn a_lost_update_is_not_decided() {
    let make = |_| Some(Subject::lock(|space| LostUpdate { s: space.shared("S", Tally::new(1)) }));
    assert!(!make(2).unwrap().check(&Model::new(2)).unwrap().holds(Property::Exclusion));
    let found = every_n(1, make).unwrap();
    assert!(matches!(found.undecided, Some(Undecided::DoesNotApply(_))), "{found:?}");
}

/// A ticket lock whose tickets have two bits.
struct TwoBits<M: Memory> {
    next: M::Reg<Bits>,
    serving: M::Reg<Bits>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bits(u8);

impl Value for Bits {
    fn to_word(self) -> u64 {
        u64::from(self.0)
    }
    fn of_word(word: u64) -> Bits {
        Bits(word as u8 & 3)
    }
}

impl<M: Memory> TwoBits<M> {
    fn new(space: &mut impl Space<Mem = M>) -> Self {
        TwoBits { next: space.shared("next", Bits(0)), serving: space.shared("serving", Bits(0)) }
    }
}

impl<M: Memory> Exclusion<M> for TwoBits<M> {
    type Place = Bits;
    type Inside = ();
    const SYMMETRIC: bool = true;
    fn doorway(&self, m: &mut M, _: Pid) -> Result<Bits, M::Halt> {
        m.at("1").update(&self.next, |next| Bits((next.0 + 1) & 3))
    }
    fn wait(&self, m: &mut M, _: Pid, &t: &Bits) -> Result<(), M::Halt> {
        m.at("2").until(&self.serving, move |serving| serving == t)
    }
    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("3").update(&self.serving, |serving| Bits((serving.0 + 1) & 3))?;
        Ok(())
    }
}

/// Right for four processes, wrong for five.
#[test]
fn a_ticket_lock_with_two_bits_is_not_decided() {
    let make = |_| Some(Subject::lock(TwoBits::new));
    let holds =
        |n| make(n).unwrap().check(&Model::new(n).only([Property::Exclusion])).unwrap().holds(Property::Exclusion);
    assert!(holds(4) && !holds(5));
    let found = every_n(1, make).unwrap();
    assert!(matches!(found.undecided, Some(Undecided::Crowded(_))), "{found:?}");
}

#[test]
fn one_place_too_many_is_not_decided() {
    let found = every_n(2, ticket_k(3)).unwrap();
    assert!(matches!(found.undecided, Some(Undecided::Crowded(_))), "{found:?}");
}
