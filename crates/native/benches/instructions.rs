//! The cost of the generic source: instructions per passage of `bakery`, generic and written by hand.
//!
//! The hand-written code is on atomics, with the same padding, orderings and fences, and the same check for parked
//! waiters after each write. It is for x86, where not all accesses are sequentially consistent.
//!
//! ```text
//! cargo bench -p doorway-native --bench instructions
//! ```
//!
//! The program runs itself under callgrind, once per subject and once without passages, which is subtracted.
//! Instructions are counted and not timed, so the figures are the same on every run.
use std::{
    env,
    error::Error,
    fs,
    hint::black_box,
    process::{Command, ExitCode, Stdio},
    sync::atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release, SeqCst},
        compiler_fence, fence,
    },
};

use crossbeam_utils::CachePadded;

use doorway_algorithms::mutex::bakery::Bakery;
use doorway_memory::{Exclusion, Memory, Pid};
use doorway_native::{Heap, Native};

const N: usize = 8;
const P: Pid = 5;
const PASSAGES: u64 = 20_000;
/// The largest ratio of the generic source's cost to that of the hand-written code.
const MAX_RATIO: f64 = 1.05;

fn main() -> ExitCode {
    let subject = env::args().nth(1).unwrap_or_default();
    match subject.as_str() {
        "empty" => repeat(|| ()),
        "generic" => generic(),
        "hand" => by_hand(),
        // `cargo test --all-targets` passes no argument: unoptimised code is not worth counting.
        "" => println!("instructions: nothing was counted; run `cargo bench`"),
        _ => {
            return compare().unwrap_or_else(|error| {
                eprintln!("instructions: {error}");
                ExitCode::from(2)
            });
        }
    }
    ExitCode::SUCCESS
}

fn compare() -> Result<ExitCode, Box<dyn Error>> {
    let empty = instructions("empty")?;
    let per_passage = |subject| Ok::<_, Box<dyn Error>>((instructions(subject)? - empty) as f64 / PASSAGES as f64);
    let (generic, hand) = (per_passage("generic")?, per_passage("hand")?);
    let ratio = generic / hand;
    println!("bakery, n = {N}, one thread: instructions per passage");
    println!("  generic source  {generic:8.1}");
    println!("  by hand         {hand:8.1}");
    println!("  ratio           {ratio:8.3}  (at most {MAX_RATIO})");
    Ok(if ratio <= MAX_RATIO { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The number of instructions that this program executes for a subject.
fn instructions(subject: &str) -> Result<u64, Box<dyn Error>> {
    let file = env::temp_dir().join(format!("doorway-instructions-{}-{subject}", std::process::id()));
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", &format!("--callgrind-out-file={}", file.display())])
        .arg(env::current_exe()?)
        .arg(subject)
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("`valgrind` does not start: {error}; install it and try again"))?;
    if !status.success() {
        return Err(format!("`valgrind --tool=callgrind` ended with {status} for `{subject}`; run it by hand").into());
    }
    let text = fs::read_to_string(&file)?;
    fs::remove_file(&file)?;
    let totals = text.lines().find_map(|line| line.strip_prefix("totals:"));
    Ok(totals.ok_or("callgrind's file has no line `totals:`; is it another version?")?.trim().parse()?)
}

fn repeat(passage: impl Fn()) {
    for _ in 0..black_box(PASSAGES) {
        passage();
    }
}

fn generic() {
    let bakery = black_box(Bakery::new(&mut Heap, N));
    repeat(|| generic_passage(&bakery, black_box(P)));
}

#[inline(never)]
fn generic_passage(bakery: &Bakery<Native>, p: Pid) {
    let mut m = Native::new();
    let Ok(place) = bakery.doorway(&mut m, p);
    let Ok(inside) = bakery.wait(&mut m, p, &place);
    let Ok(()) = bakery.exit(&mut m, p, &inside);
}

fn by_hand() {
    let registers = || (0..N).map(|_| CachePadded::new(AtomicU64::new(0))).collect();
    let bakery = black_box(ByHand { choosing: registers(), number: registers() });
    repeat(|| passage_by_hand(&bakery, black_box(P)));
}

struct ByHand {
    choosing: Vec<CachePadded<AtomicU64>>,
    number: Vec<CachePadded<AtomicU64>>,
}

#[inline(never)]
fn passage_by_hand(bakery: &ByHand, p: Pid) {
    let mut m = Native::new(); // for `relax`
    let mine = bakery.doorway(p);
    bakery.wait(&mut m, p, mine);
    bakery.exit(p);
}

/// The number of parked waiters: 0 during the measurement, but every writer has to check it.
static PARKED: CachePadded<AtomicU32> = CachePadded::new(AtomicU32::new(0));

fn write(register: &AtomicU64, value: u64) {
    register.store(value, Release);
    compiler_fence(SeqCst);
    if PARKED.load(Relaxed) != 0 {
        wake(register);
    }
}

#[cold]
#[inline(never)]
fn wake(register: &AtomicU64) {
    black_box(register);
    PARKED.fetch_sub(1, Relaxed);
}

impl ByHand {
    fn doorway(&self, p: Pid) -> u64 {
        write(&self.choosing[p], 1);
        fence(SeqCst);
        let mut max = 0;
        for other in &self.number {
            max = max.max(other.load(Acquire));
        }
        write(&self.number[p], max + 1);
        write(&self.choosing[p], 0);
        fence(SeqCst);
        max + 1
    }

    fn wait(&self, m: &mut Native, p: Pid, mine: u64) {
        for i in 0..self.number.len() {
            if i == p {
                continue;
            }
            while self.choosing[i].load(Acquire) != 0 {
                m.relax();
            }
            loop {
                let other = self.number[i].load(Acquire);
                if other == 0 || (other, i) >= (mine, p) {
                    break;
                }
                m.relax();
            }
        }
    }

    fn exit(&self, p: Pid) {
        write(&self.number[p], 0);
    }
}
