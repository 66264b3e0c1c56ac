//! `doorway check` beside SPIN, both exact: one run of each in turn, wall clock of the whole process, peak memory.
//!
//! ```text
//! cargo bench -p doorway-cli --bench spin
//! ```
//!
//! The models in `promela/` take the steps of our sources, so that states can be compared one for one, and give SPIN as
//! little to store as they can. Its options are the best for it among the exact ones: as it comes and with `-DNOCOMP`
//! it is fastest, which of the two differs from run to run; with `-DMA` it is smallest. Partial order reduction takes no
//! state away, as every step is an access; with it, with `-DCOLLAPSE` and breadth-first SPIN is slower.
use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Instant,
};

use comfy_table::{CellAlignment, Table, presets};
use serde_json::Value;

/// How often each is run; the median counts.
const ROUNDS: usize = 5;
const MEGABYTE: f64 = 1024.0 * 1024.0;

/// An algorithm, and what makes SPIN do best on it.
struct Subject {
    name: &'static str,
    n: usize,
    promela: &'static str,
    /// A little more than its search gets deep: the stack is allocated at once.
    depth: u32,
    /// Bits of its hash table: with fewer it chains, with more it touches more memory.
    hash: u32,
    /// Bytes of a state for `-DMA`; with fewer it refuses.
    vector: u32,
    /// Threads beyond one for ours.
    more_threads: &'static [usize],
}

const SUBJECTS: [Subject; 3] = [
    Subject { name: "filter", n: 4, promela: "filter.pml", depth: 55_000, hash: 18, vector: 15, more_threads: &[] },
    Subject { name: "one-bit", n: 6, promela: "one_bit.pml", depth: 130_000, hash: 21, vector: 19, more_threads: &[2] },
    Subject { name: "bakery", n: 3, promela: "bakery.pml", depth: 2_500, hash: 17, vector: 13, more_threads: &[] },
];

