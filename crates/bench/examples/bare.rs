//! Measures the entries per second of an algorithm of the catalogue in a loop with an empty remainder. The critical
//! section is that of the harness of Buhr, Dice and Hesselink's C collection: it reads a sum, idles, and adds a
//! random number. For `scripts/compare-c`.
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
        eprintln!("usage: bare ALGORITHM padded|packed|spinning THREADS SECONDS");
        return ExitCode::from(2);
    };
    let (Ok(threads @ 1..), Ok(seconds)) = (threads.parse(), seconds.parse()) else {
        eprintln!("THREADS and SECONDS must be numbers above 0, not `{threads}` and `{seconds}`");
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
                    eprintln!("`{layout}` is not a layout; use `padded`, `packed` or `spinning`");
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
            eprintln!("`{algorithm}` is not among the compared algorithms");
            return ExitCode::from(2);
        }
    };
    println!("{entries:.0}");
    ExitCode::SUCCESS
}

/// The shared state of the critical section.
#[derive(Default)]
struct Section {
    holder: CachePadded<AtomicUsize>,
    sum: CachePadded<AtomicU32>,
}

impl Section {
    fn run(&self, p: usize, random: &mut u32) {
        self.holder.store(p, Relaxed);
        let sum = self.sum.load(Relaxed);
        *random ^= *random << 6;
        *random ^= *random >> 21;
        *random ^= *random << 7;
        idle();
        self.sum.store(sum.wrapping_add(*random), Relaxed);
        assert!(self.holder.load(Relaxed) == p, "there is another holder");
    }
}

/// Takes as long as the twenty iterations of an empty loop in the C program. `scripts/compare-c` puts the same
/// instructions there.
///
/// A loop would not take the same time in two programs: whether the processor predicts that the twentieth iteration
/// is the last depends on the loop's address and surroundings, and a misprediction costs half as much as the whole
/// passage.
#[inline(always)]
#[cfg_attr(target_arch = "x86_64", allow(unsafe_code, reason = "no two compilers make the same of anything else"))]
fn idle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the code decrements a register of its own, and changes nothing but that and the flags.
    unsafe {
        std::arch::asm!(".rept 20", "dec {0}", ".endr", inout(reg) 20_u64 => _, options(nomem, nostack));
    }
    #[cfg(not(target_arch = "x86_64"))]
    (0..20).for_each(|turn| _ = std::hint::black_box(turn));
}

fn entries_per_second<L: Layout>(lock: &impl Exclusion<Native<L>>, threads: usize, time: Duration) -> f64 {
    let (stop, section) = (CachePadded::new(AtomicBool::new(false)), Section::default());
    let start = Barrier::new(threads + 1);
    let work = |p| {
        pin(p);
        start.wait();
        passages(lock, p, &section, &stop)
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

/// Pins this thread to a processor, as the C collection does.
#[allow(unsafe_code, reason = "a system call the standard library does not have")]
fn pin(processor: usize) {
    #[cfg(target_os = "linux")]
    // SAFETY: a `cpu_set_t` consists of words, for which zeros are valid. Both calls get a reference to it, and the
    // second its size. If there is no such processor, the call fails and nothing changes.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = processor;
}

/// Makes passages until told to stop, and returns their number.
///
/// This is a function of its own, so that the compiler knows that the addresses of the lock's registers do not
/// change, as it does for the variables of a C program.
#[inline(never)]
fn passages<L: Layout>(lock: &impl Exclusion<Native<L>>, p: Pid, section: &Section, stop: &AtomicBool) -> u64 {
    let mut m = Native::<L>::new();
    let (mut entries, mut random) = (0_u64, 0x9e37_79b9 + p as u32);
    while !stop.load(SeqCst) {
        let Ok(place) = lock.doorway(&mut m, p);
        let Ok(inside) = lock.wait(&mut m, p, &place);
        section.run(p, &mut random);
        let Ok(()) = lock.exit(&mut m, p, &inside);
        m.yield_after_release();
        entries += 1;
    }
    entries
}
