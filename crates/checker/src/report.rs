//! What a check found.
use std::{fmt, panic::Location};

use doorway_memory::{Pid, Property};

use crate::run::Run;

/// What a check found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Different states reached.
    pub states: u64,
    /// Steps between them; 0 if only exclusion was asked for, which does not need them.
    pub transitions: u64,
    /// Length of the longest of the shortest runs to a state.
    pub depth: u32,
    /// Seconds it took.
    pub seconds: f64,
    /// Bytes for each state and its index.
    pub bytes_per_state: f64,
    /// Why this is not an answer about every run, in words; nothing if it is.
    pub incomplete: Option<String>,
    /// Whether the search ended early, so that what was not found may still be there.
    pub stopped: bool,
    /// A register that held more than a thousand values before the search ended early: it may be a number that grows for ever.
    pub growing: Option<String>,
    /// One for each property asked for.
    pub findings: Vec<Finding>,
    /// What was asked of the memory: `read`, `write`, `fetch-and-add` …
    pub primitives: Vec<&'static str>,
    /// Where the fences are that some process came to; none without store buffers, which have no use for them.
    pub fences: Vec<&'static Location<'static>>,
}

/// What was found about one property.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// Which one.
    pub property: Property,
    /// Whether it holds.
    pub verdict: Verdict,
    /// An execution that shows it does not: the shortest; of those with a cycle, a short one.
    pub run: Option<Run>,
    /// For which processes it does not hold, if that makes a difference.
    pub processes: Vec<Pid>,
    /// What is wrong, in words.
    pub note: String,
    /// How often one can be passed; only for [`Property::Bypass`].
    pub bypass: Option<Bypass>,
}

/// Whether a property holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// In every run.
    Holds,
    /// Not in the run given.
    Fails,
    /// The search ended before it could tell.
    Unknown,
}

/// How often one process can get inside while another waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bypass {
    /// In passages started after the other was through the doorway: these are overtakings. 0 exactly if the algorithm is
    /// first-come-first-served.
    pub late: Bound,
    /// In any passage: also those of processes that came earlier, or at the same time.
    pub in_all: Bound,
}

/// An exact bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// So often, and not more.
    AtMost(u32),
    /// As often as you like.
    Unbounded,
}

impl Bound {
    /// The number, if there is one.
    #[must_use]
    pub fn number(self) -> Option<u32> {
        match self {
            Bound::AtMost(number) => Some(number),
            Bound::Unbounded => None,
        }
    }
}

impl Bypass {
    pub(crate) fn is_unbounded(&self) -> bool {
        self.late == Bound::Unbounded
    }
}

impl Finding {
    pub(crate) fn new(property: Property) -> Finding {
        Finding {
            property,
            verdict: Verdict::Unknown,
            run: None,
            processes: Vec::new(),
            note: String::new(),
            bypass: None,
        }
    }
}

impl Report {
    /// What was found about a property.
    ///
    /// # Panics
    /// If it was not asked for.
    #[must_use]
    pub fn finding(&self, property: Property) -> &Finding {
        let finding = self.findings.iter().find(|finding| finding.property == property);
        finding.unwrap_or_else(|| panic!("`{property}` was not checked"))
    }

    /// Whether a property holds in every run that was asked about.
    ///
    /// # Panics
    /// If it was not asked for.
    #[must_use]
    pub fn holds(&self, property: Property) -> bool {
        self.finding(property).verdict == Verdict::Holds
    }

    /// Whether a run against a property was found.
    ///
    /// # Panics
    /// If it was not asked for.
    #[must_use]
    pub fn fails(&self, property: Property) -> bool {
        self.finding(property).verdict == Verdict::Fails
    }

    fn named(&self, verdict: Verdict) -> Vec<&'static str> {
        let findings = self.findings.iter().filter(|finding| finding.verdict == verdict);
        findings.filter(|finding| finding.property != Property::Bypass).map(|finding| finding.property.name()).collect()
    }
}

/// The first line is complete alone; then the run for each property that fails, the same run only once, and none for bypass
/// if that for first-come-first-served is there.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let holding = self.named(Verdict::Holds);
        if !holding.is_empty() {
            let verb = if holding.len() == 1 { "holds" } else { "hold" };
            parts.push(format!("{} {verb}", holding.join(", ")));
        }
        let failing = self.named(Verdict::Fails);
        if !failing.is_empty() {
            let verb = if failing.len() == 1 { "FAILS" } else { "FAIL" };
            parts.push(format!("{} {verb}", failing.join(", ")));
        }
        let unknown = self.named(Verdict::Unknown);
        if !unknown.is_empty() {
            parts.push(format!("{} not decided", unknown.join(", ")));
        }
        parts.extend(self.findings.iter().filter_map(|finding| finding.bypass).map(|bypass| bypass.to_string()));
        let states = self.states;
        writeln!(f, "{} ({states} states)", parts.join("; "))?;
        if let Some(why) = &self.incomplete {
            writeln!(f, "  not every run was seen: {why}")?;
        }
        let mut shown: Vec<&Run> = Vec::new();
        for finding in &self.findings {
            if finding.verdict == Verdict::Unknown && !finding.note.is_empty() {
                write!(f, "{finding}")?;
            }
            let Some(run) = &finding.run else { continue };
            let told_by_fcfs = finding.property == Property::Bypass && self.named(Verdict::Fails).contains(&"fcfs");
            if shown.contains(&run) || told_by_fcfs {
                continue;
            }
            shown.push(run);
            write!(f, "{finding}{run}")?;
        }
        Ok(())
    }
}

/// One line: what fails, how soon, for whom.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Holds => "holds",
            Verdict::Fails => "FAILS",
            Verdict::Unknown => "not decided",
        };
        write!(f, "{} {verdict}", self.property)?;
        if let Some(run) = &self.run {
            let steps = run.cycle_at.unwrap_or(run.steps.len());
            write!(f, " in {steps} step{}", if steps == 1 { "" } else { "s" })?;
            f.write_str(if run.cycle_at.is_some() { ", and stays so" } else { "" })?;
        }
        if self.property == Property::StarvationFreedom && !self.processes.is_empty() {
            let list: Vec<String> = self.processes.iter().map(ToString::to_string).collect();
            write!(f, " (for process {})", list.join(", "))?;
        }
        if !self.note.is_empty() {
            write!(f, ": {}", self.note)?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Bypass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.late, self.in_all) {
            (Bound::Unbounded, _) => f.write_str("bypass unbounded"),
            (Bound::AtMost(late), Bound::AtMost(in_all)) if late != in_all => {
                write!(f, "bypass at most {late} ({in_all} counting who came before)")
            }
            (Bound::AtMost(late), _) => write!(f, "bypass at most {late}"),
        }
    }
}
