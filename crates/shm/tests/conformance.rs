//! The memory shared by processes passes the conformance tests of every memory, and wakes its parked waiters.
#![cfg(target_os = "linux")]
use std::{
    env, fs, hint, process,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
};

use doorway_memory::{
    Local, Memory, Space,
    conformance::{self, Harness},
};
use doorway_shm::{File, Halt, Location, Mapping, Plan, Shared, Taken};

/// A file with these registers, whose name is removed already.
fn file(plan: &Plan) -> File {
    static FILES: AtomicU64 = AtomicU64::new(0);
    let name = format!("doorway-conformance-{}-{}", process::id(), FILES.fetch_add(1, SeqCst));
    let path = env::temp_dir().join(name);
    let mapping = Mapping::open_or_create(&Location::path(&path).unwrap(), 1, 2, || plan.clone()).unwrap();
    let file = File::new(mapping, plan.clone()).unwrap();
    for slot in 0..2 {
        let mut memory = file.memory(slot);
        assert_eq!(file.take(&mut memory).unwrap(), Taken::Free); // the file grows
        assert_eq!(memory.slot(), slot);
    }
    fs::remove_file(path).unwrap();
    file
}

struct SharedHarness;

impl Harness for SharedHarness {
    type Space = Plan;

    fn complete<A, R: Local>(
        &self,
        make: impl Fn(&mut Plan) -> A,
        body: impl Fn(&A, &mut Shared) -> Result<R, Halt>,
    ) -> R {
        let mut plan = Plan::new();
        let registers = make(&mut plan);
        body(&registers, &mut file(&plan).memory(0)).expect("there is no deadline and no watch that aborts")
    }
}

#[test]
fn shared_memory_conforms() {
    conformance::all(&SharedHarness);
}

#[test]
fn compare_swap_finds_a_narrow_number_after_overflow() {
    let mut plan = Plan::new();
    let x = plan.shared("x", 255_u8);
    let mut m = file(&plan).memory(0);
    assert_eq!(m.fetch_add(&x, 1), Ok(255));
    assert_eq!(m.read(&x), Ok(0));
    assert_eq!(m.compare_swap(&x, 1, 7), Ok(false));
    assert_eq!(m.compare_swap(&x, 0, 7), Ok(true));
    assert_eq!(m.read(&x), Ok(7));
}

#[test]
fn a_wait_ends_at_its_deadline_and_flush_clears_the_halt() {
    let mut plan = Plan::new();
    let flag = plan.shared("flag", false);
    let mut m = file(&plan).memory(0);
    m.begin(Some(std::time::Instant::now()));
    assert_eq!(m.spin(|m| m.read(&flag)), Err(Halt::Abort));
    m.flush();
    assert_eq!(m.write(&flag, true), Ok(()));
    assert_eq!(m.spin(|m| m.read(&flag)), Ok(()));
}

#[test]
fn a_register_for_which_the_file_has_no_room_is_not_accessed() {
    let mut plan = Plan::new();
    let x = plan.per_process("x", 3, 0_u64);
    let mut m = file(&plan).memory(0);
    assert_eq!((m.read(&x[1]), m.read(&x[2]), m.write(&x[2], 1)), (Ok(0), Err(Halt::Damaged), Err(Halt::Damaged)));
}

/// Two threads pass a value to and fro, each parked on its own doorbell until the other has written. The first lost
/// wake-up costs one timeout; from then on the timeout is an hour, so a second one would hang the test.
#[test]
fn a_write_wakes_the_parked_waiter() {
    struct RareChecks;
    impl doorway_shm::Watch for RareChecks {
        fn check(&self, _: usize, _: doorway_shm::Why) -> std::time::Duration {
            std::time::Duration::from_secs(3600)
        }
        fn to_wake(&self) -> Vec<usize> {
            vec![0, 1]
        }
    }
    const ROUNDS: u64 = 5_000;
    let mut plan = Plan::new();
    let ball = plan.per_process("ball", 2, 0_u64);
    let file = file(&plan);
    let play = |p: usize| {
        let mut m = file.memory(p).with_watch(std::sync::Arc::new(RareChecks));
        for round in 1..=ROUNDS {
            let throw = |m: &mut Shared| {
                m.write(&ball[1 - p], round)?;
                m.flush();
                Ok::<_, Halt>(())
            };
            if p == 0 {
                throw(&mut m).unwrap();
            }
            m.spin(|m| m.test(&ball[p], |ball| ball == round)).unwrap();
            if p == 1 {
                throw(&mut m).unwrap();
            }
        }
    };
    thread::scope(|scope| {
        let play = &play;
        (0..2).for_each(|p| drop(scope.spawn(move || play(p))));
    });
}

/// A stress test, as for the native memory; the proof is the checker's.
#[test]
fn no_read_overtakes_a_write_past_a_fence() {
    const ROUNDS: u64 = 20_000;
    let mut plan = Plan::new();
    let registers = plan.array("x", 2, 0_u64);
    let file = file(&plan);
    let begun = [AtomicU64::new(0), AtomicU64::new(0)];
    let play = |p: usize| -> Vec<bool> {
        let mut m = file.memory(p);
        let round = |round| {
            begun[p].store(round, SeqCst);
            for spins in 1_u32.. {
                if begun[1 - p].load(SeqCst) >= round {
                    break;
                }
                if spins % 1024 == 0 { thread::yield_now() } else { hint::spin_loop() }
            }
            m.write(&registers[p], round).unwrap();
            m.fence().unwrap();
            m.read(&registers[1 - p]).unwrap() < round
        };
        (1..=ROUNDS).map(round).collect()
    };
    let [missed, missed_too] = thread::scope(|scope| {
        let play = &play;
        let threads = [0, 1].map(|p| scope.spawn(move || play(p)));
        threads.map(|thread| thread.join().expect("the thread does not panic"))
    });
    assert_eq!(std::iter::zip(missed, missed_too).filter(|both| *both == (true, true)).count(), 0);
}
