//! The native memory passes the tests every memory passes.
use std::convert::Infallible;

use doorway_memory::{
    Local, Memory, Space,
    conformance::{self, Harness},
};
use doorway_native::{Heap, Native};

struct NativeHarness;

impl Harness for NativeHarness {
    type Space = Heap;

    fn complete<A, R: Local>(
        &self,
        make: impl Fn(&mut Heap) -> A,
        body: impl Fn(&A, &mut Native) -> Result<R, Infallible>,
    ) -> R {
        let registers = make(&mut Heap);
        let Ok(result) = body(&registers, &mut Native::new());
        result
    }
}

#[test]
fn the_native_memory_conforms() {
    conformance::all(&NativeHarness);
}

#[test]
fn a_narrow_number_that_overflowed_is_still_found_by_compare_swap() {
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
