//! Figures of `doorway::process::Semaphore`, beside flock(2): `cargo run --release -p doorway --example process_figures`.
//!
//! It runs itself again for every process that it needs.
#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("process::Semaphore is for Linux");
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
            ["crowd", path, k, rounds] => crowd(&Semaphore::open(path, k.parse()?)?, rounds.parse()?),
            _ => {
                let directory = Directory::new()?;
                alone(&directory)?;
                order(&directory)?;
                death(&directory)?;
                waiting(&directory)?;
                contention(&directory)
            }
        }
    }

    /// Acquires, says so, and leaves when told to.
    fn hold(semaphore: &Semaphore) -> Result<()> {
        let permit = semaphore.acquire()?;
        println!("inside {}", now());
        std::io::stdin().read_line(&mut String::new())?;
        drop(permit);
        Ok(())
    }

    /// Is inside again and again for 0.3 ms, and says when it came and went in.
    fn crowd(semaphore: &Semaphore, rounds: usize) -> Result<()> {
        let mut entries = Vec::new();
        for _ in 0..rounds {
            let came = now();
            let permit = semaphore.acquire()?;
            let me = std::process::id();
            let ticket = semaphore.holders().iter().find(|holder| holder.pid == me).map_or(0, |holder| holder.ticket);
            entries.push((ticket, came, now()));
            thread::sleep(Duration::from_micros(300));
            drop(permit);
        }
        entries.iter().for_each(|(ticket, came, entered)| println!("{ticket} {came} {entered}"));
        Ok(())
    }

    fn alone(directory: &Directory) -> Result<()> {
        let semaphore = Semaphore::open(directory.file("alone"), 1)?;
        let ours = time(|| {
            drop(black_box(semaphore.acquire()?));
            Ok(())
        })?;
        println!("alone, {} slots: {ours} to acquire and release", semaphore.slots());
        let file = File::create(directory.file("flock"))?;
        let flock = time(|| {
            file.lock()?;
            file.unlock()?;
            Ok(())
        })?;
        println!("alone, flock(2): {flock}");
        Ok(())
    }

    /// In short slices, most of which nobody interrupts.
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
                for there in 1..=6 {
                    waiters.push(Holder::start(&path, k)?);
                    until(|| semaphore.waiters().len() == there);
                }
                drop(permits);
                // Each is told to leave when it is inside; with k inside at once, the order of k neighbours is open.
                let mut entered: Vec<(u64, usize)> = Vec::new();
                for (number, waiter) in waiters.iter_mut().enumerate() {
                    entered.push((waiter.inside()?, number));
                    waiter.leave()?;
                }
                entered.sort_unstable();
                in_order += usize::from(entered.iter().enumerate().all(|(at, &(_, number))| at.abs_diff(number) < k));
            }
            println!("order, k = {k}: 6 waiters served as they came in {in_order} of {TRIALS} trials");
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
            holder.inside()?;
            let mut waiter = Holder::start(&path, 1)?;
            until(|| semaphore.waiters().len() == 1);
            thread::sleep(Duration::from_millis(23)); // until it sleeps, and somewhere between two of its looks
            let killed = now();
            holder.child.kill()?;
            latencies.push((waiter.inside()? - killed) as f64 / 1e6);
            waiter.leave()?;
        }
        latencies.sort_by(f64::total_cmp);
        let (median, worst) = (latencies[TRIALS / 2], latencies[TRIALS - 1]);
        println!("holder killed: the next is inside after {median:.2} ms (median), {worst:.2} ms (worst of {TRIALS})");
        Ok(())
    }

    fn waiting(directory: &Directory) -> Result<()> {
        let path = directory.file("waiting");
        let semaphore = Semaphore::open(&path, 1)?;
        let permit = semaphore.acquire()?;
        let mut waiters = Vec::new();
        for there in 1..=6 {
            waiters.push(Holder::start(&path, 1)?);
            until(|| semaphore.waiters().len() == there);
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
        println!("waiting for {SECONDS} s: the six in line take {} of a processor", shares.join(", "));
        drop(permit);
        for waiter in &mut waiters {
            waiter.inside()?;
            waiter.leave()?;
        }
        Ok(())
    }

    fn contention(directory: &Directory) -> Result<()> {
        const PROCESSES: usize = 8;
        const ROUNDS: usize = 500;
        for k in [1, 2] {
            let path = directory.file(&format!("crowd{k}"));
            let begun = Instant::now();
            let children = (0..PROCESSES)
                .map(|_| run(&["crowd", path.to_str().ok_or("path")?, &k.to_string(), &ROUNDS.to_string()]))
                .collect::<Result<Vec<Child>>>()?;
            let mut entries: Vec<(u64, u64, u64)> = Vec::new();
            for child in children {
                let output = child.wait_with_output()?;
                for line in String::from_utf8(output.stdout)?.lines() {
                    let numbers: Vec<u64> = line.split(' ').map(str::parse).collect::<std::result::Result<_, _>>()?;
                    entries.push((numbers[0], numbers[1], numbers[2]));
                }
            }
            let took = begun.elapsed().as_secs_f64();
            // One of whom is seen that it goes in after k or more with larger tickets. (For k > 1 it may have been let in before and not
            // have run yet; that is within first-in-first-enabled.)
            let overtaken = |&&(ticket, _, entered): &&(u64, u64, u64)| {
                entries
                    .iter()
                    .filter(|&&(other, came, went)| other > ticket && came < entered && went < entered)
                    .count()
                    >= k
            };
            let overtaken = entries.iter().filter(overtaken).count();
            println!(
                "crowd of {PROCESSES}, k = {k}, 0.3 ms inside: {overtaken} of {} seen inside after k or more who came later; {:.0} entries a second",
                entries.len(),
                entries.len() as f64 / took
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

        /// Waits until it is inside, and says when it was.
        fn inside(&mut self) -> Result<u64> {
            let mut line = String::new();
            self.output.read_line(&mut line)?;
            Ok(line.trim().strip_prefix("inside ").ok_or("it died")?.parse()?)
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
