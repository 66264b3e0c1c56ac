//! The properties, each checked on the graph.
//!
//! Every property has a file of its name, whose `check` returns the violation it finds. What several properties share
//! is in `waits.rs` (waiting for ever, and entries meanwhile), `bounded_section.rs` and `outcomes.rs`.
mod assignment;
mod bounded_exit;
mod bounded_section;
mod bypass;
mod deadlock_freedom;
mod exclusion;
mod fcfs;
pub(crate) mod fenced;
mod fife;
mod k_fcfs;
mod outcomes;
mod rule;
mod starvation_freedom;
mod wait_free;
mod wait_free_doorway;
mod waits;

use doorway_memory::{Pid, Property};

use crate::{
    Model,
    error::Error,
    execution::Path,
    graph::Graph,
    judge::Judge,
    parallel,
    program::Program,
    real::{AmongReal, Finder, InGraph, realise},
    report::{Finding, Verdict},
    symmetry::AsymmetryEvidence,
};
use outcomes::Breaches;
pub(crate) use waits::any;
use waits::{Entries, Waits};

/// A path of the graph that breaks a property.
pub(crate) struct Violation {
    path: Path,
    /// The processes for which the property fails.
    processes: Vec<Pid>,
    /// What is wrong, in words.
    note: String,
}

impl Violation {
    /// A path on which one process is kept for ever, where processes are all alike: it could be any of them.
    fn of_one_alike((path, p): (Path, Pid)) -> Violation {
        Violation { path, processes: Vec::new(), note: format!("process {p} is kept for ever") }
    }
}

/// A graph, and what several properties ask of it.
pub(crate) struct Evidence<'a> {
    judge: Judge<'a>,
    /// For each process; empty if no wanted property needs it.
    waits: Vec<Waits>,
    /// For each process; none if a process can be overtaken without bound, or if no wanted property needs it.
    entries: Option<Vec<Entries>>,
    /// Instead of `waits`, if processes are all alike; none if no wanted property needs it.
    alike: Option<AsymmetryEvidence>,
    /// None if no wanted property needs it.
    breaches: Option<Breaches>,
    /// For each process its local states in which it is refused; empty if no wanted property needs it.
    refused: Vec<Vec<bool>>,
}

/// The properties of the kind of algorithm checked.
pub(crate) fn of(program: &dyn Program, model: &Model) -> &'static [Property] {
    match () {
        () if program.is_part() => &Property::OF_PARTS,
        () if program.has_tokens() && model.expiries => &Property::OF_FENCED_LOCKS,
        () if program.assigns() => &Property::OF_ASSIGNING_LOCKS,
        () => &Property::OF_LOCKS,
    }
}

/// Those of them that the model asks for and that can be decided in it.
pub(crate) fn wanted(program: &dyn Program, model: &Model) -> Vec<Property> {
    let can_be_decided = |property| !model.symmetric || !is_about_order(property);
    of(program, model).iter().copied().filter(|&property| model.wants(property) && can_be_decided(property)).collect()
}

/// Whether a property is about the order of processes.
pub(crate) fn is_about_order(property: Property) -> bool {
    matches!(property, Property::Fcfs | Property::KFcfs | Property::Fife | Property::Bypass)
}

/// Whether a property is about the outcomes of calls or the names of holders.
fn is_a_rule(property: Property) -> bool {
    matches!(property, Property::Rule | Property::Assignment)
}

/// Whether a property needs the states only, and no steps.
pub(crate) fn is_about_states(property: Property) -> bool {
    property == Property::Exclusion
}

/// The bytes needed to check the properties of the states found so far, on `threads` threads.
pub(crate) fn bytes_to_judge(graph: &Graph, model: &Model, threads: usize) -> usize {
    // For each state: sections; and on each thread what components take, and sets of states or entries.
    // (If processes are all alike, one thread checks all of them together.)
    let (once, on_each) = if model.symmetric { (4 + 24 * model.n, 1) } else { (4, 22 + model.n) };
    graph.ids() * (once + on_each * threads)
}

/// The number of threads on which the properties can be checked within the memory limit: at least one, for which the
/// search has left room.
pub(crate) fn affordable_threads(graph: &Graph, model: &Model) -> usize {
    let left = model.max_memory.map_or(usize::MAX, |max| (max as usize).saturating_sub(graph.bytes()));
    (1..=model.threads).rev().find(|&threads| bytes_to_judge(graph, model, threads) <= left).unwrap_or(1)
}

