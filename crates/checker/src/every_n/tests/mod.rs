//! What must be decided for every number of processes, and what must not; `covering.rs` has the test that nothing is missing,
//! `controls.rs` the locks that are wrong, or not what the argument needs, and `sleeping.rs` both for the lock with parked waiters.
mod black_white;
mod controls;
mod covering;
mod sleeping;

use doorway_algorithms::{
    Size,
    blocks::test_and_set::TestAndSet,
    kexclusion::{fischer_queue, fischer_queue_names, gottlieb, ticket_k},
    mutex::{bakery, bakery_labels, ticket},
};
use doorway_memory::Property;

use super::{EveryN, Precision, Undecided, closed, every_n, kept::Kept};
use crate::Subject;

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

fn bakery(n: usize) -> Option<Subject> {
    Some(Subject::lock(move |space| bakery::new(space, Size { n, k: 1 })))
}

fn labels(n: usize) -> Option<Subject> {
    Some(Subject::lock(move |space| bakery_labels::new(space, Size { n, k: 1 })))
}

fn test_and_set(_: usize) -> Option<Subject> {
    Some(Subject::lock(TestAndSet::new))
}

/// Asserts the number of views, without and with the order of arrivals, and the properties about order that hold.
fn holds(found: &EveryN, views: [usize; 2], in_order: &[Property]) {
    assert!(found.holds(), "{found:?}");
    let order = found.order.as_ref().expect("it is looked for if exclusion holds");
    assert_eq!(([found.views, order.views], &order.holds[..]), (views, in_order));
}

const IN_ORDER: [Property; 3] = [Property::Fcfs, Property::KFcfs, Property::Fife];

#[test]
fn ticket_locks_exclude_and_serve_in_order_for_every_n() {
    holds(&every_n(1, ticket_lock).unwrap(), [54, 54], &IN_ORDER);
    holds(&every_n(1, ticket_k(1)).unwrap(), [54, 54], &IN_ORDER);
    holds(&every_n(2, ticket_k(2)).unwrap(), [5_458, 11_320], &IN_ORDER[1..]);
}

#[test]
#[ignore = "1 minute"]
fn a_ticket_lock_for_three_excludes_for_every_n() {
    let precision = Precision { m: 4, is_forgetful: true, kept: Kept::ALL };
    let found = closed(&ticket_k(3), 3, precision, false, &mut |_| true).unwrap();
    assert_eq!((found.views(), found.undecided), (400_160, None));
}

#[test]
fn a_queue_excludes_and_serves_in_order_for_every_n() {
    holds(&every_n(1, queue(1)).unwrap(), [7, 7], &IN_ORDER);
    holds(&every_n(2, queue(2)).unwrap(), [30, 46], &IN_ORDER[1..]);
    assert!(every_n(3, queue(3)).unwrap().order.unwrap().holds == IN_ORDER[1..]);
}

#[test]
fn test_and_set_and_semaphores_exclude_for_every_n_in_no_order() {
    holds(&every_n(1, test_and_set).unwrap(), [8, 13], &[]);
    holds(&every_n(1, gottlieb(1)).unwrap(), [14, 32], &[]);
    holds(&every_n(2, gottlieb(2)).unwrap(), [34, 303], &[]);
    assert!(every_n(3, gottlieb(3)).unwrap().holds());
}

#[test]
fn bakeries_exclude_and_serve_in_order_for_every_n() {
    holds(&every_n(1, bakery).unwrap(), [2_596, 3_384], &IN_ORDER);
    holds(&every_n(1, labels).unwrap(), [23_357, 25_501], &IN_ORDER);
}

#[test]
fn registers_with_process_numbers_are_refused() {
    let names = |n| Some(Subject::lock(move |space| fischer_queue_names::new(space, Size { n, k: 2 })));
    let found = every_n(2, names).unwrap();
    assert!(matches!(found.undecided, Some(Undecided::DoesNotApply(_))), "{found:?}");
}
