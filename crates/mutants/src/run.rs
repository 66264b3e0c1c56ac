//! Runs one check and writes down what it found, in one line.
use std::{
    fmt,
    str::FromStr,
    sync::Arc,
    time::{Duration, Instant},
};

use doorway_algorithms::{
    About, Claim, Kind, Size,
    registry::{self, Visitor},
};
use doorway_checker::{
    Error, FailedCas, Model, Observer, Phase, Progress, Property, Registers as Space, Report, Verdict, View, check,
    check_part, remote_references,
};
use doorway_memory::{Cost, Exclusion, Part};

use crate::checks::{Check, Counting, Registers};

/// The most bytes one check may take.
const MAX_MEMORY: u64 = 6 << 30;

/// What a check found.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Verdicts.
    Decided {
        /// How many states were searched.
        states: u64,
        /// How many transitions.
        transitions: u64,
        /// How many seconds it took.
        seconds: f64,
        /// Whether the search ended at a limit of states, memory or time.
        cut: bool,
        /// What was found, by name: `holds`, `fails`, `unknown`, or a bound.
        verdicts: Vec<(String, String)>,
    },
    /// The checker refused the algorithm: it broke a rule of the interface, or panicked.
    Refused(String),
    /// It took turns without an access for ever.
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
    /// How a mutant is refuted by this, if the original's outcome of the same check was `original`.
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

/// The verdict on an algorithm that has made a number grow until the search ended: its registers are not bounded.
fn unbounded() -> (String, String) {
    ("registers".to_string(), "unbounded".to_string())
}

/// What is written when every state has been found: from then on the algorithm itself cannot hang.
pub const SEARCHED: &str = "searched";

/// Ends a search when its time is over.
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

/// How much a check may search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most states, if there is a limit.
    pub states: Option<u64>,
    /// The most time.
    pub time: Duration,
    /// On how many threads.
    pub threads: usize,
}

/// Runs a check.
#[must_use]
pub fn run(check: &Check, limits: Limits) -> Outcome {
    let about = match registry::find(check.algorithm) {
        Ok(about) => about,
        Err(unknown) => return Outcome::Refused(unknown.to_string()),
    };
    let k = (about.kind == Kind::KExclusion).then_some(check.k);
    match about.size(Some(check.n), k) {
        Ok(size) => registry::visit(about, size, Run { check, limits })
            .unwrap_or_else(|error| Outcome::Refused(error.to_string())),
        Err(error) => Outcome::Refused(error.to_string()),
    }
}

struct Run<'c> {
    check: &'c Check,
    limits: Limits,
}

impl Run<'_> {
    fn model(&self, size: Size) -> Model {
        let check = self.check;
        let mut model = Model::new(size.n).k(size.k).crashes(check.crashes).threads(self.limits.threads);
        model = model.max_memory(MAX_MEMORY).observer(Arc::new(Deadline(Instant::now() + self.limits.time)));
        model = self.limits.states.into_iter().chain(check.max_states).min().into_iter().fold(model, Model::max_states);
        model = check.passages.into_iter().fold(model, Model::passages);
        model = check.in_all.into_iter().fold(model, Model::passages_in_all);
        model = if check.deaths { model.deaths() } else { model };
        model = if check.abandons { model.abandons() } else { model };
        model = if check.uncontended { model.sequential() } else { model };
        model = if check.symmetric { model.symmetric() } else { model };
        match check.registers {
            Registers::Atomic => model,
            Registers::Safe => model.safe_registers(),
            Registers::Tso => model.tso(),
        }
    }

    /// What is claimed, of what the check looks at.
    fn claimed(&self, about: &About) -> Vec<Property> {
        let claims = about.claims.iter().filter_map(|claim| match *claim {
            Claim::Holds(property) | Claim::Fails(property) => Some(property),
            Claim::Bypass(_) | Claim::Entries(_) => Some(Property::Bypass),
            _ => None,
        });
        let mut claimed: Vec<Property> =
            claims.filter(|property| self.check.only.is_empty() || self.check.only.contains(property)).collect();
        claimed.sort_unstable();
        claimed.dedup();
        claimed
    }
}

impl Visitor for Run<'_> {
    type Space = Space;
    type Output = Result<Outcome, Error>;

    fn exclusion<A: Exclusion<View>>(
        self,
        about: &'static About,
        size: Size,
        make: impl Fn(&mut Space) -> A,
    ) -> Self::Output {
        let model = self.model(size);
        let Some(counting) = self.check.counting else {
            return check(&model.only(self.claimed(about)), make).map(|report| decided(about, &report));
        };
        let cost = match counting {
            Counting::Cc => Cost::Cc(FailedCas::Counts),
            Counting::Dsm => Cost::Dsm,
        };
        let found = remote_references(&model, cost, make)?;
        let real: Vec<_> = found.per_process.iter().filter(|worst| worst.run.is_some()).collect();
        let bounds: Option<Vec<u32>> = real.iter().map(|worst| worst.bound.number()).collect();
        let worst = bounds.map_or("unbounded".to_string(), |all| all.into_iter().max().unwrap_or(0).to_string());
        Ok(Outcome::Decided {
            states: found.states,
            transitions: 0,
            seconds: found.seconds,
            cut: found.stopped,
            verdicts: vec![("rmr".to_string(), worst)],
        })
    }

    fn part<A: Part<View>>(self, about: &'static About, size: Size, make: impl Fn(&mut Space) -> A) -> Self::Output {
        let model = self.model(size).only(self.claimed(about));
        let model = if about.sequential { model.sequential() } else { model };
        check_part(&model, make).map(|report| decided(about, &report))
    }
}

fn decided(about: &About, report: &Report) -> Outcome {
    let mut verdicts = Vec::new();
    for finding in &report.findings {
        if let Some(bypass) = finding.bypass {
            let bound = |number: Option<u32>| number.map_or("unbounded".to_string(), |number| number.to_string());
            let claims = |wanted: fn(&Claim) -> bool| about.claims.iter().any(wanted);
            if claims(|claim| matches!(claim, Claim::Bypass(_))) {
                verdicts.push(("bypass".to_string(), bound(bypass.late.number())));
            }
            if claims(|claim| matches!(claim, Claim::Entries(_))) {
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
