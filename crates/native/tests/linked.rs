//! LL/SC and atomic updates, with real threads.
use std::thread;

use doorway_memory::{Linked, Memory, Space};
use doorway_native::{Heap, Native};

const THREADS: u32 = 4;
const EACH: u32 = 10_000;

/// Every second store restores the old value: only the version shows that there were stores in between.
#[test]
fn store_conditional_fails_after_a_write_by_another_thread() {
    let flag = Heap.shared("flag", Linked::new(false));
    let stores = on_threads(|m| {
        let Ok(link) = m.load_linked(&flag);
        let Ok(stored) = m.store_conditional(&flag, link, !link.value());
        u32::from(stored)
    });
    let Ok(last) = Native::new().load_linked(&flag);
    assert_eq!((last.tag(), last.value()), (stores.into(), stores % 2 == 1));
}

#[test]
fn no_update_is_lost() {
    let x = Heap.shared("x", 0_u32);
    on_threads(|m| {
        let Ok(old) = m.update(&x, |x| x + 1);
        old
    });
    assert_eq!(Native::new().read(&x), Ok(THREADS * EACH));
}

/// Runs `body` `EACH` times on each thread and returns the sum of its results, modulo 2^32.
fn on_threads(body: impl Fn(&mut Native) -> u32 + Sync) -> u32 {
    let body = &body;
    let many = || (0..EACH).fold(0_u32, |sum, _| sum.wrapping_add(body(&mut Native::new())));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(many)).collect();
        threads.into_iter().fold(0_u32, |sum, thread| sum.wrapping_add(thread.join().expect("a thread does not panic")))
    })
}
