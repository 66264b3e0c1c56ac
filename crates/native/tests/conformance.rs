//! The native memory passes the conformance tests of all memories.
use std::{
    convert::Infallible,
    hint,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
};

use doorway_memory::{
    Local, Memory, Space,
    conformance::{self, Harness},
};
use doorway_native::{Heap, Layout, Native, Packed, Spinning};

/// Runs each body on one thread.
struct OneThread<S>(S);

impl<L: Layout, S: Space<Mem = Native<L>> + Copy> Harness for OneThread<S> {
    type Space = S;

    fn complete<A, R: Local>(
        &self,
        make: impl Fn(&mut S) -> A,
        body: impl Fn(&A, &mut Native<L>) -> Result<R, Infallible>,
    ) -> R {
        let registers = make(&mut { self.0 });
        let Ok(result) = body(&registers, &mut Native::new());
        result
    }
}

#[test]
fn the_native_memory_conforms_in_every_layout() {
    conformance::all(&OneThread(Heap));
    conformance::all(&OneThread(Packed));
    conformance::all(&OneThread(Spinning));
}

#[test]
fn compare_swap_finds_a_narrow_number_that_overflowed() {
    let mut m = Native::new();
    let x = Heap.shared("x", 255_u8);
    assert_eq!(m.fetch_add(&x, 1), Ok(255));
    assert_eq!(m.read(&x), Ok(0));
    assert_eq!(m.compare_swap(&x, 1, 7), Ok(false));
    assert_eq!(m.compare_swap(&x, 0, 7), Ok(true));
    assert_eq!(m.read(&x), Ok(7));
}

#[test]
fn a_register_has_cache_lines_of_its_own() {
    let registers = Heap.per_process("flag", 2, false);
    let [a, b] = [&registers[0], &registers[1]].map(|reg| std::ptr::from_ref(reg).addr());
    assert!(b - a >= 64);
}

/// Two threads each write one register and then read the other's: they must not both miss the other's write.
///
/// There are many rounds. Without the fence, one run of three showed about 50 such misses, the others none. The proof
/// is the checker's.
#[test]
fn no_read_overtakes_a_write_past_a_fence() {
    const ROUNDS: u64 = 20_000;
    let registers = Heap.array("x", 2, 0_u64);
    let begun = [AtomicU64::new(0), AtomicU64::new(0)];
    let play = |p: usize| -> Vec<bool> {
        let mut m = Native::new();
        let round = |round| {
            begun[p].store(round, SeqCst);
            for spins in 1_u32.. {
                if begun[1 - p].load(SeqCst) >= round {
                    break;
                }
                if spins % 1024 == 0 { thread::yield_now() } else { hint::spin_loop() }
            }
            let Ok(()) = m.write(&registers[p], round);
            let Ok(()) = m.fence();
            let Ok(seen) = m.read(&registers[1 - p]);
            seen < round
        };
        (1..=ROUNDS).map(round).collect()
    };
    let [missed, missed_too] = thread::scope(|scope| {
        let play = &play;
        let threads = [0, 1].map(|p| scope.spawn(move || play(p)));
        threads.map(|thread| thread.join().expect("a thread does not panic"))
    });
    assert_eq!(std::iter::zip(missed, missed_too).filter(|both| *both == (true, true)).count(), 0);
}
