//! Runs the checks on the mutants, each in a process of its own, and stores every outcome.
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, OpenOptions},
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use doorway_memory::Property;

use crate::{
    checks::{Check, Registers, Tier, checks},
    judgements::is_equivalent,
    run::{Outcome, SEARCHED},
    workspace::{ACTIVE, Numbered, TOUCHED, Workspace},
};

/// The most seconds for a check of an original.
const MAX_ORIGINAL: f64 = 900.0;

/// The most seconds for a check of a mutant that ends at the first violation and is not a long check.
const MAX_MUTANT: f64 = 12.0;

/// Additional seconds for a mutant without a fence: its store buffers are fuller, so it has far more states.
const MORE_FOR_FENCES: f64 = 90.0;

/// The seconds after its deadline at which a process counts as hanging.
const GRACE: f64 = 15.0;

/// The options of a campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// The most expensive checks to run.
    pub most: Tier,
    /// Checks that take fewer seconds than this run on refuted mutants too.
    pub all_below: f64,
    /// The number of processes at a time.
    pub jobs: usize,
}

/// The outcome of a check on the original.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The check.
    pub check: Check,
    /// The outcome.
    pub outcome: Outcome,
    /// The numbers of the functions that ran.
    pub touched: BTreeSet<usize>,
}

impl Reference {
    /// The seconds that the original took.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        match self.outcome {
            Outcome::Decided { seconds, .. } => seconds,
            _ => 0.0,
        }
    }

    /// The number of states of the original.
    #[must_use]
    pub fn states(&self) -> u64 {
        match self.outcome {
            Outcome::Decided { states, .. } => states,
            _ => 0,
        }
    }
}

/// The outcomes of the checks on a mutant.
#[derive(Clone, Debug)]
pub struct Fate {
    /// The mutant.
    pub mutant: Numbered,
    /// The checks, by index in the list of references, and how each refuted the mutant, if it did.
    pub checked: Vec<(usize, Option<String>)>,
    /// Whether every check found the same number of states and transitions as for the original.
    pub is_same: bool,
    /// Whether a check ended at a limit of states or time.
    pub is_cut: bool,
}

impl Fate {
    /// The first check that refuted the mutant, and how.
    #[must_use]
    pub fn refuted(&self) -> Option<(usize, &str)> {
        self.checked.iter().find_map(|(check, how)| how.as_deref().map(|how| (*check, how)))
    }
}

/// A campaign: the built mutants, and the outcomes so far.
pub struct Campaign<'w> {
    workspace: &'w Workspace,
    options: Options,
    known: Mutex<BTreeMap<(String, String), String>>,
    log: Mutex<File>,
}

impl<'w> Campaign<'w> {
    /// Creates a campaign that reuses the outcomes of earlier campaigns on the same sources.
    ///
    /// # Errors
    /// If the file of outcomes cannot be read or written.
    pub fn new(root: &Path, workspace: &'w Workspace, options: Options) -> io::Result<Campaign<'w>> {
        let path = workspace.folder.join(format!("outcomes-{:016x}.tsv", fingerprint(root)?));
        let mut known = BTreeMap::new();
        if let Ok(file) = File::open(&path) {
            for line in BufReader::new(file).lines() {
                let line = line?;
                let mut fields = line.splitn(3, '\t').map(str::to_string);
                if let (Some(of), Some(check), Some(outcome)) = (fields.next(), fields.next(), fields.next()) {
                    known.insert((of, check), outcome);
                }
            }
        }
        let log = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Campaign { workspace, options, known: Mutex::new(known), log: Mutex::new(log) })
    }

    /// Runs every check on the original.
    ///
    /// # Errors
    /// If a check cannot be run, or the checker refuses the original.
    pub fn references(&self, wanted: impl Fn(&Check) -> bool + Sync) -> io::Result<Vec<Reference>> {
        let most = self.options.most;
        let checks: Vec<&Check> = checks().iter().filter(|check| check.tier <= most && wanted(check)).collect();
        let references = self.parallel(&checks, |check| self.reference(check))?;
        for reference in &references {
            if let Outcome::Refused(why) = &reference.outcome {
                return Err(io::Error::other(format!("`{}`: {why}", reference.check)));
            }
        }
        Ok(references)
    }

