//! Compares `doorway check` with SPIN in its exact mode: wall clock time of the whole process, and peak memory.
//!
//! ```text
//! cargo bench -p doorway-cli --bench spin
//! ```
//!
//! The models in `promela/` take the same steps as the algorithms of the catalogue, so that numbers of states can be
//! compared, and give SPIN as little to store as possible. SPIN runs with its best exact options: the default and
//! `-DNOCOMP` are the fastest (which of the two differs from run to run), and `-DMA` needs the least memory. SPIN is
//! slower with `-DCOLLAPSE`, breadth-first, and with partial order reduction, which removes no state, as every step is
//! an access.
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

/// The number of runs of each contestant, of which the median counts.
const ROUNDS: usize = 5;
const MEGABYTE: f64 = 1024.0 * 1024.0;

/// An algorithm, and the parameters with which SPIN performs best on it.
struct Subject {
    name: &'static str,
    n: usize,
    promela: &'static str,
    /// The limit on SPIN's search depth: little more than needed, as SPIN allocates the whole stack at the start.
    depth: u32,
    /// Bits of SPIN's hash table: with fewer bits entries are chained, with more bits SPIN accesses more memory.
    hash: u32,
    /// Bytes of a state for `-DMA`; SPIN rejects a smaller number.
    vector: u32,
    /// Numbers of threads with which `doorway` is measured, besides one.
    more_threads: &'static [usize],
}

const SUBJECTS: [Subject; 3] = [
    Subject { name: "filter", n: 4, promela: "filter.pml", depth: 55_000, hash: 18, vector: 15, more_threads: &[] },
    Subject { name: "one-bit", n: 6, promela: "one_bit.pml", depth: 130_000, hash: 21, vector: 19, more_threads: &[2] },
    Subject { name: "bakery", n: 3, promela: "bakery.pml", depth: 2_500, hash: 17, vector: 13, more_threads: &[] },
];

