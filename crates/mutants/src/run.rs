//! Runs one check; its outcome can be written in one line.
use std::{
    fmt,
    str::FromStr,
    sync::Arc,
    time::{Duration, Instant},
};

use doorway_algorithms::{About, Claimed, Condition, Kind};
use doorway_catalogue::remote_references;
use doorway_checker::{FailedCas, Model, Observer, Phase, Progress, Property, RemoteReferences, Report, Verdict};
use doorway_memory::Cost;

use crate::checks::{Check, Counting, Registers};

/// The most bytes of a check.
const MAX_MEMORY: u64 = 6 << 30;

/// The outcome of a check.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Verdicts.
    Decided {
        /// The number of states.
        states: u64,
        /// The number of transitions.
        transitions: u64,
        /// The seconds that it took.
        seconds: f64,
        /// Whether the search ended at a limit of states, memory or time.
        cut: bool,
        /// The verdicts by property: `holds`, `fails`, `unknown`, or a bound.
        verdicts: Vec<(String, String)>,
    },
    /// The checker refused the algorithm: it violated a rule of the interface, or panicked.
    Refused(String),
    /// The algorithm loops for ever without an access.
    Hangs,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Decided { states, transitions, seconds, cut, verdicts } => {
                write!(f, "decided {states} {transitions} {seconds:.3} {}", u8::from(*cut))?;
                verdicts.iter().try_for_each(|(name, verdict)| write!(f, " {name}={verdict}"))
            }
            Outcome::Refused(why) => write!(f, "refused {}", why.replace(['\n', '\t'], " ")),
            Outcome::Hangs => f.write_str("hangs"),
        }
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Outcome, String> {
        let bad = || format!("`{text}` is not the outcome of a check");
        let mut words = text.split(' ');
        match words.next() {
            Some("decided") => {
                let mut word = || words.next().ok_or_else(bad);
                let states = word()?.parse().map_err(|_| bad())?;
                let transitions = word()?.parse().map_err(|_| bad())?;
                let seconds = word()?.parse().map_err(|_| bad())?;
                let cut = word()? == "1";
                let pair = |word: &str| word.split_once('=').map(|(name, verdict)| (name.into(), verdict.into()));
                let verdicts = words.map(pair).collect::<Option<_>>().ok_or_else(bad)?;
                Ok(Outcome::Decided { states, transitions, seconds, cut, verdicts })
            }
            Some("refused") => Ok(Outcome::Refused(text["refused".len()..].trim_start().to_string())),
            Some("hangs") => Ok(Outcome::Hangs),
            _ => Err(bad()),
        }
    }
}

impl Outcome {
    /// How this outcome refutes a mutant, if `original` is the original's outcome of the same check.
    #[must_use]
    pub fn refutes(&self, original: &Outcome) -> Option<String> {
        let Outcome::Decided { verdicts: of_original, .. } = original else { return None };
        let Outcome::Decided { verdicts, cut, .. } = self else { return Some(self.to_string()) };
        if verdicts.contains(&unbounded()) && !of_original.contains(&unbounded()) {
            return Some("a register is unbounded".to_string());
        }
        of_original.iter().find_map(|(name, was)| {
            let (_, is) = verdicts.iter().find(|(other, _)| other == name)?;
            let is_worse = match (was.parse::<u32>(), is.parse::<u32>()) {
                (Ok(was), Ok(is)) => is > was,
                (Ok(_), Err(_)) => is == "unbounded",
                _ => (was != "fails" && is == "fails") || (was == "fails" && is == "holds" && !cut),
            };
            is_worse.then(|| format!("{name} {is}"))
        })
    }
}

/// The verdict on an algorithm with a register that grows until the search ends.
fn unbounded() -> (String, String) {
    ("registers".to_string(), "unbounded".to_string())
}

/// The line that is printed when every state has been found: from then on the algorithm cannot hang.
pub const SEARCHED: &str = "searched";

/// Ends a search at a deadline.
struct Deadline(Instant);

impl Observer for Deadline {
    fn progress(&self, progress: &Progress) {
        if progress.phase == Phase::Judging {
            println!("{SEARCHED}");
        }
    }

    fn cancelled(&self) -> bool {
        Instant::now() > self.0
    }
}

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most states, if there is a limit.
    pub states: Option<u64>,
    /// The most time.
    pub time: Duration,
    /// The number of threads.
    pub threads: usize,
}

/// What a check found, as the checker reports it.
#[derive(Debug)]
pub enum Found {
    /// The verdicts on properties.
    Verdicts(Box<Report>),
    /// The counts of remote memory references.
    Remote(RemoteReferences),
}

impl Found {
    /// The same in the form that can be written down.
    #[must_use]
    pub fn outcome(&self, about: &About) -> Outcome {
        match self {
            Found::Verdicts(report) => decided(about, report),
            Found::Remote(counted) => counts(counted),
        }
    }
}