/// Checks the properties on the graph, on as many threads as the memory limit allows.
pub(crate) fn judge(program: &dyn Program, judge: Judge<'_>) -> Result<Vec<Finding>, Error> {
    let (graph, model) = (judge.graph, judge.model);
    let wanted = wanted(program, model);
    let threads = affordable_threads(graph, model);
    let needed = |about: fn(Property) -> bool| wanted.iter().any(|&property| about(property));
    let about_the_waiting_section = |property| {
        let others = [Property::Exclusion, Property::Fenced, Property::BoundedExit, Property::WaitFreeDoorway];
        !others.contains(&property) && !is_a_rule(property)
    };
    let about_waiting = |property| !matches!(property, Property::Exclusion | Property::Fenced) && !is_a_rule(property);
    let alike = (model.symmetric && needed(about_waiting)).then(|| AsymmetryEvidence::of(&judge));
    let breaches = needed(is_a_rule).then(|| Breaches::of(&judge, program));
    let refused = if wanted.contains(&Property::Fenced) { fenced::refused(&judge, program) } else { Vec::new() };
    let waits = if needed(about_waiting) && !model.symmetric {
        parallel::map(threads, model.processes(), |p| {
            let waits = Waits::of(&judge, p);
            if needed(about_the_waiting_section) {
                waits.settle(&judge);
            }
            waits
        })
    } else {
        Vec::new()
    };
    let about_order = |property| matches!(property, Property::Fcfs | Property::KFcfs | Property::Bypass);
    let entries = (needed(about_order) && !waits.iter().any(|waits| waits.can_be_overtaken(&judge)))
        .then(|| parallel::map(threads, model.processes(), |p| Entries::during_waits_of(&judge, p)));
    let evidence = Evidence { judge, waits, entries, alike, breaches, refused };
    let violations =
        parallel::map(threads, 0..wanted.len(), |i| check(&evidence, &InGraph(&evidence.judge), wanted[i]));
    // Asked last: a check that was cancelled while any of this went on has not seen everything.
    let judged = !model.cancelled();
    let everything_seen = |property| graph.stop.is_none() && (judged || is_about_states(property));
    let findings = std::iter::zip(wanted, violations).map(|(property, violation)| {
        let mut finding = Finding::new(property);
        if property == Property::Bypass {
            finding.bypass =
                Some(bypass::bounds(&evidence)).filter(|bypass| everything_seen(property) || bypass.is_unbounded());
        }
        let mut verdict = if everything_seen(property) { Verdict::Holds } else { Verdict::Unknown };
        if let Some(Violation { path, processes, note }) = violation {
            verdict = Verdict::Fails;
            (finding.processes, finding.note) = (processes, note);
            finding.execution = realise(program, graph, model, &path)?;
        }
        if verdict == Verdict::Fails && finding.execution.is_none() {
            let real = AmongReal::new(program, &evidence.judge);
            let violation = if model.symmetric { None } else { check(&evidence, &real, property) };
            (finding.processes, finding.note) = (Vec::new(), String::new());
            let is_broken = violation.is_some();
            if let Some(Violation { path, processes, note }) = violation {
                (finding.processes, finding.note) = (processes, note);
                finding.execution = realise(program, graph, model, &path)?;
            }
            if finding.execution.is_some() {
                verdict = Verdict::Fails;
            } else if !is_broken && real.was_exhaustive() && !model.symmetric && everything_seen(property) {
                verdict = Verdict::Holds;
            } else {
                verdict = Verdict::Unknown;
                finding.note = unrealised(property, model);
            }
        }
        // Without an execution nothing is known to be unbounded.
        finding.bypass = finding.bypass.filter(|bypass| !bypass.is_unbounded() || verdict == Verdict::Fails);
        finding.verdict = verdict;
        Ok(finding)
    });
    findings.collect()
}

/// Why a property that fails in the graph is not decided: no real execution was found in which it does.
fn unrealised(property: Property, model: &Model) -> String {
    let unreal = "the search finds counterexamples, but none of those tried is possible with real ticket numbers";
    match () {
        () if model.symmetric => format!("{unreal}; check it without symmetry"),
        () if is_about_states(property) => format!("{unreal}; limit the passages in all, and tickets are real numbers"),
        () => format!("{unreal} for ever; limit the passages in all, and tickets are real numbers"),
    }
}

/// Checks one property.
fn check(evidence: &Evidence<'_>, find: &impl Finder, property: Property) -> Option<Violation> {
    match property {
        Property::Exclusion => exclusion::check(evidence, find),
        Property::DeadlockFreedom => deadlock_freedom::check(evidence, find),
        Property::StarvationFreedom => starvation_freedom::check(evidence, find),
        Property::Fcfs => fcfs::check(evidence, find),
        Property::KFcfs => k_fcfs::check(evidence, find),
        Property::Fife => fife::check(evidence, find),
        Property::Bypass => bypass::check(evidence, find),
        Property::BoundedExit => bounded_exit::check(evidence, find),
        Property::WaitFreeDoorway => wait_free_doorway::check(evidence, find),
        Property::Assignment => assignment::check(evidence, find),
        Property::Fenced => fenced::check(evidence, find),
        Property::Rule => rule::check(evidence, find),
        Property::WaitFree => wait_free::check(evidence, find),
        _ => None,
    }
}

impl Evidence<'_> {
    /// The processes for whose waits `is_bad` holds.
    fn processes(&self, is_bad: impl Fn(&Waits) -> bool) -> Vec<Pid> {
        self.waits.iter().enumerate().filter(|(_, waits)| is_bad(waits)).map(|(p, _)| p).collect()
    }
}