fn main() -> ExitCode {
    // `cargo test --all-targets` runs this too, without `--bench` and not in the release profile.
    if !env::args().any(|argument| argument == "--bench") {
        println!("spin: nothing was measured; use `cargo bench`");
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

/// Measures, prints the table, and returns whether all contestants find that exclusion holds.
fn compare() -> Result<bool, Box<dyn Error>> {
    let tools = Tools::find()?;
    let folder = Folder::new()?;
    println!(
        "{}; {}; doorway {}. Median wall clock time of {ROUNDS} alternating runs of the whole process.",
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
    println!("bytes/state: the states and their index. peak: memory of the whole process, also per state.");
    println!("speed: relative to the fastest SPIN, which checks exclusion only, on one thread.");
    if tools.time.is_none() {
        println!("peak is empty: /usr/bin/time is missing; apt-get install time");
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
    /// The program that measures the peak memory of a process, if it is installed.
    time: Option<&'static str>,
}

impl Tools {
    fn find() -> Result<Tools, Box<dyn Error>> {
        let spin = first_line("spin", "-V").filter(|line| line.starts_with("Spin Version"));
        let spin = spin.ok_or("SPIN is missing; apt-get install spin gcc")?;
        let spin = spin.split(" --").next().unwrap_or_default().replace("Spin Version", "SPIN");
        let compilers = ["gcc", "cc"].into_iter().find_map(|cc| Some((cc, first_line(cc, "--version")?)));
        let (cc, compiler) = compilers.ok_or("a C compiler for SPIN's output is missing; apt-get install gcc")?;
        let time = Some("/usr/bin/time").filter(|path| Path::new(path).exists());
        Ok(Tools { spin, cc, compiler, time })
    }
}

fn first_line(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_string())
}

/// A temporary folder, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    /// Creates the folder and makes it the current directory, in which SPIN writes counterexamples.
    fn new() -> Result<Folder, Box<dyn Error>> {
        let path = env::temp_dir().join(format!("doorway-spin-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        env::set_current_dir(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // if removing fails, the folder stays
    }
}

/// A tool with options, on one algorithm: a row of the table.
struct Contestant {
    tool: String,
    threads: usize,
    program: PathBuf,
    arguments: Vec<String>,
    /// Parses the output of a run.
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

/// The contestants for an algorithm, SPIN first.
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
        // -E: a blocked process is not an error here.
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

/// Runs the command; an error if it does not exit with 0.
fn succeed(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} ended with {}: {}", output.status, errors.trim()).into())
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

    /// Measures the peak memory, in a run of its own: `time` would add to the measured time.
    fn measure_peak(&mut self, tools: &Tools) -> Result<(), Box<dyn Error>> {
        let Some(time) = tools.time else { return Ok(()) };
        let output = Command::new(time).args(["-f", "%M"]).arg(&self.program).args(&self.arguments).output()?;
        let kilobytes = String::from_utf8(output.stderr)?.lines().last().and_then(|line| line.parse::<f64>().ok());
        self.peak = kilobytes.map(|kilobytes| kilobytes * 1024.0);
        Ok(())
    }

    /// Runs the tool once, and records its time and its answer.
    fn run(&mut self) -> Result<(), Box<dyn Error>> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        let start = Instant::now();
        let output = command.output()?;
        self.seconds.push(start.elapsed().as_secs_f64());
        let printed = String::from_utf8(output.stdout)?;
        self.answer = (self.read)(&printed).map_err(|error| format!("{command:?}: {error}; it printed: {printed}"))?;
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

/// Parses the output of SPIN's verifier.
fn read_pan(printed: &str) -> Result<Answer, Box<dyn Error>> {
    if printed.contains("max search depth too small") {
        return Err("the search was incomplete; raise `depth`".into());
    }
    let number_before = |text: &str| {
        let line = printed.lines().find(|line| line.contains(text))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let errors = printed.lines().find_map(|line| line.split("errors: ").nth(1)).ok_or("no number of errors")?;
    let states = number_before("states, stored").ok_or("no number of states")?;
    // With -DMA the states are their own index; with -DNOCOMP SPIN does not print the memory.
    let index = number_before("memory used for hash table").unwrap_or(0.0);
    let bytes = number_before("actual memory usage for states").map(|states| (states + index) * MEGABYTE);
    Ok(Answer { excludes: errors.trim() == "0", states, bytes_per_state: bytes.map(|bytes| bytes / states) })
}

/// Parses the output of `doorway check --json`.
fn read_doorway(printed: &str) -> Result<Answer, Box<dyn Error>> {
    let report: Value = serde_json::from_str(printed)?;
    Ok(Answer {
        excludes: report["complete"] == true && report["properties"]["exclusion"]["verdict"] == "holds",
        states: report["states"].as_f64().ok_or("no number of states")?,
        bytes_per_state: report["bytes_per_state"].as_f64(),
    })
}

/// The seconds that the fastest SPIN takes.
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

/// Prints the ratio of the speeds, and returns whether all contestants find that exclusion holds.
fn conclude(subject: &Subject, contestants: &[Contestant]) -> bool {
    let Subject { name, n, .. } = subject;
    let (spin, ours): (Vec<_>, Vec<_>) = contestants.iter().partition(|contestant| contestant.is_spin());
    let dissenters = contestants.iter().filter(|contestant| !contestant.answer.excludes);
    let dissenters: Vec<&str> = dissenters.map(|contestant| contestant.tool.as_str()).collect();
    if !dissenters.is_empty() {
        println!("{name} n={n}: these do NOT find that exclusion holds: {}", dissenters.join("; "));
        return false;
    }
    let (spin_states, states) = (spin[0].answer.states, ours[0].answer.states);
    let counts = if spin_states == states {
        format!("both {states} states")
    } else {
        format!("{states} states, SPIN {spin_states}")
    };
    let times = fastest_spin(contestants) / ours[0].median();
    println!("{name} n={n}: {times:.1} times as fast as SPIN ({counts})");
    for parallel in ours.iter().filter(|contestant| contestant.threads > 1) {
        let serial = ours.iter().find(|contestant| contestant.threads == 1 && contestant.tool == parallel.tool);
        let times = serial.map_or(f64::NAN, |serial| serial.median() / parallel.median());
        println!("{name} n={n}: {}: {times:.2} times as fast on {} threads as on 1", parallel.tool, parallel.threads);
    }
    true
}