fn main() -> ExitCode {
    // What `cargo test --all-targets` does: unoptimised code is not worth timing.
    if !env::args().any(|argument| argument == "--bench") {
        println!("spin: nothing was timed; try cargo bench");
        return ExitCode::SUCCESS;
    }
    match compare() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("spin: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints the table; whether the two agree on every verdict.
fn compare() -> Result<bool, Box<dyn Error>> {
    let tools = Tools::find()?;
    let folder = Folder::new()?;
    println!(
        "{}; {}; doorway {}. Each run {ROUNDS} times in turn: median wall clock of the whole process.",
        tools.spin,
        tools.compiler,
        env!("CARGO_PKG_VERSION")
    );
    let mut measured = Vec::new();
    for subject in &SUBJECTS {
        let mut contestants = contestants(subject, &folder, &tools)?;
        for contestant in &mut contestants {
            contestant.measure_peak(&tools)?;
        }
        for _ in 0..ROUNDS {
            for contestant in &mut contestants {
                contestant.run()?;
            }
        }
        measured.push((subject, contestants));
    }
    println!("\n{}\n", table(&measured).trim_fmt());
    println!("bytes/state: the states and their index. peak: all the process ever held, and that per state.");
    println!("speed: how many times as fast as the fastest SPIN, whose work is exclusion alone, on one thread.");
    if tools.time.is_none() {
        println!("peak is empty: there is no /usr/bin/time here; apt-get install time");
    }
    println!();
    let mut agree = true;
    for (subject, contestants) in &measured {
        agree &= conclude(subject, contestants);
    }
    Ok(agree)
}

struct Tools {
    spin: String,
    cc: &'static str,
    compiler: String,
    /// Measures the peak of a process.
    time: Option<&'static str>,
}

impl Tools {
    fn find() -> Result<Tools, Box<dyn Error>> {
        let spin = first_line("spin", "-V").filter(|line| line.starts_with("Spin Version"));
        let spin = spin.ok_or("there is no SPIN to compare with; apt-get install spin gcc")?;
        let spin = spin.split(" --").next().unwrap_or_default().replace("Spin Version", "SPIN");
        let compilers = ["gcc", "cc"].into_iter().find_map(|cc| Some((cc, first_line(cc, "--version")?)));
        let (cc, compiler) = compilers.ok_or("there is no C compiler for what SPIN generates; apt-get install gcc")?;
        let time = Some("/usr/bin/time").filter(|path| Path::new(path).exists());
        Ok(Tools { spin, cc, compiler, time })
    }
}

fn first_line(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_string())
}

/// A folder of our own, gone when it is dropped.
struct Folder(PathBuf);

impl Folder {
    /// Makes it, and moves there: SPIN leaves a counterexample where it runs.
    fn new() -> Result<Folder, Box<dyn Error>> {
        let path = env::temp_dir().join(format!("doorway-spin-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        env::set_current_dir(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // at worst it stays
    }
}

/// Somebody in the table.
struct Contestant {
    tool: String,
    threads: usize,
    program: PathBuf,
    arguments: Vec<String>,
    /// What a run of it printed, understood.
    read: fn(&str) -> Result<Answer, Box<dyn Error>>,
    seconds: Vec<f64>,
    answer: Answer,
    peak: Option<f64>,
}

#[derive(Default)]
struct Answer {
    excludes: bool,
    states: f64,
    bytes_per_state: Option<f64>,
}

/// What takes part for an algorithm: SPIN first.
fn contestants(subject: &Subject, folder: &Folder, tools: &Tools) -> Result<Vec<Contestant>, Box<dyn Error>> {
    let folder = folder.0.join(subject.name);
    fs::create_dir_all(&folder)?;
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/promela").join(subject.promela);
    succeed(Command::new("spin").arg("-a").arg(model).current_dir(&folder))?;

    let graph = format!("-DMA={}", subject.vector);
    let mut contestants = Vec::new();
    for (tool, option) in [("SPIN", ""), ("SPIN -DNOCOMP", "-DNOCOMP"), ("SPIN -DMA", &graph)] {
        let program = folder.join(format!("pan{option}"));
        let options = ["-O3", "-w", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=8000", "pan.c"];
        let option = Some(option).filter(|option| !option.is_empty());
        succeed(Command::new(tools.cc).args(options).args(option).arg("-o").arg(&program).current_dir(&folder))?;
        // -E: a process that cannot go on is no error, here.
        let arguments = ["-E".to_string(), format!("-m{}", subject.depth), format!("-w{}", subject.hash)];
        contestants.push(Contestant::new(tool, 1, program, arguments.to_vec(), read_pan));
    }
    for (tool, options) in [("doorway", &["--property", "exclusion"][..]), ("doorway, all properties", &[])] {
        for &threads in [1].iter().chain(subject.more_threads) {
            let call = format!("check {} -n {} --threads {threads} --json", subject.name, subject.n);
            let arguments = call.split(' ').chain(options.iter().copied()).map(String::from).collect();
            let program = PathBuf::from(env!("CARGO_BIN_EXE_doorway"));
            contestants.push(Contestant::new(tool, threads, program, arguments, read_doorway));
        }
    }
    Ok(contestants)
}

fn succeed(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} ended with {}; it said: {}", output.status, said.trim()).into())
}

impl Contestant {
    fn new(
        tool: &str,
        threads: usize,
        program: PathBuf,
        arguments: Vec<String>,
        read: fn(&str) -> Result<Answer, Box<dyn Error>>,
    ) -> Self {
        let tool = tool.to_string();
        Contestant {
            tool,
            threads,
            program,
            arguments,
            read,
            seconds: Vec::new(),
            answer: Answer::default(),
            peak: None,
        }
    }

    /// A run that is not timed; the process between us and it would be.
    fn measure_peak(&mut self, tools: &Tools) -> Result<(), Box<dyn Error>> {
        let Some(time) = tools.time else { return Ok(()) };
        let output = Command::new(time).args(["-f", "%M"]).arg(&self.program).args(&self.arguments).output()?;
        let kilobytes = String::from_utf8(output.stderr)?.lines().last().and_then(|line| line.parse::<f64>().ok());
        self.peak = kilobytes.map(|kilobytes| kilobytes * 1024.0);
        Ok(())
    }

    fn run(&mut self) -> Result<(), Box<dyn Error>> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        let start = Instant::now();
        let output = command.output()?;
        self.seconds.push(start.elapsed().as_secs_f64());
        let said = String::from_utf8(output.stdout)?;
        self.answer = (self.read)(&said).map_err(|error| format!("{command:?}: {error}; it said: {said}"))?;
        Ok(())
    }

    fn is_spin(&self) -> bool {
        self.tool.starts_with("SPIN")
    }

    fn median(&self) -> f64 {
        let mut seconds = self.seconds.clone();
        seconds.sort_by(f64::total_cmp);
        seconds[seconds.len() / 2]
    }
}

fn read_pan(said: &str) -> Result<Answer, Box<dyn Error>> {
    if said.contains("max search depth too small") {
        return Err("it did not search everything; raise `depth`".into());
    }
    let number_before = |text: &str| {
        let line = said.lines().find(|line| line.contains(text))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let errors = said.lines().find_map(|line| line.split("errors: ").nth(1)).ok_or("it did not count errors")?;
    let states = number_before("states, stored").ok_or("it did not count states")?;
    // With -DMA the states are their own index; with -DNOCOMP it does not say.
    let index = number_before("memory used for hash table").unwrap_or(0.0);
    let bytes = number_before("actual memory usage for states").map(|states| (states + index) * MEGABYTE);
    Ok(Answer { excludes: errors.trim() == "0", states, bytes_per_state: bytes.map(|bytes| bytes / states) })
}

fn read_doorway(said: &str) -> Result<Answer, Box<dyn Error>> {
    let report: Value = serde_json::from_str(said)?;
    Ok(Answer {
        excludes: report["complete"] == true && report["properties"]["exclusion"]["verdict"] == "holds",
        states: report["states"].as_f64().ok_or("it did not count states")?,
        bytes_per_state: report["bytes_per_state"].as_f64(),
    })
}

/// The seconds of the fastest SPIN.
fn fastest_spin(contestants: &[Contestant]) -> f64 {
    contestants.iter().filter(|contestant| contestant.is_spin()).map(Contestant::median).fold(f64::INFINITY, f64::min)
}

fn table(measured: &[(&Subject, Vec<Contestant>)]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header([
        "model",
        "tool",
        "threads",
        "states",
        "seconds",
        "M states/s",
        "bytes/state",
        "peak MB",
        "peak bytes/state",
        "speed",
    ]);
    for (subject, contestants) in measured {
        for contestant in contestants {
            let Answer { states, bytes_per_state, .. } = contestant.answer;
            let seconds = contestant.median();
            let or_none = |number: Option<f64>| number.map_or("-".to_string(), |number| format!("{number:.1}"));
            table.add_row([
                format!("{} n={}", subject.name, subject.n),
                contestant.tool.clone(),
                contestant.threads.to_string(),
                format!("{states}"),
                format!("{seconds:.4}"),
                format!("{:.2}", states / seconds / 1e6),
                or_none(bytes_per_state),
                or_none(contestant.peak.map(|peak| peak / MEGABYTE)),
                or_none(contestant.peak.map(|peak| peak / states)),
                format!("{:.2}", fastest_spin(contestants) / seconds),
            ]);
        }
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Says who was faster, and returns whether they agree.
fn conclude(subject: &Subject, contestants: &[Contestant]) -> bool {
    let Subject { name, n, .. } = subject;
    let (spin, ours): (Vec<_>, Vec<_>) = contestants.iter().partition(|contestant| contestant.is_spin());
    let dissenters = contestants.iter().filter(|contestant| !contestant.answer.excludes);
    let dissenters: Vec<&str> = dissenters.map(|contestant| contestant.tool.as_str()).collect();
    if !dissenters.is_empty() {
        println!("{name} n={n}: not all say that exclusion holds; these do NOT: {}", dissenters.join("; "));
        return false;
    }
    let (theirs, states) = (spin[0].answer.states, ours[0].answer.states);
    let counts =
        if theirs == states { format!("both {states} states") } else { format!("{states} states to {theirs}") };
    let times = fastest_spin(contestants) / ours[0].median();
    println!("{name} n={n}: {times:.1} times as fast as SPIN ({counts})");
    for parallel in ours.iter().filter(|contestant| contestant.threads > 1) {
        let alone = ours.iter().find(|contestant| contestant.threads == 1 && contestant.tool == parallel.tool);
        let times = alone.map_or(f64::NAN, |alone| alone.median() / parallel.median());
        println!("{name} n={n}: {}: {times:.2} times as fast on {} threads as on 1", parallel.tool, parallel.threads);
    }
    true
}