    fn reference(&self, check: &Check) -> io::Result<Reference> {
        let touched = self.workspace.folder.join(format!("touched-{}", check.to_string().replace(' ', "-")));
        let outcome = self.outcome("original", check, || {
            let _ = fs::remove_file(&touched);
            let mut command = self.command(check, 0, MAX_ORIGINAL);
            command.env(TOUCHED, &touched);
            let outcome = finish(command.spawn()?, check, MAX_ORIGINAL)?;
            eprintln!("  original  {check}: {outcome}");
            Ok(outcome)
        })?;
        let text = self.known_or("touched", check, || Ok(fs::read_to_string(&touched)?.replace('\n', " ")))?;
        let touched = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        Ok(Reference { check: *check, outcome, touched })
    }

    /// Runs the checks on mutants until each is refuted.
    ///
    /// # Errors
    /// If a check cannot be run.
    pub fn fates(&self, mutants: &[&Numbered], references: &[Reference]) -> io::Result<Vec<Fate>> {
        let done = AtomicUsize::new(0);
        self.parallel(mutants, |mutant| {
            let fate = self.fate(mutant, references)?;
            let done = 1 + done.fetch_add(1, Relaxed);
            if done.is_multiple_of(100) {
                eprintln!("  {done} of {} mutants", mutants.len());
            }
            Ok(fate)
        })
    }

