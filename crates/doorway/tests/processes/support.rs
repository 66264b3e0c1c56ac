//! What the tests share: directories, processes with a role, and registers that these processes share.
use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{self, Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use doorway::process::{Error, Semaphore};
use doorway_memory::Space;
use doorway_shm::{File, Location, Mapping, Plan, Reg, Shared};

/// The environment variable that holds the role of a process.
pub(crate) const ROLE: &str = "DOORWAY_TEST_ROLE";

/// The timeout for events that must happen; no test asserts how long they take.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// How long a test waits to see that an event does not happen.
pub(crate) const SHORT: Duration = Duration::from_millis(60);

/// The largest number of threads that a board is for.
pub(crate) const MAX_THREADS: usize = 200;

/// The numbers of a process' threads, if each has this many.
pub(crate) fn threads_of(process: usize, threads: usize) -> std::ops::Range<usize> {
    process * threads..(process + 1) * threads
}

/// The flag of a killed thread.
pub(crate) const DEAD: u64 = 0;

/// Registers that the processes of a test share.
pub(crate) struct Board {
    pub(crate) entries: Reg<u64>,
    pub(crate) violations: Reg<u64>,
    pub(crate) flags: Vec<Reg<u64>>,
    pub(crate) passages: Vec<Reg<u64>>,
}

impl Board {
    fn plan() -> (Plan, Board) {
        let mut plan = Plan::new();
        let entries = plan.shared("entries", 0);
        let violations = plan.shared("violations", 0);
        let (flags, passages) = (plan.array("flag", MAX_THREADS, 0), plan.array("passages", MAX_THREADS, 0));
        (plan, Board { entries, violations, flags, passages })
    }

    pub(crate) fn create(path: &Path) -> (Board, Shared) {
        Mapping::open_or_create(&Location::path(path).unwrap(), 1, 2, || Board::plan().0).unwrap();
        Board::open(path)
    }

    pub(crate) fn open(path: impl AsRef<Path>) -> (Board, Shared) {
        let mapping = Mapping::open(&Location::path(path.as_ref()).unwrap()).unwrap();
        let (plan, board) = Board::plan();
        (board, File::new(mapping, plan).unwrap().memory(0))
    }
}

/// A process with a role.
pub(crate) struct TestProcess {
    pub(crate) child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl TestProcess {
    pub(crate) fn start(role: &str) -> TestProcess {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "role", "--nocapture"]).env(ROLE, role);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        TestProcess { child, input, output }
    }

    /// Reads the next line of its output.
    pub(crate) fn line(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the process ended without output");
            // The text before `@` is the test harness'.
            if let Some((_, said)) = line.split_once('@') {
                return said.trim().to_owned();
            }
        }
    }

    /// Tells it to continue.
    pub(crate) fn resume(&mut self) {
        writeln!(self.input).unwrap();
    }

    pub(crate) fn signal(&self, signal: i32) {
        self::signal(self.child.id() as i32, signal);
    }

    pub(crate) fn succeeds(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for TestProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[allow(unsafe_code, reason = "sends a signal")]
pub(crate) fn signal(pid: i32, signal: i32) {
    // SAFETY: `kill` accesses no memory. The pid is that of a process that this one has started and not waited for,
    // or of a child of such a process.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

pub(crate) fn say(line: &str) {
    println!("@{line}");
}

pub(crate) fn wait_for_line() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

pub(crate) fn until(holds: impl Fn() -> bool) {
    let late = Instant::now() + LONG;
    while !holds() {
        assert!(Instant::now() < late, "the condition does not become true");
        thread::sleep(Duration::from_micros(300));
    }
}

/// Forgets a semaphore as soon as it is not in use: a program that a concurrent test starts has this process' files open
/// between fork and exec.
pub(crate) fn forget(path: &Path) {
    until(|| match Semaphore::forget(path) {
        Err(Error::InUse { .. }) => false,
        result => result.is_ok() || panic!("{result:?}"),
    });
}

/// A directory for one test.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    pub(crate) fn new() -> Directory {
        static DIRECTORIES: AtomicU64 = AtomicU64::new(0);
        let name = format!("doorway-processes-{}-{}", process::id(), DIRECTORIES.fetch_add(1, SeqCst));
        let path = env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Directory(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Marsaglia's xorshift.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % end
    }
}
