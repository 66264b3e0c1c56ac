//! The report of a check.
use std::{fmt, panic::Location};

use doorway_memory::{Pid, Property};

use crate::execution::Execution;

/// The result of a check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The number of reachable states that were found.
    pub states: u64,
    /// The number of steps between them; 0 if only exclusion was asked for and holds, which takes no steps.
    pub transitions: u64,
    /// The largest distance of a state from the initial state, in steps.
    pub depth: u32,
    /// The time taken, in seconds.
    pub seconds: f64,
    /// The bytes that a state and its entry in the index take, on average.
    pub bytes_per_state: f64,
    /// Why the answer is not about every execution, in words; none if it is.
    pub incomplete: Option<String>,
    /// Whether the search ended early, so that there may be counterexamples that it did not find.
    pub stopped: bool,
    /// A register that held more than 1,000 values before the search ended early: it may be a number that grows for
    /// ever.
    pub growing: Option<String>,
    /// One finding for each property asked for.
    pub findings: Vec<Finding>,
    /// The primitives that the algorithm uses: `read`, `write`, `fetch-and-add` …
    pub primitives: Vec<&'static str>,
    /// The places in the source of the fences that a process came to; empty without store buffers, where fences do
    /// nothing.
    pub fences: Vec<&'static Location<'static>>,
}

/// The result for one property.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The property.
    pub property: Property,
    /// Whether it holds.
    pub verdict: Verdict,
    /// A counterexample: a shortest one; of lassos, a short one.
    pub execution: Option<Execution>,
    /// The processes for which it fails, if it is a property of single processes.
    pub processes: Vec<Pid>,
    /// What is wrong, in words.
    pub note: String,
    /// The bypass bounds; only for [`Property::Bypass`].
    pub bypass: Option<Bypass>,
}

/// Whether a property holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It holds in every execution.
    Holds,
    /// It fails in the execution given.
    Fails,
    /// It is not decided: the search ended early, or no execution takes the counterexamples found.
    Unknown,
}

impl Verdict {
    /// The name in JSON.
    ///
    /// ```
    /// assert_eq!(doorway_checker::Verdict::Unknown.name(), "unknown");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::Unknown => "unknown",
        }
    }
}

/// The bypass bounds: how many times another process can enter while one waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bypass {
    /// In passages started after the waiter had completed the doorway: these are overtakings. 0 exactly if the
    /// algorithm is first-come-first-served.
    pub late: Bound,
    /// In any passage, also those started before the waiter had completed the doorway.
    pub in_all: Bound,
}

/// An exact bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// This number is attained and not exceeded.
    AtMost(u32),
    /// There is no bound.
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
            execution: None,
            processes: Vec::new(),
            note: String::new(),
            bypass: None,
        }
    }
}

impl Report {
    /// The finding for a property.
    ///
    /// # Panics
    /// If the property was not asked for.
    #[must_use]
    pub fn finding(&self, property: Property) -> &Finding {
        let finding = self.findings.iter().find(|finding| finding.property == property);
        finding.unwrap_or_else(|| panic!("`{property}` was not checked"))
    }

    /// Whether a property holds in every execution of the model.
    ///
    /// # Panics
    /// If the property was not asked for.
    #[must_use]
    pub fn holds(&self, property: Property) -> bool {
        self.finding(property).verdict == Verdict::Holds
    }

    /// Whether a counterexample to a property was found.
    ///
    /// # Panics
    /// If the property was not asked for.
    #[must_use]
    pub fn fails(&self, property: Property) -> bool {
        self.finding(property).verdict == Verdict::Fails
    }

    fn named(&self, verdict: Verdict) -> Vec<&'static str> {
        let findings = self.findings.iter().filter(|finding| finding.verdict == verdict);
        findings.filter(|finding| finding.property != Property::Bypass).map(|finding| finding.property.name()).collect()
    }
}

/// The first line has all verdicts. Then comes the counterexample to each property that fails; the same one is shown
/// only once, and none for bypass if there is one for first-come-first-served.
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
            writeln!(f, "  not every execution was explored: {why}")?;
        }
        let mut shown: Vec<&Execution> = Vec::new();
        for finding in &self.findings {
            if finding.verdict == Verdict::Unknown && !finding.note.is_empty() {
                write!(f, "{finding}")?;
            }
            let Some(execution) = &finding.execution else { continue };
            let told_by_fcfs = finding.property == Property::Bypass && self.named(Verdict::Fails).contains(&"fcfs");
            if shown.contains(&execution) || told_by_fcfs {
                continue;
            }
            shown.push(execution);
            write!(f, "{finding}{execution}")?;
        }
        Ok(())
    }
}

/// One line: the property, its verdict, the length of the counterexample, and the processes or what is wrong.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Holds => "holds",
            Verdict::Fails => "FAILS",
            Verdict::Unknown => "not decided",
        };
        write!(f, "{} {verdict}", self.property)?;
        if let Some(execution) = &self.execution {
            let steps = execution.cycle_at.unwrap_or(execution.steps.len());
            write!(f, " in {steps} step{}", if steps == 1 { "" } else { "s" })?;
            f.write_str(if execution.cycle_at.is_some() { ", and stays so" } else { "" })?;
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
                write!(f, "bypass at most {late} ({in_all} counting earlier arrivals)")
            }
            (Bound::AtMost(late), _) => write!(f, "bypass at most {late}"),
        }
    }
}