/// Runs a check.
#[must_use]
pub fn run(check: &Check, limits: Limits) -> Outcome {
    find(check, limits).map_or_else(Outcome::Refused, |(about, found)| found.outcome(about))
}

/// Runs a check, and returns its algorithm and what it found.
///
/// # Errors
/// If there is no such algorithm, it does not support the size, or the checker refuses it.
pub fn find(check: &Check, limits: Limits) -> Result<(&'static About, Found), String> {
    let about = doorway_catalogue::find(check.algorithm).map_err(|error| error.to_string())?;
    let k = (about.kind == Kind::KExclusion).then_some(check.k);
    let size = about.size(Some(check.n), k).map_err(|error| error.to_string())?;
    let model = model(check, limits);
    let found = match check.counting {
        None => {
            let model = model.only(claimed(about, check));
            doorway_catalogue::check(about, size, &model).map(|report| Found::Verdicts(Box::new(report)))
        }
        Some(Counting::Cc) => remote_references(about, size, &model, Cost::Cc(FailedCas::Counts)).map(Found::Remote),
        Some(Counting::Dsm) => remote_references(about, size, &model, Cost::Dsm).map(Found::Remote),
    };
    Ok((about, found.map_err(|error| error.to_string())?))
}

/// The model that a check searches.
#[must_use]
pub fn model(check: &Check, limits: Limits) -> Model {
    let mut model = Model::new(check.n).k(check.k).crashes(check.crashes).threads(limits.threads);
    model = model.max_memory(MAX_MEMORY).observer(Arc::new(Deadline(Instant::now() + limits.time)));
    model = limits.states.into_iter().chain(check.max_states).min().into_iter().fold(model, Model::max_states);
    model = check.passages.into_iter().fold(model, Model::passages);
    model = check.in_all.into_iter().fold(model, Model::passages_in_all);
    model = if check.deaths { model.deaths() } else { model };
    model = if check.aborts { model.aborts() } else { model };
    model = if check.expiries { model.expiries() } else { model };
    model = if check.uncontended { model.sequential() } else { model };
    model = if check.symmetric { model.symmetric() } else { model };
    match check.registers {
        Registers::Atomic => model,
        Registers::Safe => model.safe_registers(),
        Registers::Tso => model.tso(),
    }
}

/// The properties that are claimed without conditions or for expiries, at any size, of those that a check decides.
///
/// A bound that is claimed for more processes can grow at this size too, which refutes a mutant.
fn claimed(about: &About, check: &Check) -> Vec<Property> {
    let applies = |&condition: &Condition| condition == Condition::Expiries && check.expiries;
    let claims = about.claims.iter().filter(|claim| claim.under.iter().all(applies));
    let is_wanted = |property: &Property| check.only.is_empty() || check.only.contains(property);
    let mut claimed: Vec<Property> = claims.map(|claim| claim.property).filter(is_wanted).collect();
    claimed.sort_unstable();
    claimed.dedup();
    claimed
}

fn counts(found: &RemoteReferences) -> Outcome {
    let real = found.per_process.iter().filter(|worst| worst.execution.is_some());
    let bounds: Option<Vec<u32>> = real.map(|worst| worst.bound.number()).collect();
    let worst = bounds.map_or("unbounded".to_string(), |all| all.into_iter().max().unwrap_or(0).to_string());
    Outcome::Decided {
        states: found.states,
        transitions: 0,
        seconds: found.seconds,
        cut: found.stopped,
        verdicts: vec![("rmr".to_string(), worst)],
    }
}

fn decided(about: &About, report: &Report) -> Outcome {
    let mut verdicts = Vec::new();
    for finding in &report.findings {
        if let Some(bypass) = finding.bypass {
            let bound = |number: Option<u32>| number.map_or("unbounded".to_string(), |number| number.to_string());
            let claims = |wanted: fn(&Claimed) -> bool| about.claims.iter().any(|claim| wanted(&claim.claimed));
            if claims(|claimed| matches!(claimed, Claimed::Bypass(_))) {
                verdicts.push(("bypass".to_string(), bound(bypass.late.number())));
            }
            if claims(|claimed| matches!(claimed, Claimed::Entries(_))) {
                verdicts.push(("entries".to_string(), bound(bypass.in_all.number())));
            }
        }
        if finding.property != Property::Bypass {
            let verdict = match finding.verdict {
                Verdict::Holds => "holds",
                Verdict::Fails => "fails",
                Verdict::Unknown => "unknown",
            };
            verdicts.push((finding.property.to_string(), verdict.to_string()));
        }
    }
    verdicts.extend(report.growing.as_ref().map(|_| unbounded()));
    Outcome::Decided {
        states: report.states,
        transitions: report.transitions,
        seconds: report.seconds,
        cut: report.stopped,
        verdicts,
    }
}
