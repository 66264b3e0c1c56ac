//! Entries a second of an algorithm of the catalogue in a loop with nothing outside and inside what the harness of Buhr, Dice
//! and Hesselink's C collection has there: a random number is added to a sum, after having idled in between. For
//! `scripts/compare-c`.
//!
//! `bare ALGORITHM padded|packed|spinning THREADS SECONDS`
use std::{
    env,
    process::ExitCode,
    sync::{
        Barrier,
        atomic::{
            AtomicBool, AtomicU32, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::{Duration, Instant},
};

use crossbeam_utils::CachePadded;
use doorway_algorithms::mutex;
use doorway_memory::{Exclusion, Pid};
use doorway_native::{Heap, Layout, Native, Packed, Spinning};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [algorithm, layout, threads, seconds] = &arguments[..] else {
        eprintln!("bare ALGORITHM padded|packed|spinning THREADS SECONDS");
        return ExitCode::from(2);
    };
    let (Ok(threads @ 1..), Ok(seconds)) = (threads.parse(), seconds.parse()) else {
        eprintln!("`{threads}` threads for `{seconds}` seconds: both are numbers above 0");
        return ExitCode::from(2);
    };
    let time = Duration::from_secs_f64(seconds);
    let n = threads.max(2);
    macro_rules! run {
        ($lock:path) => {
            match layout.as_str() {
                "padded" => entries_per_second(&<$lock>::new(&mut Heap, n), threads, time),
                "packed" => entries_per_second(&<$lock>::new(&mut Packed, n), threads, time),
                "spinning" => entries_per_second(&<$lock>::new(&mut Spinning, n), threads, time),
                _ => {
                    eprintln!("`{layout}` is no layout: give `padded`, `packed` or `spinning`");
                    return ExitCode::from(2);
                }
            }
        };
    }
    let entries = match algorithm.as_str() {
        "bakery" => run!(mutex::bakery::Bakery<_>),
        "dijkstra" => run!(mutex::dijkstra::Dijkstra<_>),
        "filter" => run!(mutex::filter::Filter<_>),
        "tournament" => run!(mutex::tournament::Tournament<_>),
        "yang-anderson" => run!(mutex::yang_anderson::YangAnderson<_>),
        "black-white-bakery" => run!(mutex::black_white_bakery::BlackWhiteBakery<_>),
        "lamport-fast" => run!(mutex::lamport_fast::LamportFast<_>),
        "mcs" => run!(mutex::mcs::Mcs<_>),
        _ => {
            eprintln!("`{algorithm}` is not among those compared");
            return ExitCode::from(2);
        }
    };
    println!("{entries:.0}");
    ExitCode::SUCCESS
}

/// What threads see of each other inside.
#[derive(Default)]
struct Room {
    who: CachePadded<AtomicUsize>,
    sum: CachePadded<AtomicU32>,
}

impl Room {
    fn stay(&self, p: usize, random: &mut u32) {
        self.who.store(p, Relaxed);
        let sum = self.sum.load(Relaxed);
        *random ^= *random << 6;
        *random ^= *random >> 21;
        *random ^= *random << 7;
        idle();
        self.sum.store(sum.wrapping_add(*random), Relaxed);
        assert!(self.who.load(Relaxed) == p, "somebody else is inside");
    }
}

/// As long as the twenty turns of an empty loop that the C has here, in the instructions that `scripts/compare-c` puts there too.
/// A loop would do if it took the same time in any two programs; but whether a processor guesses that its twentieth turn is the
/// last depends on where the loop lies and on what is around it, and a wrong guess costs half as much as the whole passage.
#[inline(always)]
#[cfg_attr(target_arch = "x86_64", allow(unsafe_code, reason = "no two compilers make the same of anything else"))]
fn idle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it counts a register of its own down, and touches nothing but that and flags.
    unsafe {
        std::arch::asm!(".rept 20", "dec {0}", ".endr", inout(reg) 20_u64 => _, options(nomem, nostack));
    }
    #[cfg(not(target_arch = "x86_64"))]
    (0..20).for_each(|turn| _ = std::hint::black_box(turn));
}

fn entries_per_second<L: Layout>(lock: &(impl Exclusion<Native<L>> + Sync), threads: usize, time: Duration) -> f64 {
    let (stop, room) = (CachePadded::new(AtomicBool::new(false)), Room::default());
    let start = Barrier::new(threads + 1);
    let work = |p| {
        pin(p);
        start.wait();
        passages(lock, p, &room, &stop)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|p| {
                let work = &work;
                scope.spawn(move || work(p))
            })
            .collect();
        start.wait();
        let begin = Instant::now();
        thread::sleep(time);
        stop.store(true, SeqCst);
        let took = begin.elapsed();
        let entries: u64 = workers.into_iter().map(|worker| worker.join().expect("a thread does not panic")).sum();
        entries as f64 / took.as_secs_f64()
    })
}

/// Binds this thread to a processor, as the collection does.
#[allow(unsafe_code, reason = "a system call the standard library does not have")]
fn pin(processor: usize) {
    #[cfg(target_os = "linux")]
    // SAFETY: a set of processors is words, of which zeros are one; both calls are given it, and the second its size. If there is
    // no such processor, it is an error and nothing changes.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = processor;
}

/// One process' passages, until it is told to stop. A function of its own: then the compiler knows that where the lock's registers
/// are does not change, as it does of the variables of a C program.
#[inline(never)]
fn passages<L: Layout>(lock: &impl Exclusion<Native<L>>, p: Pid, room: &Room, stop: &AtomicBool) -> u64 {
    let mut m = Native::<L>::new();
    let (mut entries, mut random) = (0_u64, 0x9e37_79b9 + p as u32);
    while !stop.load(SeqCst) {
        let Ok(place) = lock.doorway(&mut m, p);
        let Ok(place) = lock.enter(&mut m, p, &place);
        room.stay(p, &mut random);
        let Ok(()) = lock.exit(&mut m, p, &place);
        m.after_you();
        entries += 1;
    }
    entries
}
