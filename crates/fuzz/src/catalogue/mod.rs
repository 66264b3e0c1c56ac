//! The locks that mutations start from: algorithms of the catalogue, transcribed, and patterns that locks are made of.
mod k_exclusion;
mod read_modify_write;
mod registers;

use k_exclusion::{counter, gottlieb, handed_on, k_bakery, owned, slots, ticket_k};
use read_modify_write::{array_queue, compare_and_swap, linked, mcs, queue, test_and_set, ticket, ticket_cyclic};
use registers::{
    bakery, bakery_labels, dijkstra, filter, labels, lamport_fast, late_flag, lock_one, one_bit, peterson,
};

use crate::lang::Program;

/// A program with its name.
pub type Named = (&'static str, Program);

/// Locks for `n` processes with capacity 1.
pub fn locks(n: usize) -> Vec<Named> {
    let mut all = Vec::new();
    if n == 2 {
        all.extend([("peterson", peterson()), ("lock-one", lock_one()), ("late-flag", late_flag())]);
    }
    all.extend([
        ("bakery", bakery(n)),
        ("one-bit", one_bit(n)),
        ("dijkstra", dijkstra(n)),
        ("lamport-fast", lamport_fast(n)),
        ("test-and-set", test_and_set()),
        ("compare-and-swap", compare_and_swap()),
        ("ticket", ticket()),
        ("ticket-cyclic", ticket_cyclic(n + 1)),
        ("array", array_queue(n)),
        ("mcs", mcs(n)),
        ("bakery-labels", bakery_labels(n)),
        ("announced", labels(n)),
        ("linked", linked()),
        ("queue", queue(n)),
        ("filter", filter(n)),
    ]);
    all
}

/// Locks with recovery whose holders have tokens.
pub fn fenced_locks() -> Vec<Named> {
    vec![("owned", owned(false)), ("owned-two-names", owned(true)), ("handed-on", handed_on())]
}

/// Locks for `n` processes with capacity `k`.
pub fn k_locks(n: usize, k: usize) -> Vec<Named> {
    vec![
        ("gottlieb", gottlieb(k)),
        ("ticket-k-cyclic", ticket_k(n, k)),
        ("announced-k", k_bakery(n, k)),
        ("slots", slots(k)),
        ("counter", counter(k)),
    ]
}
