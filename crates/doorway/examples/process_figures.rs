//! Measures `doorway::process::Semaphore` and flock(2): `cargo run --release -p doorway --example process_figures`.
//!
//! The program runs itself again for every process that it needs.
#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("`process::Semaphore` needs Linux");
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    figures::main()
}

#[cfg(target_os = "linux")]
mod figures {
    use std::{
        env,
        error::Error,
        fs::{self, File},
        hint::black_box,
        io::{BufRead, BufReader, Write},
        path::{Path, PathBuf},
        process::{Child, ChildStdin, ChildStdout, Command, Stdio},
        thread,
        time::{Duration, Instant},
    };

    use doorway::process::Semaphore;

    type Result<T> = std::result::Result<T, Box<dyn Error>>;

    pub(super) fn main() -> Result<()> {
        let arguments: Vec<String> = env::args().skip(1).collect();
        match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["hold", path, k] => hold(&Semaphore::open(path, k.parse()?)?),
            ["compete", path, k, rounds] => compete(&Semaphore::open(path, k.parse()?)?, rounds.parse()?),
            _ => {
                let directory = Directory::new()?;
                uncontended(&directory)?;
                order(&directory)?;
                death(&directory)?;
                waiting(&directory)?;
                contention(&directory)
            }
        }
    }

    /// Acquires, prints the time, and leaves when told to.
    fn hold(semaphore: &Semaphore) -> Result<()> {
        let permit = semaphore.acquire()?;
        println!("entered {}", now());
        std::io::stdin().read_line(&mut String::new())?;
        drop(permit);
        Ok(())
    }

    /// Acquires repeatedly, for 0.3 ms each.
    fn compete(semaphore: &Semaphore, rounds: usize) -> Result<()> {
        for _ in 0..rounds {
            let _permit = semaphore.acquire()?;
            thread::sleep(Duration::from_micros(300));
        }
        Ok(())
    }

    fn uncontended(directory: &Directory) -> Result<()> {
        let semaphore = Semaphore::open(directory.file("uncontended"), 1)?;
        let passage = time(|| {
            drop(black_box(semaphore.acquire()?));
            Ok(())
        })?;
        println!("uncontended: {passage} to acquire and release");
        let file = File::create(directory.file("flock"))?;
        let flock = time(|| {
            file.lock()?;
            file.unlock()?;
            Ok(())
        })?;
        println!("uncontended, flock(2): {flock}");
        Ok(())
    }

    /// Times a passage, in slices so short that most are not interrupted.
    fn time(passage: impl Fn() -> Result<()>) -> Result<String> {
        const SLICES: usize = 2000;
        const TIMES: u32 = 500;
        let mut slices = Vec::new();
        for _ in 0..SLICES {
            let begun = Instant::now();
            for _ in 0..TIMES {
                passage()?;
            }
            slices.push(begun.elapsed() / TIMES);
        }
        slices.sort_unstable();
        Ok(format!(
            "{} ns (median of {SLICES} times {TIMES}; best {})",
            slices[SLICES / 2].as_nanos(),
            slices[0].as_nanos()
        ))
    }

    fn order(directory: &Directory) -> Result<()> {
        const TRIALS: usize = 100;
        for k in [1, 2] {
            let path = directory.file(&format!("order{k}"));
            let semaphore = Semaphore::open(&path, k)?;
            let mut in_order = 0;
            for _ in 0..TRIALS {
                let permits = (0..k).map(|_| semaphore.acquire()).collect::<std::result::Result<Vec<_>, _>>()?;
                let mut waiters = Vec::new();
                for count in 1..=6 {
                    waiters.push(Holder::start(&path, k)?);
                    until(|| semaphore.waiters().len() == count);
                }
                drop(permits);
                // Each holder is told to leave once it has entered; with k holders, k neighbours may enter in any
                // order.
                let mut entered: Vec<(u64, usize)> = Vec::new();
                for (number, waiter) in waiters.iter_mut().enumerate() {
                    entered.push((waiter.entered()?, number));
                    waiter.leave()?;
                }
                entered.sort_unstable();
                in_order += usize::from(entered.iter().enumerate().all(|(at, &(_, number))| at.abs_diff(number) < k));
            }
            println!("order, k = {k}: 6 waiters served in order of arrival in {in_order} of {TRIALS} trials");
        }
        Ok(())
    }

    fn death(directory: &Directory) -> Result<()> {
        const TRIALS: usize = 100;
        let path = directory.file("death");
        let semaphore = Semaphore::open(&path, 1)?;
        let mut latencies = Vec::new();
        for _ in 0..TRIALS {
            let mut holder = Holder::start(&path, 1)?;
            holder.entered()?;
            let mut waiter = Holder::start(&path, 1)?;
            until(|| semaphore.waiters().len() == 1);
            thread::sleep(Duration::from_millis(23)); // until the waiter sleeps, between two of its liveness checks
            let killed = now();
            holder.child.kill()?;
            latencies.push((waiter.entered()? - killed) as f64 / 1e6);
            waiter.leave()?;
        }
        latencies.sort_by(f64::total_cmp);
        let (median, worst) = (latencies[TRIALS / 2], latencies[TRIALS - 1]);
        println!(
            "holder killed: the next waiter enters after {median:.2} ms (median), {worst:.2} ms (worst of {TRIALS})"
        );
        Ok(())
    }

    fn waiting(directory: &Directory) -> Result<()> {
        let path = directory.file("waiting");
        let semaphore = Semaphore::open(&path, 1)?;
        let permit = semaphore.acquire()?;
        let mut waiters = Vec::new();
        for count in 1..=6 {
            waiters.push(Holder::start(&path, 1)?);
            until(|| semaphore.waiters().len() == count);
        }
        let spent = |holder: &Holder| -> Result<f64> {
            let mut nanoseconds = 0.0;
            for thread in fs::read_dir(format!("/proc/{}/task", holder.child.id()))? {
                let stat = fs::read_to_string(thread?.path().join("schedstat"))?;
                nanoseconds += stat.split_whitespace().next().ok_or("schedstat")?.parse::<f64>()?;
            }
            Ok(nanoseconds / 1e9)
        };
        let before = waiters.iter().map(spent).collect::<Result<Vec<f64>>>()?;
        const SECONDS: u64 = 5;
        thread::sleep(Duration::from_secs(SECONDS));
        let after = waiters.iter().map(spent).collect::<Result<Vec<f64>>>()?;
        let share = |(before, after): (&f64, &f64)| format!("{:.3} %", 100.0 * (after - before) / SECONDS as f64);
        let shares: Vec<String> = before.iter().zip(&after).map(share).collect();
        println!("waiting for {SECONDS} s: the six waiters take {} of a processor", shares.join(", "));
        drop(permit);
        for waiter in &mut waiters {
            waiter.entered()?;
            waiter.leave()?;
        }
        Ok(())
    }

    fn contention(directory: &Directory) -> Result<()> {
        const PROCESSES: usize = 8;
        const ROUNDS: usize = 500;
        for k in [1, 2] {
            let path = directory.file(&format!("contention{k}"));
            let begun = Instant::now();
            let children = (0..PROCESSES)
                .map(|_| run(&["compete", path.to_str().ok_or("path")?, &k.to_string(), &ROUNDS.to_string()]))
                .collect::<Result<Vec<Child>>>()?;
            for mut child in children {
                child.wait()?;
            }
            let entries = PROCESSES * ROUNDS;
            println!(
                "{PROCESSES} processes, k = {k}, 0.3 ms in the critical section: {:.0} entries per second",
                entries as f64 / begun.elapsed().as_secs_f64()
            );
        }
        Ok(())
    }

    struct Holder {
        child: Child,
        input: ChildStdin,
        output: BufReader<ChildStdout>,
    }

    impl Holder {
        fn start(path: &Path, k: usize) -> Result<Holder> {
            let mut child = run(&["hold", path.to_str().ok_or("path")?, &k.to_string()])?;
            let input = child.stdin.take().ok_or("stdin")?;
            let output = BufReader::new(child.stdout.take().ok_or("stdout")?);
            Ok(Holder { child, input, output })
        }

        /// Waits until the process has entered, and returns when it did.
        fn entered(&mut self) -> Result<u64> {
            let mut line = String::new();
            self.output.read_line(&mut line)?;
            Ok(line.trim().strip_prefix("entered ").ok_or("the process died")?.parse()?)
        }

        fn leave(&mut self) -> Result<()> {
            writeln!(self.input)?;
            self.child.wait()?;
            Ok(())
        }
    }

    impl Drop for Holder {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn run(arguments: &[&str]) -> Result<Child> {
        let mut command = Command::new(env::current_exe()?);
        Ok(command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?)
    }

    /// Nanoseconds on a clock that all processes share.
    fn now() -> u64 {
        let since_1970 = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("after 1970");
        since_1970.as_nanos() as u64
    }

    fn until(holds: impl Fn() -> bool) {
        while !holds() {
            thread::sleep(Duration::from_micros(200));
        }
    }

    struct Directory(PathBuf);

    impl Directory {
        fn new() -> Result<Directory> {
            let path = env::temp_dir().join(format!("doorway-figures-{}", std::process::id()));
            fs::create_dir(&path)?;
            Ok(Directory(path))
        }

        fn file(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
