//! Entries a second of an algorithm of the catalogue in a loop with nothing outside and inside what the harness of Buhr, Dice
//! and Hesselink's C collection has there: a random number is added to a sum, with twenty turns of an empty loop in between. For
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

use doorway_algorithms::mutex;
use doorway_memory::Exclusion;
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
        "peterson-tree" => run!(mutex::peterson_tree::PetersonTree<_>),
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

/// In cache lines of its own.
#[repr(align(128))]
struct Apart<T>(T);

/// What threads see of each other inside.
#[derive(Default)]
struct Room {
    who: AtomicUsize,
    sum: AtomicU32,
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
        assert_eq!(self.who.load(Relaxed), p, "somebody else is inside");
    }
}

/// Which process one thread is next: both, and both again, in a random order each time, as the collection does it.
fn points() -> [usize; 64] {
    let mut random = 0x2545_f491_u32;
    let mut points = [0; 64];
    for pair in points.chunks_exact_mut(2) {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        let first = random as usize % 2;
        pair.copy_from_slice(&[first, 1 - first]);
    }
    points
}

/// Twenty turns of a loop whose counter is volatile, as in C.
#[inline(always)]
#[allow(unsafe_code, reason = "nothing safe is volatile")]
fn idle() {
    let mut turns = 0_usize;
    let turns = &raw mut turns;
    // SAFETY: it points to a variable of ours, which lives until the end of the loop and which nothing else touches.
    unsafe {
        while turns.read_volatile() < 20 {
            turns.write_volatile(turns.read_volatile() + 1);
        }
    }
}

fn entries_per_second<L: Layout>(lock: &(impl Exclusion<Native<L>> + Sync), threads: usize, time: Duration) -> f64 {
    let (stop, room) = (Apart(AtomicBool::new(false)), Apart(Room::default()));
    let start = Barrier::new(threads + 1);
    let work = |mut p: usize| {
        let mut m = Native::<L>::new();
        let (mut entries, mut random, points) = (0_u64, 0x9e37_79b9 + p as u32, points());
        start.wait();
        while !stop.0.load(SeqCst) {
            let Ok(place) = lock.doorway(&mut m, p);
            let Ok(place) = lock.enter(&mut m, p, &place);
            room.0.stay(p, &mut random);
            let Ok(()) = lock.exit(&mut m, p, &place);
            m.after_you();
            entries += 1;
            if threads == 1 {
                p = points[entries as usize % points.len()];
            }
        }
        entries
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
        stop.0.store(true, SeqCst);
        let took = begin.elapsed();
        let entries: u64 = workers.into_iter().map(|worker| worker.join().expect("a thread does not panic")).sum();
        entries as f64 / took.as_secs_f64()
    })
}