    fn fate(&self, mutant: &Numbered, references: &[Reference]) -> io::Result<Fate> {
        let concerns = |reference: &Reference| {
            let shows = (reference.check.registers == Registers::Tso) == orders_writes(mutant);
            shows && reference.touched.contains(&mutant.function_id)
        };
        let mut order: Vec<usize> = (0..references.len()).filter(|&at| concerns(&references[at])).collect();
        order.sort_by(|&a, &b| {
            let rank = |at: usize| (references[at].check.tier, references[at].seconds());
            rank(a).partial_cmp(&rank(b)).unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut fate = Fate { mutant: mutant.clone(), checked: Vec::new(), is_same: true, is_cut: false };
        for at in order {
            let reference = &references[at];
            if reference.check.tier == Tier::Long && is_equivalent(&mutant.key()) {
                continue;
            }
            if fate.refuted().is_some() && reference.seconds() >= self.options.all_below {
                continue;
            }
            let outcome = self.outcome(&mutant.key(), &reference.check, || {
                let is_long = reference.check.tier == Tier::Long;
                let ends_early = reference.check.only == [Property::Exclusion];
                let most = if ends_early && !is_long { MAX_MUTANT } else { f64::INFINITY };
                let more = if orders_writes(mutant) { MORE_FOR_FENCES } else { 0.0 };
                let seconds = (2.5 * reference.seconds() + 3.0).min(most) + more;
                let more = if orders_writes(mutant) { 3_000_000 } else { 40_000 };
                let mut command = self.command(&reference.check, 3 * reference.states() + more, seconds);
                command.env(ACTIVE, mutant.id.to_string());
                finish(command.spawn()?, &reference.check, seconds)
            })?;
            if let (
                Outcome::Decided { states, transitions, cut, .. },
                Outcome::Decided { states: of_original, transitions: all, .. },
            ) = (&outcome, &reference.outcome)
            {
                fate.is_same &= (states, transitions) == (of_original, all);
                fate.is_cut |= *cut;
            } else {
                fate.is_same = false;
            }
            fate.checked.push((at, outcome.refutes(&reference.outcome)));
        }
        Ok(fate)
    }

    fn command(&self, check: &Check, states: u64, seconds: f64) -> Command {
        let mut command = Command::new(&self.workspace.runner);
        command.args([states.to_string(), seconds.to_string(), "1".to_string(), check.to_string()]);
        command.env_remove(ACTIVE).env_remove(TOUCHED).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    fn outcome(&self, of: &str, check: &Check, run: impl FnOnce() -> io::Result<Outcome>) -> io::Result<Outcome> {
        let text = self.known_or(of, check, || run().map(|outcome| outcome.to_string()))?;
        text.parse().map_err(io::Error::other)
    }

    /// The stored text, or what `find` returns, which is then stored.
    fn known_or(&self, of: &str, check: &Check, find: impl FnOnce() -> io::Result<String>) -> io::Result<String> {
        let key = (of.to_string(), check.to_string());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = known().get(&key) {
            return Ok(text.clone());
        }
        let text = find()?;
        writeln!(self.log.lock().unwrap_or_else(PoisonError::into_inner), "{}\t{}\t{text}", key.0, key.1)?;
        known().insert(key, text.clone());
        Ok(text)
    }

    /// Applies `work` to each of `all`, on as many threads as there are jobs; the results are in the same order.
    fn parallel<T: Sync, R: Send>(&self, all: &[T], work: impl Fn(&T) -> io::Result<R> + Sync) -> io::Result<Vec<R>> {
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<io::Result<R>>>> = all.iter().map(|_| Mutex::new(None)).collect();
        thread::scope(|scope| {
            for _ in 0..self.options.jobs.max(1) {
                scope.spawn(|| {
                    while let Some(at) = Some(next.fetch_add(1, Relaxed)).filter(|&at| at < all.len()) {
                        *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(work(&all[at]));
                    }
                });
            }
        });
        let result = |cell: Mutex<Option<_>>| cell.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.into_iter().map(|cell| result(cell).unwrap_or_else(|| Err(io::Error::other("not run")))).collect()
    }
}

/// Whether the mutant changes only when writes become visible, which matters only with store buffers.
fn orders_writes(mutant: &Numbered) -> bool {
    mutant.mutant.is_fence || mutant.mutant.description.contains(".barrier()")
}

/// Waits for the outcome of a child; kills it if it does not end in time.
fn finish(mut child: Child, check: &Check, seconds: f64) -> io::Result<Outcome> {
    let counts = check.counting.is_some();
    let deadline = Instant::now() + Duration::from_secs_f64(seconds + GRACE);
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            // Judging many states, or counting remote memory references, may take longer than the deadline.
            let hangs = !counts && !output(&mut child)?.contains(SEARCHED);
            let cut = Outcome::Decided { states: 0, transitions: 0, seconds, cut: true, verdicts: Vec::new() };
            return Ok(if hangs { Outcome::Hangs } else { cut });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    };
    let text = output(&mut child)?;
    match text.trim_end().lines().last().unwrap_or_default().parse() {
        Ok(outcome) => Ok(outcome),
        Err(_) if status.code() == Some(2) => Err(io::Error::other("the runner does not know the check")),
        // A panic in a constructor, or a stack overflow. The mutant does not cause anything else.
        Err(_) if matches!(status.code(), Some(101) | None) && !was_stopped(status) => {
            Ok(Outcome::Refused(format!("ended with {status}")))
        }
        Err(_) => Err(io::Error::other(format!("the runner ended with {status}"))),
    }
}

/// Whether another process ended this one with a signal.
fn was_stopped(status: ExitStatus) -> bool {
    const FROM_OUTSIDE: [&str; 3] = ["SIGINT", "SIGKILL", "SIGTERM"];
    FROM_OUTSIDE.iter().any(|signal| status.to_string().contains(signal))
}

fn output(child: &mut Child) -> io::Result<String> {
    let mut text = String::new();
    child.stdout.take().map_or(Ok(0), |mut out| out.read_to_string(&mut text))?;
    Ok(text)
}

/// A hash of the sources on which outcomes depend.
fn fingerprint(root: &Path) -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    for of in ["algorithms", "catalogue", "checker", "memory"] {
        hash_folder(&root.join("crates").join(of).join("src"), &mut hasher)?;
    }
    [include_str!("rewrite.rs"), include_str!("run.rs")].hash(&mut hasher);
    Ok(hasher.finish())
}

fn hash_folder(folder: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash_folder(&path, hasher)?;
        } else {
            fs::read(&path)?.hash(hasher);
        }
    }
    Ok(())
}
